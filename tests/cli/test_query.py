"""``candgen query``: answers in every format."""

import json
import os

import numpy as np
import pytest

import candgen
from candgen.cli.query import json_line, tsv_rows
from candgen.errors import ParameterError
from tests.support import toy
from tests.support.commands import is_refusal, on_terminal, process, told


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


def test_scores_of_tiers_keep_their_digits():
    scores = [3 + 0.5, 3 + 1 / 3, 3 + 0.3333333, 2.0, 0.1, float(np.float32(0.1)), 1e-300, 1e300]
    candidates = [candgen.Candidate("Q1", score) for score in scores]
    found = [each["score"] for each in json.loads(json_line("m", candidates))["candidates"]]
    assert [told(a, b) for a, b in zip(found, scores, strict=True)] == scores
    assert found[1] != found[2]
    assert found[5] == 0.1
    rows = tsv_rows("m", candidates).splitlines()
    assert [float(row.split("\t")[3]) for row in rows] == found


def test_options_are_looked_for_in_the_signature(cli, indexes, monkeypatch):
    class Loose:
        def candidates(self, mentions, **options):
            return [[candgen.Candidate("Q1", options["lam"])] for _ in mentions]

        def explain(self, mention, entity):
            raise AssertionError("not to be called with lam")

    monkeypatch.setattr(candgen, "load", lambda path, **_: Loose())
    (answer,) = cli("query", "any", "Vín", "--lam", "0.25").answers
    assert answer["candidates"] == [{"entity": "Q1", "score": 0.25}]
    done = cli("explain", "any", "Vín", "Q1", "--lam", "0.25")
    assert is_refusal(done)
    assert "--lam is not supported" in done.err
