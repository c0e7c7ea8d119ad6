"""Evaluating generators, reports, and tuning."""

import json
import math
import weakref
from dataclasses import replace

import numpy as np
import pytest

import candgen
from candgen import MentionTable, PivotTokenIndex, Query, evaluate
from candgen.errors import ParameterError
from candgen.evaluation.evaluate import Trial, Tuning, tune
from candgen.evaluation.metrics import bootstrap
from candgen.evaluation.report import Answer
from candgen.generators import METHODS
from candgen.protocols import Method, Size, Training
from tests.support import toy

PTI = METHODS["pti"]

# Who answers what is written down, so that every figure can be worked out by hand.
QUERIES = [
    Query("Vín", "Q282", "easy"),
    Query("Wien", "Q1741", "easy"),
    Query("Vínarborg", "Q1741", "medium"),
    Query("Rín", "Q584", "hard"),
    Query("Rínin", "Q584", "hard"),
]


class Scripted:
    """A generator that answers as it was told to."""

    def __init__(self, answers, known=None):
        self.answers = answers
        self.asked = []
        if known is not None:
            self.knows = lambda entities: [entity in known for entity in entities]

    def candidates(self, mentions, k=30):
        self.asked.append((list(mentions), k))
        return [
            [(entity, 1 / (place + 1)) for place, entity in enumerate(self.answers.get(m, ()))][:k]
            for m in mentions
        ]

    def save(self, path):
        raise AssertionError("nobody saves")


FIRST = {
    "Vín": ["Q282", "Q1741"],  # rank 1
    "Wien": ["Q584", "Q1741"],  # rank 2
    "Vínarborg": ["Q282", "Q584", "Q1741"],  # rank 3
    "Rín": ["Q282"],  # not there
    "Rínin": [],  # no candidates
}
SECOND = {**FIRST, "Wien": ["Q1741"], "Rín": ["Q584"], "Vín": ["Q1741"]}


@pytest.fixture
def report():
    icelandic = MentionTable.from_pairs([("Vín", "Q282"), ("Rín", "Q584"), ("Wien", "Q585")])
    generators = {"first": Scripted(FIRST, known={"Q282", "Q1741"}), "second": Scripted(SECOND)}
    return evaluate(generators, QUERIES, ks=(3, 2), pivots={"is": icelandic})


def test_ranks_are_places_from_one(report):
    assert report.ranks("first").tolist() == [1, 2, 3, 0, 0]
    assert report.ranks("second").tolist() == [0, 1, 3, 1, 0]


def test_recall_by_hand(report):
    assert report.recall("first", k=1) == 20.0
    assert report.recall("first", k=2) == 40.0
    assert report.recall("first", k=3) == 60.0
    assert report.recall("first", k=3, type="easy") == 100.0
    assert report.recall("first", k=2, type="easy") == 100.0
    assert report.recall("first", k=1, type="easy") == 50.0
    assert report.recall("first", k=3, type="hard") == 0.0
    assert report.macro_recall("first", k=3) == pytest.approx((100 + 100 + 0) / 3)
    assert report.macro_recall("second", k=1) == pytest.approx((50 + 0 + 50) / 3)
    assert report.mrr("first") == pytest.approx((1 + 1 / 2 + 1 / 3) / 5)
    assert report.mrr("first", type="medium") == pytest.approx(1 / 3)


def test_queries_unlike_any_pivot_name(report):
    # Vín is wine in Icelandic and Rín the Rhine; Wien is there, but not as Vienna.
    assert report.unlike.tolist() == [False, True, True, False, True]
    assert report.recall("first", k=3, unlike=True) == pytest.approx(200 / 3)
    assert report.recall("first", k=3, type="hard", unlike=True) == 0.0


def test_the_ceiling_is_what_a_generator_can_tell(report):
    assert report.ceiling("first") == 60.0
    assert report.ceiling("first", type="hard") == 0.0
    assert report.ceiling("second") is None


def test_comparison_by_hand(report):
    found = report.compare("first", "second", k=3)
    assert (found.only_first, found.only_second) == (1, 1)
    assert found.difference == 0.0
    assert found.p_value == 1.0
    at_one = report.compare("first", "second", k=1)  # Vín against Wien and Rín
    assert (at_one.only_first, at_one.only_second) == (1, 2)
    assert at_one.difference == pytest.approx(-20.0)


def test_every_query_counts_and_is_asked_once(report):
    generator = Scripted(FIRST)
    many = QUERIES * 700
    found = evaluate({"one": generator}, many, ks=(3,))
    assert len(found.ranks("one")) == 3500
    assert [mention for mentions, _ in generator.asked for mention in mentions] == [
        query.mention for query in many
    ]
    assert {k for _, k in generator.asked} == {3}
    assert found.recall("one", k=3) == report.recall("first", k=3)


def test_the_table_says_all(report):
    table = report.table()
    assert table.columns == (
        "generator",
        "subset",
        "queries",
        "recall@1",
        "recall@2",
        "recall@3",
        "95% of @3",
        "MRR",
        "ceiling",
    )
    rows = {row[:2]: row[2:] for row in table.rows}
    assert rows["first", "all"][:4] == (5, 20.0, 40.0, 60.0)
    assert rows["first", "hard"][0] == 2
    assert rows["first", "macro"][3] == pytest.approx(200 / 3)
    assert rows["second", "no pivot name"][0] == 3
    assert rows["second", "all"][-1] is None
    low, high = rows["first", "all"][4].split("–")
    interval = report.interval("first", k=3)
    assert (float(low), float(high)) == (interval.low, interval.high)


def test_exports(report):
    assert report.to_csv().splitlines()[0].startswith("generator,subset,queries,recall@1")
    recall, comparisons = json.loads(report.to_json())
    assert recall["rows"][0]["recall@3"] == 60.0
    assert comparisons["rows"][0]["only first"] == 1
    assert "| first | all | 5 | 20.0 | 40.0 | 60.0 |" in report.to_markdown()
    assert "first & all & 5 & 20.0 & 40.0 & 60.0 &" in report.to_latex()
    assert "McNemar" in str(report)
    alone = evaluate({"one": Scripted(FIRST)}, QUERIES)
    assert "McNemar" not in str(alone)
    assert len(json.loads(alone.to_json())) == 1


def test_results_say_what_failed_and_why(report, tmp_path):
    report.write_results(tmp_path / "answers.tsv")
    lines = (tmp_path / "answers.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
    assert len(rows) == 10
    outcomes = {(row["generator"], row["mention"]): row["outcome"] for row in rows}
    assert outcomes["first", "Wien"] == "found"
    assert outcomes["first", "Rín"] == "not in the candidate space"
    assert outcomes["second", "Vín"] == "ranked too low"
    assert outcomes["second", "Rínin"] == "no candidates"
    wien = next(row for row in rows if row["mention"] == "Wien")
    assert (wien["rank"], wien["first"], wien["score"], wien["type"]) == (
        "2",
        "Q584",
        "0.5",
        "easy",
    )
    assert [row["no_pivot_name"] for row in rows[:2]] == ["no", "yes"]


def test_queries_without_types_have_no_breakdown():
    report = evaluate({"one": Scripted(FIRST)}, [("Vín", "Q282"), ("Rín", "Q584")], ks=(1,))
    assert [row[1] for row in report.table().rows] == ["all"]
    assert report.types == []
    assert math.isnan(report.recall("one", 1, type="hard"))


def test_a_real_index():
    index = PivotTokenIndex.build(
        {"is": MentionTable.from_pairs(toy.ICELANDIC)}, MentionTable.from_pairs(toy.FAROESE)
    )
    queries = [Query("Vín", "Q282"), Query("Oslo", "Q585"), Query("Rín", "Q584")]
    report = evaluate({"pti": index}, queries)
    assert report.ranks("pti").tolist() == [1, 0, 1]
    assert [answer.outcome for answer in report.answers["pti"]] == [
        "found",
        "not in the candidate space",
        "found",
    ]
    assert report.ceiling("pti") == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, QUERIES), "at least one"),
        (({"one": Scripted(FIRST)}, []), "no queries"),
        (({"one": Scripted(FIRST)}, ["Vín"]), r"queries\[0\] is 'Vín'"),
        (({"one": Scripted(FIRST)}, ["Vín", "ab"]), r"queries\[0\] is 'Vín'"),
        (({"one": Scripted(FIRST)}, ["ab"]), r"queries\[0\] is 'ab'"),
        (({"one": Scripted(FIRST)}, [("a", "b", "c", "d")]), r"queries\[0\]"),
        (({"one": Scripted(FIRST)}, [("a", 7)]), r"queries\[0\]"),
        (({"one": Scripted(FIRST)}, [7]), r"queries\[0\] is 7"),
        (({"one": Scripted(FIRST)}, [("a", "Q1", "simple")]), "easy, medium, hard or None"),
    ],
)
def test_nonsense_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        evaluate(*arguments)


@pytest.mark.parametrize("ks", [(), (0,), (True,), (1.5,)])
def test_a_k_is_a_whole_number(ks):
    with pytest.raises(ParameterError, match="k"):
        evaluate({"one": Scripted(FIRST)}, QUERIES, ks=ks)


def test_questions_a_report_cannot_answer(report):
    with pytest.raises(ParameterError, match="evaluate with more"):
        report.recall("first", k=30)
    with pytest.raises(ParameterError, match="choose first, second"):
        report.recall("third", k=1)
    with pytest.raises(ParameterError, match="choose easy, medium, hard"):
        report.recall("first", k=1, type="simple")
    with pytest.raises(ParameterError, match="give evaluate the pivots"):
        evaluate({"one": Scripted(FIRST)}, QUERIES).recall("one", unlike=True)


def test_what_is_no_generator_or_no_table_is_refused(report):
    with pytest.raises(ParameterError, match="a is 3, which has no method candidates"):
        evaluate({"a": 3}, QUERIES)
    with pytest.raises(ParameterError, match="pivots: expected a dict"):
        evaluate({"one": Scripted(FIRST)}, QUERIES, pivots=[])
    with pytest.raises(ParameterError, match="k is '3'"):
        report.recall("first", k="3")
    assert evaluate({"one": Scripted(FIRST)}, QUERIES, ks=np.array([1, 3]).tolist()).ks == (1, 3)
    assert evaluate({"one": Scripted(FIRST)}, QUERIES, ks=[np.int64(3)]).ks == (3,)


def test_a_generator_must_answer_every_mention():
    class Lazy(Scripted):
        def candidates(self, mentions, k=30):
            return super().candidates(mentions, k)[1:]

    with pytest.raises(ParameterError, match="4 answers to 5 mentions"):
        evaluate({"lazy": Lazy(FIRST)}, QUERIES)


def test_a_generator_that_gives_too_much_gains_nothing():
    class Chatty(Scripted):
        def candidates(self, mentions, k=30):
            return super().candidates(mentions, 1000)

    assert evaluate({"chatty": Chatty(FIRST)}, QUERIES, ks=(1,)).ranks("chatty").tolist() == [
        1,
        0,
        0,
        0,
        0,
    ]


def test_outcomes_without_knowledge_of_the_space():
    assert Answer(0, None, None, None).outcome == "no candidates"
    assert Answer(0, None, "Q1", 1.0, True).outcome == "ranked too low"


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


def test_knows_tells_the_candidate_space():
    index = PivotTokenIndex.build({"is": MentionTable.from_pairs(toy.ICELANDIC)})
    assert index.knows(["Q282", "Q1", "Q584"]) == [True, False, True]
    assert index.knows([]) == []


def test_knows_what_a_threshold_has_left():
    # Bigrams ^a ab b$ of four entities, with priors of 1/4 and posteriors of 1/3; cd is Q5's alone.
    rows = [("ab", f"Q{n}") for n in range(1, 5)] + [("cd", "Q5")]
    table = MentionTable.from_pairs(rows)

    def known(**options):
        index = PivotTokenIndex.build({"is": table}, tokenizer=candgen.CharNgrams(2, 2), **options)
        found = {c.entity for mention in ("ab", "cd") for c in index.candidates([mention])[0]}
        told = index.knows([f"Q{n}" for n in range(7)])
        assert {f"Q{n}" for n in range(7) if told[n]} == found
        return found

    assert known() == {"Q1", "Q2", "Q3", "Q4", "Q5"}
    assert known(threshold=0.3) == {"Q1", "Q2", "Q3", "Q4", "Q5"}
    assert known(threshold=0.3, lam=0.0) == {"Q5"}
    assert known(threshold=0.5) == {"Q5"}


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


def test_parts_of_the_report_are_of_what_was_asked(report):
    assert report.mrr("first", unlike=True) == pytest.approx((1 / 2 + 1 / 3) / 3)
    assert report.compare("first", "second", k=1, unlike=True).only_second == 1  # Wien, not Rín
    assert report.interval("first", k=3, type="hard") == (0.0, 0.0)
    assert report.interval("first", k=3, type="easy") == (100.0, 100.0)
    rows = {row[:2]: row for row in report.table().rows}
    assert rows["first", "all"][7] == f"{(1 + 1 / 2 + 1 / 3) / 5:.3f}"
    macro = rows["first", "macro"][6]
    types = [query.type for query in QUERIES]
    assert macro == bootstrap(100 * (report.ranks("first") > 0), types=types).shown


def test_the_language_of_the_queries_decides_what_a_pivot_name_is():
    turkish = MentionTable.from_pairs([("IĞDIR", "Q1")])
    queries = [Query("ığdır", "Q1")]
    options = {"pivots": {"tr": turkish}, "normalizer": "default"}
    asked = {"one": Scripted({})}
    assert evaluate(asked, queries, **options, language="tr").unlike.tolist() == [False]
    other = evaluate(asked, [Query("IĞDIR", "Q1")], **options, language="en")
    assert other.unlike.tolist() == [True]


def test_results_hold_no_tabs():
    report = evaluate({"a\tb": Scripted({})}, [Query("x\ty", "Q1")])
    assert [line.count("\t") for line in report.results().splitlines()] == [9, 9]


def test_an_empty_mention_is_a_query_that_nothing_answers():
    index = PivotTokenIndex.build({"is": MentionTable.from_pairs(toy.ICELANDIC)})
    assert evaluate({"pti": index}, [Query("", "Q282")]).recall("pti") == 0.0
