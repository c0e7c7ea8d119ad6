"""The parameters of a PivotTokenIndex, checked against tables, and the counts that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from candgen.errors import ParameterError, check_flag
from candgen.generators.candidate import check_weight
from candgen.generators.inputs import TARGET, collect_tables, resolve_alphas
from candgen.generators.pivot.pivot_token_index import ALPHA, LAM
from candgen.index.counts import Counts, count
from candgen.index.entity_names import EntityNames
from candgen.index.fusion import check_fusion
from candgen.index.gold_ranks import GoldRanks
from candgen.protocols import Parameters, Progress, Training, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.text.normalize import normalize_many
from candgen.text.tokenizers import CharNgrams, Tokenizer, to_parameters


@dataclass(frozen=True)
class Choice:
    """One choice of parameters, checked, with defaults for those that are not given."""

    languages: tuple[str, ...]
    tokenizer: Tokenizer
    normalizer: str
    alpha: Mapping[str, float]
    fusion: Any
    smoothing: float
    threshold: float
    lam: float

    @classmethod
    def of(cls, training: Training, parameters: Parameters) -> "Choice":
        """Return the choice that parameters mean for this training data."""
        name = training.language or TARGET
        weights = resolve_alphas(dict(training.pivots), parameters.get("alpha", ALPHA))
        tables = collect_tables(training.pivots, training.target, training.language, weights)
        smoothing, threshold, lam = (
            check_weight(name, parameters.get(name, default))
            for name, default in (("smoothing", 0.0), ("threshold", 0.0), ("lam", LAM))
        )
        fusion = parameters.get("fusion", "counts")
        check_fusion(fusion, smoothing, threshold)
        return cls(
            tuple(tables),
            resolve_tokenizer(parameters),
            parameters.get("normalizer", "default"),
            {name: 1.0, **weights},
            fusion,
            smoothing,
            threshold,
            lam,
        )

    @property
    def counted(self) -> Any:  # noqa: ANN401
        """The part of a choice that decides what is counted."""
        return self.languages, to_parameters(self.tokenizer), self.normalizer

    @property
    def is_plain(self) -> bool:
        """Whether a count grid can rank it, without an index."""
        return self.fusion == "counts" and not self.threshold

    @property
    def index(self) -> "Choice":
        """The part of a choice that needs an index of its own: all but lam."""
        return replace(self, lam=0.0)


def resolve_tokenizer(parameters: Parameters) -> Tokenizer:
    """Return the tokenizer of these parameters, with wildcards if they ask for them."""
    given = parameters.get("tokenizer")
    tokenizer: Tokenizer = CharNgrams() if given is None else given
    to_parameters(tokenizer)  # raises ParameterError if it is not a tokenizer
    if not check_flag("wildcards", parameters.get("wildcards", False)):
        return tokenizer
    if not isinstance(tokenizer, CharNgrams):
        raise ParameterError(f"{tokenizer!r} has no wildcards: choose CharNgrams(low, high)")
    return replace(tokenizer, wildcards=True)


def tables_of(training: Training, choice: Choice) -> dict[str, MentionTable]:
    """Return the tables that a choice needs, by language."""
    tables = {training.language or TARGET: training.target, **training.pivots}
    return {name: table for name in choice.languages if (table := tables[name]) is not None}


def prepare_ranks(
    training: Training,
    choice: Choice,
    queries: Sequence[Query],
    *,
    names: EntityNames | None = None,
    progress: Progress = no_progress,
) -> GoldRanks:
    """Return what ranks the golds of queries under any weights; ``names`` are known, or made."""
    mentions = [query.mention for query in queries]
    return GoldRanks.of(
        names or EntityNames.of(tables_of(training, choice)),
        normalize_many(mentions, choice.normalizer, language=training.language),
        [query.entity for query in queries],
        tokenizer=choice.tokenizer,
        normalizer=choice.normalizer,
        progress=progress,
    )


def count_languages(
    training: Training, choice: Choice, queries: Sequence[Query]
) -> tuple[Counts, list[str]]:
    """Return the counts of the languages, and the normalized mentions of the queries."""
    counts = count(
        tables_of(training, choice), tokenizer=choice.tokenizer, normalizer=choice.normalizer
    )
    mentions = [query.mention for query in queries]
    return counts, normalize_many(mentions, choice.normalizer, language=training.language)
