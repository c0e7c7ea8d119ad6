"""Choose pivots: how much of a target each language covers, how similar it is, the best order.

>>> faroese = MentionTable.from_pairs([("Wien", "Q1741"), ("Vín", "Q282"), ("Oslo", "Q585")])
>>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])
>>> danish = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585")])
>>> ranking = rank_pivots(faroese, {"is": icelandic, "da": danish}, normalizer="default")
>>> [(row.language, row.order, round(row.ceiling, 1)) for row in ranking.rows]
[('da', 1, 66.7), ('is', 2, 100.0)]
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from candgen.errors import ParameterError, check_number, check_whole_number
from candgen.evaluation.pivot_measures import PivotMeasures, prepare_names, prepare_pairs
from candgen.evaluation.trigram_similarity import WHOLE
from candgen.protocols import Progress, no_progress
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.table import Cell, Table
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import check_normalizer

By = Literal["ceiling", "closeness"]
MIN_GAIN = 0.01
SAMPLE_SIZE = 2000
MAX_DRAWN_PIVOTS = 16
"""A figure has room for the names of so many pivots, and later ones add little."""


class Pivot(NamedTuple):
    """A language that may become a pivot.

    Attributes:
        language: Its code.
        pairs: The number of pairs in its table.
        entities: The number of entities in its table.
        coverage: The fraction of the target's pairs whose entity the language has.
        overlap: The overlap of the trigram distributions of both languages' names, from 0 to 1.
        closeness: For the pairs that are covered, the trigram similarity of the target's mention
            and the most similar mention of the entity in the language: the mean, from 0 to 1.
        distance: The distance that was given for the language, or None.
        order: Its place among the chosen languages, from 1; None if it was not chosen. The
            following values are None then too; they count it and all that were chosen before it.
        ceiling: The percentage of the target's pairs whose entity one of them has.
        similarity: The trigram similarity of each mention and the most similar mention of its
            entity in any of them, 0 where there is none: the mean over all pairs, in percent.
        gain: By how many points the language raised its objective, ceiling or similarity.
    """

    language: str
    pairs: int
    entities: int
    coverage: float
    overlap: float
    closeness: float
    distance: float | None = None
    order: int | None = None
    ceiling: float | None = None
    similarity: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class PivotRanking:
    """Languages in the order in which to add them as pivots: what ``rank_pivots`` returns.

    Attributes:
        rows: A ``Pivot`` for each language: the chosen ones in their order, then the others.
        by: The objective: "ceiling" or "closeness".
        size: The number of the target's pairs, or names, that were used.
        language: The code of the target, if it was given.
        normalizer: The normalizer after which names were compared.
        estimated: True if the target had names without entities. A name then counts as covered
            by a language that has a very similar name.
    """

    rows: tuple[Pivot, ...]
    by: By
    size: int
    language: str | None = None
    normalizer: str = "latin"
    estimated: bool = False

    def chosen(self, most: int | None = None) -> list[str]:
        """Return the chosen languages, the best first; the first ``most`` of them if given."""
        return [row.language for row in self.rows if row.order is not None][:most]

    def table(self) -> Table:
        """Return a row for each language; fractions are in percent."""
        columns: dict[str, Callable[[Pivot], Cell]] = {
            "order": lambda row: row.order,
            "language": lambda row: row.language,
            "ceiling": lambda row: row.ceiling,
            "similarity": lambda row: row.similarity,
            "gain": lambda row: row.gain,
            "coverage": lambda row: 100 * row.coverage,
            "closeness": lambda row: 100 * row.closeness,
            "overlap": lambda row: 100 * row.overlap,
            "distance": lambda row: row.distance,
            "pairs": lambda row: row.pairs,
            "entities": lambda row: row.entities,
        }
        if all(row.distance is None for row in self.rows):
            del columns["distance"]
        return Table.of(self._title(), columns, self.rows, note=self._note(), decimals=2)

    def as_json(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        # Programs know the similarity by the name that it had first.
        pivots = [
            {"likeness" if name == "similarity" else name: value for name, value in row.items()}
            for row in (each._asdict() for each in self.rows)
        ]
        names = ("language", "by", "estimated", "size", "normalizer")
        return {**{name: getattr(self, name) for name in names}, "pivots": pivots}

    def figure(self) -> Figure:
        """Return ceiling and similarity against the pivots, each added to those before it."""
        rows = [row for row in self.rows if row.order is not None][:MAX_DRAWN_PIVOTS]
        if not rows:
            raise ParameterError("no language adds anything: there is nothing to draw")
        languages = tuple(row.language for row in rows)
        series = (
            Series("ceiling", languages, tuple(row.ceiling for row in rows)),
            Series("similarity", languages, tuple(row.similarity for row in rows)),
        )
        counted = "names" if self.estimated else "pairs"
        lowest = min(value for some in series for value in some.y if value is not None)
        return Figure(
            "pivots",
            self._title(),
            "lines",
            "pivots, each added to those before it",
            f"% of {self.size:,} {counted}",
            (Panel("", series),),
            y_range=(min(20 * math.floor(lowest / 20), 80), 100),
            note=self._note(),
        )

    def _title(self) -> str:
        target = f" for {self.language}" if self.language else ""
        return f"Pivots{target}, by {self.by}{', estimated' if self.estimated else ''}"

    def _note(self) -> str:
        if self.estimated:
            return f"Estimated from {self.size:,} names without entities; shares in percent."
        return f"Of {self.size:,} pairs; shares in percent."


def rank_pivots(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    by: By = "ceiling",
    language: str | None = None,
    normalizer: str = "latin",
    sample: int = SAMPLE_SIZE,
    seed: int = 0,
    most: int | None = None,
    least: float = MIN_GAIN,
    distances: Mapping[str, float] | None = None,
    own: MentionTable | None = None,
    progress: Progress = no_progress,
) -> PivotRanking:
    """Measure every language, and choose in which order to add them as pivots of a target.

    Each step adds the language that raises the objective most. Among equals the higher closeness,
    then the higher overlap, then the smaller table comes first, then the code.

    Args:
        target: The mention table of the target, or a sequence of names: then its entities are
            not known, and everything is estimated.
        candidates: The tables of other languages by their codes; they are read one at a time.
        by: The objective. "ceiling" is the percentage of the target's pairs whose entity one of
            the chosen languages has: which entities exist. "closeness" is the mean trigram
            similarity of the target's mentions and the most similar mentions of their entities in
            any chosen language: what n-grams can find.
        language: The code of the target; a table of that code is left out.
        normalizer: The normalizer after which names are compared.
        sample: The most names to use, for a target with names alone.
        seed: The random seed of that sample.
        most: The most languages to choose; None for no limit.
        least: The smallest gain, in points, for which a language is added.
        distances: Distances of languages from the target, by their codes, to be shown.
        own: The whole table that the target is a part of. A table equal to it, or to the target,
            is left out.
        progress: Called with what is being done and the fraction of it that is done.

    Returns:
        The chosen languages in their order and then the others, with all measures of each.
    """
    if by not in get_args(By):
        raise ParameterError(f"by is {by!r}: choose {' or '.join(map(repr, get_args(By)))}")
    check_whole_number("sample", sample)
    if most is not None:
        check_whole_number("most", most)
    check_number("least", least)
    if language is not None and not isinstance(language, str):
        raise ParameterError(f"language is {language!r}: expected a code such as 'fo'")
    check_normalizer(normalizer)
    if not isinstance(candidates, Mapping):
        raise ParameterError("candidates: expected a dict of tables, such as {'is': icelandic}")
    if isinstance(target, MentionTable):
        measure = prepare_pairs(target, normalizer, language)
    elif isinstance(target, Sequence):
        measure = prepare_names(target, normalizer, language, sample=sample, seed=seed)
    else:
        raise ParameterError(f"the target is {target!r}: expected a mention table, or names")
    measured: list[PivotMeasures] = []
    for number, code in enumerate(candidates):
        progress(f"looking at {code}", number / len(candidates))
        if code != language and _is_usable(code, table := candidates[code], (target, own)):
            measured.append(measure(code, table))
    if not measured:
        raise ParameterError("there are no candidates but the target itself: give other languages")
    rows = _rank(measured, by, most, least, distances or {})
    progress("done", 1.0)
    estimated = not isinstance(target, MentionTable)
    return PivotRanking(rows, by, len(measured[0].covered), language, normalizer, estimated)


def _is_usable(code: str, table: MentionTable, own: Sequence[object]) -> bool:
    """Return whether this is another table than those of the target."""
    if not isinstance(table, MentionTable):
        raise ParameterError(f"the candidate {code!r} is {table!r}: expected a mention table")
    return not any(
        isinstance(each, MentionTable) and len(table) == len(each) and table == each for each in own
    )


def _rank(
    measured: Sequence[PivotMeasures],
    by: By,
    most: int | None,
    least: float,
    distances: Mapping[str, float],
) -> tuple[Pivot, ...]:
    """Add the best language in each step; the others follow, those that cover most first."""
    left = sorted(measured, key=_preference)
    size = len(left[0].covered)
    reached, best = np.zeros(size, np.bool_), np.zeros(size, np.int64)
    rows: list[Pivot] = []

    def gain(each: PivotMeasures) -> int:
        if by == "ceiling":
            return WHOLE * int(np.count_nonzero(each.covered & ~reached))
        return int(np.maximum(each.similarity - best, 0).sum())

    def row_of(each: PivotMeasures) -> Pivot:
        measures = each.pairs, each.entities, each.coverage, each.overlap, each.closeness
        return Pivot(each.language, *measures, distances.get(each.language))

    while left and (most is None or len(rows) < most):
        gains = list(map(gain, left))
        points = 100 * max(gains) / (WHOLE * size)
        if points == 0 or points < least:
            break
        chosen = left.pop(gains.index(max(gains)))  # the first of equals is the preferred one
        reached |= chosen.covered
        best = np.maximum(best, chosen.similarity)
        rows.append(
            row_of(chosen)._replace(
                order=len(rows) + 1,
                ceiling=100 * int(np.count_nonzero(reached)) / size,
                similarity=100 * int(best.sum()) / (WHOLE * size),
                gain=points,
            )
        )
    rest = sorted(left, key=lambda each: (-each.coverage, _preference(each)))
    return (*rows, *map(row_of, rest))


def _preference(each: PivotMeasures) -> tuple[float, float, int, str]:
    return -each.closeness, -each.overlap, each.pairs, each.language
