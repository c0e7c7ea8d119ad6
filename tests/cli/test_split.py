"""``candgen split``."""

import candgen
from candgen.evaluation.dataset import read_dataset
from tests.support.paper_world import TABLES


def test_split_writes_a_dataset_and_prints_what_was_achieved(cli, tables, tmp_path):
    done = cli("split", f"fo={tables / 'fo.tsv.gz'}", "-o", tmp_path / "d", "--per-type", 5)
    assert done.status == 0
    lines = [line.split() for line in done.out.splitlines() if line]
    assert lines[-2:] == [["dev", "5", "5", "5", "15"], ["test", "5", "5", "5", "15"]]
    assert f"of {len(TABLES['fo'])} pairs stay for training" in done.out
    made = read_dataset(tmp_path / "d")
    assert made.language == "fo"
    assert len(made.dev) == len(made.test) == 15


def test_split_is_that_of_the_library(cli, tables, tmp_path):
    arguments = ("--per-type", 4, "--seed", 3, "--normalizer", "default")
    assert cli("split", tables / "fo.tsv.gz", "-o", tmp_path / "d", *arguments).status == 0
    expected = candgen.split(TABLES["fo"], per_type=4, seed=3, normalizer="default", language="fo")
    made = read_dataset(tmp_path / "d")
    assert (made.train, made.dev, made.test) == (expected.train, expected.dev, expected.test)


def test_split_for_the_other_settings(cli, tables, tmp_path):
    done = cli("split", tables / "olo.tsv.gz", "--setting", "zero-shot", "-o", tmp_path / "olo")
    assert done.status == 0
    made = read_dataset(tmp_path / "olo")
    assert len(made.train) == 0
    assert len(made.dev) + len(made.test) == len(TABLES["olo"])
    done = cli("split", tables / "de.tsv.gz", "--setting", "high-resource", "-o", tmp_path / "de")
    assert done.status == 0
    assert done.out.splitlines()[-1].split()[3] == "–"


def test_split_in_the_released_layout(cli, tables, tmp_path):
    arguments = ("--layout", "released", "-o", tmp_path / "new" / "data", "--per-type", 5)
    assert cli("split", tables / "fo.tsv.gz", *arguments).status == 0
    folder = tmp_path / "new" / "data" / "fo"
    assert sorted(path.name for path in folder.iterdir()) == [
        "mentions_dev_type.txt",
        "mentions_tr.txt",
        "mentions_tt_type.txt",
    ]
    done = cli("tune", folder, "--pivot", tables / "is.tsv.gz")
    assert done.status == 0
    assert "best on dev" in done.out


def test_a_refused_split_leaves_nothing_behind(cli, tmp_path):
    table = candgen.MentionTable.from_pairs([(f"a_{n}", f"Q{n}") for n in range(40)])
    table.write(tmp_path / "fo.tsv")
    done = cli(
        "split", tmp_path / "fo.tsv", "--layout", "released", "-o", tmp_path / "new" / "data"
    )
    assert done.status == 2
    assert "underscore" in done.err
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    done = cli("split", tmp_path / "fo.tsv", "-o", tmp_path / "mine")
    assert done.status == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_table_without_pairs_is_named(cli, tmp_path):
    (tmp_path / "fo.tsv").write_text("mention\tentity\n", encoding="utf-8")
    done = cli("split", tmp_path / "fo.tsv", "-o", tmp_path / "d")
    assert done.status == 2
    assert "fo.tsv has no pairs" in done.err
    assert not (tmp_path / "d").exists()
