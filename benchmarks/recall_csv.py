"""The tables of recall.py as CSV files: one number in a field, rounded as the tables show it."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from recall_tables import KS

from candgen.reporting.table import Cell, Table

_NUMBER = r"(-?\d+\.\d+)"
_INTERVAL = f"{_NUMBER}–{_NUMBER}"
_SEVERAL: dict[re.Pattern[str], Callable[[str], list[str]]] = {
    re.compile(" / ".join([_NUMBER] * len(KS))): lambda name: [f"{name} @{k}" for k in KS],
    re.compile(rf"{_NUMBER} \({_INTERVAL}\)"): lambda name: [name, f"{name} low", f"{name} high"],
    re.compile(_INTERVAL): lambda name: [f"{name} low", f"{name} high"],
}
"""Texts that hold several numbers, and the names of the columns that hold one number each."""


def write_csv(folder: Path, tables: Mapping[str, Table]) -> None:
    """Write each table to ``folder/NAME.csv``; the folder is created if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        one_number_per_field(table).write(folder / f"{name}.csv")


def one_number_per_field(table: Table) -> Table:
    """Return the table with rounded numbers, and with a column for each number of a text.

    >>> table = Table("", ("pair", "@1"), (("mk-bg", "89.1 (87.7–90.4)"),))
    >>> print(one_number_per_field(table).to_csv(), end="")
    pair,@1,@1 low,@1 high
    mk-bg,89.1,87.7,90.4
    """
    names: list[str] = []
    columns: list[list[Cell]] = []
    for place, name in enumerate(table.columns):
        column = [_rounded(row[place], table.decimals) for row in table.rows]
        for split_name, split_column in _split(name, column):
            names.append(split_name)
            columns.append(split_column)
    rows = tuple(zip(*columns, strict=True)) if table.rows else ()
    return replace(table, columns=tuple(names), rows=rows)


def _rounded(cell: Cell, decimals: int) -> Cell:
    if isinstance(cell, float) and math.isfinite(cell):
        return round(float(cell), decimals)
    return cell


def _split(name: str, column: list[Cell]) -> list[tuple[str, list[Cell]]]:
    """Return the column, or several if every text of it holds the same kinds of numbers."""
    filled = [cell for cell in column if cell is not None]
    for pattern, names_of in _SEVERAL.items():
        if filled and all(isinstance(cell, str) and pattern.fullmatch(cell) for cell in filled):
            names = names_of(name)
            numbers = [
                [None] * len(names) if cell is None else [float(n) for n in _found(pattern, cell)]
                for cell in column
            ]
            return [(each, [row[i] for row in numbers]) for i, each in enumerate(names)]
    return [(name, column)]


def _found(pattern: re.Pattern[str], cell: Cell) -> tuple[str, ...]:
    found = pattern.fullmatch(str(cell))
    return found.groups() if found else ()
