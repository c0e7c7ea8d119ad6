"""The judge is judged by hand: every figure here was worked out on paper (see toy.py)."""

from functools import partial

import numpy as np
import pytest

from candgen.text.normalize import normalize
from tests.support import toy
from tests.support.oracle import BOUNDARY, Oracle, ngrams, whole, words

bigrams = partial(ngrams, low=2, high=2)


def toy_oracle(*, lam=1.0, threshold=0.0, alpha=toy.ALPHA):
    tables = {"is": toy.ICELANDIC, "fo": toy.FAROESE}
    return Oracle(tables, {"is": alpha, "fo": 1.0}, lam, threshold, bigrams)


def gram(text):
    return tuple(BOUNDARY if c in "^$" else ord(c) for c in text)


def float32(value):
    return float(np.float32(value))


# Tokens


def test_ngrams_lie_between_two_boundary_marks_and_repeat():
    assert ngrams("") == []
    assert ngrams("a") == [gram("^a"), gram("a$"), gram("^a$")]
    assert bigrams("aaa") == [gram("^a"), gram("aa"), gram("aa"), gram("a$")]
    assert len(ngrams("Wien")) == 5 + 4 + 3 + 2


def test_an_ngram_is_made_of_code_points():
    assert bigrams("🍷") == [(BOUNDARY, 0x1F377), (0x1F377, BOUNDARY)]


def test_words_are_letters_marks_and_digits():
    assert words("Saint-Denis, 3e  (Réunion)") == ["Saint", "Denis", "3e", "Réunion"]
    assert words("मुंबई_२") == ["मुंबई", "२"]
    assert words(" -- ½") == words("") == []


def test_the_whole_mention_is_one_token():
    assert whole("New York") == ["New York"]
    assert whole("") == []


# The toy world


@pytest.mark.parametrize(("mention", "lam"), toy.CANDIDATES)
def test_toy_world(mention, lam):
    expected = [(entity, float32(score)) for entity, score in toy.CANDIDATES[mention, lam]]
    assert toy_oracle(lam=lam).candidates(mention, 30) == expected
    assert toy_oracle(lam=7.0).candidates(mention, 30, lam=lam) == expected
    assert toy_oracle(lam=lam).candidates(mention, 1) == expected[:1]
    assert toy_oracle(lam=lam).candidates(mention, 0) == []


@pytest.mark.parametrize("normalizer", ["default", "latin", "paper", "none"])
def test_toy_figures_are_the_same_however_the_names_are_normalised(normalizer):
    def table(rows):
        return [(normalize(mention, normalizer), entity, count) for mention, entity, count in rows]

    tables = {"is": table(toy.ICELANDIC), "fo": table(toy.FAROESE)}
    oracle = Oracle(tables, {"is": toy.ALPHA, "fo": 1.0}, tokenize=bigrams)
    for (mention, lam), expected in toy.CANDIDATES.items():
        found = oracle.candidates(normalize(mention, normalizer), 9, lam=lam)
        assert found == [(entity, float32(score)) for entity, score in expected]


def test_toy_totals():
    oracle = toy_oracle()
    assert oracle.entity_total == {"Q1741": 11, "Q282": 6, "Q584": 4}
    assert oracle.token_total[gram("ín")] == 4
    assert oracle.token_total[gram("n$")] == 5
    assert sum(oracle.token_total.values()) == 21


def test_toy_parts_add_up_to_the_score():
    parts = toy_oracle().parts("Vín", "Q1741")
    assert parts == {
        gram("^V"): (1.5 / 3, 1.5 / 11),
        gram("Ví"): (1.5 / 3, 1.5 / 11),
        gram("ín"): (1.5 / 4, 1.5 / 11),
        gram("n$"): (2.5 / 5, 2.5 / 11),
    }
    assert toy_oracle().parts("Vín", "Q5") == {}


def test_toy_shares_are_of_the_whole_space_not_of_the_first_k():
    # Vín, lam = 0: 1.875 + 1.675 + 0.45 = 4
    shares = [("Q1741", 1.875 / 4), ("Q282", 1.675 / 4), ("Q584", 0.45 / 4)]
    expected = [(entity, float32(share)) for entity, share in shares]
    assert toy_oracle(lam=0.0).share("Vín", 30) == expected
    assert toy_oracle(lam=0.0).share("Vín", 2) == expected[:2]
    assert toy_oracle().share("Oslo", 2) == []


def test_a_token_counts_as_often_as_it_occurs_in_the_index_and_in_the_query():
    # aaa holds aa twice: n(aa,Q1) = 2, N(aa) = 3, N(Q1) = 4; and the query asks for it twice.
    # Q1: ^a 1/2 + 2 * 2/3 + a$ 1/2 = 7/3 and 1/4 + 2 * 2/4 + 1/4 = 3/2
    # Q2: ^a 1/2 + 2 * 1/3 + a$ 1/2 = 5/3 and 1/3 + 2 * 1/3 + 1/3 = 4/3
    oracle = Oracle({"x": [("aaa", "Q1", 1), ("aa", "Q2", 1)]}, {"x": 1.0}, 1.0, 0.0, bigrams)
    assert oracle.candidates("aaa", 9) == [("Q1", float32(23 / 6)), ("Q2", float32(3.0))]


# Pooling


def test_zero_alpha_means_that_the_counts_do_not_exist():
    # Faroese alone. Vín: ^v vi in belong to wine, n$ is shared with wien: A = 3 + 1/2, B = 4/4.
    # Vienna has n$ only: A = 1/2, B = 1/5. The Rhine is not there.
    oracle = toy_oracle(alpha=0.0)
    assert oracle.candidates("Vín", 9) == [("Q282", 4.5), ("Q1741", float32(0.7))]
    assert oracle.candidates("Rí", 9) == []
    assert "Q584" not in oracle.entity_total
    assert gram("Rí") not in oracle.token_total


def test_alpha_of_a_single_pivot_cancels():
    # Icelandic alone. Vín: Vienna 3/4 + 3/4 + 3/6 + 3/6 and 1, wine 1/4 + 1/4 + 1/6 + 1/6 and 1.
    for alpha in (0.25, 1.0, 4.0):
        oracle = Oracle({"is": toy.ICELANDIC}, {"is": alpha}, 1.0, 0.0, bigrams)
        assert oracle.candidates("Vín", 2) == [("Q1741", 3.5), ("Q282", float32(5 / 6 + 1))]


def test_rows_that_say_the_same_add_up():
    once = Oracle({"x": [("a", "Q1", 3), ("b", "Q2", 1)]}, {"x": 1.0})
    thrice = Oracle({"x": [("a", "Q1", 1), ("b", "Q2", 1), ("a", "Q1", 2)]}, {"x": 1.0})
    assert once.n == thrice.n


# Order


def test_ties_go_to_the_shorter_then_the_smaller_id():
    rows = [("a", entity, 1) for entity in ("Q100", "Q21", "Q3", "Q20", "x", "ö")]
    oracle = Oracle({"x": rows}, {"x": 1.0}, 1.0, 0.0, whole)
    order = ["x", "ö", "Q3", "Q20", "Q21", "Q100"]  # length in characters, not in bytes
    assert [entity for entity, _ in oracle.candidates("a", 9)] == order
    assert [entity for entity, _ in oracle.candidates("a", 4)] == order[:4]


def test_scores_that_differ_in_float64_only_tie():
    rows = [("a", "Q2", 10**9), ("a", "Q100", 10**9 + 1)]
    oracle = Oracle({"x": rows}, {"x": 1.0}, 0.0, 0.0, whole)
    assert oracle.prior["a", "Q2"] < oracle.prior["a", "Q100"]
    assert oracle.candidates("a", 9) == [("Q2", 0.5), ("Q100", 0.5)]


# Threshold. The lowest priors: n$/Rhine 1/5, in/Rhine 1/4, n$/wine 3/10, in/Vienna and in/wine 3/8.
# Posteriors: all 8 of Vienna under 1/4 (the highest is 2.5/11), all of wine and Rhine exactly 1/4.


@pytest.mark.parametrize(
    ("threshold", "dropped"),
    [
        (0.0, (0, 0, 0)),
        (0.25, (1, 8, 0)),  # exactly 1/4 is kept; n$/Rhine keeps its posterior
        (0.26, (2, 16, 2)),  # in/Rhine and n$/Rhine are gone
        (0.3, (2, 16, 2)),  # n$/wine is 0.3 and kept
        (0.4, (5, 16, 5)),  # n$/wine, and in of Vienna and of wine, 0.375 each
        (1.1, (16, 16, 16)),
    ],
)
def test_threshold_drops_priors_and_posteriors_apart(threshold, dropped):
    assert toy_oracle(threshold=threshold).dropped() == dropped


def test_nothing_is_renormalised_after_thresholding():
    # tau = 0.25, Vín: Vienna keeps its priors and no posterior, the Rhine loses the prior of n$.
    assert toy_oracle(threshold=0.25).candidates("Vín", 9) == [
        ("Q282", float32(1.675 + 1)),
        ("Q1741", 1.875),
        ("Q584", float32(0.25 + 0.5)),
    ]


def test_without_lam_an_entity_with_posteriors_only_is_no_candidate():
    # n: ^n is unknown; of n$ the Rhine has kept the posterior, 1/4, and not the prior.
    oracle = toy_oracle(threshold=0.25)
    assert oracle.parts("n", "Q584") == {gram("n$"): (0.0, 0.25)}
    assert [entity for entity, _ in oracle.candidates("n", 9, lam=0.0)] == ["Q1741", "Q282"]
    assert ("Q584", 0.25) in oracle.candidates("n", 9, lam=1.0)


def test_a_threshold_that_drops_everything_leaves_no_candidates():
    oracle = toy_oracle(threshold=1.1)
    assert oracle.candidates("Vín", 9) == oracle.share("Vín", 9) == []
