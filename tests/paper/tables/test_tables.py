"""Every table and figure of the paper is made."""

from candgen.paper.published import EXHIBITS
from candgen.paper.tables import MAKERS
from tests.support.paper_findings import RESULTS


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
