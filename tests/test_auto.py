"""build_auto, ``candgen build --auto`` and ``candgen tune --pivot-tables``, on CLDR's names."""

import json
from dataclasses import replace

import numpy as np
import pytest

import candgen
from candgen import MentionTable
from candgen.auto import build, build_auto, choose_normalizer, choose_pivots, normalizer
from candgen.auto.pivots import explain_pivots
from candgen.auto.size_limit import index_size
from candgen.errors import ParameterError
from candgen.evaluation import metrics
from candgen.evaluation.dataset import read_dataset
from candgen.evaluation.held_back import held_back, thin_easy
from candgen.generators.calibration import Calibration
from candgen.generators.promise import Promise
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS
from candgen.integrations import cldr
from candgen.protocols import Training, rank_golds
from candgen.tables.queries import Query
from candgen.tables.table_folder import TableFolder


@pytest.fixture(scope="module")
def names():
    return {code: cldr.names(code) for code in ("fo", "is", "da", "en", "mk")}


@pytest.fixture(scope="module")
def made(names):
    others = {code: table for code, table in names.items() if code != "fo"}
    return build_auto(names["fo"], others, language="fo")


@pytest.fixture(scope="module")
def folder(names, tmp_path_factory):
    where = tmp_path_factory.mktemp("names")
    for code, table in names.items():
        table.write(where / f"{code}.tsv.gz")
    return where


def test_it_finds_names_and_says_why(made, names):
    first = made.generator.candidates(["Týskland"], k=1)[0][0]
    assert first.entity == "territory:DE"
    pivots, compared, chosen, *_, stages, promised, whole = made.reasons
    assert (
        pivots.startswith("Pivots, chosen from the 4 languages in the folder") and "da (+" in pivots
    )
    assert compared.startswith(f"Normalizer {_normalizer(made)}: recall@300")
    assert chosen.startswith(f"Weights, chosen on {made.tuning.queries} dev queries: alpha")
    hidden = sum(query.type != "easy" for query in made.report.queries)
    assert stages.startswith(f"On {len(made.report.queries)} test queries, recall@1, @10, @30 is ")
    assert f"on the {hidden} held-out names among them it is " in stages
    assert promised.startswith(f"On the {hidden} held-out test names, the mean probability of ")
    assert whole == f"The index is built from all {len(names['fo']):,} pairs of the target."


def _normalizer(made):
    return made.generator.first_stage.parameters["normalizer"]


def test_the_figures_are_those_of_queries_that_nothing_was_learned_from(made, names):
    parts = candgen.split(
        names["fo"], per_type=build.QUERIES_PER_TYPE, normalizer="default", language="fo"
    )
    assert list(made.report.queries) == parts.test
    first, both = (made.report.recall(name, k=1) for name in ("first stage", "both stages"))
    assert both > first
    known = {(mention, entity) for mention, entity, _ in parts.train}
    hidden = [query for query in parts.test if query.type != "easy"]
    assert hidden and not known & {(query.mention, query.entity) for query in hidden}


def test_the_index_has_all_pairs_and_the_weights_of_dev(made, names):
    index = made.generator.first_stage
    assert index.inputs["fo"]["pairs"] == len(names["fo"])
    assert made.generator.learned["queries"] > 0
    assert made.generator.weights != DEFAULT_WEIGHTS
    assert all(pivot.kept for pivot in made.tuning.pivots)  # coverage is not sold for postings
    assert set(index.parameters["languages"]) == {"fo", *made.ranking.chosen(), "en"}


def test_held_back_queries_decide_and_easy_ones_are_few(made, names):
    parts = candgen.split(
        names["fo"], per_type=build.QUERIES_PER_TYPE, normalizer="default", language="fo"
    )
    hidden = held_back(parts.dev)
    assert made.tuning.queries == len(thin_easy(parts.dev)) <= 1.5 * len(hidden)
    assert made.promise.kind == "held-back names"
    assert made.promise.queries == len(held_back(parts.test))
    assert made.calibration.queries == len(hidden) + made.promise.queries
    assert made.generator.calibration == made.calibration


def test_the_promise_is_the_recall_of_held_back_names(made):
    ranks = [
        answer.rank
        for query, answer in zip(
            made.report.queries, made.report.answers["both stages"], strict=True
        )
        if query.type != "easy"
    ]
    for k, promised in ((1, made.promise.recall_at_1), (10, made.promise.recall_at_10)):
        assert promised == metrics.recall(np.array(ranks), k)
    assert made.promise.mean_probability == pytest.approx(made.promise.right, abs=4.0)


def test_it_is_saved_and_loaded_like_every_generator(made, tmp_path):
    made.save(tmp_path / "fo.candgen")
    assert Calibration.load(tmp_path / "fo.candgen") == made.calibration
    assert Promise.load(tmp_path / "fo.candgen") == made.promise
    again = candgen.load(tmp_path / "fo.candgen")
    mentions = ["Føroyar", "Ísland", "Danmork", ""]
    assert again.candidates(mentions, k=5) == made.generator.candidates(mentions, k=5)


def test_its_probabilities_are_true_of_queries_that_nothing_was_learned_from(made, names):
    parts = candgen.split(
        names["fo"], per_type=build.QUERIES_PER_TYPE, normalizer="default", language="fo"
    )
    # The generator that is saved has learned from all pairs: the one that was tried has not.
    pivots = {each.pivot for each in made.tuning.pivots}
    dev, test = thin_easy(parts.dev), held_back(parts.test)
    training = Training({code: names[code] for code in pivots}, parts.train, "fo", dev=dev)
    tried = RERANK(training, {"normalizer": _normalizer(made), **made.tuning.best.parameters})
    chances, right = [], []
    answers = tried.candidates([query.mention for query in test], 30)
    for query, answer in zip(test, answers, strict=True):
        chances.append(made.calibration.probabilities(query.mention, answer)[0])
        right.append(answer[0].entity == query.entity)
    sure = np.array(chances) >= 0.9
    assert np.mean(np.array(right)[sure]) >= 0.9
    assert np.mean(chances) == pytest.approx(np.mean(right), abs=0.02)


def test_progress_numbers_the_steps(names):
    said = []
    others = {code: names[code] for code in ("is", "da")}
    build_auto(names["fo"], others, language="fo", progress=lambda *given: said.append(given))
    steps = list(dict.fromkeys(doing.partition(" (")[0] for doing, _ in said))
    assert steps == [
        f"step {number} of 6, {name}" for number, name in enumerate(build.STEPS, start=1)
    ]
    fractions = [fraction for _, fraction in said]
    assert fractions == sorted(fractions) and fractions[-1] < 1.0


def test_an_exhaustive_choice_is_no_better(made, names):
    others = {code: table for code, table in names.items() if code != "fo"}
    other = build_auto(names["fo"], others, language="fo", exhaustive=True)
    for k in (10, 30):
        recalls = [each.report.recall("both stages", k=k) for each in (made, other)]
        assert recalls[0] >= recalls[1] - 1.0
    assert other.generator.learned["queries"] > 0


def test_names_without_entities_are_enough(names):
    mentions = [mention for mention, _, _ in names["fo"]]
    found = build_auto(mentions[:300], {"is": names["is"], "da": names["da"]}, language="fo")
    assert found.ranking.estimated and found.report is None
    assert found.promise.kind == "stand-in is" and found.promise.is_estimate
    assert found.promise.queries >= 30 and found.calibration.queries >= 60
    assert "has no entities, so is, whose names are most similar, stood in" in found.reasons[1]
    assert "This is an estimate, not a measurement of fo." in found.reasons[1]
    assert found.generator.first_stage.parameters["alpha"]["is"] == 1.0
    assert max(found.generator.first_stage.parameters["alpha"].values()) == 1.0
    assert found.generator.candidates(["Týskland"], k=1)[0][0].entity == "territory:DE"


def test_a_target_that_is_too_small_is_used_but_not_tuned_on(names):
    few = MentionTable.from_pairs(list(names["fo"])[:20])
    found = build_auto(few, {"is": names["is"]}, language="fo")
    assert found.tuning is None and found.promise is None and found.calibration is None
    assert "is too small" in found.reasons[-1] and "nothing is tuned" in found.reasons[-1]
    assert found.generator.weights == DEFAULT_WEIGHTS
    assert found.generator.first_stage.parameters["lam"] == 0.1
    assert found.generator.first_stage.parameters["normalizer"] == "sound"
    two = build_auto(few, {"is": names["is"], "da": names["da"]}, language="fo")
    assert two.promise.is_estimate and "is too small" in two.reasons[1]
    assert set(two.generator.first_stage.parameters["languages"]) == {"fo", "is", "da"}
    assert found.generator.first_stage.inputs["fo"]["pairs"] == 20


@pytest.mark.parametrize("kind", ["labels", "names", "few"])
def test_sitelinks_are_used_whatever_it_learns_from(names, kind):
    rows = list(names["fo"])
    target = {
        "labels": names["fo"],
        "names": names["fo"].mentions[:300],
        "few": MentionTable.from_pairs(rows[:20]),
    }[kind]
    pivots = {code: names[code] for code in ("is", "da")[: 1 if kind == "few" else 2]}
    made = build_auto(target, pivots, language="fo", sitelinks={"territory:DE": 300})
    assert (made.promise is None) == (kind == "few")
    spellings = made.generator.stage.spellings
    linked = spellings.entities[int(spellings.sitelinks.argmax())]
    assert (linked, (spellings.sitelinks > 0).sum()) == ("territory:DE", 1)


def test_romanising_pays_where_scripts_differ(names):
    parts = candgen.split(names["mk"], per_type=100, normalizer="default", language="mk")
    training = Training({"en": names["en"], "da": names["da"]}, parts.train, "mk")
    chosen, why = choose_normalizer(training, parts.dev)
    assert chosen in ("latin", "sound")
    assert f"Normalizer {chosen}: recall@300 and MRR" in why


def test_the_simplest_normalizer_wins_where_nothing_is_gained():
    table = MentionTable.from_pairs([(f"name {n}", f"Q{n}") for n in range(20)])
    training = Training({"xx": table}, None, None)
    chosen, _ = choose_normalizer(training, [Query(f"name {n}", f"Q{n}") for n in range(20)])
    assert chosen == "default"


def test_english_is_tried_for_coverage(names):
    nothing_alike = MentionTable.from_pairs([("zzz", "Q1")])
    ranking, pivots = choose_pivots(
        names["fo"], {"da": names["da"], "en": nothing_alike}, language="fo"
    )
    assert ranking.chosen() == ["da"]
    assert list(pivots) == ["da", "en"]
    assert "en (for coverage)" in explain_pivots(ranking, pivots, 2, names["fo"])


def test_more_data_does_not_hurt(names):
    """On names that neither has, labels may lose a few by chance, but not significantly many."""
    rows = list(names["fo"])
    hidden = [Query(mention, entity) for mention, entity, _ in rows[::8]]
    known = MentionTable.from_pairs([row for at, row in enumerate(rows) if at % 8])
    others = {code: names[code] for code in ("is", "da", "en")}
    ranks = [
        rank_golds(build_auto(given, others, language="fo").generator, hidden, 10)
        for given in (known, known.mentions)
    ]
    for k in (1, 10):
        labels, alone = ((some > 0) & (some <= k) for some in ranks)
        gained, lost = int((labels & ~alone).sum()), int((alone & ~labels).sum())
        assert gained >= lost or metrics.mcnemar(gained, lost) > 0.05


def test_a_size_limit_drops_pivots_but_not_the_stand_in_and_says_so(names):
    others = {code: names[code] for code in ("is", "da", "mk")}
    mentions = names["fo"].mentions[::5]
    whole = build_auto(mentions, others, language="fo")
    limit = int(0.8 * index_size(whole.generator))
    small = build_auto(mentions, others, language="fo", max_size=limit)
    assert index_size(small.generator) <= limit
    left = set(small.generator.first_stage.parameters["languages"])
    assert small.promise.kind.removeprefix("stand-in ") in left < set(others)
    assert "cannot be found" in small.reasons[-1] and "left out: recall@300" in small.reasons[-1]


def test_a_size_limit_is_a_whole_number(names):
    with pytest.raises(ParameterError, match="max_size"):
        build_auto(names["fo"], {"is": names["is"]}, max_size=0)


def test_no_names_at_all():
    with pytest.raises(ParameterError, match="the target has no names"):
        build_auto([], {"is": MentionTable.from_pairs([("a", "Q1")])})


# The command line


def test_build_auto(cli, folder, tmp_path):
    output = tmp_path / "fo.candgen"
    done = cli(
        "build", "--auto", "--target", folder / "fo.tsv.gz", "--pivot-tables", folder, "-o", output
    )
    assert done.status == 0, done.err
    assert done.out == ""
    assert done.err.startswith("- Pivots, chosen from the 4 languages in the folder")
    assert f"try: candgen query {output}" in done.err
    answer = cli("query", output, "Týskland", "-k", 1).answers[0]
    assert answer["candidates"][0]["entity"] == "territory:DE"
    assert "place 1" in cli("explain", output, "Týskland", "territory:DE").out
    assert cli("info", output).status == 0


def test_build_auto_from_a_list_of_names(cli, folder, tmp_path):
    listed = tmp_path / "fo.txt"
    listed.write_text("Føroyar\nÍsland\nSvøríki\nNoreg\n", encoding="utf-8")
    output = tmp_path / "fo.candgen"
    done = cli("build", "--auto", "--target", listed, "--pivot-tables", folder, "-o", output)
    assert done.status == 0, done.err
    assert "has no entities" in done.err
    promised = json.loads(cli("info", output, "--format", "json").out)["promise"]
    assert promised["kind"].startswith("stand-in ")
    assert f"{promised['queries']:,} names: {promised['kind']}" in cli("info", output).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--auto"], "--auto needs --pivot-tables FOLDER"),
        (["--auto", "--pivot-tables", "."], "--auto needs --target"),
        (["--pivot-tables", "."], "--pivot-tables is for --auto"),
        (["--pivot", "x=x.tsv", "--max-size", "1MB"], "--max-size is for --auto"),
        (
            ["--auto", "--pivot-tables", ".", "--target", "fo=x.tsv", "--max-size", "big"],
            "--max-size 'big': expected a size, such as 1000000, 500MB or 4GiB",
        ),
        (["--auto", "--pivot-tables", ".", "--target", "fo=x.tsv", "--lam", "1"], "takes no --lam"),
        *(
            (
                ["--auto", "--pivot-tables", ".", "--target", "fo=x.tsv", "--method", name],
                "--method",
            )
            for name in ("cascade", "pti")
        ),
        (["--auto", "--pivot-tables", "no", "--target", "fo=x.tsv"], "x.tsv does not exist"),
    ],
)
def test_mistakes_cost_nothing(cli, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    done = cli("build", *arguments, "-o", tmp_path / "out")
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err and done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_tables(cli, folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    target = folder / "fo.tsv.gz"
    done = cli("build", "--auto", "--target", target, "--pivot-tables", empty, "-o", tmp_path / "o")
    assert done.status == 2 and "has no mention tables" in done.err
    assert not (tmp_path / "o").exists()


def test_tune_chooses_pivots_normalizer_weights_and_both_stages(cli, folder, tmp_path):
    dataset, output = tmp_path / "fo.dataset", tmp_path / "fo.candgen"
    assert cli("split", folder / "fo.tsv.gz", "--normalizer", "default", "-o", dataset).status == 0
    done = cli("tune", dataset, "--pivot-tables", folder, "-o", output, "--format", "json")
    assert done.status == 0, done.err
    assert "Pivots, chosen from the 4 languages" in done.err and "Normalizer " in done.err
    assert "Recall@1 on dev is " in done.err and " with the second stage and " in done.err
    calibration = Calibration.load(output)
    assert calibration.queries == len(held_back(read_dataset(dataset).dev))
    assert f"calibrated on {calibration.queries:,} dev queries" in done.err
    found = json.loads(done.out)
    kept = {pivot["pivot"] for pivot in found["pivots"] if pivot["kept"]}
    index = candgen.load(output)
    assert isinstance(index, candgen.Rerank)
    assert set(index.first_stage.parameters["languages"]) == {"fo", *kept}
    alone = cli("tune", dataset, "--pivot-tables", folder, "--zero-shot", "--format", "json")
    assert alone.status == 0 and "Estimated from " in alone.err


def test_tune_takes_pivots_or_a_folder(cli, folder, tmp_path):
    pivot = folder / "is.tsv.gz"
    done = cli("tune", tmp_path, "--pivot", pivot, "--pivot-tables", folder)
    assert done.status == 2 and "give the pivots, or the folder to choose them from" in done.err


def test_a_copy_of_the_target_is_no_pivot(names):
    others = {"xx": names["fo"], "is": names["is"], "da": names["da"]}
    found = build_auto(names["fo"], others, language="fo")
    assert "xx" not in [row.language for row in found.ranking.rows]
    few = MentionTable.from_pairs(list(names["fo"])[:20])
    alone = build_auto(few, {"en": few, "is": names["is"]}, language="fo")
    assert alone.generator.first_stage.parameters["languages"] == ["fo", "is"]


def test_a_folder_of_extract_wikidata_has_a_table_that_is_no_language(folder, tmp_path):
    for name in ("is", "da"):
        (tmp_path / f"{name}.tsv.gz").write_bytes((folder / f"{name}.tsv.gz").read_bytes())
    (tmp_path / "entities.parquet").write_bytes(b"of another kind")
    assert list(TableFolder(tmp_path)) == ["da", "is"]


def test_a_normalizer_must_pay(names, monkeypatch):
    parts = candgen.split(names["mk"], per_type=100, normalizer="default", language="mk")
    training = Training({"en": names["en"], "da": names["da"]}, parts.train, "mk")
    monkeypatch.setattr(normalizer, "MIN_NORMALIZER_GAIN", 1000.0)
    assert choose_normalizer(training, parts.dev)[0] == "default"


def test_the_order_tells_where_as_much_is_found(monkeypatch):
    """Three normalizers find all four; the second has half of them first, all others second."""
    ranks = [np.array(some) for some in ([2, 2, 2, 2], [1, 1, 2, 2], [1, 1, 2, 2])]
    monkeypatch.setattr(normalizer, "RERANK", replace(RERANK, ranks=lambda *_: ranks))
    chosen, why = choose_normalizer(Training({}, None, "fo"), [Query("a", "Q1")] * 4)
    assert chosen == "latin"
    assert "100.0 and 0.500 with default, 100.0 and 0.750 with latin" in why


@pytest.mark.parametrize("depth", ["x", "1.5", "0", "true"])
def test_a_depth_that_is_none(cli, folder, tmp_path, depth):
    dataset = tmp_path / "fo.dataset"
    cli("split", folder / "fo.tsv.gz", "--normalizer", "default", "-o", dataset)
    pivot = ("--pivot", folder / "is.tsv.gz", "--set", f"depth={depth}")
    for command in (("tune", dataset), ("build", "--method", "rerank", "-o", tmp_path / "out")):
        done = cli(*command, *pivot)
        assert done.status == 2 and "expected a whole number of at least 1" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--grid", "depth=1,200"], "use --set depth=N"),
        (["--set", "normalizer=latin", "--normalizer", "sound"], "are the same: drop one"),
    ],
)
def test_what_tune_cannot_choose(cli, folder, tmp_path, arguments, sentence):
    done = cli("tune", tmp_path, "--pivot", folder / "is.tsv.gz", *arguments)
    assert done.status == 2 and sentence in done.err


def test_tune_with_a_threshold_tries_the_grid(cli, folder, tmp_path):
    dataset = tmp_path / "fo.dataset"
    cli("split", folder / "fo.tsv.gz", "--normalizer", "default", "-o", dataset)
    pivots = [f"--pivot={folder / name}.tsv.gz" for name in ("is", "da")]
    arguments = ("--set", "threshold=0.01", "--normalizer", "latin", "--format", "json")
    done = cli("tune", dataset, *pivots, *arguments)
    assert done.status == 0, done.err
    assert len(json.loads(done.out)["trials"]) == 15


def test_the_recall_of_sound_is_that_of_the_index(cli, folder, tmp_path):
    dataset, output = tmp_path / "fo.dataset", tmp_path / "fo.candgen"
    cli("split", folder / "fo.tsv.gz", "--normalizer", "default", "-o", dataset)
    pivots = [f"--pivot={folder / name}.tsv.gz" for name in ("is", "da")]
    done = cli("tune", dataset, *pivots, "--normalizer", "sound", "-o", output, "--format", "json")
    assert done.status == 0, done.err
    dev = thin_easy(read_dataset(dataset).dev)
    ranks = rank_golds(candgen.load(output).first_stage, dev, 30)
    assert json.loads(done.out)["best"]["recall"] == metrics.recall(ranks, 30)
