"""PivotTokenIndex: the paper's method, for any number of pivots."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, check_whole_number
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query, check_weight, search_candidates
from candgen.generators.index_base import IndexBase, summarize
from candgen.generators.inputs import (
    TARGET,
    collect_tables,
    describe_table,
    resolve_alphas,
    validate_shared,
)
from candgen.generators.pivot.explanation import Explanation, Shares, break_down, explain
from candgen.index.counts import count
from candgen.index.fusion import Fusion, build_index, check_fusion
from candgen.index.pooling import PooledCounts
from candgen.index.token_index import Hits, TokenIndex
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_count, check_mapping
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import check_normalizer, normalize_many
from candgen.text.tokenizers import CharNgrams, Tokenizer, from_parameters, to_parameters

ALPHA = 0.4
LAM = 0.4
MANY_ENTITIES = 1000
"""More than these are looked up at once, which takes a pass over all entities."""
Scores = Literal["raw", "share"]


class IndexParameters(TypedDict, total=False):
    """The parameters of `PivotTokenIndex.build` that methods built on it pass through."""

    alpha: float | Mapping[str, float]
    lam: float
    threshold: float
    tokenizer: Tokenizer | None
    fusion: Fusion
    smoothing: float


@dataclass(frozen=True, repr=False)
class PivotTokenIndex(IndexBase):
    """Candidates for mentions of a target language, learned from pivots and from the target.

    >>> icelandic = MentionTable.from_pairs(
    ...     [("Vín", "Q1741", 3), ("Vín", "Q282"), ("Rín", "Q584", 2)])
    >>> faroese = MentionTable.from_pairs([("Wien", "Q1741"), ("Vín", "Q282")])
    >>> index = PivotTokenIndex.build(
    ...     pivots={"is": icelandic}, target=faroese, language="fo",
    ...     alpha=0.5, lam=1.0, tokenizer=CharNgrams(2, 2))
    >>> [(c.entity, round(c.score, 3)) for c in index.candidates(["Vín"], k=2)[0]]
    [('Q282', 2.675), ('Q1741', 2.511)]
    """

    token_index: TokenIndex
    sources: SourceMentions
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        language: str | None = None,
        alpha: float | Mapping[str, float] = ALPHA,
        lam: float = LAM,
        threshold: float = 0.0,
        tokenizer: Tokenizer | None = None,
        normalizer: str = "default",
        fusion: Fusion = "counts",
        smoothing: float = 0.0,
        threads: int = 1,
        progress: Progress = no_progress,
    ) -> "PivotTokenIndex":
        """Build an index: count the tokens of all tables, weight them and prepare the search.

            n(t,e) = n_target(t,e) + sum over pivots l of  alpha_l * n_l(t,e)

        Without a target this is the paper's zero-shot setting, with pivots and a target the joint
        setting, and with a target alone the high-resource setting.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one.
            language: Code of the target language, which is also the language of the queries.
            alpha: Weight of the pivots' counts, one number for all or one for each pivot. A pivot
                with alpha 0 is left out.
            lam: Weight of the posterior P(t|e) beside the prior P(e|t); a query can change it.
            threshold: Probabilities below it are dropped; the index becomes smaller.
            tokenizer: How mentions are cut into tokens: CharNgrams (the default), Words or
                WholeMention.
            normalizer: Text normalizer, for the tables and for the queries.
            fusion: "counts" sums the counts of the languages. "probabilities" normalizes each
                language on its own and mixes the probabilities: see ``candgen.index.fusion``.
            smoothing: Added to every count of the pivots; only with fusion="probabilities".
            threads: How many threads count and prepare the search; the index is the same.
            progress: Called with the name of the current step and the fraction of it that is done.

        Returns:
            The index, ready for ``candidates``, ``explain`` and ``save``.

        Raises:
            ParameterError: A parameter is invalid, or there is no table with a weight.
            TableError: No mention has a token, or the counts are too large for such long mentions.
        """
        tokenizer = CharNgrams() if tokenizer is None else tokenizer
        check_normalizer(normalizer)
        described = to_parameters(tokenizer)
        lam = check_weight("lam", lam)
        threshold = check_weight("threshold", threshold)
        smoothing = check_weight("smoothing", smoothing)
        check_fusion(fusion, smoothing, threshold)
        check_whole_number("threads", threads)
        pivots = dict(pivots or {})
        weights = resolve_alphas(pivots, alpha)
        tables = collect_tables(pivots, target, language, weights)
        name = language or TARGET
        counts = count(
            tables, tokenizer=tokenizer, normalizer=normalizer, progress=progress, threads=threads
        )
        inputs = {
            each: describe_table(table, int(np.count_nonzero(counts.languages[each].entity_total)))
            for each, table in tables.items()
        }
        gather = partial(SourceMentions.gather, tables, counts.entity_of_row, len(counts.entities))

        def lay_out() -> tuple[TokenIndex, PooledCounts]:
            progress("laying out", 0.0)
            return build_index(
                counts,
                {name: 1.0, **weights},
                pivots=pivots,
                lam=lam,
                fusion=fusion,
                smoothing=smoothing,
                threshold=threshold,
                threads=threads,
                in_place=True,
            )

        if threads == 1:
            progress("gathering mentions", 0.0)
            sources = gather()  # before the layout, which takes the most memory
            del gather
            index, pooled = lay_out()
        else:
            with ThreadPoolExecutor(1) as pool:
                gathering = pool.submit(gather)
                index, pooled = lay_out()
            sources = gathering.result()
        dropped = zip(("priors", "posteriors", "postings"), pooled.dropped.tolist(), strict=True)
        parameters = {
            "tokenizer": described,
            "normalizer": normalizer,
            "language": language,
            "target": None if target is None else name,
            "languages": list(tables),
            "alpha": weights,
            "lam": lam,
            "threshold": threshold,
            "dropped": dict(dropped),
            "fusion": fusion,
            "smoothing": smoothing,
        }
        progress("done", 1.0)
        return cls(index, sources, parameters, inputs)

    @property
    def lam(self) -> float:
        """The weight of the posterior where a query gives none."""
        return float(self.parameters["lam"])

    @property
    def language(self) -> str | None:
        """The language of the target and of the queries."""
        return self.parameters["language"]  # type: ignore[no-any-return]

    def candidates(
        self,
        mentions: Sequence[str],
        k: int = 30,
        *,
        lam: float | None = None,
        scores: Scores = "raw",
        threads: int | None = None,
    ) -> list[list[Candidate]]:
        """Return the k best entities for each mention, best first.

            score(e | m) = sum over tokens t of m of  P(e | t) + lam * P(t | e)

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
            lam: Weight of the posterior, if it is not to be the one the index was built with.
            scores: "raw", or "share" to divide by the sum of the scores of all entities.
            threads: How many threads search; one for each core if None.
        """
        texts = self._normalize(check_query(mentions, k))
        lam = self.lam if lam is None else check_weight("lam", lam)
        if scores not in ("raw", "share"):
            raise ParameterError(f"scores is {scores!r}: choose 'raw' or 'share'")
        if scores == "share" and self.parameters.get("smoothing"):
            raise ParameterError("shares are not defined with smoothing: choose scores='raw'")
        return search_candidates(
            self.token_index, texts, k, lam=lam, threads=threads, share=scores == "share"
        )

    def search(self, mentions: list[str], k: int) -> Hits:
        """Return the k best for each mention as places in ``token_index.entities``."""
        return self.token_index.search(self._normalize(mentions), k, lam=self.lam)

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether it can be a candidate at all."""
        if len(entities) > MANY_ENTITIES and self.token_index.threshold == 0.0:
            known = self.token_index.entities.to_arrow()
            found = pc.is_in(pa.array(entities, pa.large_string()), value_set=known)
            return found.to_pylist()  # type: ignore[no-any-return]
        places = map(self.token_index.tie_order_of, entities)
        return [
            place is not None and self.token_index.reachable(place, lam=self.lam)
            for place in places
        ]

    def names(self, entity: str) -> list[SourceMention]:
        """Return the mentions of an entity in the tables, most frequent first; [] if unknown."""
        place = self.token_index.tie_order_of(entity)
        return [] if place is None else self.sources.of(self.token_index.number(place))

    def explain(self, mention: str, entity: str, *, lam: float | None = None) -> Explanation:
        """Return what the score of an entity for a mention is made of.

        Args:
            mention: The mention, as it stands in the text.
            entity: The id of an entity of this index.
            lam: Weight of the posterior, if it is not to be the one the index was built with.
        """
        if not isinstance(mention, str) or not isinstance(entity, str):
            raise ParameterError("explain takes one mention and one entity, both strings")
        lam = self.lam if lam is None else check_weight("lam", lam)
        (number,) = self._numbers([entity])
        return explain(
            self.token_index, self.sources, self.parameters, mention, entity, number=number, lam=lam
        )

    def shares(
        self, mention: str, entities: Sequence[str], *, lam: float | None = None
    ) -> list[Shares]:
        """Return prior, posterior and languages of each entity's score, as in ``explain``."""
        lam = self.lam if lam is None else check_weight("lam", lam)
        numbers = self._numbers(entities)
        (text,) = self._normalize([mention])
        found = break_down(self.token_index, self.sources, self.parameters, text, numbers, lam=lam)
        sums = (part.sum(axis=1).tolist() for part in (found.prior, found.posterior))
        return list(map(Shares, *sums, found.languages))

    def _numbers(self, entities: Sequence[str]) -> list[int]:
        """Return the inner numbers of entities; raise ParameterError if one is unknown."""
        numbers = []
        for entity in entities:
            place = self.token_index.tie_order_of(entity)
            if place is None:
                raise ParameterError(f"{entity!r} is not in this index: nothing to explain")
            numbers.append(self.token_index.number(place))
        return numbers

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        index = self.token_index
        return summarize(
            "PivotTokenIndex",
            self.parameters,
            len(index.entities),
            tokens=index.known,
            postings=index.postings,
        )

    def validate(self) -> None:
        """Raise ValueError unless arrays and parameters are as ``build`` makes them."""
        parameters = self.parameters
        validate_shared(parameters, self.inputs)
        check_weight("lam", parameters["lam"])
        check_weight("threshold", parameters["threshold"])
        smoothing = check_weight("smoothing", parameters.get("smoothing", 0.0))
        fusion = parameters.get("fusion", "counts")
        check_fusion(fusion, smoothing, parameters["threshold"])
        for language, alpha in check_mapping("alpha", parameters["alpha"]).items():
            check_weight(f"alpha of {language}", alpha)
        if not set(parameters["languages"]) <= {*parameters["alpha"], parameters["target"]}:
            raise ValueError("a language has no alpha")
        for name, number in check_mapping("dropped", parameters["dropped"]).items():
            check_count(f"dropped {name}", number)
        check_count("dropped postings", parameters["dropped"]["postings"])
        self.token_index.validate()
        layers = len(parameters["languages"]) if fusion == "probabilities" else 1
        if len(self.token_index.blocks.token_total) != layers:
            raise ValueError(f"there are not {layers} layers of counts")
        if (smoothing > 0.0) != (len(self.token_index.blocks.background) > 0):
            raise ValueError(f"smoothing is {smoothing}, which the arrays contradict")
        self.sources.validate(len(self.token_index.entities))

    def contents(self) -> Contents:
        """Return what `save` writes."""
        arrays = {**self.token_index.arrays(), **add_prefix("sources", self.sources.arrays())}
        return Contents("pti", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "PivotTokenIndex":
        """Return the index that was saved."""
        parameters = stored.parameters
        token_index = TokenIndex.from_arrays(
            stored.arrays,
            tokenizer=from_parameters(parameters["tokenizer"]),
            threshold=parameters["threshold"],
        )
        sources = SourceMentions.from_arrays(
            strip_prefix("sources", stored.arrays), languages=parameters["languages"]
        )
        calibration = Calibration.from_stored(stored)
        return cls(token_index, sources, parameters, stored.inputs, calibration=calibration)

    def _normalize(self, mentions: list[str]) -> list[str]:
        return normalize_many(mentions, self.parameters["normalizer"], language=self.language)
