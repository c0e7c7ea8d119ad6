"""Every table and figure of the paper, whole, from findings whose recalls are worked out by hand.

Three pairs: Macedonian, which has joint and zero-shot; Corsican, which is zero-shot only; and
Sardinian with two pivots, which the paper has not.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from candgen.evaluation import metrics
from candgen.generators import summaries
from candgen.paper.findings import Findings, paper_cells
from candgen.paper.plan import Step
from candgen.paper.published import EXHIBITS, Pair
from candgen.paper.tables import MAKERS
from candgen.paper.training_budget import describe_budgets
from candgen.reporting.figure import Series
from candgen.reporting.table import Best, Difference

NOT, NO_NUMBER = "not in the paper", "no number was published"
WITHOUT = "co-it: no training data in the target, so joint is zero-shot."
BEST = "The best of our figures in each column is marked, and all that equal it."
CUT = "No more can be told apart. Left out, and in the tables: {}."
MK, CO, SC = (
    Pair("mk", "bg", "medium", False),
    Pair("co", "it", "high", True),
    Pair("sc", "it+es", "", False),
)
KEYS = ("mk-bg", "co-it", "sc-it+es")
TYPES = {
    "mk-bg": ["easy", "hard", "medium", "medium", "hard", "hard", "easy", "hard"],
    "co-it": ["hard"] * 5,
    "sc-it+es": ["easy", "hard", "hard", "hard"],
}
UNLIKE = {
    "mk-bg": [False, True, True, False, True, False, False, False],
    "co-it": [True, False, False, True, True],
    "sc-it+es": [False] * 4,
}
RANKS = {
    ("mk-bg", "pti"): {
        "zero-shot": [1, 31, 2, 0, 30, 0, 0, 100],
        "joint": [1, 30, 1, 40, 31, 0, 2, 0],
    },
    ("mk-bg", "charagram"): {
        "zero-shot": [0, 3, 0, 0, 0, 0, 7, 0],
        "joint": [4, 0, 1, 12, 0, 1, 0, 29],
    },
    ("co-it", "pti"): {"zero-shot": [1, 0, 30, 31, 0]},
    ("co-it", "charagram"): {"zero-shot": [2, 2, 2, 0, 0]},
    ("sc-it+es", "pti"): {"zero-shot": [0, 0, 0, 9], "joint": [1, 31, 3, 2]},
    ("sc-it+es", "charagram"): {"zero-shot": [1, 1, 1, 1], "joint": [0, 0, 0, 0]},
}
LAM = {"pti": {"zero-shot": 0.4, "joint": 1.0}, "charagram": {"zero-shot": 2.0, "joint": 3.0}}
DEV = {"pti": {"zero-shot": 41.0, "joint": 42.0}, "charagram": {"zero-shot": 43.0, "joint": 44.0}}
THRESHOLDS = {
    ("mk-bg", "pti"): [(0.0, 72.5, 0.0), (0.01, 70.0, 60.0), (0.1, 50.0, 97.0)],
    ("mk-bg", "charagram"): [(0.01, 33.0, 11.0)],
    ("co-it", "pti"): [(0.01, 61.0, 75.0)],
    ("sc-it+es", "pti"): [(0.1, 20.0, 90.0)],
}
COSTS = {  # parameters, seconds to build and to ask, queries, bytes
    ("mk-bg", "pti"): (1001, 1.234, 5.678, 8, 123_456_789),
    ("mk-bg", "charagram"): (1002, 20.0, 3.0, 8, 99_900_000),
    ("co-it", "pti"): (1003, 0.001, 0.5, 5, None),
    ("co-it", "charagram"): (1004, 60.0, 7.0, 5, 1_000_000),
    ("sc-it+es", "pti"): (1005, 2.0, 4.0, 4, 2_000_000),
    ("sc-it+es", "charagram"): (1006, 3.0, 5.0, 4, 3_000_000),
}
CEILINGS = {
    "mk-bg": {"PL": 1, "PL+TL": 11, "EN": 21, "EN+PL": 31, "EN+PL+TL": 41},
    "co-it": {"PL": 51, "EN": 61, "EN+PL": 71},
    "sc-it+es": {"PL": 81, "PL+TL": 91},
}
SIZES = {
    ("mk-bg", "pti"): {"zero-shot": (10.0, 20.0), "joint": (30.0, 40.0)},
    ("mk-bg", "charagram"): {"zero-shot": (11.0, 21.0), "joint": (31.0, 41.0)},
    ("co-it", "pti"): {"zero-shot": (12.0, 22.0)},
    ("co-it", "charagram"): {"zero-shot": (13.0, 23.0)},
    ("sc-it+es", "pti"): {"zero-shot": (14.0, 24.0), "joint": (34.0, 44.0)},
    ("sc-it+es", "charagram"): {"zero-shot": (15.0, 25.0), "joint": (35.0, 45.0)},
}


def by_pair():
    """Findings of each pair."""
    for key, types in TYPES.items():
        amount = {"pairs": 100 + len(types), "entities": 50 + len(types), "occurrences": 900}
        yield (
            Step("queries", key),
            {
                "types": types,
                "unlike": UNLIKE[key],
                "dev": 70 + len(types),
                "train": amount,
                "pivots": {},
            },
        )
        kinds = [kind for kind in ("easy", "medium", "hard") if kind in types]
        yield (
            Step("ceilings", key),
            {
                label: {
                    kind: {"queries": types.count(kind) or len(types), "recall": float(first + n)}
                    for n, kind in enumerate(["all", *kinds])
                }
                for label, first in CEILINGS[key].items()
            },
        )
    for number, language in enumerate(("bg", "it", "es"), start=1):
        counts = {"pairs": 10 * number, "entities": 5 * number, "occurrences": 100 * number}
        yield Step("data", language), counts


def by_method():
    """Findings of each pair and method, and of a language alone."""
    for (key, method), settings in RANKS.items():
        yield (
            Step("ranks", key, method),
            {
                "settings": {
                    setting: {
                        "parameters": {"alpha": 0.5, "lam": LAM[method][setting]},
                        "dev": {"queries": 70, "recall": DEV[method][setting]},
                        "ranks": ranks,
                    }
                    for setting, ranks in settings.items()
                }
            },
        )
        names = ("parameters", "build_seconds", "query_seconds", "queries", "peak_bytes")
        yield Step("complexity", key, method), dict(zip(names, COSTS[key, method], strict=True))
        yield (
            Step("training-sizes", key, method),
            {
                "sizes": [
                    {"share": share, "pairs": pairs, "setting": setting, "recall": recalls[n]}
                    for n, (share, pairs) in enumerate([(0.03, 60), (1.0, 2000)])
                    for setting, recalls in SIZES[key, method].items()
                ]
            },
        )
        if (key, method) in THRESHOLDS:
            names = ("threshold", "recall", "removed")
            some = [dict(zip(names, one, strict=True)) for one in THRESHOLDS[key, method]]
            yield Step("thresholds", key, method), {"thresholds": some}
    alone = {"pti": ([1, 31, 30, 0, 2], [0, 1, 31]), "charagram": ([0, 31, 0, 1, 1], [1, 2, 3])}
    for method, (it, es) in alone.items():
        kinds = ["easy", "medium", "medium", "easy", "medium"]
        yield Step("high-resource", "it", method), {"parameters": {}, "ranks": it, "types": kinds}
        yield (
            Step("high-resource", "es", method),
            {"parameters": {}, "ranks": es, "types": ["easy", "easy", "medium"]},
        )


RESULTS = Findings(
    dict([*by_pair(), *by_method()]), (MK, CO, SC), ("pti", "charagram"), ("it", "es")
)


def interval(ranks):
    """The cell of the interval, from the ranks of some queries."""
    return metrics.bootstrap([100.0 * (1 <= rank <= 30) for rank in ranks]).shown


def ends(some):
    found = [metrics.bootstrap([100.0 * (1 <= rank <= 30) for rank in ranks]) for ranks in some]
    return tuple(one.low for one in found), tuple(one.high for one in found)


class Signed(float):
    """A difference that is expected: no plain number is equal to it."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return isinstance(other, Difference) and float(other) == pytest.approx(float(self))


def plain(rows):
    """Rows without nan, which is equal to nothing: None, as every form of a table shows it."""
    return [
        tuple(None if isinstance(c, float) and math.isnan(c) else c for c in row) for row in rows
    ]


def series_of(figure):
    return {panel.title: list(panel.series) for panel in figure.panels}


def head(figure):
    return (
        figure.name,
        figure.title,
        figure.kind,
        figure.x_label,
        figure.y_label,
        figure.log_x,
        figure.note,
    )


class Top(float):
    """A number that is expected to be marked as the best."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return isinstance(other, Best) and float(other) == pytest.approx(float(self))


def unmarked(rows):
    """Rows whose marked numbers are replaced by text that equals nothing else."""
    return [tuple(f"best {cell}" if type(cell) is Best else cell for cell in row) for row in rows]


BESIDE = ("method", "queries", "recall@30", "95%", "paper", "difference")
NONE = (None, None, None)


def test_all_are_made_and_say_where_they_are_from():
    assert set(MAKERS) == set(EXHIBITS)
    titles = {name: make(RESULTS).title for name, make in MAKERS.items()}
    assert titles == {
        "main-results": "Micro recall@30 (Table 1 of the paper)",
        "query-types": "Recall@30 by query type (Table 2 of the paper)",
        "high-resource": "The high-resource setting (Table 3 of the paper)",
        "data": "Data (Table 4 of the paper)",
        "thresholding": "Thresholding (Table 5 of the paper)",
        "complexity": "Complexity (Table 6 of the paper)",
        "ceilings": "Ceiling recall (Figure 2 of the paper)",
        "training-size": "Amount of training data (Figure 3 of the paper)",
        "recall-at-k": "Recall@k (Figure 4 of the paper)",
    }
    assert [make(RESULTS).name for make in MAKERS.values()] == list(MAKERS)
    drawn = {name for name, make in MAKERS.items() if make(RESULTS).figure is not None}
    assert drawn == {"main-results", "query-types", "ceilings", "training-size", "recall-at-k"}


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


def test_equals_are_all_marked_but_not_what_finds_nothing_or_stands_alone():
    findings = dict(RESULTS.results)
    for key, ranks in (("mk-bg", [1, 0, 0, 0, 0, 0, 0, 30]), ("co-it", [0] * 5)):
        for method in ("pti", "charagram"):
            found = {"parameters": {}, "dev": {"queries": 1, "recall": 1.0}, "ranks": ranks}
            findings[Step("ranks", key, method)] = {"settings": {"zero-shot": found}}
    results = replace(RESULTS, results=findings)
    rows = unmarked(MAKERS["main-results"](results).tables[0].rows)
    assert [row[2:4] for row in rows if row[1] in ("pti", "charagram")] == [("best 25.0", 0.0)] * 4
    alone = MAKERS["main-results"](replace(RESULTS, methods=("pti",))).tables[0]
    assert alone.note == WITHOUT
    assert alone.rows[1] == ("zero-shot", "pti", 37.5, 40.0, 25.0)
    assert not any(isinstance(cell, Best) for row in alone.rows for cell in row)


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


def test_the_papers_figure_is_shown_as_printed():
    assert paper_cells(2.5, "<1") == ("<1", None)
    assert paper_cells(2.5, None) == (NOT, None)
    assert [type(cell) for cell in paper_cells(2.5, 49)] == [int, Difference]


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


def with_copies(*methods):
    """Results of these methods; those that are new are Charagram under another name."""
    findings = dict(RESULTS.results)
    for name in methods:
        for step, found in RESULTS.results.items():
            if step.method == "charagram" and name not in ("pti", "charagram"):
                findings[step._replace(method=name)] = found
    return replace(RESULTS, results=findings, methods=methods)


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


CATALOGUE = tuple(summaries.METHODS)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        (
            "main-results",
            [
                "wikipriors, here",
                "charagram, here",
                "pti, here",
                "wikipriors, paper",
                "charagram, paper",
                "pti, paper",
            ],
        ),
        (
            "query-types",
            ["wikipriors", "wikipriors-released", "charagram", "char-lstm", "char-cnn", "pti"],
        ),
        (
            "recall-at-k",
            ["wikipriors", "wikipriors-released", "charagram", "char-lstm", "char-cnn", "pti"],
        ),
        (
            "training-size",
            [
                f"{method}, {setting}"
                for method in ("wikipriors", "charagram", "pti")
                for setting in ("zero-shot", "joint")
            ],
        ),
    ],
)
def test_of_eleven_methods_figures_have_the_papers_first(name, labels):
    made = MAKERS[name](with_copies(*CATALOGUE))
    assert set(made.figure.labels()) == set(labels)
    shown = {label.partition(", ")[0] for label in labels}
    rest = [method for method in CATALOGUE if method not in shown]
    assert made.figure.note == CUT.format(", ".join(rest))
    for method in CATALOGUE:
        assert f"{method}," in made.tables[0].to_csv()


def test_a_series_that_is_left_out_of_a_method_that_is_not():
    made = MAKERS["training-size"](with_copies("a", "pti", "b", "c"))
    assert made.figure.note == CUT.format("c")
    made = MAKERS["main-results"](with_copies("a", "b", "c", "pti", "charagram"))
    assert made.figure.note == CUT.format("c")
    assert made.figure.labels()[-1] == "charagram, paper"


def test_query_types_in_the_papers_orientation():
    table = MAKERS["query-types"](RESULTS).tables[0]
    assert table.title == "Recall@30 by query type"
    assert table.columns == (
        "method",
        "mk-bg easy",
        "mk-bg medium",
        "mk-bg hard",
        "co-it hard",
        "sc-it+es easy",
        "sc-it+es hard",
    )
    assert table.note == f"{BEST} {WITHOUT}"
    assert list(table.rows) == [
        ("queries", 2, 2, 4, 5, 1, 3),
        ("pti", Top(100.0), 50.0, 25.0, 40.0, Top(100.0), Top(200 / 3)),
        ("pti, paper", 92, 78, 44, 63, None, None),
        ("charagram", 50.0, Top(100.0), Top(50.0), Top(60.0), 0.0, 0.0),
        ("charagram, paper", 86, 74, 46, 51, None, None),
    ]
    assert sum(isinstance(cell, Best) for row in table.rows for cell in row) == 6


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


def test_thresholding_beside_the_published():
    (table,) = MAKERS["thresholding"](RESULTS).tables
    assert table.title == "Thresholding"
    assert table.columns == (
        "pair",
        "method",
        "queries",
        "threshold",
        "recall@30",
        "paper",
        "difference",
        "removed %",
        "removed %, paper",
        "removed %, difference",
    )
    assert "chose for no threshold" in table.note
    assert list(table.rows) == [
        ("mk-bg", "pti", 8, "0", 72.5, 71, Signed(1.5), 0.0, 0, Signed(0.0)),
        ("mk-bg", "pti", 8, "0.01", 70.0, 69, Signed(1.0), 60.0, 66, Signed(-6.0)),
        ("mk-bg", "pti", 8, "0.1", 50.0, 55, Signed(-5.0), 97.0, 95, Signed(2.0)),
        ("mk-bg", "charagram", 8, "0.01", 33.0, NOT, None, 11.0, NOT, None),
        ("co-it", "pti", 5, "0.01", 61.0, 62, Signed(-1.0), 75.0, 72, Signed(3.0)),
        ("sc-it+es", "pti", 4, "0.1", 20.0, NOT, None, 90.0, NOT, None),
    ]


def test_complexity_beside_the_published():
    table = MAKERS["complexity"](RESULTS).tables[0]
    assert table.title == "Complexity"
    assert table.columns == (
        "pair",
        "method",
        "parameters",
        "parameters, paper",
        "difference, M",
        "build, s",
        "build, paper, min",
        "difference, min",
        "queries",
        "all queries, s",
        "all queries, paper, s",
        "difference, s",
        "peak memory, MB",
        "parameters, times pti",
        "build, times pti",
        "all queries, times pti",
    )
    assert list(table.rows) == [
        (
            "mk-bg",
            "pti",
            1001,
            "10M",
            Signed(-9.998999),
            "1.23",
            "1",
            Signed(1.234 / 60 - 1),
            8,
            "5.68",
            "30",
            Signed(-24.322),
            123,
            *NONE,
        ),
        (
            "mk-bg",
            "charagram",
            1002,
            "225M",
            Signed(-224.998998),
            "20.00",
            "770",
            Signed(20 / 60 - 770),
            8,
            "3.00",
            "120",
            Signed(-117.0),
            100,
            "1",
            "16.2",
            "0.528",
        ),
        (
            "co-it",
            "pti",
            1003,
            "45M",
            Signed(-44.998997),
            "0.00",
            "10",
            Signed(0.001 / 60 - 10),
            5,
            "0.50",
            "45",
            Signed(-44.5),
            None,
            *NONE,
        ),
        (
            "co-it",
            "charagram",
            1004,
            "200M",
            Signed(-199.998996),
            "60.00",
            "180",
            Signed(-179.0),
            5,
            "7.00",
            "85",
            Signed(-78.0),
            1,
            "1",
            "60000",
            "14",
        ),
        ("sc-it+es", "pti", 1005, NOT, None, "2.00", NOT, None, 4, "4.00", NOT, None, 2, *NONE),
        (
            "sc-it+es",
            "charagram",
            1006,
            NOT,
            None,
            "3.00",
            NOT,
            None,
            4,
            "5.00",
            NOT,
            None,
            3,
            "1",
            "1.5",
            "1.25",
        ),
    ]
    assert "on one core, with threshold 0.01 where" in table.note


def test_complexity_says_how_many_cores_were_used():
    findings = dict(RESULTS.results)
    for key, cores in (("mk-bg", 4), ("co-it", 1)):
        step = Step("complexity", key, "pti")
        findings[step] = {**findings[step], "cores": cores}
    table = MAKERS["complexity"](replace(RESULTS, results=findings)).tables[0]
    assert "on up to 4 cores, with" in table.note


def test_complexity_beside_that_of_pti():
    """The means of 20 / 1.234, 60 / 0.001 and 3 / 2; of 3 / 5.678, 7 / 0.5 and 5 / 4."""
    table = MAKERS["complexity"](with_copies("pti", "guess", "charagram")).tables[1]
    assert table.title == "Ratios to pti"
    assert table.columns == (
        "method",
        "pairs",
        "parameters",
        "parameters, paper",
        "build",
        "build, paper",
        "all queries",
        "all queries, paper",
    )
    assert list(table.rows) == [
        ("guess", 3, "1", NOT, "20006", NOT, "5.26", NOT),
        ("charagram", 3, "1", "20", "20006", "300", "5.26", "7"),
    ]
    for methods in (("pti",), ("charagram",), ("charagram", "guess")):
        (alone,) = MAKERS["complexity"](with_copies(*methods)).tables
        assert alone.columns[-1] == "peak memory, MB"


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


def test_training_size_in_every_setting():
    (table,) = MAKERS["training-size"](RESULTS).tables
    assert table.title == "Recall and the amount of training data"
    assert table.columns == (
        "pair",
        "setting",
        "method",
        "queries",
        "share of the pivot",
        "pivot pairs",
        "recall@30",
        "paper",
    )
    assert "the target's data stay whole" in table.note
    expected = [
        ("mk-bg", "zero-shot", "pti", 8, 10.0, 20.0),
        ("mk-bg", "joint", "pti", 8, 30.0, 40.0),
        ("mk-bg", "zero-shot", "charagram", 8, 11.0, 21.0),
        ("mk-bg", "joint", "charagram", 8, 31.0, 41.0),
        ("co-it", "zero-shot", "pti", 5, 12.0, 22.0),
        ("co-it", "zero-shot", "charagram", 5, 13.0, 23.0),
        ("sc-it+es", "zero-shot", "pti", 4, 14.0, 24.0),
        ("sc-it+es", "joint", "pti", 4, 34.0, 44.0),
        ("sc-it+es", "zero-shot", "charagram", 4, 15.0, 25.0),
        ("sc-it+es", "joint", "charagram", 4, 35.0, 45.0),
    ]
    assert list(table.rows) == [
        (*row[:4], share, pairs, recall, NO_NUMBER)
        for row in expected
        for share, pairs, recall in (("3%", 60, row[4]), ("100%", 2000, row[5]))
    ]


def test_the_figure_of_training_sizes():
    figure = MAKERS["training-size"](RESULTS).figure
    assert head(figure) == (
        "training-size",
        "Amount of training data (Figure 3 of the paper)",
        "lines",
        "pivot pairs",
        "recall@30 (%)",
        True,
        "",
    )
    assert series_of(figure) == {
        key: [
            Series(f"{method}, {setting}", (60, 2000), recalls)
            for method in ("pti", "charagram")
            for setting, recalls in SIZES[key, method].items()
        ]
        for key in KEYS
    }


KS = (1, 2, 3, 5, 10, 20, 30, 50, 100)
AT = {
    ("mk-bg", "joint", "pti", 8): (25.0, *[37.5] * 5, 50.0, 75.0, 75.0),
    ("mk-bg", "joint", "charagram", 8): (25.0, 25.0, 25.0, 37.5, 37.5, 50.0, *[62.5] * 3),
    ("co-it", "zero-shot", "pti", 5): (*[20.0] * 6, 40.0, 60.0, 60.0),
    ("co-it", "zero-shot", "charagram", 5): (0.0, *[60.0] * 8),
    ("sc-it+es", "joint", "pti", 4): (25.0, 50.0, *[75.0] * 5, 100.0, 100.0),
    ("sc-it+es", "joint", "charagram", 4): (0.0,) * 9,
}


def test_recall_at_k_in_the_best_setting():
    (table,) = MAKERS["recall-at-k"](RESULTS).tables
    assert table.title == "Recall@k"
    assert table.columns == (
        "pair",
        "setting",
        "method",
        "queries",
        *(f"@{k}" for k in KS),
        "paper",
    )
    assert list(table.rows) == [(*about, *recalls, NO_NUMBER) for about, recalls in AT.items()]


def test_the_figure_of_recall_at_k():
    figure = MAKERS["recall-at-k"](RESULTS).figure
    assert head(figure) == (
        "recall-at-k",
        "Recall@k (Figure 4 of the paper)",
        "lines",
        "k",
        "recall@k (%)",
        True,
        "",
    )
    assert series_of(figure) == {
        key: [Series(about[2], KS, recalls) for about, recalls in AT.items() if about[0] == key]
        for key in KEYS
    }


def many(pairs, methods):
    """Results of so many pairs and methods, all different."""
    findings = {}
    listed = tuple(Pair(f"a{n}", "b", "", False) for n in range(pairs))
    names = tuple(f"method {n}" for n in range(methods))
    for n, pair in enumerate(listed):
        findings[Step("queries", pair.key)] = {"types": ["hard"] * 40, "unlike": [True] * 40}
        for m, name in enumerate(names):
            ranks = [1] * n + [2] * m + [0] * (40 - n - m)
            found = {"parameters": {}, "dev": {"queries": 1, "recall": 1.0}, "ranks": ranks}
            findings[Step("ranks", pair.key, name)] = {"settings": {"zero-shot": found}}
    return Findings(findings, listed, names, ())


@pytest.mark.parametrize(
    ("pairs", "methods", "shown", "rest"),
    [
        (12, 6, (12, 6), ""),
        (13, 6, (12, 6), "a12-b"),
        (12, 7, (12, 6), "method 6"),
        (14, 9, (12, 6), "method 6, method 7, method 8, a12-b, a13-b"),
        (2, 7, (2, 6), "method 6"),
        (13, 1, (12, 1), "a12-b"),
    ],
)
def test_a_figure_shows_the_first_that_can_be_told_apart(pairs, methods, shown, rest):
    results = many(pairs, methods)
    made = MAKERS["recall-at-k"](results)
    figure = made.figure
    assert [panel.title for panel in figure.panels] == [f"a{n}-b" for n in range(shown[0])]
    for n, panel in enumerate(figure.panels):
        assert [each.label for each in panel.series] == [f"method {m}" for m in range(shown[1])]
        assert [each.y[0] for each in panel.series] == [100 * n / 40] * shown[1]
        assert [each.y[1] for each in panel.series] == [100 * (n + m) / 40 for m in range(shown[1])]
    assert figure.note == (CUT.format(rest) if rest else "")
    assert (figure.name, figure.title) == (made.name, made.title)
    assert len(made.tables[0].rows) == pairs * methods


def test_a_cut_figure_keeps_its_axes():
    figure = MAKERS["query-types"](many(1, 7)).figure
    assert (figure.kind, figure.x_label, figure.note) == ("bars", "type", CUT.format("method 6"))
    assert figure.labels() == [f"method {m}" for m in range(6)]


def test_pairs_without_training_data_are_named():
    def note(*pairs):
        return MAKERS["query-types"](replace(RESULTS, pairs=pairs)).tables[1].note

    assert note(MK, SC) == ""
    assert note(MK, CO, SC) == WITHOUT
    findings = dict(RESULTS.results)
    step = Step("ranks", "sc-it+es", "pti")
    zero = {"settings": {"zero-shot": findings[step]["settings"]["zero-shot"]}}
    results = replace(RESULTS, results={**findings, step: zero})
    told = MAKERS["main-results"](results).tables[1].note
    assert told == "co-it, sc-it+es: no training data in the target, so joint is zero-shot."


def test_findings_are_asked_by_kind_subject_and_method():
    assert RESULTS.of("data", "bg") == {"pairs": 10, "entities": 5, "occurrences": 100}
    assert RESULTS.of("data", "mk") is None
    assert RESULTS.of("thresholds", "co-it", "charagram") is None
    assert RESULTS.types(SC) == ["easy", "hard"]
    assert RESULTS.settings(CO) == ["zero-shot"]
    assert RESULTS.chosen(CO, "pti", "joint") == RESULTS.chosen(CO, "pti", "zero-shot")
    np.testing.assert_array_equal(RESULTS.ranks(CO, "pti", "joint"), [1, 0, 30, 31, 0])


# Budgets of neural methods

SHORT = {"epochs": 5, "pairs": 20_000, "of_epochs": 200, "of_pairs": 80_000}
SAID = (
    "charagram: at most 5 epochs (the paper's: 200) and 15,000 to 20,000 training pairs "
    "(the paper's: 80,000)."
)


def with_budgets():
    findings = dict(RESULTS.results)
    for step, found in RESULTS.results.items():
        if step.method != "charagram":
            continue
        budget = SHORT if step.subject in ("mk-bg", "it") else {**SHORT, "pairs": 15_000}
        if step.kind == "ranks":
            settings = {
                name: {**each, "budget": budget} for name, each in found["settings"].items()
            }
            findings[step] = {"settings": settings}
        elif step.kind == "training-sizes":
            findings[step] = {"sizes": [{**each, "budget": budget} for each in found["sizes"]]}
        else:
            findings[step] = {**found, "budget": budget}
    return replace(RESULTS, results=findings)


def test_every_table_with_a_neural_row_says_how_long_it_was_trained():
    results = with_budgets()
    for name, make in MAKERS.items():
        for table in make(results).tables:
            rows = [cell for row in table.rows for cell in row]
            neural = "charagram" in rows and name != "thresholding"
            assert (SAID in table.note) == neural, (name, table.title)
            assert SAID not in make(RESULTS).tables[0].note


SAID_SHORT = (
    "a, c: at most 5 epochs (the paper's: 200) and 20,000 training pairs (the paper's: 80,000)."
)


@pytest.mark.parametrize(
    ("budgets", "said"),
    [
        ({}, ""),
        ({"pti": [], "a": [{"of_epochs": 200, "of_pairs": 80_000}]}, ""),
        ({"a": [{"epochs": 1, "of_epochs": 200}]}, "a: at most 1 epoch (the paper's: 200)."),
        ({"a": [{"pairs": 80_000}]}, "a: at most 80,000 training pairs (as in the paper)."),
        (
            {"a": [SHORT], "b": [{"epochs": 300}, {"epochs": 200}], "c": [SHORT]},
            f"{SAID_SHORT} b: at most 200 to 300 epochs (the paper's: 200).",
        ),
    ],
)
def test_budgets_in_words(budgets, said):
    assert describe_budgets(budgets) == said
