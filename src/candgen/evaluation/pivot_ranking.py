"""Which pivots? How much of a target each language covers, how like it is, and their best order.

>>> faroese = MentionTable.from_pairs([("Wien", "Q1741"), ("Vín", "Q282"), ("Oslo", "Q585")])
>>> icelandic = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])
>>> danish = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585")])
>>> ranking = rank_pivots(faroese, {"is": icelandic, "da": danish}, normalizer="default")
>>> [(row.language, row.order, round(row.ceiling, 1)) for row in ranking.rows]
[('da', 1, 66.7), ('is', 2, 100.0)]
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from candgen.errors import ParameterError
from candgen.evaluation.pivot_measures import Measure, Measured, measure_names, measure_pairs
from candgen.evaluation.trigram_similarity import WHOLE
from candgen.protocols import Progress, no_progress
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.table import Cell, Table
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import check_normalizer

By = Literal["ceiling", "closeness"]
LEAST = 0.01
SAMPLE = 2000
DRAWN = 16
"""How many pivots a figure shows: so many have room for their names, and later ones add little."""


class Pivot(NamedTuple):
    """A language that may be a pivot.

    ``coverage`` is the share of the target's pairs whose entity the language has; ``overlap`` that
    of the distributions of trigrams of both languages' names; ``closeness`` the mean, over those
    pairs, of the likeness of the target's mention and the one most like it among the entity's
    mentions in the language. All three are from 0 to 1. ``distance`` is one that was given.

    The others are those of a language that was chosen, after the ones chosen before it:
    ``ceiling`` is the percent of the target's pairs whose entity one of them has, ``likeness`` the
    mean over all pairs of the likeness to the best mention that any of them has, in percent, and
    ``gain`` is by how many points the language raised whichever of the two it was chosen by.
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
    likeness: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class PivotRanking:
    """Languages in the order in which to add them, then those that were not chosen.

    ``size`` is the number of the target's pairs, or names, that were looked at. Where it is
    ``estimated`` there were only names, and a name counts as covered by a language where a name of
    that language is much like it.
    """

    rows: tuple[Pivot, ...]
    by: By
    size: int
    language: str | None = None
    normalizer: str = "latin"
    estimated: bool = False

    def chosen(self, most: int | None = None) -> list[str]:
        """The languages that were chosen, best first; at most so many."""
        return [row.language for row in self.rows if row.order is not None][:most]

    def table(self) -> Table:
        """A row for each language; shares are in percent."""
        far = any(row.distance is not None for row in self.rows)
        columns = (
            "order",
            "language",
            "ceiling",
            "likeness",
            "gain",
            "coverage",
            "closeness",
            "overlap",
            *(["distance"] if far else []),
            "pairs",
            "entities",
        )
        rows = tuple(_cells(row, far=far) for row in self.rows)
        return Table(self._title(), columns, rows, note=self._note(), decimals=2)

    def as_json(self) -> dict[str, Any]:
        """What there is to know, for a program."""
        return {
            "language": self.language,
            "by": self.by,
            "estimated": self.estimated,
            "size": self.size,
            "normalizer": self.normalizer,
            "pivots": [row._asdict() for row in self.rows],
        }

    def figure(self) -> Figure:
        """Ceiling and likeness against the pivots, each added to those before it."""
        rows = [row for row in self.rows if row.order is not None][:DRAWN]
        if not rows:
            raise ParameterError("no language adds anything: there is nothing to draw")
        languages = tuple(row.language for row in rows)
        series = (
            Series("ceiling", languages, tuple(row.ceiling for row in rows)),
            Series("likeness", languages, tuple(row.likeness for row in rows)),
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
    sample: int = SAMPLE,
    seed: int = 0,
    most: int | None = None,
    least: float = LEAST,
    distances: Mapping[str, float] | None = None,
    own: MentionTable | None = None,
    progress: Progress = no_progress,
) -> PivotRanking:
    """Measure every language, and say in which order to add them as pivots of a target.

    By ``"ceiling"`` each step adds the language that raises the ceiling most: what exists. By
    ``"closeness"`` it is the one that raises most the mean likeness of the target's mentions to the
    mentions of their entities in any language chosen so far: what n-grams can find. Among equals
    the higher closeness, then overlap, then the smaller table comes first, then the code. It stops
    where no language raises it by ``least`` points, or at ``most`` languages.

    The target is a mention table, or a sequence of names: then its entities are not known, and all
    is estimated from at most ``sample`` of the names. ``language`` is the target's code; a table of
    that code, or equal to the target, is left out, and so is one equal to ``own``, where the target
    is only a part of a table. Candidates are read one at a time.
    """
    _check(by, most, least, sample, language)
    check_normalizer(normalizer)
    if not isinstance(candidates, Mapping):
        raise ParameterError("candidates: expected a dict of tables, such as {'is': icelandic}")
    if not isinstance(target, MentionTable | Sequence):
        raise ParameterError(f"the target is {target!r}: expected a mention table, or names")
    estimated = not isinstance(target, MentionTable)
    measure: Measure = (
        measure_pairs(target, normalizer, language)
        if isinstance(target, MentionTable)
        else measure_names(target, normalizer, language, sample=sample, seed=seed)
    )
    measured: list[Measured] = []
    for number, code in enumerate(candidates):
        progress(f"looking at {code}", number / len(candidates))
        if code == language or not _usable(code, table := candidates[code], (target, own)):
            continue
        measured.append(measure(code, table))
    if not measured:
        raise ParameterError("there are no candidates but the target itself: give other languages")
    rows = _ranked(measured, by, most, least, distances or {})
    progress("done", 1.0)
    size = len(measured[0].covered)
    return PivotRanking(rows, by, size, language, normalizer, estimated)


def _usable(code: str, table: MentionTable, own: Sequence[object]) -> bool:
    """Whether it is a table, and another one than the target."""
    if not isinstance(table, MentionTable):
        raise ParameterError(f"the candidate {code!r} is {table!r}: expected a mention table")
    return not any(
        isinstance(each, MentionTable) and len(table) == len(each) and table == each for each in own
    )


def _ranked(
    measured: Sequence[Measured],
    by: By,
    most: int | None,
    least: float,
    distances: Mapping[str, float],
) -> tuple[Pivot, ...]:
    """Add the best language, again and again; then come the others, those that cover most first."""
    left = sorted(measured, key=_preference)
    size = len(left[0].covered)
    reached, best = np.zeros(size, np.bool_), np.zeros(size, np.int64)
    rows: list[Pivot] = []

    def gain(each: Measured) -> int:
        if by == "ceiling":
            return WHOLE * int(np.count_nonzero(each.covered & ~reached))
        return int(np.maximum(each.likeness - best, 0).sum())

    while left and (most is None or len(rows) < most):
        gains = list(map(gain, left))
        points = 100 * max(gains) / (WHOLE * size)
        if points == 0 or points < least:
            break
        chosen = left.pop(gains.index(max(gains)))  # they stand in the order of preference
        reached |= chosen.covered
        best = np.maximum(best, chosen.likeness)
        reach = 100 * int(np.count_nonzero(reached)) / size
        likeness = 100 * int(best.sum()) / (WHOLE * size)
        rows.append(
            _row(chosen, distances)._replace(
                order=len(rows) + 1, ceiling=reach, likeness=likeness, gain=points
            )
        )
    rest = sorted(left, key=lambda each: (-each.coverage, _preference(each)))
    return (*rows, *(_row(each, distances) for each in rest))


def _preference(each: Measured) -> tuple[float, float, int, str]:
    return -each.closeness, -each.overlap, each.pairs, each.language


def _row(each: Measured, distances: Mapping[str, float]) -> Pivot:
    return Pivot(
        each.language,
        each.pairs,
        each.entities,
        each.coverage,
        each.overlap,
        each.closeness,
        distances.get(each.language),
    )


def _cells(row: Pivot, *, far: bool) -> tuple[Cell, ...]:
    return (
        row.order,
        row.language,
        row.ceiling,
        row.likeness,
        row.gain,
        100 * row.coverage,
        100 * row.closeness,
        100 * row.overlap,
        *([row.distance] if far else []),
        row.pairs,
        row.entities,
    )


def _check(by: str, most: int | None, least: float, sample: int, language: str | None) -> None:
    if by not in get_args(By):
        raise ParameterError(f"by is {by!r}: choose {' or '.join(map(repr, get_args(By)))}")
    for name, value in (("most", most), ("sample", sample)):
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 1
        ):
            raise ParameterError(f"{name} is {value!r}: expected a whole number of at least 1")
    if language is not None and not isinstance(language, str):
        raise ParameterError(f"language is {language!r}: expected a code such as 'fo'")
    if isinstance(least, bool) or not isinstance(least, int | float) or not least >= 0:
        raise ParameterError(f"least is {least!r}: expected points, a number of at least 0")
