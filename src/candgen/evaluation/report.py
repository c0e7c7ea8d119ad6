"""The result of an evaluation: measures, tables of them, and the answer to every query."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.metrics import Comparison, Flags, Interval
from candgen.protocols import Ranks
from candgen.reporting.table import Cell, Difference, Table
from candgen.storage.atomic import write_text
from candgen.tables.queries import TYPES, Query

if TYPE_CHECKING:
    import rich.console

UNLIKE = "no pivot name"
"""The label of the queries without an exact match among the gold's names in the pivots."""

_RESULTS = "generator mention entity type no_pivot_name rank score first first_score outcome"


class Answer(NamedTuple):
    """The answer of a generator to one query.

    Attributes:
        rank: The gold's rank, from 1; 0 if it is not among the candidates.
        score: The gold's score, None without a rank.
        first: The entity of the first candidate, None if there are no candidates.
        first_score: Its score.
        known: Whether the gold is in the candidate space; None if the generator cannot tell.
    """

    rank: int
    score: float | None
    first: str | None
    first_score: float | None
    known: bool | None = None

    @property
    def outcome(self) -> str:
        """The result in words."""
        if self.rank:
            return "found"
        if self.known is False:
            return "not in the candidate space"
        return "ranked too low" if self.first is not None else "no candidates"


@dataclass(frozen=True)
class Report:
    """The answers of several generators to the same queries: what ``candgen.evaluate`` returns.

    ``print(report)`` shows its tables; ``to_csv``, ``to_json``, ``to_markdown`` and ``to_latex``
    return them. In all methods ``name`` is that of a generator, ``k`` a number of candidates,
    ``type="hard"`` restricts a measure to the queries of a type, and ``unlike=True`` to those
    without an exact match among the gold's names in the pivots.

    Attributes:
        queries: The queries.
        answers: The answers to them, in their order, by the name of the generator.
        ks: The numbers of candidates, ascending; the largest was asked for.
        unlike: Which queries have no exact match in the pivots; None without pivots.
    """

    queries: Sequence[Query]
    answers: Mapping[str, Sequence[Answer]]
    ks: tuple[int, ...]
    unlike: Flags | None = None

    @property
    def types(self) -> list[str]:
        """The types that the queries have, the easiest first."""
        present = {query.type for query in self.queries}
        return [name for name in TYPES if name in present]

    def ranks(self, name: str, *, type: str | None = None, unlike: bool = False) -> Ranks:  # noqa: A002
        """Return each gold's rank (0: not found) by ``name``, of ``type`` or ``unlike`` queries."""
        ranks = np.array([answer.rank for answer in self._answers(name)], np.int64)
        return ranks[self._mask(type=type, unlike=unlike)]

    def recall(
        self,
        name: str,
        k: int = 30,
        *,
        type: str | None = None,  # noqa: A002
        unlike: bool = False,
    ) -> float:
        """Return micro recall@``k`` of ``name`` in percent, of ``type`` or ``unlike`` queries."""
        return metrics.recall(self.ranks(name, type=type, unlike=unlike), self._check_k(k))

    def macro_recall(self, name: str, k: int = 30) -> float:
        """Return macro recall@``k`` of ``name``: the mean over the types."""
        types = [query.type for query in self.queries]
        return metrics.macro_recall(self.ranks(name), types, self._check_k(k))

    def mrr(self, name: str, *, type: str | None = None, unlike: bool = False) -> float:  # noqa: A002
        """Return the mean reciprocal rank of ``name``, of ``type`` or ``unlike`` queries.

        It is from 0 to 1; a gold beyond the largest k counts 0.
        """
        return metrics.mrr(self.ranks(name, type=type, unlike=unlike))

    def interval(
        self,
        name: str,
        k: int = 30,
        *,
        type: str | None = None,  # noqa: A002
        unlike: bool = False,
    ) -> Interval:
        """Return the 95% bootstrap interval of recall@``k`` of ``name``.

        Like ``recall``, it takes all queries, or those of ``type`` or ``unlike`` only.
        """
        ranks = self.ranks(name, type=type, unlike=unlike)
        return metrics.bootstrap(100 * metrics.hits(ranks, self._check_k(k)))

    def compare(self, first: str, second: str, k: int = 30, *, unlike: bool = False) -> Comparison:
        """Compare ``first`` and ``second`` by recall@``k``, of all or of ``unlike`` queries.

        Uses a paired bootstrap and McNemar's test.
        """
        ours, theirs = (self.ranks(name, unlike=unlike) for name in (first, second))
        return metrics.compare(ours, theirs, self._check_k(k))

    def ceiling(self, name: str, *, type: str | None = None, unlike: bool = False) -> float | None:  # noqa: A002
        """Return the percentage of golds in the candidate space of ``name``; None if unknown.

        ``type`` and ``unlike`` select queries.
        """
        known = [answer.known for answer in self._answers(name)]
        if None in known:
            return None
        chosen = np.array(known, np.bool_)[self._mask(type=type, unlike=unlike)]
        return 100 * float(chosen.mean()) if len(chosen) else None

    def table(self) -> Table:
        """Return the measures of every generator: all queries, each type, no exact match."""
        largest = self.ks[-1]
        recalls = [f"recall@{k}" for k in self._shown_ks()]
        columns = ("generator", "subset", "queries", *recalls, f"95% of @{largest}")
        note = f"MRR counts a gold beyond rank {largest} as 0. Intervals are bootstrapped."
        if self.unlike is not None:
            note += f" '{UNLIKE}': queries without an exact match among the pivots' names."
        return Table(
            "Recall in percent, of all queries in the file",
            (*columns, "MRR", "ceiling"),
            tuple(row for name in self.answers for row in self._rows(name)),
            note=note,
        )

    def comparisons(self, k: int | None = None) -> Table:
        """Return the difference of recall@``k`` of every two generators, and its significance."""
        k = self.ks[-1] if k is None else k
        found = [(*both, self.compare(*both, k)) for both in combinations(self.answers, 2)]
        return Table.of(
            f"Paired comparison of recall@{k}",
            {
                "first": lambda row: row[0],
                "second": lambda row: row[1],
                "queries": lambda _: len(self.queries),
                f"recall@{k}, difference": lambda row: Difference(row[2].difference),
                "95%": lambda row: "{:+.1f} to {:+.1f}".format(*row[2].interval),
                "only first": lambda row: row[2].only_first,
                "only second": lambda row: row[2].only_second,
                "p (McNemar)": lambda row: f"{row[2].p_value:.2g}",
            },
            found,
        )

    def results(self) -> str:
        """Return the answer to every query as TSV: which failed, and why."""
        lines = [_RESULTS.split()]
        for name, answers in self.answers.items():
            for number, (query, answer) in enumerate(zip(self.queries, answers, strict=True)):
                unlike = "" if self.unlike is None else "yes" if self.unlike[number] else "no"
                cells = (name, *query, unlike, *answer[:4], answer.outcome)
                lines.append(["" if cell is None else str(cell) for cell in cells])
        # A field of TSV cannot hold a tab or a line break.
        return "".join(
            "\t".join(re.sub("[\t\n\r]", " ", cell) for cell in line) + "\n" for line in lines
        )

    def write_results(self, path: str | os.PathLike[str]) -> None:
        """Write ``results`` to the file ``path``, atomically."""
        write_text(Path(path), self.results())

    def tables(self) -> list[Table]:
        """Return the table and, for several generators, that of their comparisons."""
        return [self.table(), *([self.comparisons()] if len(self.answers) > 1 else [])]

    def to_csv(self) -> str:
        """Return the table as CSV."""
        return self.table().to_csv()

    def to_json(self) -> str:
        """Return all tables as JSON."""
        return f"[{','.join(table.to_json().strip() for table in self.tables())}]\n"

    def to_markdown(self) -> str:
        """Return all tables as Markdown."""
        return "\n".join(table.to_markdown().rstrip("\n") + "\n" for table in self.tables())

    def to_latex(self) -> str:
        """Return all tables as LaTeX, for the package booktabs."""
        return "\n".join(table.to_latex() for table in self.tables())

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def __rich__(self) -> "rich.console.Group":
        """Return all tables for a terminal."""
        from rich.console import Group  # noqa: PLC0415

        return Group(*self.tables())

    def _shown_ks(self) -> list[int]:
        return list(dict.fromkeys((1, *self.ks)))

    def _rows(self, name: str) -> Iterator[tuple[Cell, ...]]:
        yield self._row(name, "all")
        if self.types:
            for each in self.types:
                yield self._row(name, each, type=each)
            types = [query.type for query in self.queries]
            ranks = self.ranks(name)
            macro = [metrics.macro_recall(ranks, types, k) for k in self._shown_ks()]
            interval = metrics.bootstrap(100 * metrics.hits(ranks, self.ks[-1]), types=types)
            yield (name, "macro", len(ranks), *macro, interval.shown, None, None)
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
        return (
            name,
            label,
            len(ranks),
            *(metrics.recall(ranks, k) for k in self._shown_ks()),
            self.interval(name, self.ks[-1], type=type, unlike=unlike).shown,
            f"{metrics.mrr(ranks):.3f}" if len(ranks) else None,
            self.ceiling(name, type=type, unlike=unlike),
        )

    def _answers(self, name: str) -> Sequence[Answer]:
        if name not in self.answers:
            raise ParameterError(f"no generator {name!r} here: choose {', '.join(self.answers)}")
        return self.answers[name]

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

    def _check_k(self, k: int) -> int:
        if isinstance(k, int) and k > self.ks[-1]:
            raise ParameterError(
                f"k is {k} and only {self.ks[-1]} candidates were asked for: evaluate with more"
            )
        return k
