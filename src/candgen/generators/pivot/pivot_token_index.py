"""PivotTokenIndex: the paper's method, for any number of pivots."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from candgen.errors import ParameterError
from candgen.generators.calibration import DEFAULT as DEFAULT_CALIBRATION
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query, check_weight
from candgen.generators.inputs import TARGET, tables_of, weights_of
from candgen.generators.pivot.explanation import Explanation, explain
from candgen.generators.pivot.score_breakdown import Shares, shares
from candgen.index.counts import count
from candgen.index.fusion import Fusion, build_index, check_fusion
from candgen.index.token_index import Hits, TokenIndex
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import check_normalizer, normalize_many
from candgen.text.tokenizers import CharNgrams, Tokenizer, from_parameters, to_parameters

ALPHA = 0.4
LAM = 0.4
Scores = Literal["raw", "share"]


@dataclass(frozen=True, repr=False)
class PivotTokenIndex:
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
    calibration: Calibration = DEFAULT_CALIBRATION

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
        """Count the tokens of all tables, pool them with their weights, and lay them out.

            n(t,e) = n_target(t,e) + sum over pivots l of  alpha_l * n_l(t,e)

        Without a target this is the paper's zero-shot setting, with one the joint setting, and with
        a target alone the high-resource setting. ``language`` is that of the target and of the
        queries. A pivot whose alpha is 0 does not exist. With ``fusion="probabilities"`` languages
        are normalised each on its own, and alpha weighs their probabilities; ``smoothing`` is then
        added to every count of the pivots (see ``candgen.index.fusion``).
        """
        tokenizer = CharNgrams() if tokenizer is None else tokenizer
        check_normalizer(normalizer)
        described = to_parameters(tokenizer)
        lam = check_weight("lam", lam)
        threshold = check_weight("threshold", threshold)
        if threshold > 1:
            raise ParameterError(f"threshold is {threshold}: expected a probability, from 0 to 1")
        smoothing = check_weight("smoothing", smoothing)
        check_fusion(fusion, smoothing, threshold)
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ParameterError(f"threads is {threads!r}: expected a whole number of at least 1")
        pivots = dict(pivots or {})
        weights = weights_of(pivots, alpha)
        tables = tables_of(pivots, target, language, weights)
        name = language or TARGET
        counts = count(tables, tokenizer=tokenizer, normalizer=normalizer, progress=progress)
        progress("laying out", 0.0)
        index, pooled = build_index(
            counts,
            {name: 1.0, **weights},
            pivots=pivots,
            fusion=fusion,
            smoothing=smoothing,
            threshold=threshold,
            threads=threads,
            in_place=True,
        )
        progress("gathering mentions", 0.0)
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
        inputs = {
            each: {
                "pairs": len(table),
                "occurrences": table.total,
                "sha256": table.digest,
                "entities": int(np.count_nonzero(counts.languages[each].entity_total)),
            }
            for each, table in tables.items()
        }
        sources = SourceMentions.gather(tables, counts.entity_of_row, len(counts.entities))
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
        """The k best entities for each mention, best first.

            score(e | m) = sum over tokens t of m of  P(e | t) + lam * P(t | e)

        ``lam`` may differ from the one the index was built with. With ``scores="share"`` a score is
        divided by the sum of the scores of all entities. ``threads`` defaults to one for each core.
        """
        texts = self._normalized(check_query(mentions, k))
        lam = self.lam if lam is None else check_weight("lam", lam)
        if scores not in ("raw", "share"):
            raise ParameterError(f"scores is {scores!r}: choose 'raw' or 'share'")
        if scores == "share" and self.parameters.get("smoothing"):
            raise ParameterError("shares are not defined with smoothing: choose scores='raw'")
        answers: list[list[Candidate]] = []
        for first in range(0, len(texts), _at_once(k)):
            batch = texts[first : first + _at_once(k)]
            hits = self.token_index.search(batch, k, lam=lam, threads=threads)
            if scores == "share":
                totals = np.array([self.token_index.total(text, lam=lam) for text in batch])
                hits.score[:] = hits.score / np.maximum(totals, 1e-300)[:, np.newaxis]
            answers += self._candidates(hits)
        return answers

    def _candidates(self, hits: Hits) -> Iterator[list[Candidate]]:
        """Hits as candidates; all at once, because a call for each mention would cost more."""
        there = np.arange(hits.rank.shape[1]) < hits.found[:, np.newaxis]
        entities = self.token_index.ids(hits.rank[there])
        every = list(map(Candidate, entities, hits.score[there].tolist()))
        ends = np.cumsum(hits.found).tolist()
        return (every[start:end] for start, end in zip([0, *ends], ends, strict=False))

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Which of these entities can be candidates at all."""
        places = map(self.token_index.place, entities)
        return [
            place is not None and self.token_index.reachable(place, lam=self.lam)
            for place in places
        ]

    def names(self, entity: str) -> list[SourceMention]:
        """The mentions of an entity in the tables, the most frequent first; none if unknown."""
        place = self.token_index.place(entity)
        return [] if place is None else self.sources.of(self.token_index.number(place))

    def explain(self, mention: str, entity: str, *, lam: float | None = None) -> Explanation:
        """Why the entity has the score it has for this mention."""
        if not isinstance(mention, str) or not isinstance(entity, str):
            raise ParameterError("explain takes one mention and one entity, both strings")
        lam = self.lam if lam is None else check_weight("lam", lam)
        place = self.token_index.place(entity)
        if place is None:
            raise ParameterError(f"{entity!r} is not in this index: nothing to explain")
        return explain(
            self.token_index,
            self.sources,
            self.parameters,
            mention,
            entity,
            number=self.token_index.number(place),
            lam=lam,
        )

    def shares(
        self, mention: str, entities: Sequence[str], *, lam: float | None = None
    ) -> list[Shares]:
        """Prior, posterior and languages of each entity's score: what ``explain`` says of them."""
        lam = self.lam if lam is None else check_weight("lam", lam)
        if self.parameters.get("fusion") == "probabilities":  # layers: seldom, and one by one
            whole = [self.explain(mention, entity, lam=lam) for entity in entities]
            return [Shares(each.prior, each.posterior, each.languages) for each in whole]
        places = [self.token_index.place(entity) for entity in entities]
        if missing := [e for e, p in zip(entities, places, strict=True) if p is None]:
            raise ParameterError(f"{missing[0]!r} is not in this index: nothing to explain")
        (text,) = self._normalized([mention])
        numbers = [self.token_index.number(place) for place in places if place is not None]
        return shares(self.token_index, self.sources, self.parameters, text, numbers, lam=lam)

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one; ask for at least 30 candidates.

        Learned on dev queries if the index was tuned, fixed otherwise: see ``Calibration``.
        """
        return self.calibration.probabilities(mention, candidates)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        languages = self.parameters["languages"]
        pivots = tuple(each for each in languages if each != self.parameters["target"])
        index = self.token_index
        return Summary(
            "PivotTokenIndex",
            self.language,
            pivots,
            len(index.entities),
            index.known,
            index.postings,
        )

    def __repr__(self) -> str:
        return str(self.summary())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a folder that ``candgen.load`` opens; what was there is replaced."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored."""
        arrays = {**self.token_index.arrays(), **add_prefix("sources", self.sources.arrays())}
        return Contents("pti", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "PivotTokenIndex":
        """The index that was saved."""
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
        return cls(token_index, sources, parameters, stored.inputs, calibration)

    def _normalized(self, mentions: list[str]) -> list[str]:
        return normalize_many(mentions, self.parameters["normalizer"], language=self.language)


def _at_once(k: int) -> int:
    """How many mentions to search for before turning the hits into candidates."""
    return max(1, min(4096, 1_000_000 // k))
