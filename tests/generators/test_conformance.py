"""Every method keeps the rules for generators, and whoever breaks one is caught."""

import importlib.util
import random
import tempfile
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import candgen
from candgen import MentionTable
from candgen.errors import CandgenError, ConformanceError, ParameterError, TableError
from candgen.generators import METHODS
from candgen.generators.conformance import check_generator
from candgen.protocols import Training
from tests.support.paper_world import TABLES
from tests.support.worlds import any_worlds, mentions, worlds

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=25)

SPLIT = candgen.split(TABLES["fo"], per_type=5, normalizer="default", language="fo")
TRAININGS = {
    "zero-shot": {"pivots": {"is": TABLES["is"], "de": TABLES["de"]}},
    "joint": {"pivots": {"is": TABLES["is"]}, "target": SPLIT.train},
    "target alone": {"target": SPLIT.train},
}
MENTIONS = [
    *(query.mention for query in SPLIT.dev),
    "",
    " ",
    "víkhavnur",
    "havn 7 vík",
    "x",
    "😀",
    "nes",
]
QUICK = {"epochs": 2, "dimensions": 8, "pairs": 60, "batch": 16}


def quick(name):
    """Parameters with which a method is built in a moment."""
    known = METHODS[name].options | set(METHODS[name].grid)
    return {each: value for each, value in QUICK.items() if each in known}


def skip_without_torch(name):
    if METHODS[name].neural and importlib.util.find_spec("torch") is None:
        pytest.skip(f"{name} needs PyTorch, which is optional")


@pytest.mark.parametrize("setting", TRAININGS)
@pytest.mark.parametrize("name", METHODS)
def test_every_method(name, setting, tmp_path):
    skip_without_torch(name)
    training = Training(
        **TRAININGS[setting], language="fo", english=TABLES["en"], dev=SPLIT.dev[:6]
    )
    generator = METHODS[name](training, quick(name))
    asked = MENTIONS[-7:] if METHODS[name].neural else MENTIONS  # their encoders take their time
    assert any(generator.candidates(asked))
    check_generator(generator, asked, folder=tmp_path)
    check_generator(generator, asked[-3:], k=1)
    check_generator(generator, asked[-3:], k=3)


NOT_NEURAL = [name for name in METHODS if not METHODS[name].neural]


@given(world=any_worlds(), asked=st.lists(mentions(), max_size=3), k=st.integers(1, 9))
@SLOW
@pytest.mark.parametrize("name", NOT_NEURAL)
def test_made_up_worlds(name, world, asked, k):
    if (generator := built(name, world)) is not None:
        check_generator(generator, [seen(world), *asked, "ab", ""], k=k)


@given(world=worlds(), k=st.integers(1, 9))
@settings(SLOW, max_examples=3)  # every save waits for the disk
@pytest.mark.parametrize("name", NOT_NEURAL)
def test_made_up_worlds_are_kept(name, world, k):
    generator = built(name, world)
    with tempfile.TemporaryDirectory() as folder:
        check_generator(generator, [seen(world), "ab", ""], k=k, folder=folder)


def built(name, world):
    """A generator of a world, with its weights and threshold; None if no table has a token."""
    method = METHODS[name]
    weights = {"alpha": world.alpha, "lam": world.lam, "threshold": world.threshold}
    known = method.options | set(method.grid)
    parameters = {each: value for each, value in weights.items() if each in known}
    pivots = {each: MentionTable.from_pairs(rows) for each, rows in world.pivots.items()}
    target = None if world.target is None else MentionTable.from_pairs(world.target)
    try:
        return method(Training(pivots, target), {**parameters, "normalizer": "none"})
    except TableError as error:
        assert "no mention has a token" in str(error)
        return None


def seen(world):
    """A mention of the target, or of a pivot."""
    return next(iter([*([world.target] if world.target else []), *world.pivots.values()]))[0][0]


# ---------------------------------------------------------------- whoever breaks a rule


class Good:
    """Entities that share a letter with the mention, ranked by how many; many ties."""

    entities = ("aaa", "ab", "abc", "b", "ba", "bc", "c")

    def candidates(self, mentions, k=30):
        if isinstance(mentions, str):
            raise TypeError("expected a list")
        if isinstance(k, bool) or k < 1:
            raise ValueError("expected k >= 1")
        return [self.answer(mention, k) for mention in mentions]

    def answer(self, mention, k):
        scores = {each: float(len({*each} & {*mention})) for each in self.entities}
        ranked = sorted(self.entities, key=lambda each: (-scores[each], len(each), each))
        return [(each, scores[each]) for each in ranked if scores[each]][:k]

    def save(self, path):
        path.mkdir()
        (path / "entities").write_text(" ".join(self.entities), encoding="utf-8")


def load_good(path, cls=None):
    made = (cls or Good)()
    made.entities = tuple((path / "entities").read_text(encoding="utf-8").split())
    return made


ASKED = ["ab", "c", "abc", "", "x", "ab"]


def broken_answer(function):
    """A generator whose answers are changed by a function of them and of k."""

    class Broken(Good):
        def answer(self, mention, k):
            return function(super().answer(mention, k), k)

    return Broken()


def broken_batch(function):
    """A generator whose answers to all mentions are changed together."""

    class Broken(Good):
        calls = 0

        def candidates(self, mentions, k=30):
            answers = super().candidates(mentions, k)
            self.calls += 1
            return function(answers, mentions, self.calls)

    return Broken()


class LettersOfAString(Good):
    def candidates(self, mentions, k=30):
        return super().candidates(list(mentions), k)


class AnyK(Good):
    def candidates(self, mentions, k=30):
        return [] if k < 1 else super().candidates(mentions, int(k))


class Clamped(Good):
    """Whole lists are ordered otherwise: only k larger than the space tells."""

    def answer(self, mention, k):
        return super().answer(mention, k) if k < 100 else super().answer(mention, k)[::-1]


class Forgetful(Good):
    def knows(self, entities):
        return [entity != "b" for entity in entities]


class Able(Good):
    """With all abilities."""

    def names(self, entity):
        return [(entity, "fo", 2), (entity.upper(), "is", 1)]

    def knows(self, entities):
        return [entity in self.entities for entity in entities]

    def explain(self, mention, entity):
        return SimpleNamespace(score=dict(self.answer(mention, 30))[entity])

    def probabilities(self, mention, candidates):
        return [score / 4 for _, score in candidates]


def able(**methods):
    """A generator with one ability that is broken."""
    return type("Broken", (Able,), methods)()


class Silent(Good):
    def knows(self, entities):
        return []


class Unsure(Good):
    def knows(self, entities):
        raise LookupError("who knows")


def first_changed(change):
    return lambda answer, k: [change(*answer[0]), *answer[1:]] if answer else []


def sorted_by_others(answers, mentions, calls):
    """What stands first in the batch gets a better answer."""
    return [answers[0][:1], *answers[1:]] if len(answers) > 1 else answers


def emptied(answers, mentions, calls):
    mentions.clear()
    return answers


BROKEN = {
    "answers": [
        broken_batch(lambda answers, mentions, calls: answers[:-1]),
        broken_batch(lambda answers, mentions, calls: [*answers, []]),
        broken_batch(lambda answers, mentions, calls: None),
        broken_batch(lambda answers, mentions, calls: answers or [[]]),
        broken_answer(lambda answer, k: [entity for entity, _ in answer]),
        broken_answer(lambda answer, k: 1 / 0),
        object(),
    ],
    "arguments": [broken_batch(emptied)],
    "entities": [
        broken_answer(first_changed(lambda entity, score: ("", score))),
        broken_answer(first_changed(lambda entity, score: (7, score))),
        broken_answer(first_changed(lambda entity, score: ([entity], score))),
    ],
    "scores": [
        broken_answer(first_changed(lambda entity, score: (entity, float("inf")))),
        broken_answer(first_changed(lambda entity, score: (entity, float("nan")))),
        broken_answer(first_changed(lambda entity, score: (entity, int(score)))),
        broken_answer(first_changed(lambda entity, score: (entity, str(score)))),
        broken_answer(lambda answer, k: [*answer, ("zzz", 0.0)][:k]),
        broken_answer(lambda answer, k: [*answer, ("zzz", -1.0)][:k]),
    ],
    "order": [broken_answer(lambda answer, k: [*answer, ("zzz", 9.0)][:k])],
    "ties": [
        broken_answer(lambda answer, k: [*answer, ("a", answer[-1][1])] if answer else []),
        broken_answer(lambda answer, k: [(f"Q{e}", 1.0) for e in (100, 21, 3)][:k]),
        broken_answer(lambda answer, k: [(f"Q{e}", 1.0) for e in (22, 21)][:k]),
    ],
    "duplicates": [broken_answer(lambda answer, k: [*answer, *answer[-1:]])],
    "length": [broken_answer(lambda answer, k: [*answer, ("zzzz", 0.5)])],
    "knows": [Forgetful(), Silent(), Unsure()],
    "names": [
        able(names=lambda self, entity: None),
        able(names=lambda self, entity: [entity]),
        able(names=lambda self, entity: [(entity, "fo")]),
        able(names=lambda self, entity: [("fo", 2, entity)]),
        able(names=lambda self, entity: [(entity, "fo", 1), (entity, "is", 2)]),
        able(names=lambda self, entity: 1 / 0),
    ],
    "explain": [
        able(explain=lambda self, mention, entity: None),
        able(explain=lambda self, mention, entity: SimpleNamespace(score=17.0)),
        able(explain=lambda self, mention, entity: SimpleNamespace(score=float("nan"))),
        able(explain=lambda self, mention, entity: 1 / 0),
    ],
    "probabilities": [
        able(probabilities=lambda self, mention, candidates: []),
        able(probabilities=lambda self, mention, candidates: [0.1] * (len(candidates) + 1)),
        able(probabilities=lambda self, mention, candidates: [s for _, s in candidates]),
        able(probabilities=lambda self, mention, candidates: [-0.1 for _ in candidates]),
        able(probabilities=lambda self, mention, candidates: [1 / (1 + s) for _, s in candidates]),
        able(probabilities=lambda self, mention, candidates: [float("nan") for _ in candidates]),
        able(probabilities=lambda self, mention, candidates: 1 / 0),
    ],
    "prefix": [
        broken_answer(lambda answer, k: answer[1:] if k == 1 else answer),
        broken_answer(lambda answer, k: [(e, s / k) for e, s in answer]),
        broken_answer(lambda answer, k: answer[:2] if k == 2 else answer[:1]),
        Clamped(),
    ],
    "batch": [
        broken_batch(sorted_by_others),
        broken_batch(lambda answers, mentions, calls: answers[::-1]),
        broken_batch(lambda answers, mentions, calls: [some[: 1 + calls % 2] for some in answers]),
    ],
    "refusals": [LettersOfAString(), AnyK()],
}
CASES = [(rule, number) for rule, some in BROKEN.items() for number in range(len(some))]


def rules_broken(generator, asked=ASKED, **options):
    with pytest.raises(ConformanceError) as caught:
        check_generator(generator, asked, **options)
    return {violation.rule for violation in caught.value.violations}


@pytest.mark.parametrize("cls", [Good, Able])
def test_a_good_generator_passes(cls, tmp_path):
    for k in (1, 2, 4, 30):
        load = partial(load_good, cls=cls)
        check_generator(cls(), ASKED, k=k, folder=tmp_path / str(k), load=load)


def test_a_loaded_generator_has_the_same_abilities(tmp_path):
    assert rules_broken(Able(), folder=tmp_path / "less", load=load_good) == {"abilities"}
    more = partial(load_good, cls=Able)
    assert rules_broken(Good(), folder=tmp_path / "more", load=more) == {"abilities"}


@pytest.mark.parametrize(("rule", "number"), CASES)
def test_who_breaks_a_rule_is_caught(rule, number):
    assert rule in rules_broken(BROKEN[rule][number], k=4)


@pytest.mark.parametrize(
    ("rule", "number"),
    [
        *(("ties", 1), ("order", 0), ("knows", 0), ("refusals", 0), ("prefix", 3)),
        *((rule, number) for rule in ("names", "explain", "probabilities") for number in range(4)),
    ],
)
def test_nobody_is_accused_of_more(rule, number):
    assert rules_broken(BROKEN[rule][number]) == {rule}


def test_every_violation_is_listed_with_mention_and_values():
    class Bad(Good):
        def candidates(self, mentions, k=30):
            return [[("Q2", 0.5), ("Q10", 0.7), ("Q3", 0.7), ("Q3", 0.0)] for _ in mentions]

    with pytest.raises(ConformanceError, match=r"^Bad breaks the rules for generators") as caught:
        check_generator(Bad(), ["Vín", "Rín"], k=3)
    found = str(caught.value)
    assert len(caught.value.violations) == len(set(caught.value.violations))
    assert {each.rule for each in caught.value.violations} == {
        "scores",
        "order",
        "ties",
        "duplicates",
        "length",
        "prefix",
        "refusals",
    }
    for line in (
        "- order: 'Rín' (k=3): Q10 with 0.7 comes after Q2 with 0.5",
        "- ties: 'Vín' (k=3): Q3 comes after Q10, both with 0.7",
        "- scores: 'Vín': Q3 has 0.0, not above 0",
        "- duplicates: 'Vín': Q3 is there 2 times",
        "- length: 'Vín': 4 candidates for k=3",
    ):
        assert line in found.splitlines()


def test_saving_and_loading_are_checked(tmp_path):
    class Random(Good):
        def save(self, path):
            super().save(path)
            (path / "stamp").write_text(str(random.random()), encoding="utf-8")

    def load_other(path):
        made = Good()
        made.entities = made.entities[:-1]
        return made

    class Lost(Good):
        save = None

    assert rules_broken(Random(), folder=tmp_path / "a", load=load_good) == {"saving"}
    assert rules_broken(Good(), folder=tmp_path / "b", load=load_other) == {"round trip"}
    assert rules_broken(Lost(), folder=tmp_path / "c", load=load_good) == {"round trip"}
    # Nobody told candgen.load of this kind.
    assert rules_broken(Good(), folder=tmp_path / "d") == {"round trip"}


def test_a_generator_that_is_one_file(tmp_path):
    class Filed(Good):
        def save(self, path):
            path.write_text(f"{random.random()}", encoding="utf-8")

    found = rules_broken(Filed(), folder=tmp_path / "a", load=lambda path: Good())
    assert found == {"saving"}


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        ("Vín", {}, "'Vín'"),
        ([], {}, "several strings"),
        (["a", 3], {}, "several strings"),
        (["a"], {"k": 0}, "k is 0"),
        (["a"], {"k": True}, "k is True"),
        (["a"], {"load": load_good}, "without folder"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, options, named):
    with pytest.raises(ParameterError, match=named):
        check_generator(Good(), arguments, **options)


def test_a_conformance_error_is_one_of_ours():
    assert issubclass(ConformanceError, CandgenError)
    assert issubclass(ConformanceError, AssertionError)
