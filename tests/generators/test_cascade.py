"""Cascades: against the oracle, with one's own generators, as methods, and their files."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import CandgenError, Cascade, MentionTable, PivotTokenIndex, Query, WikiPriors
from candgen.generators import METHODS
from candgen.generators.candidate import check_query
from candgen.generators.conformance import check_generator
from candgen.protocols import Training, covers, rank_golds
from tests.support import toy
from tests.support.oracle import Oracle
from tests.support.tiers_oracle import PriorsOracle, in_turn
from tests.support.worlds import ALPHAS, ENTITIES, LAMS, large_world, mentions, tables

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


def test_only_who_needs_it_is_passed_on():
    first = Listed(("Q1", 2.0), ("Q2", 1.0), deaf=("a", "b"))
    for fill, passed in [(False, [["a", "b"]]), (True, [["a", "x", "b"]])]:
        then, last = Listed(("Q3", 1.0), deaf=("b",)), Listed(("Q4", 1.0))
        answers = Cascade(first, then, last, fill=fill).candidates(["a", "x", "b"], 3)
        assert then.asked == [(passed[0], 3)]
        assert last.asked == [(["a", "b"] if fill else ["b"], 3)]
        assert [c.entity for c in answers[1]] == (["Q1", "Q2", "Q3"] if fill else ["Q1", "Q2"])
    # Where nothing is left to do, nobody is asked.
    never = Listed()
    assert Cascade(Listed(("Q1", 1.0)), never, fill=True).candidates(["a"], 1) == [[("Q1", 1.5)]]
    assert Cascade(first, never).candidates([]) == []
    assert never.asked == []


def test_what_is_no_candidate_is_not_passed_on():
    odd = Listed(
        ("Q1", float("inf")),
        ("Q1", 5.0),
        ("Q2", np.float32(1.0)),
        ("Q3", 0.0),
        ("Q4", -1.0),
        ("Q5", float("nan")),
    )
    cascade = Cascade(odd, Listed(("Q3", 1.0)), fill=True)
    (answer,) = cascade.candidates(["Vín"])
    assert answer == [("Q1", 2.0), ("Q2", 1.5), ("Q3", 0.5)]
    assert {type(candidate.score) for candidate in answer} == {float}
    # A generator that has nothing positive has found nothing.
    cascade = Cascade(Listed(("Q3", 0.0)), Listed(("Q4", 1.0)))
    assert cascade.candidates(["Vín"]) == [[("Q4", 0.5)]]

    class Generous:
        def candidates(self, mentions, k=30):
            return [[(f"Q{number}", 1.0) for number in range(9)] for _ in mentions]

    assert len(Cascade(Generous(), Generous(), fill=True).candidates(["Vín"], 2)[0]) == 2


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


def test_a_part_is_opened_as_if_it_were_alone(tmp_path):
    from candgen.storage import index_folder

    Cascade(priors(), pti()).save(tmp_path / "both")
    pti().save(tmp_path / "alone")
    opened = []
    both = index_folder.load(tmp_path / "both")
    Cascade.from_stored(both, lambda part: opened.append(part) or Listed())
    alone = index_folder.load(tmp_path / "alone")
    assert (opened[1].kind, opened[1].sizes) == (alone.kind, alone.sizes)
    assert opened[1].parameters == alone.parameters
    assert opened[1].inputs == alone.inputs
    assert (opened[1].path, opened[1].version) == (tmp_path / "both", alone.version)
    assert set(opened[1].arrays) == set(alone.arrays)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(CandgenError, match=r"generator 2 is .* has no method contents"):
        Cascade(priors(), Listed()).save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_part_of_unknown_kind(tmp_path):
    from candgen.storage import index_folder

    kind, parameters, arrays, inputs = Cascade(priors(), pti()).contents()
    parameters["parts"][1]["kind"] = "oracle"
    index_folder.save(
        tmp_path / "x", kind=kind, parameters=parameters, arrays=arrays, inputs=inputs
    )
    with pytest.raises(CandgenError, match=r"of kind 'oracle'.*upgrade candgen, or build it again"):
        candgen.load(tmp_path / "x")


# As methods


@st.composite
def trials(draw):
    names = draw(st.lists(st.sampled_from(["is", "da"]), max_size=2, unique=True))
    target = draw(tables()) if not names or draw(st.booleans()) else None
    choices = []
    for _ in range(draw(st.integers(1, 4))):
        choice = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "alpha": ALPHAS if target is not None else st.just(0.5),
                    "lam": LAMS,
                    "normalizer": st.sampled_from(["none", "default"]),
                    "threshold": st.sampled_from([0.1, 0.5]),
                },
            )
        )
        choices.append(choice)
    pivots = {name: MentionTable.from_pairs(draw(tables())) for name in names}
    training = Training(pivots, None if target is None else MentionTable.from_pairs(target), "fo")
    queries = draw(st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=12))
    return training, choices, queries, draw(st.integers(1, 5))


@given(trials(), st.sampled_from(["cascade", "cascade-fill"]))
@SLOW
def test_ranks_equal_those_of_generators(trial, name):
    training, choices, queries, k = trial
    method = METHODS[name]
    try:
        expected = [rank_golds(method(training, some), queries, k).tolist() for some in choices]
    except ValueError:  # no mention has a token
        with pytest.raises(ValueError):
            method.ranks(training, choices, queries, k)
        return
    assert [some.tolist() for some in method.ranks(training, choices, queries, k)] == expected


@pytest.mark.parametrize("name", ["cascade", "cascade-fill"])
def test_ranks_differ_where_it_matters(name):
    world = large_world(3, entities=400, letters="abcdefgh")
    pivots = {name: MentionTable.from_pairs(rows) for name, rows in world.pivots.items()}
    training = Training(pivots, MentionTable.from_pairs(world.target), "fo")
    rows = random.Random(1).sample([row for rows in world.pivots.values() for row in rows], 60)
    queries = [Query(mention[:-1] + "x", entity) for mention, entity, _ in rows]
    queries += [Query(mention, entity) for mention, entity, _ in rows]
    method = METHODS[name]
    choices = method.choices(training)
    ranks = [some.tolist() for some in method.ranks(training, choices, queries, 10)]
    assert ranks == [rank_golds(method(training, some), queries, 10).tolist() for some in choices]
    assert len({tuple(some) for some in ranks}) > 1


def test_ranks_of_choices_with_other_normalizers():
    """As it is written, vÍN is known to nobody; nor are its letters."""
    choices = [{"normalizer": "default"}, {"normalizer": "none"}, {"normalizer": "default"}]
    for name in ("cascade", "cascade-fill"):
        ranks = METHODS[name].ranks(JOINT, choices, [Query("vÍN", "Q1741")], 3)
        assert [some.tolist() for some in ranks] == [[2], [0], [2]]


def test_methods_have_the_grid_of_pti():
    for name, fill in [("cascade", False), ("cascade-fill", True)]:
        method = METHODS[name]
        assert method.choices(JOINT) == METHODS["pti"].choices(JOINT)
        assert method.choices(Training({"is": ICELANDIC})) == [
            {"lam": 0.2},
            {"lam": 0.4},
            {"lam": 1.0},
        ]
        built = method(JOINT, {"alpha": 0.1, "lam": 1.0, "normalizer": "paper"})
        assert [type(part) for part in built.nested] == [WikiPriors, PivotTokenIndex]
        assert [part.parameters["normalizer"] for part in built.nested] == ["paper", "paper"]
        assert built.nested[1].parameters["alpha"] == {"is": 0.1}
        assert built.fill is fill


def test_size_is_that_of_both():
    parameters = {"alpha": 0.4, "lam": 1.0, "threshold": 0.3}
    cascade = METHODS["cascade"](JOINT, parameters)
    alone = METHODS["pti"].size(METHODS["pti"](JOINT, parameters))
    size = METHODS["cascade"].size(cascade)
    assert size.parameters == 10 + alone.parameters
    every = alone.parameters / (1 - alone.removed)
    assert size.removed == pytest.approx(alone.removed * every / (10 + every))
    assert 0 < size.removed < alone.removed
    with pytest.raises(CandgenError, match="lam is -1"):
        METHODS["cascade"].ranks(JOINT, [{"lam": -1}], [Query("Vín", "Q282")], 3)


def test_a_class_is_no_generator():
    class Mine:
        def candidates(self, mentions, k=30):
            return [[] for _ in mentions]

    with pytest.raises(CandgenError, match="expected one that is built"):
        Cascade(Mine(), Mine)


@pytest.mark.parametrize("answer", [None, iter([[]])])
def test_an_answer_that_is_no_list_is_refused(answer):
    class Mine:
        def candidates(self, mentions, k=30):
            return answer

    with pytest.raises(CandgenError, match=r"generator 1 gave .*: expected a list"):
        Cascade(Mine(), Mine()).candidates(["Vín"])


def test_ranks_of_a_choice_without_weights_are_those_of_what_is_built():
    queries = [Query("Vínið", "Q282"), Query("Vínið", "Q1741"), Query("Vín", "Q584")]
    for name in ("cascade", "cascade-fill"):
        method = METHODS[name]
        (ranks,) = method.ranks(JOINT, [{}], queries, 3)
        assert ranks.tolist() == rank_golds(method(JOINT, {}), queries, 3).tolist()
        _, then = method(JOINT, {}).nested
        assert then.lam == PivotTokenIndex.build({"is": ICELANDIC}).lam


CLOSE = st.sampled_from(
    [0.3, 0.1 + 0.2, 1.361930972661956, 1.3619309726619557, 1e-300, 1e-17, 1e17, 1e300, 5.0, 2.0]
)


@given(
    st.lists(st.dictionaries(ENTITIES, CLOSE, max_size=8), min_size=2, max_size=3), st.booleans()
)
def test_what_a_generator_tells_apart_stays_apart(answers, fill):
    """However close its scores are: order and ties are those of the generator."""

    class Mine:
        def __init__(self, scores):
            self.ranked = sorted(scores.items(), key=lambda c: (-c[1], len(c[0]), c[0]))

        def candidates(self, mentions, k=30):
            check_query(mentions, k)
            return [self.ranked[:k] for _ in mentions]

    parts = [Mine(scores) for scores in answers]
    check_generator(Cascade(*parts, fill=fill), ["Vín", "Wien"], k=5)
    (found,) = Cascade(*parts, fill=fill).candidates(["Vín"], 30)
    by_hand = []
    for part in parts:
        if fill or not by_hand:
            by_hand += [e for e, _ in part.ranked if e not in by_hand]
    assert [entity for entity, _ in found] == by_hand
