"""``candgen info``: indexes, tables and datasets."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import candgen
from candgen.storage import index_folder
from tests.support import toy
from tests.support.commands import environment, is_refusal, toy_build
from tests.support.paper_world import TABLES


def test_info_for_programs(cli, world, index):
    found = json.loads(cli("info", index, "--format", "json").out)
    assert found["kind"] == "pti"
    assert found["format_version"] == 4
    assert found["verified"] is False
    assert found["language"] == "fo"
    assert found["languages"]["is"] == {
        "role": "pivot",
        "alpha": 0.5,
        "pairs": 3,
        "occurrences": 6,
        "entities": 3,
        "sha256": candgen.MentionTable.read(world / "is.tsv").digest,
    }
    assert found["languages"]["fo"]["role"] == "target"
    assert found["languages"]["fo"]["alpha"] == 1.0
    assert (found["lam"], found["threshold"]) == (1.0, 0.0)
    assert found["tokenizer"]["high"] == 2
    assert (found["entities"], found["tokens"], found["postings"]) == (3, 10, 16)
    files = [path for path in index.iterdir() if path.suffix == ".npy"]
    assert found["bytes"] == sum(found["files"].values()) == sum(p.stat().st_size for p in files)
    searched = sum(n for name, n in found["files"].items() if not name.startswith("sources"))
    assert found["bytes_per_posting"] == searched / 16


def test_info_tells_what_the_threshold_dropped(cli, world, tmp_path):
    toy_build(cli, world, tmp_path / "x", "--threshold", "0.4")
    found = json.loads(cli("info", tmp_path / "x", "--format", "json").out)
    # Of the 16 postings of the toy world: priors under 0.4 are those of in (3) and of n$ (2).
    # Every posterior is under 0.4, so five postings go altogether.
    assert found["dropped"]["priors"] == {"number": 5, "share": 5 / 16}
    assert found["dropped"]["posteriors"] == {"number": 16, "share": 1.0}
    assert found["dropped"]["postings"] == {"number": 5, "share": 5 / 16}
    assert found["postings"] == 11
    rows = [line.split() for line in cli("info", tmp_path / "x").out.splitlines()]
    assert ["dropped", "priors", "5", "(31.2%)"] in rows


def test_info_for_people(cli, index):
    shown = cli("info", index).out
    rows = [line.split() for line in shown.splitlines()]
    assert ["postings", "16"] in rows
    assert ["is", "pivot", "0.5", "3", "6", "3"] in [row[:6] for row in rows]
    assert "unchanged since it was verified" in shown


def test_info_names_pivots_that_do_not_count(cli, world, tmp_path):
    tables = ("--pivot", world / "is.tsv", "--target", world / "fo.tsv.gz")
    cli("build", *tables, "--alpha", "0", "-o", tmp_path / "x")
    assert json.loads(cli("info", tmp_path / "x", "--format", "json").out)["without"] == ["is"]


def test_info_finds_damage(cli, world, tmp_path):
    toy_build(cli, world, tmp_path / "x")
    damaged = next((tmp_path / "x").glob("sums.*"))
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    result = cli("info", tmp_path / "x", "--verify")
    assert is_refusal(result)
    assert damaged.name in result.err


def test_info_verifies_what_is_new_or_on_demand(cli, index, tmp_path):
    assert "--verify reads it again" in cli("info", index).out
    assert json.loads(cli("info", index, "--verify", "--format", "json").out)["verified"] is True
    shutil.copytree(index, tmp_path / "copy")
    assert "sizes and checksums are right" in cli("info", tmp_path / "copy").out
    assert "unchanged since it was verified" in cli("info", tmp_path / "copy").out


def test_info_does_not_need_numba(index):
    script = f"""
import sys
from candgen.cli import main
assert main(["info", {str(index)!r}]) == 0
assert "numba" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment())
    assert run.returncode == 0, run.stderr.decode()


def test_info_of_a_kind_from_elsewhere(cli, tmp_path):

    index_folder.save(
        tmp_path / "x", kind="other", parameters={"depth": 3}, arrays={"numbers": np.zeros(3)}
    )
    found = json.loads(cli("info", tmp_path / "x", "--format", "json").out)
    assert (found["kind"], found["parameters"]) == ("other", {"depth": 3})
    assert "numbers" in cli("info", tmp_path / "x").out


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".jsonl", ".parquet"])
def test_info_of_a_table(cli, tmp_path, suffix):
    table = candgen.MentionTable.from_pairs([*toy.ICELANDIC, *toy.FAROESE])
    path = tmp_path / f"all{suffix}"
    table.write(path, metadata={"dump": "iswiki-20230501"})
    found = json.loads(cli("info", path, "--format", "json").out)
    assert (found["pairs"], found["mentions"], found["entities"]) == (4, 3, 3)
    assert found["occurrences"] == 8
    assert found["sha256"] == table.digest
    assert found["most_frequent"][0] == {"mention": "Vín", "entity": "Q1741", "count": 3}
    shown = cli("info", path).out
    assert ["Vín", "Q1741", "3"] in [line.split() for line in shown.splitlines()]
    if suffix == ".parquet":
        assert found["metadata"] == {"dump": "iswiki-20230501"}
        assert "iswiki-20230501" in shown


def test_info_of_an_index_with_the_name_of_a_table(cli, world, tmp_path):
    toy_build(cli, world, tmp_path / "fo.parquet")
    assert json.loads(cli("info", tmp_path / "fo.parquet", "--format", "json").out)["kind"] == "pti"


def test_info_describes_a_dataset(cli, dataset):
    done = cli("info", dataset, "--verify")
    assert done.status == 0
    assert "checksums are right" in done.out
    train, dev, test = (line.split() for line in done.out.splitlines()[-3:])
    assert dev == ["dev", "5", "5", "5"]
    assert test == ["test", "5", "5", "5"]
    described = json.loads(cli("info", dataset, "--format", "json").out)
    assert described["input"]["sha256"] == TABLES["fo"].digest
    counts = described["counts"]["train"]
    assert train == ["train", str(counts["pairs"]), str(counts["entities"])]
    (dataset / "test.tsv").write_text("mention\tentity\ttype\n", encoding="utf-8")
    assert cli("info", dataset).status == 0
    assert "has changed since it was written" in cli("info", dataset, "--verify").err
