"""Charagram and its relatives as methods."""

import pytest

from candgen.generators.neural.method import CHAR_CNN, CHAR_LSTM, CHARAGRAM, size
from candgen.protocols import Training
from candgen.tables.mention_table import MentionTable
from tests.generators.neural.test_charagram import ENGLISH, FAST, PIVOT, TARGET, UNSEEN, build
from tests.support import oracle


@pytest.mark.parametrize(
    ("method", "encoder"), [(CHARAGRAM, "ngrams"), (CHAR_LSTM, "lstm"), (CHAR_CNN, "cnn")]
)
def test_methods(method, encoder):
    training = Training({"bg": PIVOT}, TARGET, "mk", ENGLISH, UNSEEN[:5])
    assert method.neural
    assert method.choices(training) == [{"mu": 0.01}, {"mu": 0.1}, {"mu": 0.2}]
    assert method.choices(Training({"bg": PIVOT}, english=ENGLISH)) == [{}]
    generator = method(
        training, {**FAST, "mu": 0.2, "space": ["bg", "en"], "pairs": 50, "patience": 1}
    )
    method.check(["mu", *FAST, "normalizer", "device", "space", "pairs", "patience"])
    assert generator.parameters["encoder"] == encoder
    assert generator.parameters["used"] == {"mk": len(TARGET), "bg": 50}
    assert len(generator.parameters["dev_recall"]) >= 1
    assert size(generator).parameters == generator.parameters["numbers"] > 0


def test_the_number_of_parameters():
    english = MentionTable.from_pairs([("ab", "Q1"), ("b", "Q2"), ("unused", "Q3")])
    table = MentionTable.from_pairs([("x", "Q1"), ("yy", "Q2")])
    generator = build(pivots={"bg": table}, english=english)
    count = sum(
        len({token for text in texts for token in oracle.ngrams(text)}) + 1
        for texts in (["x", "yy"], ["ab", "b"])
    )
    assert size(generator).parameters == 12 * count
