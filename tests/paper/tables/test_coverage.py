"""Tables and figures of data and ceilings, whole."""

from candgen.paper.tables import MAKERS
from candgen.reporting.figure import Series
from tests.support.paper_findings import NO_NUMBER, NOT, RESULTS, Signed, head, series_of


def test_data_of_pivots_and_targets():
    pivots, targets = MAKERS["data"](RESULTS).tables
    assert (pivots.title, targets.title) == ("Pivots", "Targets, split")
    assert pivots.columns == (
        "pivot",
        "pairs",
        "entities",
        "occurrences",
        "paper, mention-entity pairs",
        "difference, M",
        "paper, size of its Wikipedia",
    )
    assert "compare with occurrences" in pivots.note
    assert list(pivots.rows) == [
        ("bg", 10, 5, 100, "3.4M", Signed(-3.3999), "250k"),
        ("it", 20, 10, 200, "24M", Signed(-23.9998), "1.5M"),
        ("es", 30, 15, 300, NOT, None, NOT),
    ]
    assert targets.columns == (
        "pair",
        "training pairs",
        "training entities",
        "dev queries",
        "test queries",
        "easy",
        "medium",
        "hard",
        "no pivot name",
    )
    assert list(targets.rows) == [
        ("mk-bg", 108, 58, 78, 8, 2, 2, 4, 3),
        ("co-it", 105, 55, 75, 5, 0, 0, 5, 3),
        ("sc-it+es", 104, 54, 74, 4, 1, 0, 3, 0),
    ]


SPACES = ("PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL")


def test_ceilings_of_each_space():
    (table,) = MAKERS["ceilings"](RESULTS).tables
    assert table.title == "Ceiling recall"
    assert table.columns == ("pair", "type", "queries", *SPACES, "paper")
    assert "PL, TL and EN are pivot, target and English." in table.note
    assert list(table.rows) == [
        ("mk-bg", "all", 8, 1.0, 11.0, 21.0, 31.0, 41.0, NO_NUMBER),
        ("mk-bg", "easy", 2, 2.0, 12.0, 22.0, 32.0, 42.0, NO_NUMBER),
        ("mk-bg", "medium", 2, 3.0, 13.0, 23.0, 33.0, 43.0, NO_NUMBER),
        ("mk-bg", "hard", 4, 4.0, 14.0, 24.0, 34.0, 44.0, NO_NUMBER),
        ("co-it", "all", 5, 51.0, None, 61.0, 71.0, None, NO_NUMBER),
        ("co-it", "hard", 5, 52.0, None, 62.0, 72.0, None, NO_NUMBER),
        ("sc-it+es", "all", 4, 81.0, 91.0, None, None, None, NO_NUMBER),
        ("sc-it+es", "easy", 1, 82.0, 92.0, None, None, None, NO_NUMBER),
        ("sc-it+es", "hard", 3, 83.0, 93.0, None, None, None, NO_NUMBER),
    ]


def test_the_figure_of_ceilings():
    figure = MAKERS["ceilings"](RESULTS).figure
    assert head(figure) == (
        "ceilings",
        "Ceiling recall (Figure 2 of the paper)",
        "bars",
        "type",
        "ceiling recall (%)",
        False,
        "",
    )
    kinds, none = ("easy", "medium", "hard"), (None, None, None)
    values = {
        "mk-bg": [(n + 1.0, n + 2.0, n + 3.0) for n in (1, 11, 21, 31, 41)],
        "co-it": [(None, None, 52.0), none, (None, None, 62.0), (None, None, 72.0), none],
        "sc-it+es": [(82.0, None, 83.0), (92.0, None, 93.0), none, none, none],
    }
    assert series_of(figure) == {
        key: [Series(label, kinds, y) for label, y in zip(SPACES, some, strict=True)]
        for key, some in values.items()
    }
