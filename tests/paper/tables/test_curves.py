"""Tables and figures of recall against k and training data, whole."""

from candgen.paper.tables import MAKERS
from candgen.reporting.figure import Series
from tests.support.paper_findings import KEYS, NO_NUMBER, RESULTS, SIZES, head, series_of


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
