"""The paper's tables from one call: on toy data in both layouts, and on real names."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from candgen import MentionTable, split
from candgen.errors import CandgenError, ParameterError, StorageError, TableError
from candgen.evaluation.dataset import write_dataset
from candgen.generators import METHODS
from candgen.paper import measurements
from candgen.paper.cache import ResultCache
from candgen.paper.complexity import measure_in_process, run_job
from candgen.paper.corpus import Corpus, open_folds, parse_pair, with_zero_shot_only
from candgen.paper.plan import NEEDS, Plan, Step
from candgen.paper.published import EXHIBITS, PAIRS, Pair
from candgen.paper.reproduce import reproduce, resolve_names
from candgen.protocols import Method, Size, Training, rank_golds
from candgen.tables.queries import Query
from candgen.tables.released import write_released, write_training
from tests.support.paper_cell import answered

MEASURE = [sys.executable, "-m", "candgen.cli.measure_process"]
PTI = METHODS["pti"]
COMMAND = ["candgen", "reproduce", "all"]

STEMS = ["vík", "vágur", "havn", "fjørður", "dalur", "nes", "eiði", "sandur", "hólmur", "tindur"]


def names(suffix, share=1.0):
    """Two spellings of each of many places; a language is its ending."""
    rows = []
    for n, stem in enumerate(f"{a}{b}" for a in STEMS for b in STEMS):
        if n % 100 < 100 * share:
            rows.append((f"{stem}{suffix}", f"Q{n + 1}", 1 + n % 3))
            if n % 2:
                rows.append((f"{stem}{suffix} {n}", f"Q{n + 1}", 1))
    return MentionTable.from_pairs(rows)


TABLES = {
    "fo": names("ur"),
    "is": names("ir", share=0.8),
    "olo": names("u", share=0.3),
    "fi": names("i"),
    "en": names("", share=0.9),
    "de": names("en"),
}
TOY_PAIRS = (Pair("fo", "is", "low", False), Pair("olo", "fi", "medium", True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("names")
    for language, table in TABLES.items():
        table.write(path / f"{language}.tsv.gz")
    (path / "README.md").write_text("not a table", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    path = tmp_path_factory.mktemp("released")
    for pair in TOY_PAIRS:
        setting = "zero-shot" if pair.zero_shot_only else "joint"
        write_released(path / pair.target, split(TABLES[pair.target], per_type=5, setting=setting))
    for language in ("is", "fi", "en", "de"):
        (path / language).mkdir()
        write_training(path / language / "mentions_tr.txt", TABLES[language])
    return path


def study(folder, output, **changes):
    made = Plan(
        Corpus(folder, per_type=5),
        TOY_PAIRS,
        {"pti": PTI},
        ResultCache(output / "records"),
        MEASURE,
        high_resource=("de",),
    )
    return replace(made, **changes)


def run(name, made, output, **options):
    return reproduce(
        [name], made, output, command=COMMAND, progress=lambda _doing, _share: None, **options
    )


def main_rows(exhibits, method="pti"):
    """The rows of a method in the long form of the main results, by setting and pair."""
    table = exhibits[0].tables[1]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {(row["setting"], row["pair"]): row for row in rows if row["method"] == method}


def test_everything_is_made_and_written(folder, tmp_path):
    exhibits = run("all", study(folder, tmp_path), tmp_path)
    assert [exhibit.name for exhibit in exhibits] == list(EXHIBITS)
    for exhibit in exhibits:
        for suffix in ("csv", "json", "md", "tex"):
            assert (tmp_path / "tables" / f"{exhibit.name}.{suffix}").stat().st_size > 50
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    figures = ("main-results", "query-types", "ceilings", "training-size", "recall-at-k")
    assert drawn == {f"{name}.{suffix}" for name in figures for suffix in ("svg", "png")}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for exhibit in exhibits:
        assert exhibit.tables[0].to_html().partition("<tbody>")[2].partition("</tbody>")[0] in page
    assert "candgen reproduce all" in page
    assert page.count("data:image/svg+xml") == len(figures)
    assert "## " in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_released_layout_gives_the_tables_too(released, tmp_path):
    exhibits = run("all", study(released, tmp_path), tmp_path, figures=False)
    rows = main_rows(exhibits)
    queries = len(open_folds(released / "fo").test)
    assert rows["joint", "fo-is"]["queries"] == rows["zero-shot", "fo-is"]["queries"] == queries > 0
    assert list((tmp_path / "figures").iterdir()) == []


def test_both_layouts_of_the_same_split_agree(released, folder, tmp_path):
    corpus = Corpus(folder, per_type=5, normalizer="none")
    ours = run(
        "main-results", study(folder, tmp_path / "a", corpus=corpus), tmp_path / "a", figures=False
    )
    corpus = Corpus(released, per_type=5, normalizer="none")
    theirs = run(
        "main-results",
        study(released, tmp_path / "b", corpus=corpus),
        tmp_path / "b",
        figures=False,
    )
    assert ours[0].tables[0].rows == theirs[0].tables[0].rows


def test_a_cell_by_hand(folder, tmp_path):
    """Zero-shot: split, choose lam on dev, build, ask test, count; with nothing of reproduce."""
    table = TABLES["fo"]
    parts = split(table, per_type=5, normalizer="default", language="fo")
    best = None
    for lam in (0.2, 0.4, 1.0):
        index = PTI(Training({"is": TABLES["is"]}, None, "fo"), {"lam": lam})
        found = [(q, [c.entity for c in index.candidates([q.mention])[0]]) for q in parts.dev]
        hits = sum(q.entity in some for q, some in found)
        reciprocal = sum(1 / (some.index(q.entity) + 1) for q, some in found if q.entity in some)
        if best is None or (hits, reciprocal) > best[:2]:
            best = (hits, reciprocal, index)
    hits = [
        query.entity in [c.entity for c in best[2].candidates([query.mention])[0]]
        for query in parts.test
    ]
    exhibits = run("main-results", study(folder, tmp_path), tmp_path, figures=False)
    ours = main_rows(exhibits)["zero-shot", "fo-is"]["recall@30"]
    assert ours == 100 * sum(hits) / len(hits)
    assert exhibits[0].tables[0].rows[1][:3] == ("zero-shot", "pti", ours)
    assert 0 < sum(hits) < len(hits)


def test_ours_stands_beside_the_papers_with_the_difference(folder, tmp_path):
    exhibits = run("main-results", study(folder, tmp_path), tmp_path, figures=False)
    rows = main_rows(exhibits)
    row = rows["joint", "fo-is"]
    assert row["paper"] == 79
    assert row["difference"] == pytest.approx(row["recall@30"] - 79)
    zero, joint = (rows[setting, "olo-fi"] for setting in ("zero-shot", "joint"))
    assert {**zero, "setting": "joint"} == joint
    for table in exhibits[0].tables[:2]:
        assert "olo-fi: no training data" in table.note


def test_pairs_that_the_paper_has_not_say_so(folder, tmp_path):
    pairs = (parse_pair("fo-is+fi", PAIRS),)
    made = study(folder, tmp_path, pairs=pairs)
    exhibits = run("all", made, tmp_path, figures=False)
    row = main_rows(exhibits)["zero-shot", "fo-is+fi"]
    assert (row["paper"], row["difference"]) == ("not in the paper", None)
    sizes = next(exhibit for exhibit in exhibits if exhibit.name == "training-size").tables[0]
    assert {row[-1] for row in sizes.rows} == {"no number was published"}


def guess(training, parameters):
    """A method that some other file might bring: it knows the most frequent entity only."""
    assert parameters.keys() <= {"mu", "epochs"}
    entities = [entity for table in training.pivots.values() for _, entity, _ in table]
    return Guess(sorted(set(entities or [e for _, e, _ in training.target]))[:30])


class Guess:
    def __init__(self, entities):
        self.entities = entities

    def candidates(self, mentions, k=30):
        return [[(entity, 1.0) for entity in self.entities[:k]] for _ in mentions]


def test_methods_that_are_added_appear_in_every_table(folder, tmp_path):
    added = Method(
        build=guess,
        size=lambda made: Size(len(made.entities)),
        grid={"mu": (0.01, 0.1)},
        joint=frozenset({"mu"}),
        options=frozenset({"epochs"}),
    )
    output = tmp_path / "out"
    made = study(folder, output, methods={"pti": PTI, "guess": added}, options={"epochs": 2})
    exhibits = run("all", replace(made, command=_measure_with_guess(tmp_path)), output)
    for exhibit in exhibits:
        if exhibit.name not in ("data", "ceilings", "thresholding"):
            assert "guess" in exhibit.tables[0].to_csv(), exhibit.name
    comparisons = exhibits[0].tables[3]
    assert {row[2:4] for row in comparisons.rows} == {("pti", "guess")}


def _measure_with_guess(folder):
    program = folder / "measure.py"
    program.write_text(
        "import json, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2])]!r}\n"
        "from tests.paper.test_reproduce import PTI, guess\n"
        "from candgen.paper.complexity import run_job\n"
        "from candgen.protocols import Method, Size\n"
        "added = Method(build=guess, size=lambda made: Size(len(made.entities)),\n"
        "    options=frozenset({'epochs', 'mu'}))\n"
        "json.dump(run_job({'pti': PTI, 'guess': added}, json.load(sys.stdin)), sys.stdout)\n",
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


class Trained(Guess):
    def __init__(self, entities, budget):
        super().__init__(entities)
        self.budget = budget


def train(training, parameters):
    """A neural method: it needs English names and dev, tells what it does, and has a budget."""
    training.progress("epoch 1 of 2", 0.5)
    assert list(training.dev)
    entities = sorted({entity for _, entity, _ in training.english})
    return Trained(entities[:30], {"epochs": parameters.get("epochs", 200), "pairs": 40})


NEURAL = Method(
    build=train,
    size=lambda made: Size(len(made.entities)),
    neural=True,
    options=frozenset({"epochs", "pairs"}),
)


def test_a_neural_method_is_in_every_table_with_its_budget(folder, tmp_path):
    output = tmp_path / "out"
    made = study(
        folder,
        output,
        methods={"pti": PTI, "mine": NEURAL},
        options={"epochs": 3, "pairs": 50},
        command=_measure_with(tmp_path, "NEURAL"),
    )
    shown = []
    exhibits = reproduce(
        EXHIBITS,
        made,
        output,
        command=COMMAND,
        figures=False,
        progress=lambda *said: shown.append(said),
    )
    said = "mine: at most 3 epochs (the paper's: 200) and 40 training pairs (the paper's: 80,000)."
    for exhibit in exhibits:
        for table in exhibit.tables:
            assert (said in table.note) == ("mine" in table.to_csv()), (exhibit.name, table.title)
    costs = {row[:2]: row[2] for row in exhibits[5].tables[0].rows}
    assert costs["fo-is", "mine"] == costs["olo-fi", "mine"] == 30
    page = (output / "report.html").read_text(encoding="utf-8")
    assert f"<dt>training</dt>\n<dd>{said.replace(chr(39), '&#x27;')}</dd>" in page
    assert "<dt>epochs, as asked for</dt>\n<dd>3</dd>" in page
    words = "fo-is: ranks, mine, trying choice 1 of 1 on dev: epoch 1 of 2"
    (at,) = {share for doing, share in shown if doing == words}
    (step,) = (share for doing, share in shown if doing == "fo-is: ranks, mine")
    assert at == step
    shares = [share for doing, share in shown if not doing.startswith("drawing")]
    assert shares == sorted(shares)
    assert all(0 <= share < 1 for share in shares)


def _measure_with(folder, name):
    program = folder / "measure.py"
    program.write_text(
        "import json, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2])]!r}\n"
        f"from tests.paper.test_reproduce import PTI, {name}\n"
        "from candgen.paper.complexity import run_job\n"
        f"json.dump(run_job({{'pti': PTI, 'mine': {name}}}, json.load(sys.stdin)), sys.stdout)\n",
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


# Going on where it stopped


def test_an_interrupted_run_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    calls = []
    ranks = measurements.ranks

    def interrupted(case, *rest):
        calls.append(case.pair.key)
        if case.pair.key == "olo-fi" and len(calls) == 2:
            raise KeyboardInterrupt
        return ranks(case, *rest)

    monkeypatch.setattr(measurements, "ranks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("main-results", study(folder, tmp_path), tmp_path, figures=False)
    assert not (tmp_path / "report.html").exists()
    run("main-results", study(folder, tmp_path), tmp_path, figures=False)
    assert calls == ["fo-is", "olo-fi", "olo-fi"]
    run("query-types", study(folder, tmp_path), tmp_path, figures=False)
    assert len(calls) == 3


def _grid(**values):
    return {"methods": {"pti": replace(PTI, grid={**PTI.grid, **values})}}


def _rewritten(language):
    def change(folder, _patch):
        MentionTable.from_pairs([*TABLES[language], ("new", "Q1")]).write(
            folder / f"{language}.tsv"
        )
        return {}

    return change


CHANGES = {
    "the target's file": _rewritten("fo"),
    "the pivot's file": _rewritten("is"),
    "the English file": _rewritten("en"),
    "per_type": lambda folder, _: {"corpus": Corpus(folder, per_type=4)},
    "seed": lambda folder, _: {"corpus": Corpus(folder, per_type=5, seed=1)},
    "normalizer": lambda folder, _: {"corpus": Corpus(folder, per_type=5, normalizer="none")},
    "bad rows": lambda folder, _: {"corpus": Corpus(folder, per_type=5, skip_bad_rows=True)},
    "options": lambda *_: {"options": {"threshold": 0.5}},
    "grid": lambda *_: _grid(lam=(0.3, 0.6)),
    "zero-shot only": lambda *_: {"pairs": (TOY_PAIRS[0]._replace(zero_shot_only=True),)},
    "version": lambda _, patch: patch.setattr(
        "candgen.paper.plan.version", lambda package="candgen": f"{package} 2"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_is_measured_anew(what, tmp_path, monkeypatch):
    for language in ("fo", "is", "en"):
        TABLES[language].write(tmp_path / f"{language}.tsv")
    calls = []

    def measured(case, *_rest):
        calls.append(case)
        return {"settings": {name: {"parameters": {}} for name in ("zero-shot", "joint")}}

    monkeypatch.setattr(measurements, "ranks", measured)
    monkeypatch.setattr(measurements, "thresholds", lambda case, *_: measured(case))
    output = tmp_path / "out"

    def measure(**changes):
        made = study(tmp_path, output, **{"pairs": TOY_PAIRS[:1], **changes})
        made.measure(["thresholding"], lambda *_: None)
        return len(calls)

    assert measure() == 2
    assert measure() == 2
    changes = CHANGES[what](tmp_path, monkeypatch) or {}
    assert measure(**changes) == 4
    assert measure(**changes) == 4


def test_a_language_alone_depends_on_english_names(tmp_path, monkeypatch):
    for language in ("fo", "is", "de", "en"):
        TABLES[language].write(tmp_path / f"{language}.tsv")
    calls = []
    monkeypatch.setattr(measurements, "high_resource", lambda *_: calls.append(1) or {})

    def measure():
        made = study(tmp_path, tmp_path / "out", pairs=TOY_PAIRS[:1])
        made.measure(["high-resource"], lambda *_: None)
        return len(calls)

    assert (measure(), measure()) == (1, 1)
    _rewritten("en")(tmp_path, None)
    assert (measure(), measure()) == (2, 2)
    _rewritten("is")(tmp_path, None)
    assert measure() == 2


def test_another_choice_on_dev_is_measured_anew(folder, tmp_path, monkeypatch):
    calls = []
    chosen = {"lam": 1.0}

    def ranks(case, *_rest):
        return {"settings": {name: {"parameters": chosen} for name in ("zero-shot", "joint")}}

    monkeypatch.setattr(measurements, "ranks", ranks)
    monkeypatch.setattr(measurements, "thresholds", lambda *_: calls.append(1) or {})
    for lam in (1.0, 1.0, 0.2):
        chosen["lam"] = lam
        made = study(folder, tmp_path / str(lam), pairs=TOY_PAIRS[:1])
        made = replace(made, cache=ResultCache(tmp_path / "records"))
        for path in (tmp_path / "records").glob("fo-is-ranks*"):
            path.unlink()
        made.measure(["thresholding"], lambda *_: None)
    assert len(calls) == 2


def test_a_table_that_was_rewritten_is_read_again(tmp_path):
    corpus = Corpus(tmp_path)
    TABLES["is"].write(tmp_path / "is.tsv")
    assert corpus.table("is") == TABLES["is"]
    TABLES["fi"].write(tmp_path / "is.tsv")
    assert corpus.table("is") == TABLES["fi"]


def test_a_damaged_record_is_measured_anew(tmp_path):
    records = ResultCache(tmp_path)
    assert records.get("a", {"seed": 1}, lambda: {"x": 1}) == {"x": 1}
    (path,) = tmp_path.iterdir()
    assert records.get("a", {"seed": 1}, lambda: {"x": 2}) == {"x": 1}
    path.write_text(path.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    assert records.get("a", {"seed": 1}, lambda: {"x": 3}) == {"x": 3}
    path.write_text("[1]", encoding="utf-8")
    assert records.get("a", {"seed": 1}, lambda: {"x": 4}) == {"x": 4}


# Never test


def test_what_is_chosen_never_sees_test(folder):
    """Training holds no test query, and tuning is given dev alone."""
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    test_pairs = {query[:2] for query in case.folds.test if query.type != "easy"}
    training = case.training("joint")
    assert test_pairs.isdisjoint((mention, entity) for mention, entity, _ in training.target)
    assert test_pairs.isdisjoint(query[:2] for query in training.dev)
    assert case.training("zero-shot").target is None


def test_other_test_queries_change_no_choice(folder, monkeypatch):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.ranks(case, PTI, {})
    nonsense = replace(case.folds, test=[Query("zzz", "Q1", "hard")])
    other = measurements.ranks(replace(case, folds=nonsense), PTI, {})
    for setting in ("zero-shot", "joint"):
        assert found["settings"][setting]["parameters"] == other["settings"][setting]["parameters"]
        assert other["settings"][setting]["ranks"] == [0]


# Measurements


def test_thresholds_remove_more_and_more(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.thresholds(case, PTI, {}, {"alpha": 0.4, "lam": 1.0})["thresholds"]
    assert [one["threshold"] for one in found] == [0.0, 0.01, 0.1]
    removed = [one["removed"] for one in found]
    assert removed[0] == 0.0
    assert removed == sorted(removed)
    assert removed[-1] > 10


def test_training_sizes_are_nested_samples(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    measured = measurements.ranks(case, PTI, {})["settings"]
    found = measurements.training_sizes(case, PTI, {}, measured, 0)["sizes"]
    for one in found[-2:]:
        whole = PTI(case.training(one["setting"]), measured[one["setting"]]["parameters"])
        ranks = rank_golds(whole, case.folds.test, 30)
        assert one["recall"] == 100 * (ranks > 0).sum() / len(ranks)
    assert [one["share"] for one in found if one["setting"] == "joint"] == [
        0.01,
        0.03,
        0.1,
        0.3,
        1.0,
    ]
    assert found[-1]["pairs"] == len(case.pivots["is"])
    table = case.pivots["is"]
    smaller, larger = (set(measurements._sample(table, share, 0)) for share in (0.1, 0.3))
    assert smaller < larger < set(table)
    assert len(smaller) == round(0.1 * len(table))
    assert set(measurements._sample(table, 0.1, 1)) != smaller


def test_complexity_is_measured_in_another_process(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    training = case.training("joint")
    parameters = {"alpha": 0.4, "lam": 1.0, "threshold": 0.01}
    found = measure_in_process(MEASURE, "pti", training, parameters, case.folds.test)
    index = PTI(training, parameters)
    assert found["parameters"] == PTI.size(index).parameters
    assert found["queries"] == len(case.folds.test)
    assert found["build_seconds"] > 0
    assert found["query_seconds"] > 0
    assert 10e6 < found["peak_bytes"] < 10e9


def test_a_failure_in_the_other_process_is_one_sentence(folder):
    training = Training({"is": TABLES["is"]}, None, "fo")
    with pytest.raises(CandgenError, match=r"measuring pti .* failed: .*alpha") as error:
        measure_in_process(MEASURE, "pti", training, {"alpha": -1}, [Query("a", "Q1")])
    assert "\n" not in str(error.value)
    with pytest.raises(CandgenError, match="failed: no message"):
        measure_in_process([sys.executable, "-c", "raise SystemExit(3)"], "pti", training, {}, [])


def test_the_work_of_the_other_process(folder, tmp_path, monkeypatch):
    import os

    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    TABLES["is"].write(tmp_path / "is.parquet")
    (tmp_path / "queries.tsv").write_text("mention\tentity\ttype\nvík\tQ1\t\n", encoding="utf-8")
    job = {
        "method": "pti",
        "parameters": {"lam": 1.0},
        "language": "fo",
        "pivots": {"is": str(tmp_path / "is.parquet")},
        "target": None,
        "english": None,
        "queries": str(tmp_path / "queries.tsv"),
        "dev": str(tmp_path / "queries.tsv"),
    }
    assert run_job(METHODS, job)["queries"] == 1
    told = []

    def build(training, parameters):
        told.append((len(training.english), len(training.dev), dict(parameters)))
        return Trained(["Q1"], {"epochs": 7})

    TABLES["en"].write(tmp_path / "en.parquet")
    job = {**job, "method": "mine", "english": str(tmp_path / "en.parquet")}
    job["parameters"] = {"epochs": 7}
    found = run_job({"mine": replace(NEURAL, build=build)}, job)
    assert told == [(3, 1, {"epochs": 1}), (len(TABLES["en"]), 1, {"epochs": 7})]
    assert found["budget"] == {"epochs": 7, "of_epochs": 200, "of_pairs": 80_000}
    without = replace(NEURAL, build=build, options=frozenset())
    run_job({"mine": without}, {**job, "parameters": {}})
    assert told[2:] == [(len(TABLES["en"]), 1, {})]


def test_ceilings_of_the_toy(folder):
    case = Corpus(folder, per_type=5).case(TOY_PAIRS[0])
    found = measurements.ceilings(case)
    assert list(found) == ["PL", "PL+TL", "EN", "EN+PL", "EN+PL+TL"]
    easy = found["PL+TL"]["easy"]
    assert easy == {"queries": 5, "recall": 100.0}
    assert found["EN"] == found["EN+PL"] == found["EN+PL+TL"]
    alone = Corpus(folder, per_type=5).case(TOY_PAIRS[1])
    assert list(measurements.ceilings(alone)) == ["PL", "EN", "EN+PL"]


# The corpus


def test_languages_and_paths(folder, released):
    assert Corpus(folder).languages == sorted(TABLES)
    assert not Corpus(folder).released
    assert Corpus(released).languages == sorted(TABLES)
    assert Corpus(released).released
    assert Corpus(folder).path("fo").name == "fo.tsv.gz"


def test_what_is_not_there_is_named(folder, released, tmp_path):
    with pytest.raises(TableError, match=r"no data of 'mk': expected mk\.tsv\.gz"):
        Corpus(folder).table("mk")
    with pytest.raises(TableError, match="no data of 'mk'"):
        study(folder, tmp_path, pairs=(parse_pair("mk-bg", PAIRS),)).check()
    with pytest.raises(TableError, match="is not a folder"):
        _ = Corpus(folder / "nowhere").languages
    with pytest.raises(TableError, match=r"mentions_dev_type\.txt has no queries"):
        Corpus(released).case(Pair("is", "fi", "", False))


@pytest.mark.parametrize("name", ["mentions_dev_type.txt", "mentions_tt_type.txt"])
def test_a_target_without_queries_is_refused(tmp_path, name):
    write_released(tmp_path / "fo", split(TABLES["fo"], per_type=5))
    (tmp_path / "fo" / name).write_text("", encoding="utf-8")
    with pytest.raises(TableError, match=f"{name} has no queries"):
        Corpus(tmp_path).folds("fo", "joint")


def test_two_tables_of_one_language_are_refused(tmp_path):
    for suffix in (".tsv", ".parquet"):
        TABLES["fo"].write(tmp_path / f"fo{suffix}")
    with pytest.raises(TableError, match=r"fo\.tsv and fo\.parquet are both tables of fo"):
        Corpus(tmp_path).table("fo")


def test_a_table_too_small_to_split_is_refused(tmp_path):
    MentionTable.from_pairs([("a", "Q1")]).write(tmp_path / "fo.tsv")
    with pytest.raises(ParameterError, match="fo has 1 pairs, too few for dev"):
        Corpus(tmp_path).folds("fo", "joint")


def test_high_resource_has_no_hard_queries(folder, released):
    for corpus in (Corpus(folder, per_type=5), Corpus(released, per_type=5)):
        for language in ("de", "fo"):
            case = corpus.high_resource(language)
            assert {query.type for query in case.folds.test} == {"easy", "medium"}
            assert {query.type for query in case.folds.dev} == {"easy", "medium"}
            assert case.pivots == {}


def test_english_names_are_those_of_the_table(folder, tmp_path):
    corpus = Corpus(folder, per_type=5)
    assert corpus.high_resource("de").english == corpus.case(TOY_PAIRS[0]).english == TABLES["en"]
    TABLES["de"].write(tmp_path / "de.tsv")
    assert Corpus(tmp_path, per_type=5).high_resource("de").english is None


def test_english_resolve_names_english_are_not_those_of_its_tests(folder):
    corpus = Corpus(folder, per_type=5)
    for case in (corpus.high_resource("en"), corpus.case(Pair("en", "is", "", False))):
        held_out = {query[:2] for query in case.folds.test if query.type != "easy"}
        assert case.english == case.folds.train
        assert held_out
        assert held_out.isdisjoint((mention, entity) for mention, entity, _ in case.english)
    assert corpus.case(Pair("en", "is", "", True)).english is None


def test_open_folds_reads_both_kinds(folder, released, tmp_path):
    write_dataset(tmp_path / "fo.dataset", split(TABLES["fo"], per_type=5))
    assert len(open_folds(tmp_path / "fo.dataset").dev) == 15
    assert len(open_folds(released / "fo").dev) == 15


def test_pairs_are_parsed():
    assert parse_pair("fo-is", PAIRS).resources == "low"
    assert parse_pair("co-it", PAIRS).zero_shot_only
    assert parse_pair("fo-is+da", PAIRS).pivots == ("is", "da")
    assert not parse_pair("sc-it", PAIRS).zero_shot_only
    for text in ("fo", "-is", "fo-", "fo-is+", "", "../x/fo-is", "fo-is/da"):
        with pytest.raises(ParameterError, match="is not a pair"):
            parse_pair(text, PAIRS)
    for text in ("fo-fo", "fo-is+is", "fo-is+fo"):
        with pytest.raises(ParameterError, match="names a language twice"):
            parse_pair(text, PAIRS)
    assert parse_pair("co-it+sc", PAIRS).zero_shot_only  # Corsican is, whatever its pivots
    assert parse_pair("be-tarask-be", PAIRS, ["be", "be-tarask"])[:2] == ("be-tarask", "be")
    assert parse_pair("be-be-tarask", PAIRS, ["be", "be-tarask"])[:2] == ("be", "be-tarask")
    with pytest.raises(ParameterError, match="'mk' is not a target of these pairs"):
        with_zero_shot_only(TOY_PAIRS, ("mk",))
    assert [pair.zero_shot_only for pair in with_zero_shot_only(TOY_PAIRS, ("fo",))] == [
        True,
        False,
    ]


# Names, folders


def test_names():
    assert resolve_names("all") == EXHIBITS
    assert resolve_names("ceilings") == ("ceilings",)
    assert resolve_names("ceilings", "main-results", "ceilings") == ("main-results", "ceilings")
    assert resolve_names("ceilings", "all") == EXHIBITS
    assert set(NEEDS) == set(EXHIBITS)
    for some in (["tables"], ["all", "tables"]):
        with pytest.raises(ParameterError, match=r"unknown exhibit 'tables': choose main-re"):
            resolve_names(*some)


def test_a_folder_that_cannot_be_written_is_refused_first(folder, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        run("ceilings", study(folder, tmp_path), tmp_path / "file" / "out")


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path):
    (tmp_path / "report.md").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="holds something else"):
        run("ceilings", study(folder, tmp_path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_steps_read_well():
    assert str(Step("ranks", "fo-is", "pti")) == "fo-is: ranks, pti"
    assert str(Step("ceilings", "fo-is")) == "fo-is: ceilings"


def test_progress_names_what_is_done(folder, tmp_path):
    shown = []
    made = study(folder, tmp_path, pairs=TOY_PAIRS[:1])
    reproduce(
        ["ceilings"],
        made,
        tmp_path,
        command=COMMAND,
        figures=False,
        progress=lambda doing, share: shown.append((doing, share)),
    )
    assert shown == [("fo-is: ceilings", 0.0), ("drawing ceilings", 0.0)]


# Real names


def test_a_cell_of_real_names_by_hand(shared_data, tmp_path):
    """Turkmen from Azerbaijani, zero-shot, computed by a program that shares no code with ours."""
    names = shared_data / "names"
    pair = next(pair for pair in PAIRS if pair.target == "tk")
    case = Corpus(names).case(pair)
    write_dataset(tmp_path / "tk.dataset", case.folds)
    found = measurements.ranks(case, PTI, {"normalizer": "default"})["settings"]["zero-shot"]
    test, lam = tmp_path / "tk.dataset" / "test.tsv", found["parameters"]["lam"]
    hits = sum(0 < rank <= 30 for rank in found["ranks"])
    assert answered(names / "az.tsv.gz", test, lam) == (len(found["ranks"]), hits)
    assert 0 < hits < len(found["ranks"])


def test_real_names_keep_their_promises(shared_data):
    """A third of the Faroese entities are not in Icelandic."""
    case = Corpus(shared_data / "names").case(next(p for p in PAIRS if p.target == "fo"))
    found = measurements.ceilings(case)
    assert found["PL+TL"]["easy"]["recall"] == found["PL+TL"]["medium"]["recall"] == 100.0
    assert 60 < found["PL"]["all"]["recall"] < 75
    assert not math.isnan(found["PL"]["hard"]["recall"])
    about = measurements.queries(case, "default")
    assert len(about["types"]) == len(about["unlike"]) == len(case.folds.test)
    assert json.loads(json.dumps(about)) == about
    assert np.mean(about["unlike"]) > 0.3
