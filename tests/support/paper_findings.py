"""Findings whose recalls are worked out by hand, for every table and figure of the paper.

Three pairs: Macedonian, which has joint and zero-shot; Corsican, which is zero-shot only; and
Sardinian with two pivots, which the paper has not.
"""

import math
from dataclasses import replace

import pytest

from candgen.evaluation import metrics
from candgen.paper.findings import Findings
from candgen.paper.plan import Step
from candgen.paper.published import Pair
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


def with_copies(*methods):
    """Results of these methods; those that are new are Charagram under another name."""
    findings = dict(RESULTS.results)
    for name in methods:
        for step, found in RESULTS.results.items():
            if step.method == "charagram" and name not in ("pti", "charagram"):
                findings[step._replace(method=name)] = found
    return replace(RESULTS, results=findings, methods=methods)


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
