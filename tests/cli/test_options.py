"""Texts of options: tables, weights, settings, tokenizers."""

import doctest
import inspect
import sys
from pathlib import Path

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
from candgen.errors import ParameterError
from candgen.text.normalize import NORMALIZERS


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


def test_commands_that_read_tables_have_limits(cli, tmp_path):
    path = tmp_path / "fo.tsv"
    path.write_text("mention\tentity\nWien\tQ1741\n", encoding="utf-8")
    for command in ("build", "evaluate", "info", "pivots", "query", "serve", "split", "tune"):
        assert "--max-table-size SIZE" in cli(command, "--help").out
    assert "--max-table-size" not in cli("explain", "--help").out
    result = cli("info", path, "--max-table-size", "9 bytes")
    assert "--max-table-size '9 bytes': expected a size" in result.err
    assert "has more than 9 bytes unpacked" in cli("info", path, "--max-table-size", "9").err
    assert cli("info", path).status == 0  # the limit of one command is not that of the next
