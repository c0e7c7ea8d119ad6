"""What is measured, with a method that notes how it is built and what it is asked."""

import json
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pytest

from candgen import MentionTable
from candgen.paper import measurements
from candgen.paper.corpus import Case
from candgen.paper.published import Pair
from candgen.paper.training_budget import budgets_in
from candgen.protocols import Method, Size, rank_golds
from candgen.tables.queries import Query

FIXED = {"normalizer": "paper", "lam": 9.0, "threshold": 0.5}  # choices come before these
PIVOTS = {
    "de": MentionTable.from_pairs([(f"Dorf {n}", f"Q{n}", 1 + n % 3) for n in range(200)]),
    "az": MentionTable.from_pairs([(f"kənd {n // 2}", f"Q{300 + n}", 2) for n in range(40)]),
}
TRAIN = MentionTable.from_pairs([("köy", "Q1", 4), ("köy", "Q500", 2), ("kent", "Q1", 1)])
ENGLISH = MentionTable.from_pairs([("village", "Q1"), ("hill", "Q700")])
DEV = [Query("d1", "Q1", "easy"), Query("d2", "Q2", "hard")]
TEST = [Query(f"t{n}", f"Q{n}", kind) for n, kind in enumerate(["easy", "hard", "hard", "medium"])]


class Parts(NamedTuple):
    train: MentionTable
    dev: list[Query]
    test: list[Query]
    language: str | None = "tr"


def make_case(*, zero_shot_only=False, pivots=PIVOTS, test=TEST, english=ENGLISH):
    pair = Pair("tr", "de+az", "", zero_shot_only)
    return Case(pair, pivots, Parts(TRAIN, DEV, test), english)


@dataclass
class Scripted:
    """Puts the gold of each mention at a rank that depends on how it was built."""

    training: object
    parameters: dict
    script: object
    asked: list = field(default_factory=list)

    def candidates(self, mentions, k=30):
        self.asked.append((list(mentions), k))
        golds = {query.mention: query.entity for query in [*DEV, *TEST]}
        found = []
        for mention in mentions:
            rank = self.script(self.training, self.parameters)[mention]
            some = [(f"other {n}", 1.0) for n in range(150)]
            some[rank - 1 : rank] = [(golds[mention], 1.0)] if rank else []
            found.append(some[:k])
        return found


def recording(script, **about):
    """A method, and the list of all that it builds."""
    built = []

    def build(training, parameters):
        built.append(Scripted(training, dict(parameters), script))
        return built[-1]

    about = {"size": lambda _: Size(1), "options": frozenset({"alpha", *FIXED}), **about}
    return Method(build=build, **about), built


def places(*ranks, dev=(0, 0)):
    """Ranks of the test queries, and of dev's."""
    return {**{f"t{n}": rank for n, rank in enumerate(ranks)}, "d1": dev[0], "d2": dev[1]}


TEST_MENTIONS, DEV_MENTIONS = ["t0", "t1", "t2", "t3"], ["d1", "d2"]
TEST_ASKED, DEV_ASKED = [(TEST_MENTIONS, 100)], [(DEV_MENTIONS, 30)]
GRID = {"alpha": (0.1, 0.9), "lam": (0.2, 0.5, 1.0)}


def tuned(training, parameters):
    """Dev wants lam 0.5, and 1 with alpha 0.9 beside a target; test wants anything else.

    Lam 0.2 puts all golds of dev at rank 31, which is not among the first 30.
    """
    joint = training.target is not None
    wanted = {"alpha": 0.9, "lam": 1.0} if joint and training.pivots else {"lam": 0.5}
    if wanted.items() <= parameters.items():
        return places(1, 100, 101, 2 if joint else 3, dev=(30, 0))
    return places(1, 1, 1, 1, dev=(31, 31) if parameters["lam"] == 0.2 else (0, 0))


def test_ranks_are_of_test_with_what_dev_chose():
    method, _ = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))
    found = measurements.ranks(make_case(), method, FIXED)["settings"]
    dev = {"queries": 2, "recall": 50.0}
    assert found == {
        "zero-shot": {"parameters": {"lam": 0.5}, "dev": dev, "ranks": [1, 100, 0, 3]},
        "joint": {"parameters": {"alpha": 0.9, "lam": 1.0}, "dev": dev, "ranks": [1, 100, 0, 2]},
    }
    assert list(found) == ["zero-shot", "joint"]
    method, _ = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))
    alone = measurements.ranks(make_case(zero_shot_only=True), method, FIXED)["settings"]
    assert alone == {"zero-shot": found["zero-shot"]}


def test_only_the_best_generator_of_a_setting_is_asked_test_queries():
    """What tuning has built is not built again."""
    case = make_case()
    method, built = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))
    measurements.ranks(case, method, FIXED)
    grids = (
        [{"lam": lam} for lam in GRID["lam"]],
        [{"alpha": alpha, "lam": lam} for alpha in GRID["alpha"] for lam in GRID["lam"]],
    )
    expected = []
    for tried, best, target in zip(
        grids, ({"lam": 0.5}, {"alpha": 0.9, "lam": 1.0}), (None, TRAIN), strict=True
    ):
        asked = [[*DEV_ASKED, *(TEST_ASKED if one == best else [])] for one in tried]
        expected += [
            ({**FIXED, **one}, target, some) for one, some in zip(tried, asked, strict=True)
        ]
    assert [(one.parameters, one.training.target, one.asked) for one in built] == expected
    for one in built:
        assert one.training.pivots == PIVOTS
        assert one.training.language == "tr"
        assert one.training.english == ENGLISH
        assert list(one.training.dev) == DEV


def test_where_tuning_builds_nothing_the_best_is_built():
    """With a quick way to the ranks the result is the same as without."""
    slow, _ = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))
    method, built = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))

    def ranks(training, choices, queries, k):
        return [rank_golds(Scripted(training, {**choice}, tuned), queries, k) for choice in choices]

    quick = replace(method, ranks=ranks)
    for measure in (measurements.ranks, measurements.high_resource):
        assert measure(make_case(), quick, FIXED) == measure(make_case(), slow, FIXED)
    assert [one.asked for one in built] == [TEST_ASKED] * 3


def test_budgets_of_neural_methods_are_on_record():
    """What was asked for, or what the generator says, of both settings, all sizes, and alone."""
    plain, _ = recording(tuned, grid={"lam": (0.5,)}, options=frozenset({"epochs", "pairs"}))
    fixed = {"epochs": 5, "pairs": 700}
    paper = {"of_epochs": 200, "of_pairs": 80_000}
    case = make_case()

    def budgets(method, fixed):
        ranks = measurements.ranks(case, method, fixed)
        sizes = measurements.training_sizes(case, method, fixed, ranks["settings"], 0)
        found = [ranks, sizes, measurements.high_resource(case, method, fixed)]
        return [budgets_in(json.loads(json.dumps(each))) for each in found]

    assert budgets(plain, fixed) == [[], [], []]
    neural = replace(plain, neural=True)
    told = {"epochs": 5, "pairs": 700, **paper}
    assert budgets(neural, fixed) == [[told] * 2, [told] * 10, [told]]
    assert budgets(neural, {}) == [[paper] * 2, [paper] * 10, [paper]]

    def build(training, parameters):
        made = plain.build(training, parameters)
        made.budget = {"epochs": 4, "of_pairs": 900, "seconds": 3.0}
        return made

    own = {"epochs": 4, "pairs": 700, "of_epochs": 200, "of_pairs": 900}
    assert budgets(replace(neural, build=build), fixed) == [[own] * 2, [own] * 10, [own]]


def test_methods_are_given_the_progress_of_the_case():
    method, built = recording(tuned, grid={"lam": (0.5,)})
    shown = []
    case = replace(make_case(), progress=lambda *said: shown.append(said))
    measurements.ranks(case, method, {})
    built[0].training.progress("training", 0.5)
    assert shown[-1] == ("trying choice 1 of 1 on dev: training", 0.5)


def test_queries_are_compared_in_their_languages():
    """In Turkish and Azeri I is ı: what is one name depends on both languages."""
    pivots = {
        "de": MentionTable.from_pairs([("IZMIR", "Q1", 3), ("Ankara", "Q2", 2)]),
        "az": MentionTable.from_pairs([("ISPARTA", "Q3", 5), ("Van", "Q3"), ("Van", "Q4", 4)]),
    }
    test = [
        Query("İZMİR", "Q1", "easy"),
        Query("IZMIR", "Q1", "hard"),
        Query("ANKARA", "Q2", "medium"),
        Query("Isparta", "Q3", "hard"),
        Query("İsparta", "Q3", "hard"),
    ]
    case = make_case(pivots=pivots, test=test)
    found = measurements.queries(case, "default")
    assert found == {
        "types": ["easy", "hard", "medium", "hard", "hard"],
        "unlike": [False, True, False, False, True],
        "dev": 2,
        "train": {"pairs": 3, "entities": 2, "occurrences": 7},
        "pivots": {
            "de": {"pairs": 2, "entities": 2, "occurrences": 5},
            "az": {"pairs": 3, "entities": 2, "occurrences": 10},
        },
    }
    as_written = measurements.queries(case, "none")["unlike"]
    assert as_written == [True, False, True, True, True]
    assert all(type(one) is bool for one in found["unlike"])


def thresholded(_training, parameters):
    return {0.0: places(1, 30, 30, 31), 0.01: places(1, 2, 31, 0), 0.1: places(31, 40, 0, 0)}[
        parameters["threshold"]
    ]


@pytest.mark.parametrize("zero_shot_only", [False, True])
def test_thresholds_in_the_best_setting(zero_shot_only):
    removed = {0.0: 0.0, 0.01: 0.25, 0.1: 0.5}
    method, built = recording(
        thresholded, size=lambda made: Size(7, removed[made.parameters["threshold"]])
    )
    case = make_case(zero_shot_only=zero_shot_only)
    found = measurements.thresholds(case, method, FIXED, {"lam": 0.4})
    assert found == {
        "thresholds": [
            {"threshold": 0.0, "recall": 75.0, "removed": 0.0},
            {"threshold": 0.01, "recall": 50.0, "removed": 25.0},
            {"threshold": 0.1, "recall": 0.0, "removed": 50.0},
        ]
    }
    assert [one.parameters for one in built] == [
        {"normalizer": "paper", "lam": 0.4, "threshold": threshold} for threshold in removed
    ]
    for one in built:
        assert one.training == case.training("zero-shot" if zero_shot_only else "joint")
        assert one.asked == [(TEST_MENTIONS, 30)]


SIZES = {0.01: (2, 1), 0.03: (6, 1), 0.1: (20, 4), 0.3: (60, 12), 1.0: (200, 40)}
CHOSEN = {"zero-shot": {"lam": 0.3}, "joint": {"alpha": 0.7, "lam": 0.6}}


def sized(training, _parameters):
    """The more pairs the more golds, and one more beside a target."""
    pairs = sum(map(len, training.pivots.values()))
    return places(
        30 if pairs > 5 else 31, 30 if pairs > 50 else 31, 31, 1 if training.target else 31
    )


def measured_sizes(seed, **about):
    """With all pairs the ranks are those that were measured before: here, of 1 and 3 golds."""
    method, built = recording(sized)
    whole = {"zero-shot": [30, 31, 0, 100], "joint": [1, 30, 31, 2]}
    measured = {name: {"parameters": CHOSEN[name], "ranks": whole[name]} for name in CHOSEN}
    return measurements.training_sizes(make_case(**about), method, FIXED, measured, seed), built


def test_training_sizes_are_of_the_pivots():
    found, built = measured_sizes(0)
    recalls = [(0.0, 25.0), (25.0, 50.0), (25.0, 50.0), (50.0, 75.0), (25.0, 75.0)]
    assert found["sizes"] == [
        {"share": share, "pairs": sum(SIZES[share]), "setting": setting, "recall": recall}
        for share, both in zip(SIZES, recalls, strict=True)
        for setting, recall in zip(("zero-shot", "joint"), both, strict=True)
    ]
    assert len(built) == 8
    for number, one in enumerate(built):
        setting = ("zero-shot", "joint")[number % 2]
        numbers = [len(table) for table in one.training.pivots.values()]
        assert tuple(numbers) == list(SIZES.values())[number // 2]
        assert list(one.training.pivots) == list(PIVOTS)
        assert one.parameters == {**FIXED, **CHOSEN[setting]}
        assert one.training.target == (TRAIN if setting == "joint" else None)
        assert one.training.language == "tr"
        assert one.training.english == ENGLISH
        assert list(one.training.dev) == DEV
        assert one.asked == [(TEST_MENTIONS, 30)]
    alone, _ = measured_sizes(0, zero_shot_only=True)
    assert alone["sizes"] == [one for one in found["sizes"] if one["setting"] == "zero-shot"]


def test_training_sizes_are_nested_and_drawn_by_seed():
    built = {seed: measured_sizes(seed)[1][::2] for seed in (0, 1)}
    again = measured_sizes(0)[1][::2]
    for name, table in PIVOTS.items():
        drawn = {
            seed: [set(one.training.pivots[name]) for one in some] for seed, some in built.items()
        }
        assert drawn[0] == [set(one.training.pivots[name]) for one in again]
        for smaller, larger in zip(drawn[0], drawn[0][1:], strict=False):
            assert smaller <= larger <= set(table)
        assert drawn[0][3] != drawn[1][3]


@pytest.mark.parametrize("zero_shot_only", [False, True])
@pytest.mark.parametrize("options", [{"normalizer"}, {"normalizer", "threshold"}])
def test_complexity_is_of_the_best_setting_with_the_papers_threshold(
    zero_shot_only, options, monkeypatch
):
    given = []
    monkeypatch.setattr(
        measurements,
        "measure_in_process",
        lambda *rest: given.append(rest) or {"build_seconds": 1.0},
    )
    method, built = recording(tuned, options=frozenset(options))
    case = make_case(zero_shot_only=zero_shot_only)
    fixed = {name: FIXED[name] for name in ("lam", *options)}
    found = measurements.complexity(case, "mine", method, fixed, {"lam": 0.4}, ["measure"])
    assert found == {"build_seconds": 1.0}
    threshold = {"threshold": 0.01} if "threshold" in options else {}
    training = case.training("zero-shot" if zero_shot_only else "joint")
    parameters = {"normalizer": "paper", "lam": 0.4, **threshold}
    assert given == [(["measure"], "mine", training, parameters, TEST)]
    assert built == []


def ceiling_case(**about):
    """Of eight golds, pivots have Q1 to Q3, the target Q3 to Q5, and English Q5 to Q8 but Q6."""
    kinds = ["easy", "easy", "medium", "medium", "medium", "hard", "hard", "hard"]
    test = [Query("x", f"Q{n}", kind) for n, kind in enumerate(kinds, start=1)]
    one, two, train = (
        MentionTable.from_pairs([("x", f"Q{n}") for n in some])
        for some in ([1, 2, 90], [3], [3, 4, 5, 91])
    )
    english = MentionTable.from_pairs([("x", f"Q{n}") for n in (5, 7, 8)])
    pair = Pair("tr", "de+az", "", about.get("zero_shot_only", False))
    return Case(
        pair, {"de": one, "az": two}, Parts(train, DEV, test), about.get("english", english)
    )


def shares(every, easy, medium, hard):
    """A ceiling for each kind, of the numbers of golds that are in the space."""
    numbers = {"all": (every, 8), "easy": (easy, 2), "medium": (medium, 3), "hard": (hard, 3)}
    return {kind: {"queries": n, "recall": 100 * m / n} for kind, (m, n) in numbers.items()}


PL, PL_TL, EN = shares(3, 2, 1, 0), shares(5, 2, 3, 0), shares(3, 0, 1, 2)


def test_ceilings_of_each_space():
    found = measurements.ceilings(ceiling_case())
    assert found == {"PL": PL, "PL+TL": PL_TL, "EN": EN, "EN+PL": EN, "EN+PL+TL": EN}
    assert list(found) == ["PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL"]
    assert list(found["PL"]) == ["all", "easy", "medium", "hard"]


def test_ceilings_without_target_or_english():
    assert measurements.ceilings(ceiling_case(english=None)) == {"PL": PL, "PL+TL": PL_TL}
    alone = measurements.ceilings(ceiling_case(zero_shot_only=True))
    assert alone == {"PL": PL, "EN": EN, "EN+PL": EN}
    both = measurements.ceilings(ceiling_case(zero_shot_only=True, english=None))
    assert both == {"PL": PL}


def test_a_language_alone_is_tuned_on_dev():
    method, built = recording(tuned, grid=GRID, joint=frozenset({"alpha"}))
    found = measurements.high_resource(make_case(), method, FIXED)
    assert found == {
        "parameters": {"lam": 0.5},
        "dev": {"queries": 2, "recall": 50.0},
        "ranks": [1, 100, 0, 2],
        "types": ["easy", "hard", "hard", "medium"],
    }
    assert [(one.parameters, one.asked) for one in built] == [
        ({**FIXED, "lam": lam}, [*DEV_ASKED, *(TEST_ASKED if lam == 0.5 else [])])
        for lam in GRID["lam"]
    ]
    for one in built:
        assert one.training.pivots == {}
        assert one.training.target == TRAIN
        assert one.training.language == "tr"
        assert one.training.english == ENGLISH
        assert list(one.training.dev) == DEV


def test_data_counts_pairs_entities_and_occurrences():
    assert measurements.data(TRAIN) == {"pairs": 3, "entities": 2, "occurrences": 7}
    assert measurements.data(PIVOTS["az"]) == {"pairs": 40, "entities": 40, "occurrences": 80}
