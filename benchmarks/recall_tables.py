"""The tables of recall.py, from the stored results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from recall_cases import JOINT, NAMES, ZERO_SHOT
from recall_methods import ROWS
from recall_results import Cell, cells, path_of, read_json

from candgen.evaluation.metrics import Comparison, bootstrap, compare, hits, recall
from candgen.reporting.table import Difference, Table

KS = (1, 10, 30)
SETTINGS = (ZERO_SHOT, JOINT)


@dataclass(frozen=True)
class Column:
    """One case in one setting: the ranks of every method that was measured."""

    case: str
    setting: str
    cells: dict[str, Cell]
    unlike: npt.NDArray[np.bool_]

    @classmethod
    def read(cls, case: str, setting: str) -> "Column | None":
        """Return the stored cells, or None; cells of other queries are ignored."""
        known = read_json(path_of(case, "all", "queries"))
        if known is None or setting not in known["settings"]:
            return None
        found = {
            cell.method: cell
            for cell in cells(case, setting, tuple(ROWS))
            if cell.queries == known["digest"]
        }
        return cls(case, setting, found, np.array(known["unlike"], np.bool_)) if found else None

    def ranks(self, method: str, *, unlike: bool = False) -> npt.NDArray[np.int64]:
        """Return those of all queries, or of queries without an exact match in the pivot."""
        ranks = np.array(self.cells[method].ranks, np.int64)
        return ranks[self.unlike] if unlike else ranks

    def recall(self, method: str, k: int, *, unlike: bool = False) -> float:
        """Return recall in percent."""
        return recall(self.ranks(method, unlike=unlike), k)

    def gain(self, method: str, over: str, k: int, *, unlike: bool = False) -> Comparison:
        """Compare two methods on the same queries."""
        first, second = (self.ranks(name, unlike=unlike) for name in (method, over))
        return compare(first, second, k)


def columns(cases: Sequence[str] = NAMES) -> list[Column]:
    """Return everything that was measured."""
    every = (Column.read(case, setting) for setting in SETTINGS for case in cases)
    return [column for column in every if column is not None]


def tables(every: Sequence[Column]) -> dict[str, Table]:
    """Return all tables, the most important first, by the names of their CSV files."""
    made = {
        "all-queries": overview(every, unlike=False),
        "without-exact-match": overview(every, unlike=True),
    }
    if any(last(column) for column in every):
        made |= {"gain-over-one-pivot": gains(every), "behind-other-methods": losses(every)}
    return made | {
        "intervals": detail(every),
        "costs": costs(every),
        "chosen-on-dev": chosen(every),
    }


def overview(every: Sequence[Column], *, unlike: bool) -> Table:
    """A row for each pair and setting, a column for each method."""
    methods = [name for name in ROWS if any(name in column.cells for column in every)]

    def cell(name: str, column: Column) -> str | None:
        if name not in column.cells:
            return None
        return " / ".join(f"{column.recall(name, k, unlike=unlike):.1f}" for k in KS)

    rows = tuple(
        (
            column.setting,
            column.case,
            int(column.unlike.sum()) if unlike else len(column.unlike),
            *(cell(name, column) for name in methods),
        )
        for column in every
    )
    asked = "queries without an exact match in the pivot" if unlike else "all queries"
    names = ("setting", "pair", "queries", *(ROWS[name].label for name in methods))
    return Table(f"Recall{' / '.join(f'@{k}' for k in KS)}, {asked}", names, rows)


def last(column: Column) -> str | None:
    """Return the method that is compared with the others: the last one, if it was measured."""
    return list(ROWS)[-1] if list(ROWS)[-1] in column.cells else None


def gains(every: Sequence[Column]) -> Table:
    """The last method compared with PTI with one pivot, where names differ."""
    rows = []
    for column in every:
        name, number = last(column), int(column.unlike.sum())
        if name is None or "pti" not in column.cells or not number:
            continue
        one, thirty = (column.gain(name, "pti", k, unlike=True) for k in (1, 30))
        before, now = (column.recall(method, 1, unlike=True) for method in ("pti", name))
        rows.append(
            (
                column.setting,
                column.case,
                number,
                before,
                now,
                Difference(one.difference),
                one.interval.shown,
                Difference(thirty.difference),
                thirty.interval.shown,
            )
        )
    names = (
        "setting",
        "pair",
        "queries",
        "PTI, one pivot @1",
        "second stage @1",
        "gain @1",
        "gain @1, 95%",
        "gain @30",
        "gain @30, 95%",
    )
    title = "Gain over PTI with one pivot, on queries without an exact match in the pivot"
    return Table(title, names, tuple(rows))


def losses(every: Sequence[Column]) -> Table:
    """The last method compared with each of the others, where it is worse."""
    rows: list[tuple[Any, ...]] = []
    seen = 0
    for column in every:
        name = last(column)
        for other in column.cells if name else ():
            for k in KS if other != name else ():
                for unlike in (False, True):
                    found = column.gain(str(name), other, k, unlike=unlike)
                    seen += 1
                    if found.difference < 0:
                        rows.append(
                            (
                                column.setting,
                                column.case,
                                ROWS[other].label,
                                f"@{k}",
                                "without exact match" if unlike else "all",
                                Difference(found.difference),
                                found.interval.shown,
                                f"{found.p_value:.2g}",
                                "yes" if found.p_value < 0.05 else "no",
                            )
                        )
    names = (
        "setting",
        "pair",
        "compared with",
        "k",
        "queries",
        "difference",
        "difference, 95%",
        "p",
        "significant",
    )
    note = f"Of {seen} paired comparisons, those in which the second stage is behind."
    rows.sort(key=lambda row: (row[-1] != "yes", row[5]))
    return Table("Where the second stage is behind", names, tuple(rows), note=note)


def detail(every: Sequence[Column]) -> Table:
    """Every figure, with its interval."""
    rows = []
    for column in every:
        for name, cell in column.cells.items():
            row: list[Any] = [column.case, column.setting, ROWS[name].label]
            for unlike in (False, True):
                ranks = column.ranks(name, unlike=unlike)
                row.append(len(ranks))
                for k in KS:
                    interval = bootstrap(100.0 * hits(ranks, k)).shown
                    row.append(f"{recall(ranks, k):.1f} ({interval})" if len(ranks) else None)
            rows.append((*row, cell.more.get("ceiling")))
    names = (
        "pair",
        "setting",
        "method",
        "queries",
        *(f"@{k}" for k in KS),
        "without exact match",
        *(f"of these @{k}" for k in KS),
        "ceiling",
    )
    note = (
        "In brackets 95% bootstrap intervals. Ceiling: percent of all queries whose gold is in the "
        "candidate space."
    )
    return Table("Recall@1, @10 and @30", names, tuple(rows), note=note)


def costs(every: Sequence[Column]) -> Table:
    """CPU time and bytes."""
    rows = tuple(
        (
            column.case,
            column.setting,
            ROWS[name].label,
            cell.seconds["tuning"],
            cell.seconds["building"],
            1000 * cell.seconds["query"],
            cell.bytes / 1e6,
            cell.note,
        )
        for column in every
        for name, cell in column.cells.items()
    )
    names = (
        "pair",
        "setting",
        "method",
        "tuning on dev, s",
        "building, s",
        "ms per query",
        "MB",
        "note",
    )
    note = (
        "CPU time of all threads, on a machine with other load. MB: size of the stored index; of "
        "TF-IDF, its arrays without the strings."
    )
    return Table("Costs", names, rows, note=note, decimals=2)


def chosen(every: Sequence[Column]) -> Table:
    """The parameters chosen on dev."""
    rows = tuple(
        (
            column.case,
            column.setting,
            ROWS[name].label,
            " ".join(cell.pivots),
            in_words(cell.parameters),
        )
        for column in every
        for name, cell in column.cells.items()
        if cell.parameters
    )
    return Table(
        "Parameters chosen on dev", ("pair", "setting", "method", "pivots", "parameters"), rows
    )


def in_words(parameters: dict[str, Any]) -> str:
    """Return parameters as text."""
    parts = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            parts.append(f"{name} ({in_words(value)})")
        else:
            parts.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}")
    return ", ".join(parts)
