"""Tables and figures of recall, whole."""

from dataclasses import replace

from candgen.paper.tables import MAKERS
from candgen.reporting.figure import Series
from tests.support.paper_findings import (
    BESIDE,
    BEST,
    KEYS,
    NOT,
    RANKS,
    RESULTS,
    TYPES,
    WITHOUT,
    Signed,
    Top,
    ends,
    head,
    interval,
    plain,
    series_of,
    unmarked,
    with_copies,
)


def main_rows(setting, key, recalls, papers):
    """Of each method: recall, interval, the paper's, the difference."""
    for method, recall, paper in zip(("pti", "charagram"), recalls, papers, strict=True):
        found = RANKS[key, method]
        shown = interval(found.get(setting, found["zero-shot"]))
        both = (NOT, None) if paper is None else (paper[0], Signed(paper[1]))
        yield (setting, key, method, len(TYPES[key]), recall, shown, *both)


def test_main_results_in_the_papers_orientation():
    table = MAKERS["main-results"](RESULTS).tables[0]
    assert table.title == "Micro recall@30"
    assert table.columns == ("setting", "method", *KEYS)
    assert table.note == f"{BEST} {WITHOUT}"
    zero, joint, other = "zero-shot", "joint", "charagram"
    assert unmarked(table.rows) == [
        ("", "queries", 8, 5, 4),
        (zero, "pti", "best 37.5", 40.0, 25.0),
        (zero, "pti, paper", 49, 63, None),
        (zero, other, 25.0, "best 60.0", "best 100.0"),
        (zero, "charagram, paper", 47, 51, None),
        (joint, "pti", 50.0, 40.0, "best 75.0"),
        (joint, "pti, paper", 71, 63, None),
        (joint, other, "best 62.5", "best 60.0", 0.0),
        (joint, "charagram, paper", 69, 51, None),
    ]


def test_main_results_beside_the_published():
    table = MAKERS["main-results"](RESULTS).tables[1]
    assert table.title == "Micro recall@30, beside the published"
    assert table.columns == ("setting", "pair", *BESIDE)
    assert table.note == WITHOUT
    assert plain(table.rows) == [
        *main_rows("zero-shot", "mk-bg", (37.5, 25.0), ((49, -11.5), (47, -22.0))),
        *main_rows("zero-shot", "co-it", (40.0, 60.0), ((63, -23.0), (51, 9.0))),
        *main_rows("zero-shot", "sc-it+es", (25.0, 100.0), (None, None)),
        *main_rows("joint", "mk-bg", (50.0, 62.5), ((71, -21.0), (69, -6.5))),
        *main_rows("joint", "co-it", (40.0, 60.0), ((63, -23.0), (51, 9.0))),
        *main_rows("joint", "sc-it+es", (75.0, 0.0), (None, None)),
    ]


def test_main_results_in_more_detail():
    """MRR of pti, joint: (1 + 1/30 + 1 + 1/2) / 8, as ranks 31 and 40 are beyond 30."""
    table = MAKERS["main-results"](RESULTS).tables[2]
    assert table.title == "The same in more detail"
    assert table.columns == (
        "pair",
        "setting",
        "method",
        "chosen on dev",
        "dev, @30",
        "queries",
        "@1",
        "@30",
        "macro @30",
        "MRR",
        "no pivot name",
        "of these @1",
        "of these @30",
    )
    assert "MRR is that of the first 30 candidates." in table.note
    third, macro, mk, sc = 100 / 3, (100 + 200 / 3) / 2, "mk-bg", "sc-it+es"
    zero, joint, other = "zero-shot", "joint", "charagram"
    lam = [f"alpha 0.5, lam {value}" for value in ("0.4", "1", "2", "3")]
    assert plain(table.rows) == [
        (mk, zero, "pti", lam[0], 41.0, 8, 12.5, 37.5, 125 / 3, "0.192", 3, 0.0, 200 / 3),
        (mk, zero, other, lam[2], 43.0, 8, 0.0, 25.0, 25.0, "0.060", 3, 0.0, third),
        (mk, joint, "pti", lam[1], 42.0, 8, 25.0, 50.0, 175 / 3, "0.317", 3, third, 200 / 3),
        (mk, joint, other, lam[3], 44.0, 8, 25.0, 62.5, 200 / 3, "0.296", 3, third, third),
        ("co-it", zero, "pti", lam[0], 41.0, 5, 20.0, 40.0, 40.0, "0.207", 3, third, third),
        ("co-it", zero, other, lam[2], 43.0, 5, 0.0, 60.0, 60.0, "0.300", 3, 0.0, third),
        (sc, zero, "pti", lam[0], 41.0, 4, 0.0, 25.0, 50 / 3, "0.028", 0, None, None),
        (sc, zero, other, lam[2], 43.0, 4, 100.0, 100.0, 100.0, "1.000", 0, None, None),
        (sc, joint, "pti", lam[1], 42.0, 4, 25.0, 75.0, macro, "0.458", 0, None, None),
        (sc, joint, other, lam[3], 44.0, 4, 0.0, 0.0, 0.0, "0.000", 0, None, None),
    ]


def test_methods_are_compared_on_the_same_queries():
    table = MAKERS["main-results"](RESULTS).tables[3]
    assert table.title == "Paired differences of recall@30"
    assert table.columns == (
        "pair",
        "setting",
        "first",
        "second",
        "queries",
        "difference",
        "only first",
        "only second",
        "p (McNemar)",
    )
    both = ("pti", "charagram")
    assert list(table.rows) == [
        ("mk-bg", "zero-shot", *both, 8, Signed(12.5), 3, 2, "1"),
        ("mk-bg", "joint", *both, 8, Signed(-12.5), 2, 3, "1"),
        ("co-it", "zero-shot", *both, 5, Signed(-20.0), 0, 1, "1"),
        ("sc-it+es", "zero-shot", *both, 4, Signed(-75.0), 0, 3, "0.25"),
        ("sc-it+es", "joint", *both, 4, Signed(75.0), 3, 0, "0.25"),
    ]
    alone = MAKERS["main-results"](replace(RESULTS, methods=("pti",)))
    assert len(alone.tables) == 3


def test_every_method_is_compared_with_pti_alone():
    def compared(*methods):
        made = MAKERS["main-results"](with_copies(*methods))
        return [row[2:4] for row in made.tables[3].rows if row[:2] == ("mk-bg", "joint")]

    assert compared("a", "pti", "b", "c") == [("pti", "a"), ("pti", "b"), ("pti", "c")]
    assert compared("a", "b", "c") == [("a", "b"), ("a", "c")]


def test_the_figure_of_the_main_results():
    figure = MAKERS["main-results"](RESULTS).figure
    assert head(figure) == (
        "main-results",
        "Micro recall@30 (Table 1 of the paper)",
        "dots",
        "target–pivot",
        "recall@30 (%)",
        False,
        "",
    )

    def here(method, setting, recalls):
        some = (RANKS[key, method] for key in KEYS)
        return Series(
            f"{method}, here",
            KEYS,
            recalls,
            *ends([each.get(setting, each["zero-shot"]) for each in some]),
        )

    assert series_of(figure) == {
        "zero-shot": [
            here("pti", "zero-shot", (37.5, 40.0, 25.0)),
            here("charagram", "zero-shot", (25.0, 60.0, 100.0)),
            Series("pti, paper", KEYS, (49.0, 63.0, None)),
            Series("charagram, paper", KEYS, (47.0, 51.0, None)),
        ],
        "joint": [
            here("pti", "joint", (50.0, 40.0, 75.0)),
            here("charagram", "joint", (62.5, 60.0, 0.0)),
            Series("pti, paper", KEYS, (71.0, 63.0, None)),
            Series("charagram, paper", KEYS, (69.0, 51.0, None)),
        ],
    }
    assert [panel.title for panel in figure.panels] == ["zero-shot", "joint"]
    lows, highs = figure.panels[0].series[0].low, figure.panels[0].series[0].high
    assert all(low < high for low, high in zip(lows, highs, strict=True))


def test_a_method_that_the_paper_has_not():
    made = MAKERS["main-results"](with_copies("guess", "pti"))
    assert made.figure.labels() == ["guess, here", "pti, here", "pti, paper"]
    rows = made.tables[0].rows
    assert [row[1] for row in rows] == ["queries", *["guess", "pti", "pti, paper"] * 2]
    assert made.tables[1].rows[0][2:] == (
        "guess",
        8,
        25.0,
        interval([0, 3, 0, 0, 0, 0, 7, 0]),
        NOT,
        None,
    )


def test_query_types_in_the_best_setting():
    table = MAKERS["query-types"](RESULTS).tables[1]
    assert table.title == "Recall@30 by query type, beside the published"
    assert table.columns == ("pair", "type", *BESIDE)
    assert table.note == WITHOUT
    pti, other, none = "pti", "charagram", (NOT, None)
    assert plain(table.rows) == [
        ("mk-bg", "easy", pti, 2, 100.0, interval([1, 2]), 92, Signed(8.0)),
        ("mk-bg", "easy", other, 2, 50.0, interval([4, 0]), 86, Signed(-36.0)),
        ("mk-bg", "medium", pti, 2, 50.0, interval([1, 40]), 78, Signed(-28.0)),
        ("mk-bg", "medium", other, 2, 100.0, interval([1, 12]), 74, Signed(26.0)),
        ("mk-bg", "hard", pti, 4, 25.0, interval([30, 31, 0, 0]), 44, Signed(-19.0)),
        ("mk-bg", "hard", other, 4, 50.0, interval([0, 0, 1, 29]), 46, Signed(4.0)),
        ("co-it", "hard", pti, 5, 40.0, interval([1, 0, 30, 31, 0]), 63, Signed(-23.0)),
        ("co-it", "hard", other, 5, 60.0, interval([2, 2, 2, 0, 0]), 51, Signed(9.0)),
        ("sc-it+es", "easy", pti, 1, 100.0, interval([1]), *none),
        ("sc-it+es", "easy", other, 1, 0.0, interval([0]), *none),
        ("sc-it+es", "hard", pti, 3, 200 / 3, interval([31, 3, 2]), *none),
        ("sc-it+es", "hard", other, 3, 0.0, interval([0, 0, 0]), *none),
    ]


def test_the_figure_of_query_types():
    figure = MAKERS["query-types"](RESULTS).figure
    assert head(figure) == (
        "query-types",
        "Recall@30 by query type (Table 2 of the paper)",
        "bars",
        "type",
        "recall@30 (%)",
        False,
        "",
    )
    kinds = ("easy", "medium", "hard")
    assert series_of(figure) == {
        key: [Series("pti", kinds, pti), Series("charagram", kinds, charagram)]
        for key, pti, charagram in (
            ("mk-bg", (100.0, 50.0, 25.0), (50.0, 100.0, 50.0)),
            ("co-it", (None, None, 40.0), (None, None, 60.0)),
            ("sc-it+es", (100.0, None, 200 / 3), (0.0, None, 0.0)),
        )
    }


def test_languages_alone():
    compact, table = MAKERS["high-resource"](RESULTS).tables
    assert compact.title == "Recall@30 in the high-resource setting"
    assert compact.columns == ("method", "it easy", "it medium", "es easy", "es medium")
    assert list(compact.rows) == [
        ("queries", 2, 3, 2, 1),
        ("pti", Top(50.0), Top(200 / 3), 50.0, 0.0),
        ("pti, paper", 79, 49, None, None),
        ("charagram", Top(50.0), 100 / 3, Top(100.0), Top(100.0)),
        ("charagram, paper", 50, 45, None, None),
    ]
    assert table.columns == ("language", "type", *BESIDE)
    assert (compact.note, table.note) == (BEST, "")
    pti, other = "pti", "charagram"
    assert plain(table.rows) == [
        ("it", "easy", pti, 2, 50.0, interval([1, 0]), 79, Signed(-29.0)),
        ("it", "easy", other, 2, 50.0, interval([0, 1]), 50, Signed(0.0)),
        ("it", "medium", pti, 3, 200 / 3, interval([31, 30, 2]), 49, Signed(200 / 3 - 49)),
        ("it", "medium", other, 3, 100 / 3, interval([31, 0, 1]), 45, Signed(100 / 3 - 45)),
        ("es", "easy", pti, 2, 50.0, interval([0, 1]), NOT, None),
        ("es", "easy", other, 2, 100.0, interval([1, 2]), NOT, None),
        ("es", "medium", pti, 1, 0.0, interval([31]), NOT, None),
        ("es", "medium", other, 1, 100.0, interval([3]), NOT, None),
    ]
    for empty in MAKERS["high-resource"](replace(RESULTS, high_resource=())).tables:
        assert empty.rows == ()
        assert empty.note == "There is no data of it, nl, de."
    assert empty.columns == table.columns
