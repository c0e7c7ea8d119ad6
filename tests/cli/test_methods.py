"""Every method on the command line: build, query, info, explain, evaluate."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

import candgen
from candgen.evaluation.dataset import write_dataset
from candgen.evaluation.held_back import held_back
from candgen.generators import METHODS
from candgen.generators.calibration import Calibration
from candgen.generators.summaries import METHODS as CATALOGUE
from candgen.protocols import Training
from candgen.storage import index_folder
from candgen.tables.queries import write_queries
from tests.generators.test_conformance import SPLIT, TABLES, quick, skip_without_torch
from tests.support.commands import environment, is_refusal, snapshot, told

MENTIONS = ["víkhavnur", "vík", "", "x", *(query.mention for query in SPLIT.test[:4])]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Tables, a dataset and its dev queries."""
    folder = tmp_path_factory.mktemp("methods")
    TABLES["is"].write(folder / "is.tsv.gz")
    TABLES["en"].write(folder / "en.tsv.gz")
    SPLIT.train.write(folder / "fo.tsv.gz")
    write_dataset(folder / "fo.dataset", SPLIT)
    write_queries(folder / "dev.tsv", SPLIT.dev)
    return folder


def arguments(world, *, dev="fo.dataset", neural=True):
    tables = ("--pivot", world / "is.tsv.gz", "--target", world / "fo.tsv.gz")
    teachers = ("--english", world / "en.tsv.gz", "--dev", world / dev)
    return (*tables, *teachers) if neural else tables


def settings(name):
    return [each for key, value in quick(name).items() for each in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def indexes(world):
    """Every method that can be built here, built by the library."""
    made = {}

    def build(name):
        skip_without_torch(name)
        if name not in made:
            made[name] = world / f"{name}.candgen"
            training = Training({"is": TABLES["is"]}, SPLIT.train, "fo")
            if METHODS[name].neural:
                training = replace(training, english=TABLES["en"], dev=SPLIT.dev)
            METHODS[name](training, quick(name)).save(made[name])
        return made[name]

    return build


# ---------------------------------------------------------------- build


def test_help_lists_every_method(cli):
    shown = " ".join(cli("build", "--help").out.partition("Methods:")[2].split())
    assert shown == " ".join(f"{name} {line}" for name, line in CATALOGUE.items())


def test_the_registry_has_the_names_of_the_catalogue_in_its_order():
    assert list(METHODS) == list(CATALOGUE)


@pytest.mark.parametrize("name", METHODS)
def test_build_writes_what_the_library_writes(cli, world, indexes, tmp_path, name):
    copy, output = tmp_path / "copy.candgen", tmp_path / "x.candgen"
    shutil.copytree(indexes(name), copy)
    if METHODS[name].neural:  # these are given dev queries, which also teach what scores are worth
        Calibration.learn(candgen.load(copy), held_back(SPLIT.dev)).store(copy)
    expected = snapshot(copy)
    given = arguments(world, neural=METHODS[name].neural)
    done = cli("build", "--method", name, *given, *settings(name), "-o", output)
    assert done.status == 0, done.err
    assert done.out == ""
    assert snapshot(output) == expected
    summary, hint = done.err.splitlines()[-2:]
    counted = ", ".join(("entities", "tokens", "postings")) if "pti" in name else "parameters"
    assert all(f" {what}" in summary for what in counted.split(", "))
    assert hint.startswith(f"try: candgen query {output} ")


def test_dev_queries_may_be_a_file(cli, world, tmp_path, monkeypatch):
    seen = {}

    def build(training, parameters):
        seen.update(dev=training.dev, english=training.english, parameters=parameters)
        training.progress("learning", 0.5)
        return METHODS["wikipriors"].build(training, {})

    mine = replace(
        METHODS["wikipriors"], build=build, options=frozenset({"epochs", "space"}), neural=True
    )
    monkeypatch.setitem(METHODS, "mine", mine)
    given = ("--set", "epochs=3", "--set", "space=fo,en")
    for dev in ("dev.tsv", "fo.dataset"):
        done = cli(
            "build", "--method", "mine", *arguments(world, dev=dev), *given, "-o", tmp_path / "x"
        )
        assert done.status == 0, done.err
        assert list(seen["dev"]) == SPLIT.dev
        assert seen["english"] == TABLES["en"]
        assert seen["parameters"] == {"epochs": 3, "space": ["fo", "en"]}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--lam", "0.2"], "--lam is not for the method wikipriors"),
        (["--alpha", "0.2"], "--alpha is not for"),
        (["--threshold", "0"], "--threshold is not for"),
        (["--ngrams", "2-4"], "--ngrams is not for"),
        (["--ngram-unit", "grapheme"], "--ngram-unit is not for"),
        (["--set", "epochs=2"], "--set epochs is not for"),
    ],
)
def test_what_a_method_does_not_take_is_refused(cli, world, tmp_path, options, named):
    pivot = ("--pivot", world / "is.tsv.gz")
    done = cli("build", "--method", "wikipriors", *pivot, *options, "-o", tmp_path / "x")
    assert is_refusal(done)
    assert named in done.err
    assert "whose parameters are normalizer" in done.err
    assert not (tmp_path / "x").exists()


def test_settings_reach_the_method(cli, world, tmp_path):
    pivot = ("--pivot", world / "is.tsv.gz")
    more = ("--set", "lam=0.9", "--set", "alpha=0.3", "--set", "normalizer=paper")
    assert cli("build", *pivot, *more, "-o", tmp_path / "x").status == 0
    parameters = candgen.load(tmp_path / "x").parameters
    assert (parameters["lam"], parameters["alpha"]) == (0.9, {"is": 0.3})
    assert parameters["normalizer"] == "paper"
    wrong = cli("build", *pivot, "--set", "lam=much", "-o", tmp_path / "y")
    assert is_refusal(wrong)
    assert "much" in wrong.err


def test_a_method_without_parameters_takes_none(cli, world, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "mine", replace(METHODS["wikipriors"], options=frozenset()))
    pivot = ("--pivot", world / "is.tsv.gz")
    done = cli("build", "--method", "mine", *pivot, "--threads", 2, "-o", tmp_path / "x")
    assert is_refusal(done)
    assert "--threads is not for the method mine, which has no parameters" in done.err


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].neural])
def test_a_neural_method_says_what_it_needs(cli, world, tmp_path, name):
    skip_without_torch(name)
    done = cli("build", "--method", name, "--pivot", world / "is.tsv.gz", "-o", tmp_path / "x")
    assert is_refusal(done)
    assert "english" in done.err.lower()
    assert not (tmp_path / "x").exists()


# ---------------------------------------------------------------- query, explain


@pytest.mark.parametrize("name", METHODS)
def test_query_answers_as_the_library_and_loses_no_order(cli, indexes, name):
    index = indexes(name)
    generator = candgen.load(index)
    expected = generator.candidates(MENTIONS)
    assert any(expected)
    found = cli("query", index, stdin="\n".join(MENTIONS).encode()).answers
    for answer, candidates in zip(found, expected, strict=True):
        assert [each["entity"] for each in answer["candidates"]] == [e for e, _ in candidates]
        scores = [each["score"] for each in answer["candidates"]]
        exact = [score for _, score in candidates]
        assert [told(a, b) for a, b in zip(scores, exact, strict=True)] == exact
    shown = cli("query", index, "víkhavnur", "--format", "table", "-k", 3).out.splitlines()
    assert shown[1].split()[:3] == ["rank", "entity", "score"]
    assert "also known as" in shown[1]
    assert "(" in shown[2]  # a name with its languages
    rows = cli("query", index, "víkhavnur", "--format", "tsv", "-k", 3).out.splitlines()
    assert len(rows) == 1 + len(expected[0][:3]) > 1


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("options", [("--lam", "0.5"), ("--scores", "share")])
def test_options_of_pti_are_refused_by_others(cli, indexes, name, options):
    done = cli("query", indexes(name), "víkhavnur", *options)
    if (name, options[0]) == ("pti-smoothing", "--scores"):
        assert is_refusal(done)
        assert "is not supported" not in done.err  # it takes the option, and refuses the value
    elif name.startswith("pti"):
        assert done.status == 0
    else:
        assert is_refusal(done)
        assert f"{options[0]} is not supported by the generator in {indexes(name)}" in done.err
        assert is_refusal(cli("query", indexes(name), *options, stdin=b"x\n"))


@pytest.mark.parametrize("name", METHODS)
def test_explain_explains_or_says_that_it_cannot(cli, indexes, name):
    generator = candgen.load(indexes(name))
    entity = generator.candidates(["víkhavnur"])[0][0].entity
    done = cli("explain", indexes(name), "víkhavnur", entity)
    if hasattr(generator, "explain"):
        assert done.status == 0, done.err
        assert done.out.startswith(f"víkhavnur -> {entity}: score ")
    else:
        assert is_refusal(done)
        assert "cannot explain" in done.err


# ---------------------------------------------------------------- info


@pytest.mark.parametrize("name", METHODS)
def test_info_tells_everything(cli, indexes, name):
    index = indexes(name)
    found = json.loads(cli("info", index, "--format", "json").out)
    contents = candgen.load(index).contents()
    assert found["kind"] == contents.kind
    assert found["parameters"] == dict(contents.parameters)
    assert found["inputs"] == dict(contents.inputs)
    shown = cli("info", index)
    assert shown.status == 0, shown.err
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["kind", contents.kind] in rows
    assert any("is" in row[:1] and f"{len(TABLES['is']):,}" in row for row in rows)


@pytest.mark.parametrize("name", [name for name in METHODS if name.startswith("pti")])
def test_info_counts_what_the_index_has(cli, indexes, name):
    found = json.loads(cli("info", indexes(name), "--format", "json").out)
    index = candgen.load(indexes(name))
    assert found["tokens"] == index.token_index.known > 0
    assert found["postings"] == index.token_index.postings
    assert found["fusion"] == index.parameters["fusion"]


def facts(shown):
    """Names and texts of the facts, whatever the columns."""
    lines = (line.strip().split("  ", maxsplit=1) for line in shown.splitlines())
    return [tuple(part.strip() for part in line) for line in lines]


def test_info_of_wikipriors_has_the_tiers_with_their_sizes(cli, indexes):
    index = indexes("wikipriors")
    found = json.loads(cli("info", index, "--format", "json").out)
    generator = candgen.load(index)
    assert found["postings"] == {
        f"tiers.{name}": tier.postings for name, tier in generator.tiers.items()
    }
    assert len(found["postings"]) == 4
    shown = facts(cli("info", index).out)
    for name, tier in generator.tiers.items():
        assert (f"tiers.{name.replace('_', ' ')}", f"{tier.postings:,}") in shown


def test_info_of_a_cascade_has_its_parts_inside(cli, indexes):
    shown = cli("info", indexes("cascade")).out
    names = [name for name, *_ in facts(shown)]
    assert names.index("parts") < names.index("part0: wikipriors") < names.index("part1: pti")
    assert ("fill", "no") in facts(shown)
    assert ("lam", "0.4") in facts(shown)
    assert names.count("is") == 1  # what both were built from is said once
    assert facts(shown)[-4][:1] == ("part1.blocks.*",)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].neural])
def test_info_of_a_neural_index_tells_how_it_was_trained(cli, indexes, name):
    shown = facts(cli("info", indexes(name)).out)
    assert ("epochs", "2") in shown
    names = [each for each, *_ in shown]
    for each in ("encoder", "dev recall", "unnamed", "used"):
        assert each in names


def test_neither_info_nor_help_needs_what_is_heavy(indexes):
    built = []
    for name in METHODS:
        try:
            built.append(str(indexes(name)))
        except pytest.skip.Exception:
            continue
    script = f"""
import sys
from candgen.cli import main
assert main(["build", "--help"]) == 0
assert "numpy" not in sys.modules
for path in {built!r}:
    assert main(["info", path]) == 0
assert not {{"numba", "torch"}} & set(sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment())
    assert run.returncode == 0, run.stderr.decode()


# ---------------------------------------------------------------- evaluate


def test_evaluate_compares_all_kinds(cli, world, indexes):
    quick_ones = [name for name in METHODS if not METHODS[name].neural]
    named = [f"{name}={indexes(name)}" for name in quick_ones]
    done = cli("evaluate", world / "fo.dataset", *named, "-k", 5, "--format", "json")
    assert done.status == 0, done.err
    report = candgen.evaluate(
        {name: candgen.load(indexes(name)) for name in quick_ones}, SPLIT.test, ks=(5,)
    )
    assert done.out == report.to_json().rstrip("\n") + "\n"
    for name in quick_ones:
        assert report.recall(name, k=5) > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--english", "en.tsv"], "--english is not used by the method pti: drop it"),
        (["--dev", "dev.tsv"], "--dev is not used by the method pti: drop it"),
        (["--method", "charagram"], "charagram compares mentions with English names: give --engl"),
        (
            ["--set", "tokenizer=words"],
            "--set tokenizer: use --ngrams, --ngram-unit and --set wildcards",
        ),
        (["--set", "wildcards=abc"], "wildcards is 'abc': expected True or False"),
        (["--set", "fusion=probabilities", "--set", "smoothing=1e-320"], "at least 1e-30"),
    ],
)
def test_what_is_of_no_use_is_refused(cli, world, tmp_path, options, sentence):
    output = tmp_path / "x.candgen"
    done = cli("build", "--pivot", world / "is.tsv.gz", *options, "-o", output)
    assert done.status == 2
    assert sentence in done.err
    assert not output.exists()


def test_translation_uses_english_names_and_no_dev_queries(cli, world, tmp_path):
    output = tmp_path / "x.candgen"
    tables = arguments(world, neural=False)
    given = ("--method", "translation", *tables, "--english", world / "en.tsv.gz", "-o", output)
    refused = cli("build", *given, "--dev", world / "dev.tsv")
    assert is_refusal(refused)
    assert "--dev is not used by the method translation: drop it" in refused.err
    done = cli("build", *given)
    assert done.status == 0, done.err
    index = candgen.load(output)
    assert index.parameters["sources"] == ["fo", "is", "en"]
    (english, _, _), *_ = TABLES["en"]
    found = json.loads(cli("query", output, english, "-k", "1", "--format", "jsonl").out)
    assert index.candidates([english], 1)[0][0].entity == found["candidates"][0]["entity"]
    shown = facts(cli("info", output).out)
    assert ("searched", "en") in shown
    tuned = cli("tune", world / "fo.dataset", *given[:4], *given[6:8], "--format", "json")
    assert tuned.status == 0, tuned.err


def test_dev_without_queries_is_refused(cli, world, tmp_path):
    dev = tmp_path / "none.tsv"
    dev.write_text("mention\tentity\ttype\n", encoding="utf-8")
    given = ("--pivot", world / "is.tsv.gz", "--english", world / "en.tsv.gz", "--dev", dev)
    done = cli("build", "--method", "charagram", *given, "-o", tmp_path / "x")
    assert done.status == 2
    assert "has no queries: give another file, or drop it" in done.err


def test_tune_reads_whole_numbers(cli, world, monkeypatch):
    seen = []

    def build(training, parameters):
        seen.append(parameters["epochs"])
        return METHODS["wikipriors"].build(training, {})

    mine = replace(METHODS["wikipriors"], build=build, options=frozenset({"epochs"}))
    monkeypatch.setitem(METHODS, "mine", mine)
    done = cli("tune", world / "fo.dataset", "--method", "mine", "--grid", "epochs=1,2")
    assert done.status == 0, done.err
    assert [repr(each) for each in seen] == ["1", "2"]


def test_explain_shows_what_smoothing_adds(cli, world, tmp_path):
    output = tmp_path / "x.candgen"
    given = ("--pivot", world / "is.tsv.gz", "--set", "smoothing=0.1")
    assert cli("build", "--method", "pti-smoothing", *given, "-o", output).status == 0
    mention, entity, _ = next(iter(TABLES["is"]))
    explained = json.loads(cli("explain", output, mention, entity, "--format", "json").out)
    parts = ("prior", "posterior", "background")
    assert explained["background"] > 0
    assert sum(explained[part] for part in parts) == pytest.approx(explained["score"])
    assert " + background " in cli("explain", output, mention, entity).out


@pytest.mark.parametrize("name", ["pti", "wikipriors", "cascade", "rerank"])
def test_a_manifest_of_another_making_is_one_sentence(cli, indexes, tmp_path, name):
    """Written as candgen writes, but with parameters that say something else."""
    stored = index_folder.load(indexes(name))
    output = tmp_path / "x.candgen"
    for parameters in ({}, {**stored.parameters, "tiers": [], "parts": [1], "tokenizer": 7}):
        index_folder.save(
            output, kind=stored.kind, parameters=parameters, arrays=stored.arrays, inputs={}
        )
        done = cli("query", output, "Vín")
        assert done.status == 2
        assert "build it again" in done.err
