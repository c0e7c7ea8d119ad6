"""The files of docs/results: all linked, all readable, and what the named command writes."""

import csv
import re
import sys

import pytest

from tests.support.documents import DOCS, ROOT

RESULTS = DOCS / "results"
FILES = sorted(RESULTS.rglob("*.csv"))
PAGE = (DOCS / "results.md").read_text(encoding="utf-8")
LIST = (RESULTS / "README.md").read_text(encoding="utf-8")


def read(path):
    """Return the header and the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    return header, rows


def test_the_page_has_one_table_and_is_short():
    assert len(re.findall(r"^\|[:|-]+\|$", PAGE, re.MULTILINE)) == 1
    assert PAGE.count("\n") < 150


def test_the_list_names_every_file_and_no_other():
    linked = re.findall(r"\]\(([\w./-]+\.csv)\)", LIST)
    assert sorted(linked) == [path.relative_to(RESULTS).as_posix() for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_a_table(path):
    header, rows = read(path)
    assert len(set(header)) == len(header)
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    assert not re.search("[–−*]", path.read_text(encoding="utf-8")), "a mark of the Markdown form"


def test_the_main_table_is_that_of_its_file():
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    header, rows = read(RESULTS / "several-pivots" / "all-queries.csv")
    shown = [re.split(r" \| | / ", line.strip("| ")) for line in lines[2:]]
    assert [[cell.replace(",", "") for cell in row] for row in shown] == rows
    methods = lines[0].strip("| ").split(" | ")[3:]
    assert header[3:] == [f"{method} @{k}" for method in methods for k in (1, 10, 30)]


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Cells of two settings of one pair, as a run of benchmarks/recall.py keeps them."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install --group bench")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import recall_results
    from recall_methods import ROWS

    monkeypatch.setattr(recall_results, "FOLDER", tmp_path / "recall")
    queries = {"digest": "d", "unlike": [True, True, False], "settings": ["zero-shot", "joint"]}
    recall_results.write_json(recall_results.path_of("mk-bg", "all", "queries"), queries)
    for setting in ("zero-shot", "joint"):
        for number, method in enumerate(ROWS):
            seconds = {"tuning": 1.0, "building": 2.345, "query": 0.001}
            ranks = [1, number, 0] if method != "rerank" else [0, 0, 1]
            recall_results.Cell(
                "mk-bg", setting, method, "d", ranks, {"lam": 0.4}, ["bg"], seconds, 1_234_567, "s"
            ).write()
    return tmp_path


@pytest.mark.parametrize("folder", ["several-pivots", "new-languages"])
def test_the_command_writes_these_files(folder, measured, monkeypatch, capsys):
    import recall

    output = measured / "csv"
    monkeypatch.setattr(
        sys, "argv", ["recall.py", "--show", "--pair", "mk-bg", "--csv", f"{output}"]
    )
    recall.main()
    assert "**Recall@1 / @10 / @30, all queries**" in capsys.readouterr().out
    by_hand = {"failure-causes.csv"}
    made = {path.name for path in output.iterdir()}
    assert made == {path.name for path in (RESULTS / folder).iterdir()} - by_hand
    for name in made:
        header, rows = read(output / name)
        kept, _ = read(RESULTS / folder / name)
        assert [column for column in header if column in kept] == kept
        assert rows
    header, (zero_shot, _) = read(output / "without-exact-match.csv")
    found = dict(zip(header, zero_shot, strict=True))
    assert (found["queries"], found["WikiPriors @1"]) == ("2", "50.0")
    header, rows = read(output / "costs.csv")
    assert rows[0][:7] == ["mk-bg", "zero-shot", "WikiPriors", "1.0", "2.35", "1.0", "1.23"]


def test_texts_with_several_numbers_are_cut_into_columns(monkeypatch):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install --group bench")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from recall_csv import one_number_per_field

    from candgen.reporting.table import Table

    rows = (("a", "1.0 / 2.0 / 3.0", "-1.5–0.8", 12.345), ("b", None, "1.0–2.0", None))
    made = one_number_per_field(Table("", ("pair", "PTI", "95%", "x"), rows))
    assert made.to_csv() == (
        "pair,PTI @1,PTI @10,PTI @30,95% low,95% high,x\n"
        "a,1.0,2.0,3.0,-1.5,0.8,12.3\n"
        "b,,,,1.0,2.0,\n"
    )
    mixed = (("1.0–2.0",), ("none",))
    assert one_number_per_field(Table("", ("95%",), mixed)).columns == ("95%",)
