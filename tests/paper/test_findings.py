"""Findings, and figures that have no room for everything."""

from dataclasses import replace

import numpy as np
import pytest

from candgen.generators import summaries
from candgen.paper.findings import paper_cells
from candgen.paper.plan import Step
from candgen.paper.tables import MAKERS
from candgen.reporting.table import Difference
from tests.support.paper_findings import CO, CUT, MK, NOT, RESULTS, SC, WITHOUT, many, with_copies


def test_the_papers_figure_is_shown_as_printed():
    assert paper_cells(2.5, "<1") == ("<1", None)
    assert paper_cells(2.5, None) == (NOT, None)
    assert [type(cell) for cell in paper_cells(2.5, 49)] == [int, Difference]


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
            ["wikipriors", "wikipriors-released", "translation", "charagram", "char-lstm", "pti"],
        ),
        (
            "recall-at-k",
            ["wikipriors", "wikipriors-released", "translation", "charagram", "char-lstm", "pti"],
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
def test_of_all_methods_figures_have_the_papers_first(name, labels):
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
