"""What an evaluation found: measures, tables of them, and the answer to every query."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.metrics import Comparison, Interval
from candgen.protocols import Ranks
from candgen.reporting.table import Cell, Difference, Table
from candgen.storage.atomic import write_text
from candgen.tables.queries import TYPES, Query

if TYPE_CHECKING:
    import rich.console

Flags = npt.NDArray[np.bool_]
UNLIKE = "no pivot name"
"""The label of the queries whose mention is not one of the gold's names in a pivot."""


class Answer(NamedTuple):
    """What a generator said to one query: the gold's rank (0: not there) and score, and the first.

    ``known`` is whether the gold is in the candidate space, None where the generator cannot tell.
    """

    rank: int
    score: float | None
    first: str | None
    first_score: float | None
    known: bool | None = None

    @property
    def outcome(self) -> str:
        """What happened, in words."""
        if self.rank:
            return "found"
        if self.known is False:
            return "not in the candidate space"
        return "ranked too low" if self.first is not None else "no candidates"


@dataclass(frozen=True)
class Report:
    """The answers of several generators to the same queries, to the depth of the largest k.

    ``unlike`` marks the queries whose mention is not one of the gold's names in a pivot: the others
    can be looked up.
    """

    queries: Sequence[Query]
    answers: Mapping[str, Sequence[Answer]]
    ks: tuple[int, ...]
    unlike: Flags | None = None

    @property
    def types(self) -> list[str]:
        """The types that the queries have, easiest first."""
        present = {query.type for query in self.queries}
        return [name for name in TYPES if name in present]

    def ranks(self, name: str, *, type: str | None = None, unlike: bool = False) -> Ranks:  # noqa: A002
        """The gold's rank for each query, or for those of a type, or unlike any pivot name."""
        if name not in self.answers:
            raise ParameterError(f"no generator {name!r} here: choose {', '.join(self.answers)}")
        ranks = np.array([answer.rank for answer in self.answers[name]], np.int64)
        return ranks[self._mask(type=type, unlike=unlike)]

    def recall(
        self,
        name: str,
        k: int = 30,
        *,
        type: str | None = None,  # noqa: A002
        unlike: bool = False,
    ) -> float:
        """Percent of the queries whose gold is among the first k candidates: micro recall@k."""
        return metrics.recall(self.ranks(name, type=type, unlike=unlike), self._depth(k))

    def macro_recall(self, name: str, k: int = 30) -> float:
        """Mean over the types of the recall@k of each."""
        types = [query.type for query in self.queries]
        return metrics.macro_recall(self.ranks(name), types, self._depth(k))

    def mrr(self, name: str, *, type: str | None = None, unlike: bool = False) -> float:  # noqa: A002
        """Mean reciprocal rank, from 0 to 1; a gold beyond the largest k counts 0."""
        return metrics.mrr(self.ranks(name, type=type, unlike=unlike))

    def interval(
        self,
        name: str,
        k: int = 30,
        *,
        type: str | None = None,  # noqa: A002
        unlike: bool = False,
    ) -> Interval:
        """The 95% bootstrap interval of the recall@k."""
        ranks = self.ranks(name, type=type, unlike=unlike)
        return metrics.bootstrap(100 * metrics.hits(ranks, self._depth(k)))

    def compare(self, first: str, second: str, k: int = 30, *, unlike: bool = False) -> Comparison:
        """Whether one generator finds more than another: paired bootstrap and McNemar's test."""
        return metrics.compare(
            self.ranks(first, unlike=unlike), self.ranks(second, unlike=unlike), self._depth(k)
        )

    def ceiling(self, name: str, *, type: str | None = None, unlike: bool = False) -> float | None:  # noqa: A002
        """Percent of the queries whose gold the generator can return at all, if it can tell."""
        self.ranks(name)
        known = [answer.known for answer in self.answers[name]]
        if None in known:
            return None
        chosen = np.array(known, np.bool_)[self._mask(type=type, unlike=unlike)]
        return 100 * float(chosen.mean()) if len(chosen) else None

    def table(self) -> Table:
        """Every generator on all queries, on each type, and on those unlike any pivot name."""
        largest = self.ks[-1]
        columns = [
            "generator",
            "subset",
            "queries",
            "recall@1",
            *(f"recall@{k}" for k in self.ks if k > 1),
            f"95% of @{largest}",
            "MRR",
            "ceiling",
        ]
        rows = [row for name in self.answers for row in self._rows(name)]
        return Table(
            "Recall in percent, of all queries in the file",
            tuple(columns),
            tuple(rows),
            note=f"MRR counts a gold beyond rank {largest} as 0. Intervals are bootstrapped.",
        )

    def comparisons(self, k: int | None = None) -> Table:
        """Every two generators: the difference of recall@k, and whether it may be chance."""
        k = self.ks[-1] if k is None else k
        rows = []
        for first, second in combinations(self.answers, 2):
            found = self.compare(first, second, k)
            rows.append(
                (
                    first,
                    second,
                    len(self.queries),
                    Difference(found.difference),
                    "{:+.1f} to {:+.1f}".format(*found.interval),
                    found.only_first,
                    found.only_second,
                    f"{found.p_value:.2g}",
                )
            )
        columns = (
            "first",
            "second",
            "queries",
            f"recall@{k}, difference",
            "95%",
            "only first",
            "only second",
            "p (McNemar)",
        )
        return Table(f"Paired comparison of recall@{k}", columns, tuple(rows))

    def results(self) -> str:
        """The answer to every query, as TSV: what failed, and why."""
        lines = [
            "generator\tmention\tentity\ttype\tno_pivot_name\trank\tscore\tfirst\tfirst_score\toutcome\n"
        ]
        for name, answers in self.answers.items():
            for number, (query, answer) in enumerate(zip(self.queries, answers, strict=True)):
                unlike = "" if self.unlike is None else "yes" if self.unlike[number] else "no"
                cells = (
                    name,
                    query.mention,
                    query.entity,
                    query.type,
                    unlike,
                    answer.rank,
                    answer.score,
                    answer.first,
                    answer.first_score,
                    answer.outcome,
                )
                lines.append("\t".join(map(_field, cells)) + "\n")
        return "".join(lines)

    def write_results(self, path: str | os.PathLike[str]) -> None:
        """Write ``results`` to a file: the whole of it, or nothing."""
        write_text(Path(path), self.results())

    def tables(self) -> list[Table]:
        """The table and, of several generators, that of their comparisons."""
        return [self.table(), *([self.comparisons()] if len(self.answers) > 1 else [])]

    def to_csv(self) -> str:
        """The table as CSV."""
        return self.table().to_csv()

    def to_json(self) -> str:
        """All tables as JSON."""
        return f"[{','.join(table.to_json().strip() for table in self.tables())}]\n"

    def to_markdown(self) -> str:
        """All tables as Markdown."""
        return "\n".join(table.to_markdown().rstrip("\n") + "\n" for table in self.tables())

    def to_latex(self) -> str:
        """All tables as LaTeX, for the package booktabs."""
        return "\n".join(table.to_latex() for table in self.tables())

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def __rich__(self) -> "rich.console.Group":
        """All tables for a terminal."""
        from rich.console import Group  # noqa: PLC0415

        return Group(*self.tables())

    def _rows(self, name: str) -> Iterator[tuple[Cell, ...]]:
        yield self._row(name, "all")
        if self.types:
            for each in self.types:
                yield self._row(name, each, type=each)
            types = [query.type for query in self.queries]
            ranks = self.ranks(name)
            macro = [metrics.macro_recall(ranks, types, k) for k in dict.fromkeys((1, *self.ks))]
            values = 100 * metrics.hits(ranks, self.ks[-1])
            interval = metrics.bootstrap(values, types=types).shown
            yield (name, "macro", len(ranks), *macro, interval, None, None)
        if self.unlike is not None:
            yield self._row(name, UNLIKE, unlike=True)

    def _row(
        self,
        name: str,
        label: str,
        *,
        type: str | None = None,  # noqa: A002
        unlike: bool = False,
    ) -> tuple[Cell, ...]:
        ranks = self.ranks(name, type=type, unlike=unlike)
        recalls = (metrics.recall(ranks, k) for k in dict.fromkeys((1, *self.ks)))
        interval = metrics.bootstrap(100 * metrics.hits(ranks, self.ks[-1]))
        return (
            name,
            label,
            len(ranks),
            *recalls,
            interval.shown,
            f"{metrics.mrr(ranks):.3f}" if len(ranks) else None,
            self.ceiling(name, type=type, unlike=unlike),
        )

    def _mask(self, *, type: str | None, unlike: bool) -> Flags:  # noqa: A002
        chosen = np.ones(len(self.queries), np.bool_)
        if type is not None:
            if type not in TYPES:
                raise ParameterError(f"type is {type!r}: choose {', '.join(TYPES)}")
            chosen &= np.array([query.type == type for query in self.queries], np.bool_)
        if unlike:
            if self.unlike is None:
                raise ParameterError("the pivots' names are not known: give evaluate the pivots")
            chosen &= self.unlike
        return chosen

    def _depth(self, k: int) -> int:
        if isinstance(k, int) and k > self.ks[-1]:
            raise ParameterError(
                f"k is {k} and only {self.ks[-1]} candidates were asked for: evaluate with more"
            )
        return k


def _field(cell: object) -> str:
    """A field of TSV, in which a tab or a line break cannot stand."""
    return "" if cell is None else re.sub("[\t\n\r]", " ", str(cell))
