"""A report whose figures can be computed by hand."""

import pytest

from candgen import MentionTable, evaluate
from tests.support.scripted import FIRST, QUERIES, SECOND, Scripted


@pytest.fixture
def report():
    icelandic = MentionTable.from_pairs([("Vín", "Q282"), ("Rín", "Q584"), ("Wien", "Q585")])
    generators = {"first": Scripted(FIRST, known={"Q282", "Q1741"}), "second": Scripted(SECOND)}
    return evaluate(generators, QUERIES, ks=(3, 2), pivots={"is": icelandic})
