"""Tables and figures of the data, and of what a candidate space can reach."""

from typing import Any

from candgen.paper.findings import Findings, difference, exhibit, printed
from candgen.paper.published import NO_NUMBER, published
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table
from candgen.tables.queries import EASY, HARD, MEDIUM, TYPES

_SPACES = ("PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL")


def data(findings: Findings) -> Exhibit:
    """How much data each pivot has, and what each target was split into."""

    def ours(language: str) -> dict[str, Any]:
        return findings.of("data", language) or {}

    def beyond_paper(language: str) -> Cell:
        pairs = published("data", language, "pairs")
        return difference(ours(language)["occurrences"], pairs, unit=1e6)

    pivots = Table.of(
        "Pivots",
        {
            "pivot": lambda language: language,
            "pairs": lambda language: ours(language)["pairs"],
            "entities": lambda language: ours(language)["entities"],
            "occurrences": lambda language: ours(language)["occurrences"],
            "paper, mention-entity pairs": lambda language: printed(
                published("data", language, "pairs-printed")
            ),
            "difference, M": beyond_paper,
            "paper, size of its Wikipedia": lambda language: printed(
                published("data", language, "size-printed")
            ),
        },
        dict.fromkeys(pivot for pair in findings.pairs for pivot in pair.pivots),
        note="The paper counts a pair as often as it was linked: compare with occurrences.",
    )
    targets = Table.of(
        "Targets, split",
        {
            "pair": lambda row: row[0],
            "training pairs": lambda row: row[1]["train"]["pairs"],
            "training entities": lambda row: row[1]["train"]["entities"],
            "dev queries": lambda row: row[1]["dev"],
            "test queries": lambda row: len(row[1]["types"]),
            EASY: lambda row: row[1]["types"].count(EASY),
            MEDIUM: lambda row: row[1]["types"].count(MEDIUM),
            HARD: lambda row: row[1]["types"].count(HARD),
            "no pivot name": lambda row: sum(row[1]["unlike"]),
        },
        [(pair.key, findings.queries(pair)) for pair in findings.pairs],
    )
    return exhibit("data", "Data", [pivots, targets])


def ceilings(findings: Findings) -> Exhibit:
    """The share of queries whose gold is in a candidate space."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in findings.pairs:
        found = findings.of("ceilings", pair.key) or {}
        for kind, first in next(iter(found.values())).items():
            cells = (found[label][kind]["recall"] if label in found else None for label in _SPACES)
            rows.append((pair.key, kind, first["queries"], *cells, NO_NUMBER))
        series = tuple(Series(label, TYPES, _by_type(found.get(label, {}))) for label in _SPACES)
        panels.append(Panel(pair.key, series))
    note = (
        "PL, TL and EN are pivot, target and English. PL and PL+TL are the spaces of PTI, those "
        "with EN the spaces of Charagram, where only entities with an English name count: a "
        "mention in the English table. So the three coincide: it is the only source of names."
    )
    columns = ("pair", "type", "queries", *_SPACES, "paper")
    table = Table("Ceiling recall", columns, tuple(rows), note=note)
    figure = Figure("", "", "bars", "type", "ceiling recall (%)", tuple(panels))
    return exhibit("ceilings", "Ceiling recall", [table], figure)


def _by_type(found: dict[str, Any]) -> tuple[float | None, ...]:
    return tuple(found[kind]["recall"] if kind in found else None for kind in TYPES)
