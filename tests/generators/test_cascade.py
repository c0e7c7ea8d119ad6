"""Cascades: against the oracle, with one's own generators, as methods, and their files."""

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import CandgenError, Cascade, MentionTable, PivotTokenIndex, Query, WikiPriors
from candgen.generators import METHODS
from candgen.protocols import Training, covers
from tests.support import toy
from tests.support.oracle import Oracle
from tests.support.tiers_oracle import PriorsOracle, in_turn
from tests.support.worlds import ENTITIES, mentions, tables

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
ICELANDIC = MentionTable.from_pairs(toy.ICELANDIC)
FAROESE = MentionTable.from_pairs(toy.FAROESE)
JOINT = Training({"is": ICELANDIC}, FAROESE, "fo")


def priors(**options):
    return WikiPriors.build(**{"pivots": {"is": ICELANDIC}, "target": FAROESE, **options})


def pti(**options):
    return PivotTokenIndex.build(**{"pivots": {"is": ICELANDIC}, "target": FAROESE, **options})


class Listed:
    """A user's own generator: the same candidates for everybody, or none for some."""

    def __init__(self, *candidates, deaf=()):
        self.answer, self.deaf, self.asked = list(candidates), deaf, []

    def candidates(self, mentions, k=30):
        self.asked.append((list(mentions), k))
        return [[] if mention in self.deaf else self.answer[:k] for mention in mentions]


def agree(found, expected):
    """Ids and order equal, scores to 1e-6."""
    assert [entity for entity, _ in found] == [entity for entity, _ in expected]
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], rel=1e-6
    )


QUERIES = st.lists(mentions() | st.sampled_from(["", "zz", "a b"]), min_size=1, max_size=5)


@given(tables(), tables() | st.none(), QUERIES, st.integers(1, 20), st.booleans())
@SLOW
def test_wikipriors_then_pti_is_what_the_oracle_says(pivot, target, queries, k, fill):
    mine = None if target is None else MentionTable.from_pairs(target)
    pivots = {"is": MentionTable.from_pairs(pivot)}
    cascade = Cascade(
        WikiPriors.build(pivots, mine, normalizer="none"),
        PivotTokenIndex.build(pivots, mine, alpha=1.0, lam=0.4, normalizer="none"),
        fill=fill,
    )
    first = PriorsOracle({"is": pivot}, target)
    every = {"is": pivot, **({} if target is None else {"target": target})}
    then = Oracle(every, dict.fromkeys(every, 1.0), lam=0.4)
    answers = cascade.candidates(queries, k)
    for query, answer in zip(queries, answers, strict=True):
        parts = [some.candidates(query, 10**9) for some in (first, then)]
        agree(answer, in_turn(parts, k, fill=fill))
        assert cascade.candidates([query], k) == [answer]
        assert cascade.candidates([query], 10**9)[0][:k] == answer


@given(
    st.lists(st.dictionaries(ENTITIES, st.floats(1e-30, 1e30), max_size=8), min_size=2, max_size=4),
    st.integers(1, 12),
    st.booleans(),
)
def test_any_number_of_generators(answers, k, fill):
    ranked = [sorted(some.items(), key=lambda pair: -pair[1]) for some in answers]
    cascade = Cascade(*(Listed(*some) for some in ranked), fill=fill)
    (answer,) = cascade.candidates(["Vín"], k)
    expected = in_turn(ranked, k, fill=fill)
    assert [entity for entity, _ in answer] == [entity for entity, _ in expected]
    scores = [score for _, score in expected]
    assert [score for _, score in answer] == pytest.approx(scores, rel=1e-12)
    scores = [candidate.score for candidate in answer]
    assert scores == sorted(scores, reverse=True)
    assert min(scores, default=1.0) > 0


def test_the_toy_world():
    """WikiPriors knows Vín by heart; Vínið it has never heard, but PTI has parts of it."""
    cascade = Cascade(priors(), pti())
    assert cascade.candidates(["Vín"])[0] == [
        ("Q282", 1 + 3.5 / 4.5),
        ("Q1741", pytest.approx(1 + (17 / 7) / (24 / 7))),
    ]
    assert priors().candidates(["Vínið"]) == [[]]
    expected = [(c.entity, c.score / (1 + c.score)) for c in pti().candidates(["Vínið"])[0]]
    assert cascade.candidates(["Vínið"])[0] == expected
    assert [entity for entity, _ in expected] == ["Q282", "Q1741", "Q584"]
    # With fill, PTI adds the Rhine to what WikiPriors knows of Vín.
    filled = Cascade(priors(), pti(), fill=True).candidates(["Vín"])[0]
    assert [c.entity for c in filled] == ["Q282", "Q1741", "Q584"]
    assert filled[:2] == cascade.candidates(["Vín"])[0]


def test_what_is_refused():
    with pytest.raises(CandgenError, match="generator 2 is 7, which cannot be asked for candid"):
        Cascade(Listed(), 7)
    with pytest.raises(CandgenError, match="fill is 'no': expected True or False"):
        Cascade(Listed(), Listed(), fill="no")
    with pytest.raises(CandgenError, match="k is 0"):
        Cascade(Listed(), Listed()).candidates(["Vín"], 0)

    class Mute:
        def candidates(self, mentions, k=30):
            return []

    with pytest.raises(CandgenError, match="generator 2 gave 0 answers to 1 mentions"):
        Cascade(Listed(), Mute()).candidates(["Vín"])


def test_who_is_known():
    icelandic, faroese = priors(target=None), priors(pivots=None)
    cascade = Cascade(faroese, icelandic)
    assert faroese.knows(["Q584", "Q282", "Q1"]) == [False, True, False]
    assert cascade.knows(["Q584", "Q282", "Q1"]) == [True, True, False]
    # Where one of them cannot tell, the cascade cannot either; nor can one that nests it.
    partly = Cascade(faroese, Listed())
    assert covers(cascade) and not covers(partly) and not covers(Listed())
    with pytest.raises(CandgenError, match=r"generator 2, .*Listed.*, has no method knows"):
        partly.knows(["Q282"])
    assert not covers(Cascade(partly, icelandic))
    query = [Query("Vín", "Q282", "easy")]
    report = candgen.evaluate({"one": Cascade(faroese, Listed()), "two": cascade}, query, ks=(1,))
    assert report.recall("one", k=1) == report.recall("two", k=1) == 100.0


def test_names_are_those_of_the_first_who_has_some():
    cascade = Cascade(Listed(), priors(pivots=None), priors(target=None))
    assert cascade.names("Q1741") == [("Wien", "target", 1)]
    assert cascade.names("Q584") == [("Rín", "is", 2)]
    assert cascade.names("Q1") == []


# Files


@pytest.mark.parametrize("fill", [False, True])
def test_a_saved_cascade_answers_the_same(fill, tmp_path):
    inner = Cascade(pti(lam=1.0), priors(released=True), fill=not fill)
    cascade = Cascade(priors(pivots=None), inner, pti(threshold=0.3), fill=fill)
    cascade.save(tmp_path / "x.candgen")
    loaded = candgen.load(tmp_path / "x.candgen")
    queries = ["Vín", "Vínið", "Wien Vín", "Oslo", ""]
    assert loaded.candidates(queries) == cascade.candidates(queries)
    assert loaded.candidates(queries)[0]
    assert (loaded.fill, loaded.nested[1].fill) == (fill, not fill)
    assert [type(part) for part in loaded.nested] == [type(part) for part in cascade.nested]
    assert loaded.nested[2].parameters == cascade.nested[2].parameters
    assert loaded.nested[2].inputs == cascade.nested[2].inputs
    assert loaded.knows(["Q584", "Q1"]) == [True, False]
    loaded.save(tmp_path / "y.candgen")
    names = [
        sorted(path.name for path in (tmp_path / each).iterdir())
        for each in ("x.candgen", "y.candgen")
    ]
    assert names[0] == names[1]


# As methods


def test_a_class_is_no_generator():
    class Mine:
        def candidates(self, mentions, k=30):
            return [[] for _ in mentions]

    with pytest.raises(CandgenError, match="expected one that is built"):
        Cascade(Mine(), Mine)


CLOSE = st.sampled_from(
    [0.3, 0.1 + 0.2, 1.361930972661956, 1.3619309726619557, 1e-300, 1e-17, 1e17, 1e300, 5.0, 2.0]
)


def test_build_is_what_the_method_builds():
    """``Cascade.build`` has the parameters of both generators."""
    made = Cascade.build({"is": ICELANDIC}, FAROESE, language="fo", alpha=0.1, lam=1.0, fill=True)
    training = Training({"is": ICELANDIC}, FAROESE, "fo")
    same = METHODS["cascade-fill"](training, {"alpha": 0.1, "lam": 1.0})
    queries = ["Vín", "Rín", "Wien", "Vínið", ""]
    assert made.candidates(queries) == same.candidates(queries)
    assert made.contents().parameters == same.contents().parameters
    assert Cascade.build({"is": ICELANDIC}).fill is False
    with pytest.raises(CandgenError, match="nothing to build from"):
        Cascade.build()


def test_nobody_writes_into_a_cascade():
    cascade = Cascade(priors(), pti())
    with pytest.raises(FrozenInstanceError):
        cascade.fill = True
