"""The command ``candgen extract``: what it prints, its exit statuses, and mistakes."""

import importlib.util
import json

import pytest

import candgen
from tests.support.dumps import WrittenPage, dump_xml, write_dump

PAGES = [
    WrittenPage("Føroyar", "[[Tórshavn]] [[Mynd:x.jpg]] {{x|[[Suðuroy|S.]]}}", id=1),
    WrittenPage("Tórshavn", "[[Føroyar|Føroyum]]", id=2),
]


@pytest.fixture
def dump(tmp_path):
    return write_dump(tmp_path / "fowiki-20230501-pages.xml.bz2", PAGES)


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_it_says_what_it_saw_kept_and_dropped(cli, dump, tmp_path):
    result = cli("extract", "fo", "--dump", dump, "-o", tmp_path / "fo.parquet")
    assert result.status == 0
    for line in (
        "fowiki, 20230501",
        "pages read",
        "links",
        "dropped: image",
        "fo.parquet: 3 pairs",
    ):
        assert line in result.out
    assert "75.0%" in result.out
    assert result.err == f"try: candgen info {tmp_path / 'fo.parquet'}\n"
    assert names(tmp_path) == {dump.name, "fo.parquet", "fo.report.json"}


def test_the_options_reach_the_table(cli, dump, tmp_path):
    output = tmp_path / "fo.parquet"
    arguments = ("--no-templates", "--no-refs", "--no-tables", "--titles", "--redirect-titles")
    more = ("--min-count", 1, "--namespaces", "0,14", "--pages", 5, "--seed", 3, "--workers", 1)
    assert cli("extract", "fo", "--dump", dump, "-o", output, *arguments, *more).status == 0
    options = json.loads(candgen.MentionTable.read(output).metadata["options"])
    assert options == {
        "namespaces": [0, 14],
        "templates": False,
        "refs": False,
        "tables": False,
        "titles": True,
        "redirect_titles": True,
        "minimum": 1,
        "pages": 5,
        "split": None,
        "seed": 3,
    }


def test_three_tables(cli, dump, tmp_path):
    result = cli(
        "extract",
        "fo",
        "--dump",
        dump,
        "-o",
        tmp_path / "fo.parquet",
        "--split-articles",
        "70,15,15",
        "--seed",
        "1",
    )
    assert result.status == 0
    tables = {f"fo.{fold}.parquet" for fold in ("train", "dev", "test")}
    assert names(tmp_path) == {dump.name, "fo.report.json", *tables}


def test_a_dump_that_is_cut_off_is_status_1_unless_that_is_allowed(cli, tmp_path):
    (tmp_path / "fowiki.xml").write_bytes(dump_xml(PAGES)[:-500])
    arguments = ("extract", "fo", "--dump", tmp_path / "fowiki.xml", "-o", tmp_path / "fo.parquet")
    result = cli(*arguments)
    assert result.status == 1
    assert "warning: the dump of fowiki is truncated or damaged" in result.err
    assert "page cut off: 'Tórshavn'" in result.out
    assert len(candgen.MentionTable.read(tmp_path / "fo.parquet")) == 2
    assert cli(*arguments, "--allow-truncated").status == 0


def test_without_a_language_the_dump_tells_it(cli, dump, tmp_path):
    assert cli("extract", "--dump", dump, "-o", tmp_path / "fo.parquet").status == 0
    assert "fo:Føroyar" in candgen.MentionTable.read(tmp_path / "fo.parquet").entities


def test_another_language_is_taken_and_doubted(cli, dump, tmp_path):
    result = cli("extract", "is", "--dump", dump, "-o", tmp_path / "is.parquet")
    assert result.status == 0
    assert "warning: the language was given as is, but the dump is of fowiki" in result.err
    assert "is:Føroyar" in candgen.MentionTable.read(tmp_path / "is.parquet").entities


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--namespaces", "zero"), "--namespaces zero: expected numbers"),
        (("--split-articles", "most"), "--split-articles most: expected three numbers"),
        (("--split-articles", "70,30"), "expected three numbers"),
        (("--split-articles", "-1,1,1"), "expected three numbers"),
        (("--split-articles", "nan,1,1"), "expected three numbers"),
        (("--langlinks", "x.sql.gz"), "--ids en=FILE"),
        (("--langlinks", "x.sql.gz", "--ids", "en.tsv"), "--ids en=FILE"),
        (("--ids", "en=ids.tsv"), "titles of another language need --langlinks"),
        (("--page-props", "no.sql.gz"), "no.sql.gz does not exist"),
        (("--ids", "no.tsv"), "no.tsv does not exist"),
        (("--siteinfo", "no.json"), "no.json does not exist"),
        (("--min-count", "0"), "--min-count"),
        (("--master", "local[*]"), "--master is for Spark"),
        (("--engine", "spark"), "expected one folder of dumps"),
        (("--engine", "spark", "--workers", "2"), "--workers is not for Spark"),
        (("--engine", "hadoop"), "hadoop"),
    ],
)
def test_mistakes_are_one_sentence_and_cost_nothing(cli, dump, tmp_path, arguments, told):
    result = cli("extract", "fo", "--dump", dump, "-o", tmp_path / "fo.parquet", *arguments)
    assert result.status == 2
    assert told in result.err
    assert result.err.count("\n") == 1
    assert result.err.startswith("candgen: ")
    assert names(tmp_path) == {dump.name}


def test_spark_is_optional(cli, tmp_path):
    if importlib.util.find_spec("pyspark") is not None:
        pytest.skip("PySpark is installed")
    result = cli("extract", "--engine", "spark", "--dump", tmp_path, "-o", tmp_path / "out")
    assert result.status == 2
    assert result.err == "candgen: this needs PySpark: pip install 'candgen[spark]'\n"


@pytest.mark.parametrize("stdin", [False, True])
def test_ctrl_c_while_a_kernel_is_loaded_is_still_ctrl_c(cli, dump, tmp_path, monkeypatch, stdin):
    def interrupted(*_args, **_kwargs):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("candgen.wikipedia.extract.extract", interrupted)
    given = "-" if stdin else dump
    result = cli("extract", "fo", "--dump", given, "-o", tmp_path / "fo.parquet")
    assert result.status == 130
    advice = "candgen: interrupted; --resume continues the run\n"
    assert result.err == ("" if stdin else advice)


def test_another_system_error_is_one(cli, dump, tmp_path, monkeypatch):
    def broken(*_args, **_kwargs):
        raise SystemError("bad call")

    monkeypatch.setattr("candgen.wikipedia.extract.extract", broken)
    with pytest.raises(SystemError, match="bad call"):
        cli("extract", "fo", "--dump", dump, "-o", tmp_path / "fo.parquet")
