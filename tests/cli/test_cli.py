"""The command line: what it prints, what it refuses, and what it leaves behind."""

import contextlib
import doctest
import gzip
import inspect
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import candgen
from candgen.cli.info import TABLE_SUFFIXES
from candgen.cli.options import (
    ALPHA,
    LAM,
    NGRAMS,
    Normalizer,
    Unit,
    parse_alphas,
    parse_ngrams,
    parse_settings,
    parse_table,
)
from candgen.cli.query import json_line, tsv_rows
from candgen.errors import ParameterError
from candgen.text.normalize import NORMALIZERS
from tests.support import toy

SOURCE = Path(__file__).resolve().parents[2] / "src"


def command(*arguments):
    return [sys.executable, "-m", "candgen", *map(str, arguments)]


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(SOURCE), "COLUMNS": "120", **more}


def process(*arguments, **options):
    """Runs a command in a process of its own."""
    return subprocess.run(
        command(*arguments), capture_output=True, env=environment(), timeout=300, **options
    )


def popen(*arguments):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command(*arguments), env=environment(), **pipes)


def write_table(path, rows):
    text = "".join(
        "\t".join(map(str, row)) + "\n" for row in [("mention", "entity", "count"), *rows]
    )
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def snapshot(folder):
    """Every file under a folder, with its bytes."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def is_refusal(result):
    """One sentence on stderr, nothing on stdout, status 2."""
    lines = result.err.splitlines()
    return (
        result.status == 2
        and not result.out
        and len(lines) == 1
        and lines[0].startswith("candgen: ")
        and "Traceback" not in result.err
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The toy world as files, and its index."""
    folder = tmp_path_factory.mktemp("world")
    write_table(folder / "is.tsv", toy.ICELANDIC)
    write_table(folder / "fo.tsv.gz", toy.FAROESE)
    (folder / "latin1.tsv").write_bytes("mention\tentity\nVín\tQ1\n".encode("latin-1"))
    index = candgen.PivotTokenIndex.build(
        pivots={"is": candgen.MentionTable.from_pairs(toy.ICELANDIC)},
        target=candgen.MentionTable.from_pairs(toy.FAROESE),
        language="fo",
        alpha=toy.ALPHA,
        lam=1.0,
        tokenizer=candgen.CharNgrams(*toy.NGRAMS),
    )
    index.save(folder / "fo.candgen")
    return folder


@pytest.fixture
def index(world):
    return world / "fo.candgen"


TOY_OPTIONS = ("--alpha", "0.5", "--lam", "1", "--ngrams", "2")


def toy_build(cli, world, output, *more):
    tables = ("--pivot", f"is={world / 'is.tsv'}", "--target", world / "fo.tsv.gz")
    return cli("build", *tables, *TOY_OPTIONS, "-o", output, *more)


# ---------------------------------------------------------------- help and mistakes


def test_help_is_quick_and_has_examples():
    names = ["demo", "build", "query", "explain", "info"]
    script = f"""
import sys
from candgen.cli import main
for name in {names}:
    assert main([name, "--help"]) == 0
assert main(["--help"]) == 0 and main(["--version"]) == 0
heavy = {{"numba", "numpy", "pyarrow", "regex", "babel", "torch"}} & set(sys.modules)
assert not heavy, heavy
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment())
    assert run.returncode == 0, run.stderr.decode()
    shown = run.stdout.decode()
    for name in names:
        assert f"\n    candgen {name}" in shown or f"\n  candgen {name}" in shown
        assert f"\n  {name} " in shown.split("Commands:")[1]


def test_version(cli):
    result = cli("--version")
    assert result.status == 0
    assert result.out.startswith("candgen 0")


def test_without_arguments_there_is_help_but_no_success(cli):
    result = cli()
    assert result.status == 2
    assert "Commands:" in result.out


def test_module_and_status_of_a_mistake():
    run = process("query", "nowhere.candgen", "Vín")
    assert run.returncode == 2
    assert run.stdout == b""
    assert run.stderr == b"candgen: nowhere.candgen does not exist: build it first\n"


NEURAL = "build --method charagram --pivot {world}/is.tsv "


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("bild", "bild"),
        ("query", "INDEX"),
        ("query {index} Vín -k 0", "-k"),
        ("query {index} Vín -k x", "-k"),
        ("query {index} Vín --lam -1", "--lam"),
        ("query {index} Vín --lam inf", "lam"),
        ("query {index} Vín --format xml", "xml"),
        ("query {index} Vín --scores big", "big"),
        ("query {index} Vín --colour", "--colour"),
        ("query {world} Vín", "manifest.json"),
        ("query {world}/is.tsv Vín", "is a file"),
        ("explain {index} Vín", "ENTITY"),
        ("explain {index} Vín Q0", "Q0"),
        ("explain {world}/nowhere Vín Q282", "nowhere"),
        ("info", "INDEX"),
        ("info {world}/nowhere.candgen", "build it first"),
        ("info {world}/nowhere.tsv.gz", "check the name"),
        ("info {world}", "manifest.json"),
        ("build", "-o"),
        ("build -o {world}/x", "--pivot"),
        ("build --pivot {world}/is.tsv", "-o"),
        ("build --pivot {world}/nowhere.tsv -o {world}/x", "nowhere.tsv"),
        ("build --pivot {world}/fo.candgen -o {world}/x", "fo.candgen"),
        ("build --pivot is= -o {world}/x", "'is='"),
        ("build --pivot =is.tsv -o {world}/x", "'=is.tsv'"),
        ("build --pivot {world}/is.tsv --pivot is={world}/fo.tsv.gz -o {world}/x", "'is'"),
        ("build --pivot {world}/is.tsv --target is={world}/fo.tsv.gz -o {world}/x", "'is'"),
        ("build --target fo={world}/fo.tsv.gz --language da -o {world}/x", "'da'"),
        ("build --pivot {world}/is.tsv --alpha da=1 -o {world}/x", "'da'"),
        ("build --target {world}/is.tsv --alpha da=1 -o {world}/x", "'da'"),
        ("build --pivot {world}/is.tsv --alpha 1 --alpha 2 -o {world}/x", "twice"),
        ("build --pivot {world}/is.tsv --alpha is=1 --alpha is=2 -o {world}/x", "twice"),
        ("build --pivot {world}/is.tsv --alpha is=much -o {world}/x", "much"),
        ("build --pivot {world}/is.tsv --alpha -1 -o {world}/x", "-1"),
        ("build --pivot {world}/is.tsv --alpha nan -o {world}/x", "nan"),
        ("build --pivot {world}/is.tsv --alpha 0 -o {world}/x", "alpha 0"),
        ("build --pivot {world}/is.tsv --lam -1 -o {world}/x", "--lam"),
        ("build --pivot {world}/is.tsv --threshold 2 -o {world}/x", "--threshold"),
        ("build --pivot {world}/is.tsv --threads 0 -o {world}/x", "--threads"),
        ("build --pivot {world}/is.tsv --ngrams 5-2 -o {world}/x", "5-2"),
        ("build --pivot {world}/is.tsv --ngrams two -o {world}/x", "two"),
        ("build --pivot {world}/is.tsv --normalizer nfc -o {world}/x", "nfc"),
        ("build --pivot {world}/is.tsv --unit byte -o {world}/x", "byte"),
        ("build --pivot {world}/is.tsv --method best -o {world}/x", "'best'"),
        ("build --pivot {world}/is.tsv --set epochs -o {world}/x", "NAME=VALUE"),
        ("build --pivot {world}/is.tsv --set depth=3 -o {world}/x", "--set depth"),
        ("build --pivot {world}/is.tsv --set lam=1 --lam 2 -o {world}/x", "--lam and --set lam"),
        (NEURAL + "--english {world}/no.tsv -o {world}/x", "no.tsv"),
        ("build --pivot {world}/is.tsv --english en= -o {world}/x", "--english"),
        (NEURAL + "--english {world}/is.tsv --dev {world}/no.tsv -o {world}/x", "no.tsv"),
        (NEURAL + "--english {world}/is.tsv --dev {world}/latin1.tsv -o {world}/x", "UTF-8"),
        # What is wrong with -o is said before the tables are read.
        ("build --pivot {world}/nowhere.tsv -o {world}/no/where", "no/where"),
        ("build --pivot {world}/nowhere.tsv -o {world}/is.tsv/x", "is.tsv/x"),
        ("build --pivot {world}/nowhere.tsv -o {world}/is.tsv", "is a file"),
        ("build --pivot {world}/nowhere.tsv -o {world}", "not a candgen index"),
    ],
)
def test_a_mistake_is_one_sentence(cli, world, index, line, named):
    before = snapshot(world)
    result = cli(*line.format(world=world, index=index).split())
    assert is_refusal(result), (result.status, result.out, result.err)
    assert named in result.err
    assert snapshot(world) == before
    assert not (world / "x").exists()


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


def test_what_comes_before_the_equals_sign():
    assert parse_table("--pivot", "is=is.parquet") == ("is", Path("is.parquet"), True)
    assert parse_table("--pivot", "is=a=b.tsv") == ("is", Path("a=b.tsv"), True)
    assert parse_table("--pivot", "zh-min-nan=x.tsv").language == "zh-min-nan"
    assert parse_table("--pivot", "names/is.tsv.gz") == ("is", Path("names/is.tsv.gz"), False)
    assert parse_table("--pivot", "is.parquet/") == ("is", Path("is.parquet"), False)
    assert parse_table("--pivot", "./a=b.tsv") == ("a=b", Path("a=b.tsv"), False)
    assert parse_table("--pivot", "a.b=c.tsv") == ("a", Path("a.b=c.tsv"), False)
    assert parse_table("--pivot", "lang=is/table.tsv") == ("lang", Path("is/table.tsv"), True)
    with pytest.raises(ParameterError, match="has no name: expected"):
        parse_table("--pivot", "names/.tsv")


def test_alphas_are_for_one_pivot_or_for_the_others():
    assert parse_alphas([], ["is", "da"]) == {"is": 0.4, "da": 0.4}
    assert parse_alphas(["0.2"], ["is", "da"]) == {"is": 0.2, "da": 0.2}
    assert parse_alphas(["da=0", "0.2"], ["is", "da"]) == {"is": 0.2, "da": 0.0}
    assert parse_alphas(["da=1e-3"], ["is", "da"]) == {"is": 0.4, "da": 0.001}
    assert parse_alphas(["1"], []) == {}


def test_settings_are_json_values():
    texts = ["a=true", "b=false", "c=20", "d=-3", "e=0.5", "f=1e-3", "g=.5", "h=x=y", "i=True"]
    assert parse_settings(texts) == {
        "a": True,
        "b": False,
        "c": 20,
        "d": -3,
        "e": 0.5,
        "f": 0.001,
        "g": 0.5,
        "h": "x=y",
        "i": "True",
    }
    types = [type(value) for value in parse_settings(texts).values()]
    assert types == [bool, bool, int, int, float, float, float, str, str]
    assert parse_settings(["s=fo,is", "t=fo,", "n=1,2.5"]) == {
        "s": ["fo", "is"],
        "t": ["fo"],
        "n": [1, 2.5],
    }
    odd = {"a": "nan", "b": "inf", "c": "1e999", "d": "1_000", "e": "٣", "f": "1.2.3"}
    assert parse_settings([f"{name}={text}" for name, text in odd.items()]) == odd
    for wrong in (["epochs"], ["=20"], ["epochs="], ["a=1", "a=2"]):
        with pytest.raises(ParameterError, match="--set"):
            parse_settings(wrong)


def test_what_is_written_twice_says_the_same():
    from candgen.generators.pivot import pivot_token_index
    from candgen.tables.file_formats import TEXT_SUFFIXES

    options = inspect.signature(pivot_token_index.PivotTokenIndex.build).parameters
    assert tuple(Normalizer) == NORMALIZERS
    assert {*TABLE_SUFFIXES} == {*TEXT_SUFFIXES, ".parquet"}
    assert (options["alpha"].default, options["lam"].default) == (ALPHA, LAM)
    assert options["normalizer"].default == Normalizer.DEFAULT
    assert parse_ngrams(NGRAMS, Unit.CODEPOINT) == candgen.CharNgrams()


@pytest.mark.parametrize("module", ["humanize", "options", "output", "query", "stdin"])
def test_examples(module):
    assert doctest.testmod(sys.modules[f"candgen.cli.{module}"]).failed == 0


# ---------------------------------------------------------------- build


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
        "--unit",
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


# ---------------------------------------------------------------- query


@pytest.mark.parametrize("options", [[], ["--lam", "0"], ["--scores", "share"], ["-k", "1"]])
def test_answers_are_those_of_the_library(cli, index, options):
    mentions = ["Vín", "Vínið", "", "Oslo", 'a "quoted" \\ mention', "पुणे 😀", "Rín"]
    named = dict(zip(options[::2], options[1::2], strict=True))
    expected = candgen.load(index).candidates(
        mentions,
        k=int(named.get("-k", 30)),
        lam=float(named["--lam"]) if "--lam" in named else None,
        scores=named.get("--scores", "raw"),
    )
    rows = [
        (mention, rank, candidate.entity, np.float32(candidate.score))
        for mention, candidates in zip(mentions, expected, strict=True)
        for rank, candidate in enumerate(candidates, start=1)
    ]
    assert rows
    stdin = "\n".join(mentions).encode()
    for result in (
        cli("query", index, *mentions, *options),
        cli("query", index, *options, stdin=stdin),
    ):
        assert result.status == 0
        assert result.err == ""
        assert [answer["mention"] for answer in result.answers] == mentions
        assert [
            (answer["mention"], rank, found["entity"], np.float32(found["score"]))
            for answer in result.answers
            for rank, found in enumerate(answer["candidates"], start=1)
        ] == rows
    tsv = cli("query", index, "-", *options, "--format", "tsv", stdin=stdin).out
    header, *lines = [line.split("\t") for line in tsv.splitlines()]
    assert header == ["mention", "rank", "entity", "score"]
    assert [(m, int(r), e, np.float32(s)) for m, r, e, s in lines] == rows


def test_the_toy_world_by_hand(cli, index):
    for (mention, lam), expected in toy.CANDIDATES.items():
        (answer,) = cli("query", index, mention, "--lam", lam).answers
        found = [(c["entity"], c["score"]) for c in answer["candidates"]]
        assert [entity for entity, _ in found] == [entity for entity, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected])


def test_scores_are_as_short_as_32_bits_allow():
    scores = [float(np.float32(score)) for score in (2.675, 1 / 3, 1e-9, 1.0, 12345678.9)]
    line = json_line("m", [candgen.Candidate("Q1", score) for score in scores])
    assert '"score": 2.675}' in line
    found = [c["score"] for c in json.loads(line)["candidates"]]
    assert [float(np.float32(score)) for score in found] == scores


def test_text_is_not_escaped(cli, index):
    assert '"mention": "Tórshavn भ 😀"' in cli("query", index, "Tórshavn भ 😀").out


@pytest.mark.parametrize(
    ("stdin", "mentions"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"V", ["V"]),
        (b"V\n\nR\n", ["V", "", "R"]),
        (b"V\r\nR\r\n", ["V", "R"]),
        (b"V \r\n R", ["V ", " R"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfV\n\xef\xbb\xbfR\n", ["V", "\ufeffR"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        ("a\u2028b\x85c\x0cd\n".encode(), ["a\u2028b\x85c\x0cd"]),
    ],
)
def test_lines_of_stdin(cli, index, stdin, mentions):
    result = cli("query", index, stdin=stdin)
    assert result.status == 0
    assert [answer["mention"] for answer in result.answers] == mentions


def test_lines_longer_than_what_is_read_at_once(cli, index):
    mentions = ["x" * 200_000, "Vín", "é" * 100_001, ""] * 3
    result = cli("query", index, stdin="\n".join(mentions).encode() + b"\n")
    assert [answer["mention"] for answer in result.answers] == mentions


def test_a_mark_and_a_letter_that_come_byte_by_byte(index):
    with popen("query", index) as run:
        for byte in "\ufeffVín\n".encode():
            run.stdin.write(bytes([byte]))
            run.stdin.flush()
            time.sleep(0.01)
        out, err = run.communicate(timeout=120)
    assert json.loads(out)["mention"] == "Vín"
    assert err == b""


def test_bytes_that_are_not_utf8(cli, index):
    result = cli("query", index, stdin=b"V\xc3\xadn\n\nR\xedn\nWien\n")
    assert result.status == 2
    assert [answer["mention"] for answer in result.answers] == ["Vín", ""]
    assert result.err.startswith("candgen: line 3 of standard input is not UTF-8")
    later = b"Wien\n" * 50_000 + b"\xff"
    result = cli("query", index, "-k", "1", stdin=later)
    assert len(result.answers) == 50_000
    assert "line 50001 " in result.err


def test_an_argument_that_is_not_utf8(index):
    run = process("query", index, os.fsdecode(b"V\xff"))
    assert run.returncode == 2
    assert run.stderr == b"candgen: the mention 'V\\udcff' is not UTF-8: convert it\n"


def test_tsv_cannot_hold_a_tab(cli, index):
    result = cli("query", index, "--format", "tsv", stdin="Vín\na\tb\n".encode())
    assert result.status == 2
    assert "--format jsonl" in result.err
    with pytest.raises(ParameterError, match="line break"):
        tsv_rows("a\nb", [])
    assert cli("query", index, stdin=b"a\tb\n").answers[0]["mention"] == "a\tb"


def test_a_table_for_a_person(cli, index):
    shown = cli(
        "query", index, "Vín", "[bold]Vín\x1b[31m", "Qqq", "--format", "table", "-k", "2"
    ).out
    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[0] == "Vín"
    assert lines[1].split() == ["rank", "entity", "score", "also", "known", "as"]
    assert lines[2].split(maxsplit=3) == ["1", "Q282", "2.675", "Vín (fo, is)"]
    assert lines[3].split(maxsplit=3) == ["2", "Q1741", "2.511", "Vín (is), Wien (fo)"]
    assert "[bold]Vín\ufffd[31m" in lines
    assert "'Qqq': no candidates" in lines
    assert "\x1b" not in shown


def test_on_a_terminal_the_answer_is_a_table(index):
    shown, _, status = on_terminal("query", index, "Vín", "-k", "1", out=True)
    assert status == 0
    assert "also known as" in shown
    piped, _, _ = on_terminal("query", index, out=True, stdin=b"Oslo\n")
    # Where colorama is installed, Numba lets it end with this on a terminal.
    answer = piped.removesuffix("\x1b[0m")
    assert json.loads(answer) == {"mention": "Oslo", "candidates": []}


def test_progress_is_for_terminals(world, tmp_path):
    pivot = ("--pivot", world / "is.tsv")
    shown, out, status = on_terminal("build", *pivot, "-o", tmp_path / "x")
    assert status == 0
    assert "reading" in shown
    assert "postings" in shown
    assert out == b""
    shown, out, status = on_terminal("query", tmp_path / "x", stdin=b"Rome\n" * 3000)
    assert status == 0
    assert "3,000 mentions" in shown
    assert len(out.splitlines()) == 3000
    assert b"mentions" not in out
    assert process("query", tmp_path / "x", input=b"Rome\n").stderr == b""


def on_terminal(*arguments, out=False, stdin=b""):
    """Runs a command whose stderr is a terminal, or with ``out`` its stdout.

    Files stand at the other ends: nobody waits for a full pipe while the terminal is read.
    """
    master, slave = pty.openpty()
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as other,
        os.fdopen(master, "rb", buffering=0) as terminal,
    ):
        given.write(stdin)
        given.seek(0)
        ends = {"stdout": slave, "stderr": other} if out else {"stdout": other, "stderr": slave}
        environ = environment(TERM="xterm")
        run = subprocess.Popen(command(*arguments), env=environ, stdin=given, **ends)
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # on Linux, the end
            while piece := terminal.read(65536):
                shown += piece
        status = run.wait(timeout=120)
        other.seek(0)
        return shown.decode(), other.read(), status


def test_whoever_sends_a_line_gets_its_answer(index):
    with popen("query", index, "-k", "1") as run:
        for mention in ["Vín", "Rín", "", "Wien"]:
            run.stdin.write(f"{mention}\n".encode())
            run.stdin.flush()
            ready, _, _ = select.select([run.stdout], [], [], 120)
            assert ready, "no answer while the input stays open"
            assert json.loads(run.stdout.readline())["mention"] == mention
        out, err = run.communicate(timeout=120)
    assert (run.returncode, out, err) == (0, b"", b"")


def test_a_reader_that_has_enough(index):
    with popen("query", index) as run:
        feeder = subprocess.Popen(
            [sys.executable, "-c", "import sys\nfor i in range(200000): print('Wien', i)"],
            stdout=run.stdin,
            stderr=subprocess.DEVNULL,
        )
        run.stdin.close()
        assert json.loads(run.stdout.readline())["mention"] == "Wien 0"
        run.stdout.close()
        assert run.wait(timeout=120) in (0, 141)
        assert run.stderr.read() == b""
        feeder.wait(timeout=120)


@pytest.mark.parametrize("arguments", [["--format", "table"], ["--format", "tsv"]])
def test_a_reader_that_reads_nothing(index, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        command("query", index, "Vín", *arguments),
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(writing)
    assert run.returncode in (0, 141)
    assert run.stderr == b""


def test_ctrl_c(index):
    with popen("query", index) as run:
        run.stdin.write(b"Wien\n")
        run.stdin.flush()
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
        assert run.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("query", "Vín"), ("info",)])
def test_an_output_that_is_full(index, arguments):
    name, *rest = arguments
    unbuffered = environment() | {"PYTHONUNBUFFERED": "1"}
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            command(name, index, *rest), stdout=full, stderr=subprocess.PIPE, env=unbuffered
        )
    assert run.returncode == 2
    assert run.stderr.startswith(b"candgen: standard output cannot be written: ")
    assert len(run.stderr.splitlines()) == 1


def test_streams_that_are_closed(index):
    for end, named in (("<&-", "input"), (">&-", "output")):
        line = shlex.join(command("query", index, *["Vín"] * (end == ">&-")))
        run = subprocess.run(
            ["sh", "-c", f"{line} {end}"], stderr=subprocess.PIPE, env=environment(), text=True
        )
        assert run.returncode == 2
        assert run.stderr.startswith(f"candgen: standard {named} ")


def test_the_locale_does_not_matter(index):
    run = subprocess.run(
        command("query", index, "-k", "1"),
        input="Vín\n".encode(),
        capture_output=True,
        env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii"),
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.decode("utf-8"))["mention"] == "Vín"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_memory_does_not_grow_with_the_input(index):
    """Of 64 million bytes in and as many out, few are kept at a time.

    Lines of white space are soon answered. The system's own count of the peak would not do: a new
    process inherits it from the one that started it.
    """
    script = f"""
import re, sys
from candgen.cli import main
status = main(["query", {str(index)!r}])
sys.stderr.write(re.search("VmHWM: *\t* *([0-9]+) kB", open("/proc/self/status").read())[1])
sys.exit(status)
"""

    def peak(lines):
        run = subprocess.run(
            [sys.executable, "-c", script],
            input=b"%3999s\n" % b"" * lines,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=300,
        )
        assert run.returncode == 0, run.stderr.decode()
        return int(run.stderr) / 1000

    assert peak(16_000) - peak(100) < 24


# ---------------------------------------------------------------- explain


def test_explain_for_programs(cli, index):
    result = cli("explain", index, "Vínið", "Q282", "--format", "json")
    assert result.status == 0
    found = json.loads(result.out)
    expected = candgen.load(index).explain("Vínið", "Q282")
    assert found["score"] == expected.score == pytest.approx(1.375 + 0.75)
    total = sum(part["prior"] + part["posterior"] for part in found["tokens"])
    assert total == pytest.approx(found["score"])
    assert found["prior"] + found["posterior"] == pytest.approx(found["score"])
    assert found["unknown"] == expected.unknown
    assert sum(found["languages"].values()) == pytest.approx(1)
    assert found["sources"][0] == {"mention": "Vín", "language": "fo", "count": 1}


def test_explain_for_people(cli, index):
    shown = cli("explain", index, "Vínið", "Q282", "--lam", "0").out
    assert shown.startswith("Vínið -> Q282: score 1.375 = prior 1.375 + posterior 0 (lam 0)\n")
    rows = [line.split() for line in shown.splitlines()]
    assert ["^v", "1", "0.5000", "0.0000", "█" * 20] in rows
    assert ["sum", "3", "1.3750", "0.0000"] in rows
    assert ["fo", "66.7%", "█" * 13 + "▍"] in rows
    assert ["Vín", "fo", "1"] in rows
    assert "Unknown to the index: ni" in shown


def test_explain_where_nothing_matches(cli, index):
    result = cli("explain", index, "Oslo", "Q282")
    assert result.status == 0
    assert "No token" in result.out


def test_a_long_explanation_still_adds_up(cli, tmp_path):
    mention = "abcdefghijklmnopqrstuvwxyz"
    rows = [(mention, "Q1", 1)] + [(f"{mention[:5]}{i}", "Q1", 1) for i in range(12)]
    cli("build", "--pivot", write_table(tmp_path / "xx.tsv", rows), "-o", tmp_path / "x")
    shown = cli("explain", tmp_path / "x", mention, "Q1").out
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    tokens = len(candgen.CharNgrams().tokens(mention))
    assert f"{tokens - 20} more" in shown
    assert rows["sum"][1] == str(tokens)
    assert float(rows["sum"][2]) == tokens  # the only entity: every prior is 1
    assert "and 3 more" in shown


# ---------------------------------------------------------------- info


def test_info_for_programs(cli, world, index):
    found = json.loads(cli("info", index, "--format", "json").out)
    assert found["kind"] == "pti"
    assert found["format_version"] == 2
    assert found["verified"] is True
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
    assert "sizes and checksums are right" in shown


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


def test_info_of_a_large_index_checks_sums_on_demand(cli, index, monkeypatch):
    monkeypatch.setattr("candgen.storage.index_folder.HASHED_ON_LOAD", 0)
    assert "--verify compares" in cli("info", index).out
    assert json.loads(cli("info", index, "--format", "json").out)["verified"] is False
    assert "sizes and checksums" in cli("info", index, "--verify").out


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
    from candgen.storage import index_folder

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
