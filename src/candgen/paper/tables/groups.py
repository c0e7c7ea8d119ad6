"""Recall of all methods on groups of queries: laid out as in the paper, and in rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from candgen.evaluation import metrics
from candgen.paper.findings import interval, paper_cells
from candgen.paper.measurements import K
from candgen.protocols import Ranks
from candgen.reporting.table import Best, Cell, Table

BEST = "The best of our figures in each column is marked, and all that equal it."


class Group(NamedTuple):
    """Some test queries, such as those of a pair in a setting, or those of one type.

    ``keys`` name it; ``ranks`` and the ``paper``'s figure are by method.
    """

    keys: tuple[str, ...]
    ranks: Mapping[str, Ranks]
    paper: Mapping[str, float | str | None]

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(next(iter(self.ranks.values())))

    def recall(self, method: str) -> float:
        """Return our recall@30 of a method."""
        return metrics.recall(self.ranks[method], K)


def tabulate(
    title: str, names: tuple[str, ...], groups: Sequence[Group], note: str, *, block: str = ""
) -> list[Table]:
    """Return the table as in the paper, and the same in rows beside the published figures.

    ``names`` are those of the groups' keys. With ``block``, the first key names a block of rows.
    """
    beside = f"{title}, beside the published"
    return [_by_method(title, groups, note, block), _in_rows(beside, names, groups, note)]


def _in_rows(title: str, names: tuple[str, ...], groups: Sequence[Group], note: str) -> Table:
    """Return a row for each group and method: recall, interval, the paper's, the difference."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for method, ranks in group.ranks.items():
            ours = group.recall(method)
            paper = paper_cells(ours, group.paper[method])
            rows.append((*group.keys, method, group.queries, ours, interval(ranks).shown, *paper))
    columns = (*names, "method", "queries", f"recall@{K}", "95%", "paper", "difference")
    return Table(title, columns, tuple(rows), note=note)


def _by_method(title: str, groups: Sequence[Group], note: str, block: str) -> Table:
    """Return a row for each method, and under it the paper's if there is one; groups are columns.

    With ``block``, each first key is a block of rows, and the other keys are its columns.
    """
    blocks: dict[str, list[Group]] = {}
    for group in groups:
        blocks.setdefault(group.keys[0] if block else "", []).append(group)
    first = next(iter(blocks.values()), [])
    start = 1 if block else 0
    rows: list[tuple[Cell, ...]] = []
    if first:
        rows.append((*[""] * start, "queries", *(group.queries for group in first)))
    for name, some in blocks.items():
        rows += ((*[name] * start, *row) for row in _rows_of(some))
    titles = (" ".join(group.keys[start:]) for group in first)
    several = bool(first) and len(first[0].ranks) > 1
    note = f"{BEST} {note}".strip() if several else note
    return Table(title, (*[block] * start, "method", *titles), tuple(rows), note=note)


def _rows_of(groups: Sequence[Group]) -> Iterator[tuple[Cell, ...]]:
    for method in groups[0].ranks:
        yield (method, *(_mark_best(group, method) for group in groups))
        papers = [group.paper[method] for group in groups]
        if any(figure is not None for figure in papers):
            yield (f"{method}, paper", *papers)


def _mark_best(group: Group, method: str) -> float:
    """Return our recall, marked if no method has a higher one and there are others."""
    ours = group.recall(method)
    best = max(map(group.recall, group.ranks))
    return Best(ours) if 0 < ours == best and len(group.ranks) > 1 else ours
