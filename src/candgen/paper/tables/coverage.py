"""Tables and figures of the data, and of what a candidate space can reach."""

from typing import Any

from candgen.paper.findings import Results, difference, exhibit, printed
from candgen.paper.published import NO_NUMBER, published
from candgen.reporting.figure import Figure, Panel, Series
from candgen.reporting.html import Exhibit
from candgen.reporting.table import Cell, Table
from candgen.tables.queries import TYPES

_SPACES = ("PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL")


def data(results: Results) -> Exhibit:
    """How much data each pivot has, and what each target was split into."""
    rows: list[tuple[Cell, ...]] = []
    for language in dict.fromkeys(pivot for pair in results.pairs for pivot in pair.pivots):
        found = results.of("data", language) or {}
        rows.append(
            (
                language,
                found["pairs"],
                found["entities"],
                found["occurrences"],
                printed(published("data", language, "pairs-printed")),
                difference(found["occurrences"], published("data", language, "pairs"), unit=1e6),
                printed(published("data", language, "size-printed")),
            )
        )
    columns = (
        "pivot",
        "pairs",
        "entities",
        "occurrences",
        "paper, mention-entity pairs",
        "difference, M",
        "paper, size of its Wikipedia",
    )
    note = "The paper counts a pair as often as it was linked: compare with occurrences."
    pivots = Table("Pivots", columns, tuple(rows), note=note)
    return exhibit("data", "Data", [pivots, _targets(results)])


def _targets(results: Results) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for pair in results.pairs:
        about = results.queries(pair)
        types = [about["types"].count(kind) for kind in TYPES]
        rows.append(
            (
                pair.key,
                about["train"]["pairs"],
                about["train"]["entities"],
                about["dev"],
                len(about["types"]),
                *types,
                sum(about["unlike"]),
            )
        )
    columns = (
        "pair",
        "training pairs",
        "training entities",
        "dev queries",
        "test queries",
        *TYPES,
        "no pivot name",
    )
    return Table("Targets, split", columns, tuple(rows))


def ceilings(results: Results) -> Exhibit:
    """The share of queries whose gold is in a candidate space."""
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for pair in results.pairs:
        found = results.of("ceilings", pair.key) or {}
        for kind in next(iter(found.values())):
            number = next(iter(found.values()))[kind]["queries"]
            cells = (found[label][kind]["recall"] if label in found else None for label in _SPACES)
            rows.append((pair.key, kind, number, *cells, NO_NUMBER))
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
