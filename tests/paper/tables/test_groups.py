"""Recall of groups of queries, laid out as in the paper."""

from dataclasses import replace

from candgen.paper.plan import Step
from candgen.paper.tables import MAKERS
from candgen.reporting.table import Best
from tests.support.paper_findings import BEST, RESULTS, WITHOUT, Top, unmarked


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
