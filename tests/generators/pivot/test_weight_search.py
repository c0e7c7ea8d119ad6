"""One alpha for each pivot: what a search finds is what indexes would give, and it counts once."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen import MentionTable, Query
from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.tune import tune
from candgen.generators import METHODS
from candgen.generators.pivot import parameters, weight_search
from candgen.generators.pivot.weight_search import search_weights, take_stratified
from candgen.protocols import Training, rank_golds
from tests.support.worlds import ENTITIES, mentions, tables

PTI = METHODS["pti"]


@st.composite
def searches(draw):
    names = draw(st.lists(st.sampled_from(["is", "da", "no"]), min_size=1, max_size=3, unique=True))
    pivots = {name: MentionTable.from_pairs(draw(tables())) for name in names}
    target = MentionTable.from_pairs(draw(tables())) if draw(st.booleans()) else None
    queries = draw(st.lists(st.builds(Query, mentions(), ENTITIES), min_size=1, max_size=12))
    options = {
        "lams": draw(st.sampled_from([(0.4,), (0.0, 1.0), (0.2, 0.4, 1.0)])),
        "worth": draw(st.sampled_from([0.0, 0.1, 5.0, 1e6])),
    }
    return Training(pivots, target, "fo"), queries, draw(st.integers(1, 4)), options


@given(searches())
@settings(max_examples=60)
def test_every_step_is_what_an_index_gives(world):
    """To the last tie, also of weights that leave pivots out."""
    training, queries, k, options = world
    fixed = {"normalizer": "none"}
    found = search_weights(training, fixed, queries, k, **options)
    for step in found.steps:
        index = PTI(training, {**fixed, **step.parameters})
        assert step.ranks.tolist() == rank_golds(index, queries, k).tolist()
    assert found.steps[-1].parameters["alpha"] == {each.pivot: each.alpha for each in found.pivots}


def large_training(seed, *, target=True):
    """Hundreds of entities, so that the best ones are few of them."""
    rows = names(seed, size=900, letters="abcdefgh")
    pivots = {
        "close": MentionTable.from_pairs(respelled(rows[:500])),
        "wide": MentionTable.from_pairs(respelled(respelled(rows[300:]))),
        "noise": MentionTable.from_pairs(names(seed + 1, size=700, letters="abcdefgh")),
    }
    dev = [Query(mention, entity, "hard") for mention, entity in rows[1::3]]
    return Training(pivots, MentionTable.from_pairs(rows[::3]) if target else None, "fo"), dev


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_search_among_rivals_is_as_good_as_an_exhaustive_one(seed, target):
    """Its ranks are those of an index, and no other value of any alpha would be better."""
    training, dev = large_training(seed, target=target)
    found = search_weights(training, {}, dev, 10, worth=0)
    chosen = found.steps[-1]
    assert chosen.ranks.tolist() == rank_golds(PTI(training, chosen.parameters), dev, 10).tolist()
    exhaustive = search_weights(training, {}, dev, 10, worth=0, exhaustive=True)
    points = [_points(each.steps[-1].ranks, 10) for each in (found, exhaustive)]
    assert points[0] >= points[1] - 0.3
    alpha, lam = chosen.parameters["alpha"], chosen.parameters["lam"]
    values = weight_search.ALPHAS if target else weight_search.RATIOS
    for pivot, own in alpha.items():
        at = values.index(own)
        for value in values[max(at - 1, 0) : at + 2]:
            other = PTI(training, {"alpha": {**alpha, pivot: value}, "lam": lam})
            assert _points(rank_golds(other, dev, 10), 10) <= points[0] + 1e-9


def _points(ranks, k):
    return metrics.recall(ranks, k) + 100 * metrics.mrr(ranks)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    training, dev = large_training(0)
    told = []
    for threads in (1, 2, 3):
        monkeypatch.setattr("os.cpu_count", lambda threads=threads: threads)
        found = search_weights(training, {}, dev, 10)
        steps = [(step.parameters, step.ranks.tolist()) for step in found.steps]
        told.append((steps, found.pivots, found.tried))
    assert told[0] == told[1] == told[2]


@given(searches())
@settings(max_examples=60)
def test_contributions_are_those_of_indexes(world):
    training, queries, k, options = world
    fixed = {"normalizer": "none"}
    found = search_weights(training, fixed, queries, k, **options)
    last = found.steps[-1].parameters
    index = PTI(training, {**fixed, **last})
    recall, mrr = metrics.recall(found.steps[-1].ranks, k), metrics.mrr(found.steps[-1].ranks)
    for each in found.pivots:
        assert each.kept == (each.alpha > 0) == (each.pivot in index.parameters["languages"])
        if not each.kept:
            continue
        if each.share == 1:  # nothing would be left
            assert each.recall_without == 0.0
            continue
        rest = PTI(training, {**fixed, **last, "alpha": {**last["alpha"], each.pivot: 0.0}})
        ranks = rank_golds(rest, queries, k)
        assert each.recall_without == metrics.recall(ranks, k)
        assert each.loss == pytest.approx(recall - metrics.recall(ranks, k))
        assert each.mrr_loss == pytest.approx(mrr - metrics.mrr(ranks))
        assert each.entries == index.token_index.postings - rest.token_index.postings
        assert each.share == pytest.approx(each.entries / index.token_index.postings)


def names(seed, *, size, letters="abcd", length=6):
    """A name for each of so many entities."""
    rng = random.Random(seed)
    return [("".join(rng.choices(letters, k=length)), f"Q{n}") for n in range(size)]


def respelled(rows):
    """As another language writes them: one letter differs."""
    return [(mention[:3] + "z" + mention[4:], entity) for mention, entity in rows]


@pytest.fixture
def training():
    """Half of the entities are in close, the others only in wide, and noise has them wrong."""
    rows = names(0, size=200)
    wide = respelled(rows[100:])
    noise = [(mention, f"Q{900 + n}", 5) for n, (mention, _) in enumerate(names(5, size=60))]
    pivots = {
        "close": MentionTable.from_pairs(respelled(rows[:100])),
        "wide": MentionTable.from_pairs(wide),
        "noise": MentionTable.from_pairs(noise),
    }
    return Training(pivots, MentionTable.from_pairs(rows[::10]), "fo")


@pytest.fixture
def dev():
    rows = names(0, size=200)
    return [Query(mention, entity, "hard") for mention, entity in rows if int(entity[1:]) % 10]


@pytest.mark.parametrize("zero_shot", [False, True])
def test_noise_goes_and_what_covers_entities_stays(training, dev, zero_shot):
    if zero_shot:
        training = replace(training, target=None)
    found = search_weights(training, {}, dev, 3, worth=0.03)
    close, noise, wide = found.pivots
    assert (close.pivot, noise.pivot, wide.pivot) == ("close", "noise", "wide")  # by name
    assert close.kept and wide.kept and not noise.kept
    assert found.steps[-1].parameters["alpha"]["noise"] == 0.0
    assert wide.loss > 40  # half of the queries have their entity there alone
    assert noise.share > 0.1
    index = PTI(training, found.steps[-1].parameters)
    assert "noise" not in index.parameters["languages"]
    everybody = search_weights(training, {}, dev, 3)
    assert all(each.kept and each.alpha > 0 for each in everybody.pivots)


def test_however_much_is_asked_for_something_is_left(training, dev):
    alone = search_weights(replace(training, target=None), {}, dev, 3, worth=1e9)
    assert [each.kept for each in alone.pivots].count(True) == 1
    last = next(each for each in alone.pivots if each.kept)
    assert (last.share, last.recall_without) == (1.0, 0.0)
    beside = search_weights(training, {}, dev, 3, worth=1e9)
    assert not any(each.kept for each in beside.pivots)  # the target is left
    assert PTI(training, beside.steps[-1].parameters).parameters["languages"] == ["fo"]


def test_the_order_of_the_pivots_does_not_matter(training, dev):
    def told(pivots):
        found = search_weights(replace(training, pivots=pivots), {}, dev, 3)
        steps = [(step.parameters, step.ranks.tolist()) for step in found.steps]
        return steps, found.pivots, found.tried

    first = told(training.pivots)
    assert told(training.pivots) == first
    assert told(dict(reversed(training.pivots.items()))) == first


def test_the_steps_go_up_until_pivots_go(training, dev):
    found = search_weights(training, {}, dev, 3, worth=0)
    points = [recall_and_order(step.ranks) for step in found.steps]
    assert points == sorted(points)
    assert len(set(points)) == len(points) > 1
    assert len(set(found.steps[0].parameters["alpha"].values())) == 1
    grid = PTI.ranks(training, PTI.choices(training), dev, 3)
    assert points[0] >= max(map(recall_and_order, grid))  # never worse on dev than the paper's grid


def test_a_margin_starts_from_plain_weights_and_takes_what_is_more_than_chance(training, dev):
    found = search_weights(training, {}, dev, 3, lams=(0.1, 1.0), margin=0.1)
    first = found.steps[0].parameters
    assert first == {"alpha": {"close": 1.0, "noise": 1.0, "wide": 1.0}, "lam": 0.1}
    points = [recall_and_order(step.ranks) for step in found.steps]
    assert len(points) > 1  # the noise is worth an alpha of its own
    assert all(b >= a + 0.1 for a, b in pairwise(points))
    free = search_weights(training, {}, dev, 3, lams=(0.1, 1.0))
    assert points[-1] <= recall_and_order(free.steps[-1].ranks) + 5
    unmoved = search_weights(training, {}, dev, 3, lams=(0.1, 1.0), margin=200.0)
    assert [step.parameters for step in unmoved.steps] == [first]


def recall_and_order(ranks):
    return metrics.recall(ranks, 3) + 100 * metrics.mrr(ranks)


def test_recall_alone_may_decide(training, dev):
    found = search_weights(training, {}, dev, 3, worth=0, mrr=0)
    recalls = [metrics.recall(step.ranks, 3) for step in found.steps]
    assert recalls == sorted(recalls)
    both = search_weights(training, {}, dev, 3, worth=0)
    assert recalls[-1] >= recalls[0]
    assert recall_and_order(both.steps[-1].ranks) >= recall_and_order(found.steps[-1].ranks)


@pytest.fixture
def reading(monkeypatch):
    """What was read: the languages and the normalizer of each time."""
    calls = []

    def of(names, *given, **options):
        calls.append((sorted(names.tables), options["normalizer"]))
        return original(names, *given, **options)

    original = parameters.GoldRanks.of
    monkeypatch.setattr(parameters.GoldRanks, "of", of)
    return calls


def test_each_language_is_read_once(training, dev, reading):
    tuning = tune(PTI, training, dev, k=3)
    assert reading == [(["close", "fo", "noise", "wide"], "default")]
    assert tuning.best.parameters.keys() == {"alpha", "lam"}
    assert tuning.best is tuning.trials[-1]
    assert len(tuning.pivots) == 3
    assert tuning.queries == len(dev)
    built = PTI(training, tuning.best.parameters)
    assert tuning.best.recall == metrics.recall(rank_golds(built, dev, 3), 3)


def test_normalizers_are_searched_in_turn(training, reading):
    queries = [Query(mention.upper(), entity) for mention, entity in names(0, size=200)[1:90]]
    grid = {"normalizer": ["none", "default"], "lam": [0.4, 1]}
    tuning = tune(PTI, training, queries, grid=grid, k=3)
    languages = ["close", "fo", "noise", "wide"]
    assert reading == [(languages, "none"), (languages, "default")]
    assert list(tuning.best.parameters) == ["alpha", "lam", "normalizer"]
    assert tuning.best.parameters["normalizer"] == "default"
    assert {trial.parameters["lam"] for trial in tuning.trials} <= {0.4, 1}
    tried = [trial.parameters["normalizer"] for trial in tuning.trials]
    assert tried == sorted(tried, reverse=True)
    assert set(tried) == {"none", "default"}
    rows = tuning.table().rows
    assert [row[-1] for row in rows].count("best") == 1


def test_one_pivot_or_given_alphas_are_the_papers_grid(training, dev):
    one = replace(training, pivots={"wide": training.pivots["wide"]})
    tuning = tune(PTI, one, dev, k=3)
    assert [trial.parameters for trial in tuning.trials] == PTI.choices(one)
    assert (tuning.pivots, tuning.note) == ((), "")
    given = tune(PTI, training, dev, grid={"alpha": [0.3, {"close": 1, "wide": 2, "noise": 0}]})
    assert len(given.trials) == 6
    assert given.pivots == ()
    fixed = tune(PTI, replace(training, target=None), dev, fixed={"alpha": 2.0})
    assert [trial.parameters for trial in fixed.trials] == [{"lam": x} for x in (0.2, 0.4, 1.0)]


def test_a_fixed_lam_is_the_only_one(training, dev):
    tuning = tune(PTI, training, dev, fixed={"lam": 0.7}, k=3)
    assert {trial.parameters["lam"] for trial in tuning.trials} == {0.7}


@pytest.mark.parametrize(
    ("method", "fixed"),
    [("pti", {"threshold": 0.01}), ("pti", {"fusion": "probabilities"}), ("pti-fusion", {})],
)
def test_what_needs_an_index_is_tried_by_the_grid(training, dev, method, fixed):
    tuning = tune(METHODS[method], training, dev[:20], fixed=fixed, k=3)
    assert len(tuning.trials) == 9
    assert tuning.pivots == ()
    if method == "pti":
        with pytest.raises(ParameterError, match="threshold or with fusion"):
            search_weights(training, fixed, dev[:20], 3)


def test_wildcards_can_be_searched(training, dev):
    tuning = tune(METHODS["pti-wildcards"], training, dev[:40], k=3)
    built = METHODS["pti-wildcards"](training, tuning.best.parameters)
    assert tuning.best.recall == metrics.recall(rank_golds(built, dev[:40], 3), 3)
    assert built.parameters["tokenizer"]["wildcards"]
    assert len(tuning.pivots) == 3


def test_of_many_queries_some_are_looked_at(training, dev, monkeypatch):
    monkeypatch.setattr(weight_search, "MAX_QUERIES", 30)
    tuning = tune(PTI, training, dev, k=3)
    assert tuning.queries == 30
    assert "It used 30 of 180 dev queries." in tuning.table().note
    chosen = take_stratified(dev, 30)
    built = PTI(training, tuning.best.parameters)
    assert tuning.best.recall == metrics.recall(rank_golds(built, chosen, 3), 3)


def test_with_many_entities_fewer_queries_are_looked_at(training, dev, monkeypatch):
    monkeypatch.setattr(weight_search, "MAX_QUERIES", 30)
    monkeypatch.setattr(weight_search, "MANY_ENTITIES", 10)
    assert len(search_weights(training, {}, dev, 3).queries) == 15


def test_of_many_queries_each_type_has_its_share():
    queries = [Query(f"{n}", "Q1", "easy" if n % 4 else "hard") for n in range(4000)]
    chosen = take_stratified(queries, 1000)
    assert len(chosen) == len(set(chosen)) == 1000
    assert sum(query.type == "hard" for query in chosen) == 250
    assert chosen == sorted(chosen, key=lambda query: int(query.mention))
    assert take_stratified(queries, 4000) == queries
    assert len(take_stratified([Query("a", "Q1"), Query("b", "Q2", "easy")], 1)) == 1


def test_tables_for_people(training, dev):
    tuning = tune(PTI, training, dev, k=3, worth=0.03)
    assert "alpha close " in tuning.best.described
    table = str(tuning.table())
    first = tuning.trials[0].parameters["alpha"]["close"]
    assert f"close {first:g}, noise {first:g}, wide {first:g}" in table
    assert "choices." in tuning.table().note
    shown = {row[0]: row for row in tuning.pivot_table().rows}
    assert list(shown) == ["close", "noise", "wide"]
    assert shown["noise"][-1] == "left out"
    assert shown["wide"][-1] == ""
    assert float(shown["wide"][3]) == -next(p.loss for p in tuning.pivots if p.pivot == "wide")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"worth": -1}, "worth is -1: expected a finite number"),
        ({"lams": ()}, "lam has no values"),
        ({"lams": (-0.1,)}, "lam is -0.1"),
    ],
)
def test_bad_options_are_refused(training, dev, change, sentence):
    with pytest.raises(ParameterError, match=sentence):
        search_weights(training, {}, dev, 3, **change)


def test_a_search_needs_pivots_and_values(training, dev):
    with pytest.raises(ParameterError, match="there are no pivots"):
        search_weights(replace(training, pivots={}), {}, dev, 3)
    with pytest.raises(ParameterError, match="there are no queries"):
        search_weights(training, {}, [], 3)
    with pytest.raises(ParameterError, match="parameter without values"):
        tune(PTI, training, dev, grid={"lam": []})
    with pytest.raises(ParameterError, match="there are no queries"):
        tune(PTI, training, [])


def test_progress_says_what_is_done(training, dev):
    said = []
    tune(PTI, training, dev[:10], k=3, progress=lambda doing, share: said.append((doing, share)))
    words = [doing for doing, _ in said]
    assert words.index("reading close") < words.index("trying alphas of close on dev")
    assert all(0 <= share <= 1 for _, share in said)
    assert said[-1][1] == 1.0
