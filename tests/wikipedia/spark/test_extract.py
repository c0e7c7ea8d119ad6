"""Extraction on Spark, on a real cluster of two workers on this machine.

`make test-extras` runs these with PySpark; without it, or without Java, they skip.
"""

import contextlib
import gzip
import importlib.util
import json
import os
import random
import re
import shutil
import signal
from bz2 import decompress
from dataclasses import asdict
from pathlib import Path

import pytest

from candgen import MentionTable
from candgen.errors import ParameterError, StorageError, TableError
from candgen.wikipedia.extract import Options, extract
from candgen.wikipedia.options import FOLDS
from candgen.wikipedia.spark.dump_folder import find_wikis
from candgen.wikipedia.spark.outputs import REPORT
from tests.support.dumps import WrittenPage, multistream, write_dump

MASTER = "local-cluster[2,1,1024]"
# Little data and many short steps: code need not be fast, but made fast.
SETTINGS = """
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
"""

if importlib.util.find_spec("pyspark") is None:
    pytest.skip("PySpark is not installed: make test-extras", allow_module_level=True)
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java, which Spark needs, is not on this machine", allow_module_level=True)

import pyspark  # noqa: E402

from candgen.wikipedia.spark import extract as spark_extract  # noqa: E402
from candgen.wikipedia.spark.extract import extract_with_spark  # noqa: E402

# Where pandas 3 is installed, PySpark 4 warns of it; we have no use for pandas.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Starts Spark once; what it leaves behind goes away with the folder."""
    folder = tmp_path_factory.mktemp("spark")
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    for each in ("bin", "jars", "python"):  # workers write beside these
        (folder / each).symlink_to(home / each)
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text(SETTINGS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(folder))
        patch.setenv("SPARK_LOCAL_DIRS", str(folder / "local"))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        with spark_extract._session(MASTER) as session:
            yield session


def check_same(folder, output, reports, options, tmp_path):
    """Every table and report is what the engine on one machine makes."""
    wikis = find_wikis(folder)
    assert [report.language for report in reports] == [wiki.language for wiki in wikis]
    for wiki, report in zip(wikis, reports, strict=True):
        name = f"{wiki.language}.parquet"
        expected = extract(wiki.sources, tmp_path / name, language=wiki.language, options=options)
        tables = {f"language={wiki.language}": name}
        if options.split is not None:
            tables = {
                f"{fold}/language={wiki.language}": f"{wiki.language}.{fold}.parquet"
                for fold in FOLDS
            }
        for mine, theirs in tables.items():
            made = MentionTable.read(output / mine)
            assert list(made) == list(MentionTable.read(tmp_path / theirs)), (mine, options)
            assert parsed(made.metadata) == parsed(expected.metadata())
            assert report.tables[mine] == expected.tables[theirs]
            assert report.tables[mine] == {"pairs": len(made), "occurrences": made.total}
        assert told(report) == told(expected)
    written = json.loads((output / REPORT).read_text(encoding="utf-8"))
    assert written["wikis"] == [report.to_dict() for report in reports]


def parsed(metadata):
    """Metadata with its JSON read: reasons as frequent as others may stand in any order."""
    return {k: json.loads(v) if v.startswith(("{", "[")) else v for k, v in metadata.items()}


def told(report):
    found = report.to_dict()
    del found["tables"]
    return found


# The real dumps


def kill_an_executor(home):
    """Ends one of the two at once, as a machine that fails does; Spark starts another."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in command and os.fsencode(home) in command:
                os.kill(int(process.name), signal.SIGKILL)
                return 1
    return 0


def test_real_dumps_give_the_same_rows_as_on_one_machine(cluster, shared_data, tmp_path):
    folder = tmp_path / "mirror" / "202305"
    folder.mkdir(parents=True)
    for dump in (shared_data / "dumps").glob("*.xml.bz2"):
        if dump.name.startswith("mrwiki"):  # as Wikimedia publishes it: many streams
            pages = re.split(rb"(?=  <page>)", decompress(dump.read_bytes()))
            streams = [b"".join(pages[at : at + 20]) for at in range(0, len(pages), 20)]
            (folder / dump.name).write_bytes(multistream(streams))
        else:
            (folder / dump.name).symlink_to(dump)
    seen, killed = [], []

    def watch(progress):
        seen.append(progress)
        if progress.done and not killed:  # a task is done: its rows must not count twice
            killed.append(kill_an_executor(os.environ["SPARK_HOME"]))

    reports = extract_with_spark(
        folder.parent, tmp_path / "out", master=MASTER, part_size=1 << 18, progress=watch
    )
    assert killed == [1] or not Path("/proc/self/cmdline").exists()
    assert {report.language for report in reports} >= {"el", "fo", "hy", "mr"}
    assert sum(report.kept for report in reports) > 100_000
    check_same(folder.parent, tmp_path / "out", reports, Options(), tmp_path)
    assert {each.doing for each in seen} >= {"reading pages", "following redirects and adding up"}
    assert all(0 <= each.done <= each.total for each in seen)
    truncated = {report.language for report in reports if report.truncated}
    assert truncated == {"el", "hy", "mr"}  # the first hundred thousand lines


# A world made here


def sql(table, columns, rows):
    """A table as mysqldump writes it."""
    named = ",\n".join(f"  `{column}` varbinary(255)" for column in columns)
    values = ",".join(
        "(" + ",".join(str(v) if isinstance(v, int) else quoted(v) for v in row) + ")"
        for row in rows
    )
    text = f"-- MySQL dump 10.19\nCREATE TABLE `{table}` (\n{named}\n);\n"
    if rows:
        text += f"INSERT INTO `{table}` VALUES {values};\n"
    return gzip.compress(f"{text}-- Dump completed on 2024-01-02\n".encode())


def quoted(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def made_pages(seed, category):
    """Pages that link to each other, to redirects of every kind, and to what is not there."""
    draw = random.Random(seed)
    titles = [f"Síða {number}" for number in range(30)]
    pages = [WrittenPage("Síða 3", "[[Síða 4|the second of this name]]", id=900)]
    redirects = {
        "Stutt": "Síða 1",
        "Tvífalt": "Stutt",
        "Síða 2 (bygd)": "Síða 2#Søga",
        "Ringur A": "Ringur B",
        "Ringur B": "Ringur A",
        "Eg sjálv": "Eg sjálv",
        "Burtur": ":en:Away",
        "Bólkavegur": f":{category}:Land",
        "Til einki": "Ikki til",
        "Í gagnagrunni": "Síða 5",
        "Bara í gagnagrunni": "Síða 6",
    }
    for length in (7, 8, 9):  # so many hops to the end
        names = [f"Keðja {length} {hop}" for hop in range(length)]
        redirects |= dict(zip(names, [*names[1:], "Síða 7"], strict=True))
    targets = [*titles, *redirects, "Ikki til", "L'Aquila", f":{category}:Land", "is:Reykjavík"]
    for title in [*titles, "Síða 8 (á)"]:
        links = [
            f"[[{target}]]" if draw.random() < 0.3 else f"[[{target}|{draw.choice('abc')} {n % 7}]]"
            for n, target in enumerate(draw.choices(targets, k=40))
        ]
        pages.append(WrittenPage(title, " ".join(links)))
    pages.append(WrittenPage(f"{category}:Land", "[[Síða 1|from a category]]", namespace=14))
    for title, target in redirects.items():
        text = f"#REDIRECT [[{target}]]"
        if title == "Bara í gagnagrunni":
            text = "[[Síða 9|not read as a redirect by the dump]]"
        pages.append(WrittenPage(title, text))
    return [page._replace(id=page.id or at) for at, page in enumerate(pages, start=1)]


def write_wiki(folder, language, *, seed, ids=True, redirects=True, together=3):
    wiki = language.replace("-", "_") + "wiki"
    pages = made_pages(seed, "Bólkur" if language == "fo" else "Category")
    dump = folder / f"{wiki}-20240101-pages-articles-multistream.xml.bz2"
    write_dump(dump, pages, language, together=together)
    by_title = {page.title: page for page in pages}
    if ids:
        rows = [
            (page.id, "wikibase_item", f"Q{page.id % 23 + 1}", 0)
            for page in pages
            if page.id % 4 and not page.text.startswith("#REDIRECT")
        ]
        rows.append((1, "displaytitle", "it's another \\ property", 0))
        columns = ("pp_page", "pp_propname", "pp_value", "pp_sortkey")
        named = folder / f"{wiki}-20240101-page_props.sql.gz"
        named.write_bytes(sql("page_props", columns, rows))
    if redirects:
        rows = [
            (by_title["Í gagnagrunni"].id, 0, "Síða_10", "", ""),
            (by_title["Bara í gagnagrunni"].id, 0, "Stutt", "", "Søga"),
            (by_title["Stutt"].id, 0, "Elsewhere", "de", ""),
            (99_999, 0, "Nobody's", "", ""),
        ]
        columns = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment")
        named = folder / f"{wiki}-20240101-redirect.sql.gz"
        named.write_bytes(sql("redirect", columns, rows))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mirror")
    write_wiki(folder, "fo", seed=1)
    (folder / "below").mkdir()
    write_wiki(folder / "below", "is", seed=2, ids=False)
    write_wiki(folder, "simple", seed=3, redirects=False, together=1)
    write_wiki(folder, "zh-min-nan", seed=4, ids=False, redirects=False, together=1000)
    write_dump(folder / "nnwiki-20240101-pages-articles.xml.gz", [], "nn")
    cut = folder / "svwiki-20240101-pages-articles.xml.bz2"
    write_dump(cut, made_pages(5, "Category"), "sv")
    cut.write_bytes(cut.read_bytes()[:-200])
    return folder


def test_redirects_entities_and_names_are_resolved_as_on_one_machine(
    cluster, mirror, tmp_path, monkeypatch
):
    options = Options(
        titles=True, redirect_titles=True, minimum=2, namespaces=(0, 4), split=(50, 25, 25), seed=3
    )
    output = tmp_path / "out"

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(spark_extract._Job, "_resolve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            extract_with_spark(mirror, output, options=options, part_size=2000)
    assert not output.exists()
    with monkeypatch.context() as patch:
        patch.setattr(spark_extract._Job, "_read_dumps", interrupted)  # all has been read
        reports = extract_with_spark(mirror, output, options=options, part_size=2000, resume=True)
    check_same(mirror, output, reports, options, tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == []
    dropped = {reason for report in reports for reason in report.to_dict()["dropped"]}
    assert dropped >= {
        "redirect loop",
        "redirect to another wiki",
        "other namespace",
        "no entity",
        "below the minimum count",
        "interwiki",
    }
    assert {report.language for report in reports if report.truncated} == {"sv"}
    nothing = MentionTable.read(output / "train" / "language=nn")
    assert len(nothing) == 0 and nothing.metadata["language"] == "nn"


def test_what_goes_where_in_a_wiki_worked_out_by_hand(cluster, tmp_path):
    folder = tmp_path / "mirror"
    folder.mkdir()
    chain = [WrittenPage(f"K{n}", f"#REDIRECT [[K{n + 1}]]") for n in range(1, 10)]
    pages = [
        WrittenPage("Tórshavn", "[[Havn]]in [[K1|nine]] [[K2|eight]] [[Ring]] [[Ikki til|x]]"),
        WrittenPage("Havn", "#REDIRECT [[Tórshavn]]"),
        WrittenPage("Ring", "#REDIRECT [[Ring]]"),
        *chain,
        WrittenPage("K10", "[[Havn]] [[Tórshavn|Havn]]"),
    ]
    write_dump(folder / "fowiki-20240101-pages-articles.xml.bz2", pages, together=1)
    output = tmp_path / "out"
    (report,) = extract_with_spark(folder, output, languages=["fo"], part_size=200)
    assert list(MentionTable.read(output / "language=fo")) == [
        ("Havn", "fo:Tórshavn", 2),
        ("Havnin", "fo:Tórshavn", 1),
        ("eight", "fo:K10", 1),
        ("x", "fo:Ikki til", 1),
    ]
    assert dict(report.statistics.dropped) == {"redirect loop": 2}
    assert MentionTable.read(output / "language=fo").metadata["wiki"] == "fowiki"
    # The folder is replaced by what another run writes.
    (report,) = extract_with_spark(folder, output, options=Options(pages=1))
    assert report.statistics.pages["read"] == 1
    assert len(MentionTable.read(output / "language=fo")) == 5


# What goes wrong


def test_a_run_that_fails_leaves_nothing_behind_and_what_was_there_alone(cluster, tmp_path):
    folder = tmp_path / "mirror"
    folder.mkdir()
    write_wiki(folder, "fo", seed=1)
    damaged = folder / "fowiki-20240101-page_props.sql.gz"
    text = gzip.decompress(damaged.read_bytes())
    damaged.write_bytes(gzip.compress(text[: len(text) // 2]))
    output = tmp_path / "out"
    output.mkdir()
    (output / REPORT).write_text("{}", encoding="utf-8")
    with pytest.raises(TableError, match=r"fowiki-20240101-page_props.sql.gz is cut off after"):
        extract_with_spark(folder, output)
    assert [each.name for each in output.iterdir()] == [REPORT]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mirror", "out"]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"output": "full"}, StorageError, "was not written by this command"),
        ({"output": "no/such/folder"}, StorageError, "is not a folder"),
        ({"part_size": 0}, ParameterError, "part_size is 0: expected a whole number of at least 1"),
        ({"languages": ["fo", "nn"]}, TableError, "has no dump of nn"),
        ({"master": "local[2]"}, ParameterError, "but a session is active on local-cluster"),
        ({"folder": "full"}, TableError, "has no dumps of Wikipedias"),
    ],
)
def test_mistakes_are_told_before_anything_is_done(cluster, tmp_path, given, error, words):
    write_wiki(tmp_path, "fo", seed=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    paths = {"folder": ".", "output": "out"} | given
    places = {name: tmp_path / paths.pop(name) for name in ("folder", "output")}
    with pytest.raises(error, match=words):
        extract_with_spark(**places, **paths)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_is_no_dump_is_told_before_spark_starts(tmp_path):
    (tmp_path / "fowiki-20240101-pages-articles.xml").write_text("<html>", encoding="utf-8")
    with pytest.raises(TableError, match="does not begin as a dump of MediaWiki does"):
        extract_with_spark(tmp_path, tmp_path / "out", master="spark://nowhere.invalid:1")
    assert [each.name for each in tmp_path.iterdir()] == ["fowiki-20240101-pages-articles.xml"]


def test_the_plan_tells_two_runs_apart(tmp_path):
    write_wiki(tmp_path, "fo", seed=1)
    wikis = find_wikis(tmp_path)
    plan = spark_extract._plan(wikis, Options(), 1000)
    assert plan["options"] == asdict(Options())
    assert plan != spark_extract._plan(wikis, Options(minimum=2), 1000)
    assert len(plan["tasks"]) > 5
    json.dumps(plan)
