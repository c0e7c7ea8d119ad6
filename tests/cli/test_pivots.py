"""``candgen pivots``, and the distances that an optional package gives."""

import csv
import io
import json
import re
import sys
from importlib.metadata import PackageNotFoundError, distributions

import pytest

from candgen import MentionTable
from candgen.errors import MissingExtraError
from candgen.integrations import uriel
from tests.evaluation.test_pivot_ranking import DANISH, ENGLISH, FAROESE, ICELANDIC

needs_uriel = pytest.mark.skipif(
    "lang2vec" not in {each.name for each in distributions()},
    reason="lang2vec is not installed: candgen[uriel]",
)


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "names"
    folder.mkdir()
    ICELANDIC.write(folder / "is.parquet")
    DANISH.write(folder / "da.tsv.gz")
    ENGLISH.write(folder / "en.jsonl")
    FAROESE.write(folder / "fo.tsv")
    return folder


@pytest.fixture
def pivots(cli, tables):
    def run(*more, target=f"fo={tables / 'fo.tsv'}"):
        return cli("pivots", "--target", target, "--pivot-tables", tables, *more)

    return run


def test_a_table_for_a_person(pivots):
    done = pivots()
    assert done.status == 0, done.err
    assert "Pivots for fo, by ceiling" in done.out
    (header, *rows) = [line.split() for line in done.out.splitlines() if line.strip()][1:]
    assert header[:5] == ["order", "language", "ceiling", "similarity", "gain"]
    assert rows[1][:3] == ["1", "en", "75.00"]
    assert [row[1] for row in rows[1:4]] == ["en", "da", "is"]
    assert "Of 4 pairs" in done.out
    assert done.err == ""


def test_for_a_program(pivots):
    made = json.loads(pivots("--objective", "closeness", "--format", "json").out)
    assert (made["language"], made["by"], made["estimated"]) == ("fo", "closeness", False)
    assert [row["order"] for row in made["pivots"]] == [1, 2, None]
    assert [row["language"] for row in made["pivots"]] == ["da", "is", "en"]
    rows = list(csv.DictReader(io.StringIO(pivots("--max-pivots", 1, "--format", "csv").out)))
    assert [row["order"] for row in rows] == ["1", "", ""]
    assert float(rows[0]["gain"]) == 75.0


def test_the_minimum_gain(pivots):
    made = json.loads(pivots("--objective", "closeness", "--min-gain", 30, "--format", "json").out)
    assert [row["order"] for row in made["pivots"]] == [1, None, None]


def test_names_alone_give_estimates(pivots, tmp_path):
    (tmp_path / "names.txt").write_text("Wien\nOslo\n", encoding="utf-8")
    done = pivots("--format", "json", target=f"fo={tmp_path / 'names.txt'}")
    assert done.status == 0
    assert "names.txt has names without entities: all figures are estimates" in done.err
    made = json.loads(done.out)
    assert made["estimated"]
    assert made["size"] == 2
    assert made["pivots"][0]["language"] == "da"
    assert "estimated" in pivots(target=f"fo={tmp_path / 'names.txt'}").out


def test_the_language_is_the_stem_of_the_file(pivots, tables):
    made = json.loads(pivots("--format", "json", target=str(tables / "fo.tsv")).out)
    assert made["language"] == "fo"
    assert len(made["pivots"]) == 3


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_plot(pivots, tmp_path, suffix):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: candgen[plots]")
    path = tmp_path / f"pivots{suffix}"
    done = pivots("--objective", "closeness", "--plot", path)
    assert done.status == 0, done.err
    assert path.read_bytes().startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--plot", "pivots.pdf"), "expected a name that ends in .svg or .png"),
        (("--plot", "nowhere/pivots.svg"), "nowhere is not a folder: make it first"),
        (("--pivot-tables", "nowhere"), "nowhere is not a folder: name the folder"),
        (("--objective", "size"), "'size' is not one of"),
    ],
)
def test_mistakes(pivots, more, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = pivots(*more)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.glob("*.pdf"))


def test_folders_without_candidates_and_bad_tables(cli, pivots, tables, tmp_path):
    (tmp_path / "empty").mkdir()
    done = cli("pivots", "--target", tables / "fo.tsv", "--pivot-tables", tmp_path / "empty")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "empty has no mention tables: expected files such as" in done.err
    FAROESE.write(tmp_path / "empty" / "fo.tsv")
    done = cli("pivots", "--target", tables / "fo.tsv", "--pivot-tables", tmp_path / "empty")
    assert "has no mention tables but that of fo" in done.err
    (tables / "xx.tsv").write_text("mention\tentity\nOslo\n", encoding="utf-8")
    done = pivots()
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert re.search(r"xx\.tsv line 2: expected 2 columns, found 1", done.err)
    assert pivots("--skip-bad-rows").status == 0


def test_a_plot_without_matplotlib(pivots, monkeypatch, tmp_path):
    module = sys.modules["candgen.cli.pivots"]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    done = pivots("--plot", tmp_path / "pivots.svg")
    assert done.status == 2
    assert "pip install 'candgen[plots]'" in done.err


def test_without_uriel_there_is_no_distance(pivots, monkeypatch):
    def distribution(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(uriel, "distribution", distribution)
    done = pivots()
    assert done.status == 0
    assert "distance" not in done.out
    with pytest.raises(MissingExtraError, match=r"candgen\[uriel\]"):
        uriel.distances("fo", ["is"])


@needs_uriel
def test_distances(pivots):
    found = uriel.distances("fo", ["is", "no", "nn", "da", "de", "en", "fi", "bar", "xx"])
    assert found["is"] == 0
    assert found["no"] == found["nn"] < found["da"] < found["de"] < found["en"] < found["fi"] == 1
    assert "bar" in found
    assert "xx" not in found
    assert uriel.distances("xx", ["is"]) == uriel.distances("fo", []) == {}
    assert "distance" in pivots().out


@needs_uriel
def test_every_language_of_the_names_has_a_family(shared_data):
    codes = [path.name.split(".")[0] for path in (shared_data / "names").glob("*.tsv.gz")]
    assert sorted(uriel.distances("fo", codes)) == sorted(codes)


def test_the_target_of_another_code_than_its_file(pivots, tables):
    """Only the code that was said is left out, and what is equal to the target."""
    MentionTable.from_pairs([("Wien", "Q1741")]).write(tables / "xx.tsv")
    made = json.loads(pivots("--format", "json", target=f"xx={tables / 'fo.tsv'}").out)
    assert {row["language"] for row in made["pivots"]} == {"is", "da", "en"}
