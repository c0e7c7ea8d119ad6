"""The paper's tables from one call: on toy data in both layouts, and on real names."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from candgen import split
from candgen.errors import ParameterError, StorageError
from candgen.paper import measurements
from candgen.paper.corpus import Corpus, open_folds, parse_pair
from candgen.paper.plan import NEEDS
from candgen.paper.published import EXHIBITS, PAIRS
from candgen.paper.reproduce import reproduce, resolve_names
from candgen.protocols import Method, Size, Training
from tests.support.paper_world import COMMAND, NEURAL, PTI, TABLES, TOY_PAIRS, guess, run, study


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
        "from tests.support.paper_world import PTI, guess\n"
        "from candgen.paper.complexity import run_job\n"
        "from candgen.protocols import Method, Size\n"
        "added = Method(build=guess, size=lambda made: Size(len(made.entities)),\n"
        "    options=frozenset({'epochs', 'mu'}))\n"
        "json.dump(run_job({'pti': PTI, 'guess': added}, json.load(sys.stdin)), sys.stdout)\n",
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


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
        f"from tests.support.paper_world import PTI, {name}\n"
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
