"""``candgen build``: the index that it writes, and what it refuses."""

import shlex
import subprocess
import sys

import pytest

import candgen
from tests.support import toy
from tests.support.commands import environment, is_refusal, snapshot, toy_build


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
