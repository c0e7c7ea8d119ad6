"""The candidates that the second stage compares: those of a mention and of its translation."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.candidate import Candidate, make_candidates
from candgen.generators.rerank.first_stage import Hits, Numbering, ask
from candgen.generators.rerank.stage import Stage
from candgen.generators.tiers import tier_scores
from candgen.index.cancellation import current_cancellation
from candgen.kernels import rerank as kernels

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CandidatePool:
    """The candidates of each mention with their properties, a row each.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` are those of mention q. The first ``own[q]`` of them
    were found by the mention itself, for which the first stage had ``hits``. ``translations`` has
    the mention with words translated, None if it has no translation.
    """

    numbering: Numbering
    hits: Hits
    own: Integers
    rows: kernels.Rows
    starts: Integers
    translations: list[str | None]

    @classmethod
    def gather(
        cls,
        generator: Any,  # noqa: ANN401
        spelling_of: npt.NDArray[np.int32],
        stage: Stage,
        mentions: list[str],
        k: int,
        depth: int,
    ) -> "CandidatePool":
        """Gather at least k candidates of each mention, if it has them; ``depth`` are compared.

        A mention that has a translation leaves half of the depth to it. Every candidate is compared
        with the text that found it; one that both found is compared with both, and the better
        comparison counts.
        """
        texts, half = stage.texts(mentions), depth // 2
        # A depth of 1 is not shared.
        translations: list[str | None] = [None] * len(mentions)
        if half:
            translations = stage.translate(mentions, texts)
        alone = [q for q, text in enumerate(translations) if text is None]
        shared = [q for q, text in enumerate(translations) if text is not None]
        known = [text for text in translations if text is not None]
        (hits, hits_of_shared, others), numbering = ask(
            generator,
            spelling_of,
            stage.spellings,
            [
                ([mentions[q] for q in alone], max(k, depth)),
                ([mentions[q] for q in shared], max(k, depth - half)),
                (known, half),
            ],
        )
        if shared:
            hits = _interleave(len(mentions), (alone, hits), (shared, hits_of_shared))
        own = np.minimum(hits.found, depth)
        own[shared] = np.minimum(own[shared], depth - half)
        translation_of = np.full(len(mentions), -1, np.int64)
        translation_of[shared] = np.arange(len(shared))
        room = int(own.sum() + others.found.sum())
        rows = kernels.Rows(
            np.empty(room, np.uint32),
            np.empty((room, kernels.COLUMNS), np.float64),
            np.empty(room, np.int64),
            np.empty(room, np.bool_),
        )
        starts = np.empty(len(mentions) + 1, np.int64)
        cancellation = current_cancellation()
        kernels.fill_rows(
            kernels.Found(*hits, *stage.edits.encode(texts)),
            own,
            kernels.Found(*others, *stage.edits.encode(stage.texts(known))),
            translation_of,
            numbering.spelling_of,
            stage.names,
            stage.word_tables,
            stage.edits.ratios,
            rows,
            starts,
            cancellation.flag,
        )
        cancellation.check()
        return cls(numbering, hits, own, rows, starts, translations)

    @property
    def values(self) -> Floats:
        """The properties of all rows, in the columns of ``Weights``."""
        return self.rows.values[: self.starts[-1]]

    def order(self, weights: Sequence[float], k: int) -> list[list[Candidate]]:
        """Return the first k candidates of each mention by their new scores.

        If there are fewer, those that were not compared follow, in their order.
        """
        scores = np.empty(self.starts[-1], np.float64)
        kernels.score_rows(self.values, tuple(weights), scores)
        number = np.minimum(np.diff(self.starts), k)
        chosen = np.empty(number.sum(), np.int64)
        kernels.choose_rows(scores, self.rows.place, self.starts, number, chosen)
        ids = self.numbering.ids(self.rows.place[chosen])
        every = make_candidates(ids, scores[chosen].tolist())
        ends = accumulate(number.tolist(), initial=0)
        answers = [every[start:end] for start, end in pairwise(ends)]
        for q in np.flatnonzero((number < k) & (self.hits.found > self.own)).tolist():
            answers[q] += self._rest(q, k - len(answers[q]))
        return answers

    def _rest(self, q: int, most: int) -> list[Candidate]:
        """Return candidates of a mention that were not compared, with scores below 1."""
        place, score, found = self.hits
        compared = self.rows.place[self.starts[q] : self.starts[q + 1]]
        beyond = slice(int(self.own[q]), int(found[q]))
        new = np.flatnonzero(~np.isin(place[q, beyond], compared))[:most]
        below = tier_scores(score[q, beyond][new].tolist(), tiers_left=0, last=1.0)
        return list(map(Candidate, self.numbering.ids(place[q, beyond][new]), below))

    def row_of(self, q: int, entity: str) -> int | None:
        """Return the row of an entity among those of mention q; None if it was not compared."""
        place = self.numbering.place_of(entity)
        compared = self.rows.place[self.starts[q] : self.starts[q + 1]]
        found = np.flatnonzero(compared == place).tolist() if place is not None else []
        return int(self.starts[q]) + found[0] if found else None


def _interleave(number: int, *parts: tuple[list[int], Hits]) -> Hits:
    """Return the hits of all mentions; each part has those whose numbers are in its list."""
    width = max(hits.place.shape[1] for _, hits in parts)
    whole = Hits(
        np.zeros((number, width), np.uint32), np.zeros((number, width)), np.zeros(number, np.int64)
    )
    for numbers, hits in parts:
        whole.place[numbers, : hits.place.shape[1]] = hits.place
        whole.score[numbers, : hits.place.shape[1]] = hits.score
        whole.found[numbers] = hits.found
    return whole
