"""``candgen build``: the index that it writes, and what it refuses."""

import json
import shlex
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import candgen
from tests.support import toy
from tests.support.commands import environment, is_refusal, snapshot, toy_build, write_table


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("empty.tsv", b"", "empty"),
        ("header.tsv", b"mention\tentity\n", "empty"),
        ("columns.tsv", b"name\tid\nA\tQ1\n", "mention"),
        ("row.tsv", b"mention\tentity\nA\tQ1\nB\n", "line 3"),
        ("count.tsv", b"mention\tentity\tcount\nA\tQ1\tmany\n", "many"),
        ("latin1.tsv", "mention\tentity\nVín\tQ1\n".encode("latin-1"), "UTF-8"),
        ("broken.parquet", b"PAR1", "Parquet"),
        ("broken.tsv.gz", b"mention\tentity\n", "gzip"),
        ("broken.jsonl", b"{", "line 1"),
        ("table.csv", b"mention,entity\nA,Q1\n", ".tsv"),
        ("dots.tsv", "mention\tentity\n\u200b\tQ1\n".encode(), "token"),
    ],
)
def test_a_wrong_file_keeps_the_index_that_was_there(cli, world, tmp_path, name, content, named):
    (tmp_path / name).write_bytes(content)
    output = tmp_path / "fo.candgen"
    toy_build(cli, world, output)
    before = snapshot(tmp_path)
    result = cli("build", "--pivot", f"xx={tmp_path / name}", "-o", output)
    assert result.status == 2
    assert result.out == ""
    assert named in result.err.splitlines()[-1]
    assert "Traceback" not in result.err
    assert snapshot(tmp_path) == before


LARGEST = 10**15


@pytest.mark.parametrize("count", [LARGEST + 1, 660_000_000_000_000_000, 2**63 - 1, 2**64])
@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".parquet"])
def test_a_count_that_is_too_large_is_refused(cli, world, tmp_path, suffix, count):
    table, row = tmp_path / f"xx{suffix}", f"line {3 if suffix == '.tsv' else 2}"
    if suffix == ".tsv":
        write_table(table, [("Rín", "Q1", 1), ("Vín", "Q2", count)])
    elif suffix == ".jsonl":
        rows = [{"mention": "Rín", "entity": "Q1"}, {"mention": "Vín", "entity": "Q2"}]
        rows[1]["count"] = count
        table.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")
    else:
        row, count = "row 2", min(count, 2**64 - 1)
        columns = {"mention": ["Rín", "Vín"], "entity": ["Q1", "Q2"]}
        columns["count"] = pa.array([1, count], pa.uint64())
        pq.write_table(pa.table(columns), table)
    before = snapshot(tmp_path)
    result = cli(
        "build", "--pivot", table, "--pivot", world / "is.tsv", "-o", tmp_path / "fo.candgen"
    )
    assert is_refusal(result)
    assert result.err == (
        f"candgen: {table} {row}: count is {count}, expected at most {LARGEST} "
        "(skip_bad_rows=True, or --skip-bad-rows, leaves such rows out)\n"
    )
    assert snapshot(tmp_path) == before
    assert not (tmp_path / "fo.candgen").exists()


@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        ("Vín", f"xx.tsv: the counts add up to {LARGEST + 1}, expected at most {LARGEST}: "),
        ("Vín" * 500, "the counts of 'xx', each times the tokens of its mention, add up to 6e+18"),
    ],
)
def test_totals_that_are_too_large_are_refused(cli, world, tmp_path, mention, expected):
    table = write_table(
        tmp_path / "xx.tsv",
        [(mention, "Q1", LARGEST - 1), ("Rín", "Q1", 1 if len(mention) > 3 else 2)],
    )
    result = cli(
        "build", "--pivot", table, "--pivot", world / "is.tsv", "-o", tmp_path / "fo.candgen"
    )
    assert is_refusal(result)
    assert expected in result.err
    assert not (tmp_path / "fo.candgen").exists()


@pytest.mark.parametrize("count", [160_000_000, LARGEST])
def test_a_large_count_beside_ordinary_ones(cli, world, tmp_path, count):
    table = write_table(tmp_path / "xx.tsv", [("Torshavn", "Q1", count)])
    index = tmp_path / "fo.candgen"
    result = cli("build", "--pivot", table, "--pivot", world / "is.tsv", "-o", index)
    assert result.status == 0
    answer = cli("query", index, "Torshavn", "--format", "jsonl").answers[0]
    assert answer["candidates"][0] == {"entity": "Q1", "score": pytest.approx(30.4)}
    explained = json.loads(cli("explain", index, "Torshavn", "Q1", "--format", "json").out)
    assert explained["sources"] == [{"mention": "Torshavn", "language": "xx", "count": count}]
    assert f"{count:,}" in cli("explain", index, "Torshavn", "Q1").out
    assert f"{count:,}" in cli("info", index).out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--alpha", "1e308"), "alpha of 'is' is 1e+308: expected at most 1e+30"),
        (("--alpha", "5e-324"), "alpha of 'is' is 5e-324: expected 0, or at least 1e-30"),
        (("--lam", "1e308"), "lam is 1e+308: expected at most 1e+30"),
        (("--lam", "1e-308"), "lam is 1e-308: expected 0, or at least 1e-30"),
        (("--threshold", "1.5"), "'--threshold': Input should be less than or equal to 1"),
        (("--threshold", "5e-324"), "threshold is 5e-324: expected 0, or at least 1e-30"),
    ],
)
def test_extreme_weights_are_refused(cli, world, tmp_path, options, expected):
    tables = ("--pivot", world / "is.tsv", "--target", world / "fo.tsv.gz")
    result = cli("build", *tables, *options, "-o", tmp_path / "fo.candgen")
    assert is_refusal(result)
    assert expected in result.err
    assert not (tmp_path / "fo.candgen").exists()


def test_build_writes_what_the_library_writes(cli, world, tmp_path):
    result = toy_build(cli, world, tmp_path / "fo.candgen", "--threads", "2")
    assert result.status == 0
    assert result.out == ""
    assert snapshot(tmp_path / "fo.candgen") == snapshot(world / "fo.candgen")
    summary, hint = result.err.splitlines()
    assert "3 entities, 10 tokens, 16 postings" in summary
    assert hint.startswith("try: candgen query ")
    assert shlex.split(hint)[4] in ("Vín", "Wien")


def test_the_command_that_build_recommends_works(cli, world, tmp_path):
    hint = toy_build(cli, world, tmp_path / "it's here.candgen").err.splitlines()[1]
    result = cli(*shlex.split(hint)[2:])
    assert result.status == 0
    assert result.answers[0]["candidates"]


def test_build_passes_every_option_on(cli, world, tmp_path):
    result = cli(
        "build",
        "--pivot",
        world / "is.tsv",
        "--pivot",
        f"da={world / 'fo.tsv.gz'}",
        "--alpha",
        "da=0.1",
        "--alpha",
        "0.3",
        "--lam",
        "0.7",
        "--threshold",
        "0.25",
        "--ngrams",
        "1-3",
        "--ngram-unit",
        "grapheme",
        "--normalizer",
        "paper",
        "--language",
        "tr",
        "--threads",
        "1",
        "-o",
        tmp_path / "x.candgen",
    )
    assert result.status == 0, result.err
    parameters = candgen.load(tmp_path / "x.candgen").parameters
    assert parameters["alpha"] == {"is": 0.3, "da": 0.1}
    assert (parameters["lam"], parameters["threshold"]) == (0.7, 0.25)
    assert parameters["tokenizer"] == {
        "kind": "char_ngrams",
        "low": 1,
        "high": 3,
        "unit": "grapheme",
        "wildcards": False,
    }
    assert (parameters["normalizer"], parameters["language"]) == ("paper", "tr")
    assert parameters["target"] is None


def test_the_language_is_the_targets(cli, world, tmp_path):
    cli("build", "--target", world / "fo.tsv.gz", "-o", tmp_path / "a")
    assert candgen.load(tmp_path / "a").language == "fo"
    cli("build", "--target", world / "fo.tsv.gz", "--language", "fo-FO", "-o", tmp_path / "b")
    assert candgen.load(tmp_path / "b").parameters["target"] == "fo-FO"
    cli("build", "--pivot", world / "is.tsv", "-o", tmp_path / "c")
    assert candgen.load(tmp_path / "c").language is None


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".jsonl", ".parquet"])
def test_every_kind_of_table(cli, tmp_path, suffix):
    table = candgen.MentionTable.from_pairs(toy.ICELANDIC)
    table.write(tmp_path / f"is{suffix}")
    assert cli("build", "--pivot", tmp_path / f"is{suffix}", "-o", tmp_path / "x").status == 0
    assert candgen.load(tmp_path / "x").inputs["is"]["sha256"] == table.digest


def test_bad_rows_are_skipped_and_reported(cli, tmp_path):
    path = tmp_path / "is.tsv"
    path.write_text("mention\tentity\nVín\tQ1741\nQ2\n\u200b\tQ3\n", encoding="utf-8")
    refused = cli("build", "--pivot", path, "-o", tmp_path / "x")
    assert is_refusal(refused)
    assert "--skip-bad-rows" in refused.err
    result = cli("build", "--pivot", path, "-o", tmp_path / "x", "--skip-bad-rows")
    assert result.status == 0
    rows, tokens, *_ = result.err.splitlines()
    assert rows.startswith("candgen: warning: ")
    assert "line 3" in rows
    assert tokens.startswith("candgen: warning: is: left out 1 without a token, of ")


def test_a_full_disk_keeps_the_index_that_was_there(world, tmp_path):
    """The limit on the size of a file stands for the disk; nothing can write past it."""
    output, other = tmp_path / "fo.candgen", tmp_path / "other.candgen"
    script = f"""
import resource, sys
from candgen.cli import main
tables = ["--pivot", "is={world / "is.tsv"}", "--target", {str(world / "fo.tsv.gz")!r}]
assert main(["build", *tables, "-o", {str(output)!r}]) == 0
sys.stderr.write("----\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
status = main(["build", *tables, "--lam", "3", "-o", {str(output)!r}])
assert main(["build", *tables, "-o", {str(other)!r}]) == status
sys.exit(status)
"""
    cli_build = [sys.executable, "-c", script]
    run = subprocess.run(cli_build, capture_output=True, env=environment(), timeout=300)
    assert run.returncode == 2, run.stderr.decode()
    errors = run.stderr.decode().split("----\n")[1].splitlines()
    assert len(errors) == 2
    assert all(error.startswith("candgen: ") for error in errors)
    assert "unchanged" in errors[0]
    assert not other.exists()
    assert candgen.load(output, verify=True).lam == 0.4
    assert not [p for p in output.iterdir() if p.suffix not in (".npy", ".json")]
