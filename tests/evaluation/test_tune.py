"""Tuning: the choices of a grid, and the best of them."""

import weakref
from dataclasses import replace

import pytest

import candgen
from candgen import MentionTable, Query
from candgen.errors import ParameterError
from candgen.evaluation.tune import Trial, Tuning, tune
from candgen.generators import METHODS
from candgen.protocols import Method, Size, Training
from tests.support import toy
from tests.support.scripted import QUERIES, Scripted

PTI = METHODS["pti"]


# Tuning


@pytest.fixture
def training():
    return Training(
        {"is": MentionTable.from_pairs(toy.ICELANDIC)}, MentionTable.from_pairs(toy.FAROESE), "fo"
    )


def test_tuning_tries_every_choice_and_takes_the_best(training):
    # With lam 0 the prior says Vienna, with lam 1 the posterior says wine (see toy.py).
    dev = [Query("Vín", "Q282", "easy")]
    tuning = tune(
        PTI,
        training,
        dev,
        grid={"alpha": [0.5], "lam": [0.0, 1.0]},
        fixed={"tokenizer": candgen.CharNgrams(2, 2)},
        k=1,
    )
    assert tuning.trials == (
        Trial({"alpha": 0.5, "lam": 0.0}, 0.0, 0.0),
        Trial({"alpha": 0.5, "lam": 1.0}, 100.0, 1.0),
    )
    assert tuning.best.parameters == {"alpha": 0.5, "lam": 1.0}
    assert [row[-1] for row in tuning.table().rows] == ["", "best"]


def test_among_equal_recalls_the_higher_reciprocal_rank_wins_then_the_first():
    trials = [
        Trial({"lam": 1}, 50.0, 0.2),
        Trial({"lam": 2}, 50.0, 0.3),
        Trial({"lam": 3}, 50.0, 0.3),
    ]
    assert Tuning(tuple(trials), 10, 30).best.parameters == {"lam": 2}


def test_a_method_without_a_quick_way_is_built_for_each_choice(training):
    built = []

    def build(given, parameters):
        assert given == training
        built.append(dict(parameters))
        given.progress("training", 0.5)
        return Scripted({"Vín": ["Q282"] if parameters["mu"] > 0.1 else []})

    method = Method(
        build=build,
        size=lambda _: Size(0),
        grid={"mu": (0.01, 0.2)},
        joint=frozenset({"mu"}),
        options=frozenset({"epochs"}),
    )
    shown = []
    tuning = tune(
        method,
        training,
        [Query("Vín", "Q282")],
        fixed={"epochs": 3},
        progress=lambda doing, share: shown.append((doing, share)),
    )
    assert built == [{"epochs": 3, "mu": 0.01}, {"epochs": 3, "mu": 0.2}]
    assert tuning.best.parameters == {"mu": 0.2}
    assert shown == [
        ("trying choice 1 of 2 on dev", 0.0),
        ("trying choice 1 of 2 on dev: training", 0.25),
        ("trying choice 2 of 2 on dev", 0.5),
        ("trying choice 2 of 2 on dev: training", 0.75),
    ]


def test_progress_is_that_of_the_training_unless_it_is_given(training):
    def build(given, parameters):
        given.progress("training", 7.0)  # a share that is none is not believed
        return Scripted({})

    shown = []
    told = replace(training, progress=lambda *said: shown.append(said))
    tune(Method(build=build, size=lambda _: Size(0)), told, QUERIES)
    assert shown[-1] == ("trying choice 1 of 1 on dev: training", 1.0)
    number = len(shown)
    tune(Method(build=build, size=lambda _: Size(0)), told, QUERIES, progress=lambda *_: None)
    assert len(shown) == number


def test_both_ways_of_tuning_agree(training):
    dev = [Query("Vínið", "Q282"), Query("Rín", "Q584"), Query("Wien", "Q1741"), Query("in", "Q9")]
    slow = Method(PTI.build, PTI.size, PTI.grid, PTI.joint, PTI.options)
    quick, built = tune(PTI, training, dev, k=1), tune(slow, training, dev, k=1)
    assert quick == built
    assert quick.generator is None
    again = PTI(training, built.best.parameters)
    mentions = [query.mention for query in dev]
    assert built.generator.parameters == again.parameters
    assert built.generator.candidates(mentions) == again.candidates(mentions)


def test_the_best_generator_is_kept_and_no_other(training):
    """Of recalls 20, 60, 60 with a better MRR, 60 as the one before, and 40."""
    answers = [
        {"Vín": ["Q282"]},
        {"Vín": ["x", "Q282"], "Wien": ["x", "Q1741"], "Vínarborg": ["x", "Q1741"]},
        {"Vín": ["Q282"], "Wien": ["x", "Q1741"], "Vínarborg": ["x", "Q1741"]},
        {"Vín": ["x", "Q282"], "Wien": ["Q1741"], "Vínarborg": ["x", "Q1741"]},
        {"Vín": ["Q282"], "Wien": ["Q1741"]},
    ]
    alive, most = weakref.WeakSet(), []

    def build(given, parameters):
        most.append(len(alive))
        made = Scripted(answers[parameters["n"]])
        alive.add(made)
        return made

    method = Method(build=build, size=lambda _: Size(0), grid={"n": (0, 1, 2, 3, 4)})
    tuning = tune(method, training, QUERIES)
    assert [trial.recall for trial in tuning.trials] == [20.0, 60.0, 60.0, 60.0, 40.0]
    assert tuning.best.parameters == {"n": 2}
    assert tuning.generator.answers is answers[2]
    assert list(alive) == [tuning.generator]
    assert most == [0, 1, 1, 1, 1]  # beside the one that is being built
    assert "generator" not in tuning.table().to_json()


def test_an_unknown_parameter_is_refused(training):
    with pytest.raises(
        ParameterError, match="'mu' is not a parameter of this method: use alpha, lam"
    ):
        tune(PTI, training, QUERIES, grid={"mu": [1]})
    with pytest.raises(ParameterError, match="at least one"):
        tune(PTI, training, QUERIES, grid={"lam": []})


def test_alpha_of_several_pivots_is_tried_without_a_target():
    tables = {
        "is": MentionTable.from_pairs(toy.ICELANDIC),
        "da": MentionTable.from_pairs(toy.FAROESE),
    }
    grid = {"alpha": [{"is": 1.0, "da": 0.0}, {"is": 0.0, "da": 1.0}], "lam": [1.0]}
    tuning = tune(PTI, Training(tables, None, "fo"), [Query("Rín", "Q584")], grid=grid, k=1)
    assert [trial.recall for trial in tuning.trials] == [100.0, 0.0]
    assert tuning.best.parameters["alpha"] == {"is": 1.0, "da": 0.0}


def test_unknown_fixed_parameters_are_refused(training):
    with pytest.raises(ParameterError, match="'treshold' is not a parameter of this method"):
        tune(PTI, training, QUERIES, fixed={"treshold": 0.5})
    with pytest.raises(ParameterError, match="tokenizer is 'abc'"):
        tune(PTI, training, QUERIES, fixed={"tokenizer": "abc"})
