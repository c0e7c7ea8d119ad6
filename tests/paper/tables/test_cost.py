"""Tables of cost, whole."""

from dataclasses import replace

from candgen.paper.plan import Step
from candgen.paper.tables import MAKERS
from tests.support.paper_findings import NONE, NOT, RESULTS, Signed, with_copies


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
