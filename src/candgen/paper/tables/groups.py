"""Recall of all methods on groups of queries: in the paper's own orientation, and in rows."""

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
        """How many queries it has."""
        return len(next(iter(self.ranks.values())))

    def recall(self, method: str) -> float:
        """Our recall@30 of a method."""
        return metrics.recall(self.ranks[method], K)


def in_rows(title: str, names: Sequence[str], groups: Sequence[Group], *, note: str = "") -> Table:
    """A row for each group and method: our recall, its interval, the paper's, the difference.

    ``names`` are those of the groups' keys.
    """
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for method, ranks in group.ranks.items():
            ours = group.recall(method)
            paper = paper_cells(ours, group.paper[method])
            rows.append((*group.keys, method, group.queries, ours, interval(ranks), *paper))
    columns = (*names, "method", "queries", f"recall@{K}", "95%", "paper", "difference")
    return Table(title, columns, tuple(rows), note=note)


def by_method(title: str, groups: Sequence[Group], *, note: str = "", block: str = "") -> Table:
    """A row for each method, a column for each group, as the paper has them.

    With ``block``, the first key is the name of a block of rows, and the others are its columns.
    Under a method that the paper has figures of stands a row of these.
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
    columns = (*[block] * start, "method", *titles)
    several = bool(first) and len(first[0].ranks) > 1
    return Table(title, columns, tuple(rows), note=f"{BEST} {note}".strip() if several else note)


def _rows_of(groups: Sequence[Group]) -> Iterator[tuple[Cell, ...]]:
    methods = list(groups[0].ranks)
    for method in methods:
        yield (method, *(_marked(group, method) for group in groups))
        papers = [group.paper[method] for group in groups]
        if any(figure is not None for figure in papers):
            yield (f"{method}, paper", *papers)


def _marked(group: Group, method: str) -> float:
    """Our recall, marked if no method has a higher one and there are others."""
    ours = group.recall(method)
    best = max(map(group.recall, group.ranks))
    return Best(ours) if 0 < ours == best and len(group.ranks) > 1 else ours
