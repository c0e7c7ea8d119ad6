"""Budgets of neural methods in words."""

from dataclasses import replace

import pytest

from candgen.paper.tables import MAKERS
from candgen.paper.training_budget import describe_budgets
from tests.support.paper_findings import RESULTS

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
