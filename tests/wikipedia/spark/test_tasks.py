"""A task reads its range, and all tasks together read everything once."""

import random
import re
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.dumps.compressed_streams import Part, align_part
from candgen.errors import TableError
from candgen.wikipedia.options import Options
from candgen.wikipedia.spark import tasks as spark_tasks
from candgen.wikipedia.spark.dump_folder import find_wikis
from candgen.wikipedia.spark.tasks import ENTITIES, LINKS, PAGES, REDIRECTS, ROWS, STATISTICS, Task
from candgen.wikipedia.statistics import PageStatistics
from tests.support.dumps import WrittenPage, dump_xml, write_dump


def world(draw):
    titles = [f"Síða {number}" for number in range(40)]
    pages = [
        WrittenPage(t, " ".join(f"[[{draw.choice(titles)}|{draw.choice('abc')}]]" for _ in "12345"))
        for t in titles
    ]
    return [*pages, WrittenPage("Stutt", "#REDIRECT [[Síða 1]]")]


def read_all(folder, options, **given):
    """Everything that the tasks of a folder give, however it was cut."""
    links, pages, statistics = Counter(), [], PageStatistics()
    for task in spark_tasks.cut_into_tasks(find_wikis(folder), options, **given):
        for batch in spark_tasks.run_task(task, options):
            assert batch.schema == ROWS
            for row in batch.to_pylist():
                if row["kind"] == LINKS:
                    links[row["language"], row["mention"], row["title"], row["fold"]] += row[
                        "count"
                    ]
                elif row["kind"] == PAGES:
                    pages.append((row["title"], row["id"], row["redirect"], row["mention"]))
                elif row["kind"] == STATISTICS:
                    statistics.add(PageStatistics.from_json(row["statistics"]))
    return links, pages, +statistics.pages, +statistics.seen, statistics.truncated


@pytest.fixture(scope="module")
def faroese(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mirror")
    write_dump(folder / "fowiki-multistream.xml.bz2", world(random.Random(1)), together=3)
    return folder


@settings(max_examples=15)
@given(size=st.integers(200, 6000))
def test_a_dump_gives_the_same_wherever_it_is_cut(faroese, size):
    options = Options(redirect_titles=True, split=(1, 1, 1))
    whole = read_all(faroese, options, size=1 << 40)
    assert whole[2]["read"] == 41 and not whole[4]
    assert ("Stutt", 41, "Síða 1", "Stutt") in whole[1]
    assert read_all(faroese, options, size=size) == whole


@pytest.mark.parametrize("suffix", [".xml", ".xml.gz"])
def test_what_cannot_be_cut_is_one_task(tmp_path, faroese, suffix):
    write_dump(tmp_path / f"fowiki-whole{suffix}", world(random.Random(1)))
    assert len(spark_tasks.cut_into_tasks(find_wikis(tmp_path), Options(), size=100)) == 1
    assert read_all(tmp_path, Options()) == read_all(faroese, Options())


def test_the_first_pages_are_one_task_over_all_pieces_of_a_dump(tmp_path):
    pages = world(random.Random(2))
    for number in (1, 2):
        name = f"fowiki-20240101-pages-articles{number}.xml-p{number}00p{number}99.bz2"
        write_dump(tmp_path / name, pages[20 * number - 20 : 20 * number])
    (task,) = spark_tasks.cut_into_tasks(find_wikis(tmp_path), Options(pages=25), size=10)
    assert len(task.dumps) == 2
    _, found, counts, *_ = read_all(tmp_path, Options(pages=25))
    assert counts["read"] == 25
    assert [title for title, *_ in found] == [page.title for page in pages[:25]]


def test_pieces_of_a_dump_must_be_of_one_wiki(tmp_path):
    write_dump(tmp_path / "fowiki-a.xml", [], "fo")
    write_dump(tmp_path / "fowiki-b.xml", [], "is")
    (wiki,) = find_wikis(tmp_path)
    with pytest.raises(TableError, match=r"fowiki-b.xml is of iswiki, and .*fowiki-a.xml of fow"):
        spark_tasks.read_site(wiki)


@pytest.mark.parametrize("size", [11, 100, 1 << 18])
def test_streams_whose_start_lies_on_the_edge_of_a_range_are_read_once(faroese, monkeypatch, size):
    monkeypatch.setattr("candgen.dumps.compressed_streams._READ_BYTES", size)
    (path,) = faroese.glob("*.bz2")
    data = path.read_bytes()
    second, third = (found.start() for found in islice(re.finditer(b"BZh.1AY&SY", data), 1, 3))
    for start in range(second - 12, second + 1):
        assert align_part(Part(str(path), start, second + 1)).start == second
        assert align_part(Part(str(path), start, second)) is None
    assert align_part(Part(str(path), second + 1, len(data))).start == third
    assert align_part(Part(str(path), len(data) - 5, len(data))) is None


def test_tables_of_the_database_are_tasks(tmp_path):
    (tmp_path / "fowiki-20240101-pages-articles.xml").write_bytes(dump_xml([]))
    (tmp_path / "fowiki-20240101-page_props.sql").write_text(
        "CREATE TABLE `page_props` (`pp_page` int, `pp_propname` blob, `pp_value` blob);\n"
        "INSERT INTO `page_props` VALUES (7,'wikibase_item','Q42'),(8,'defaultsort','Q1');\n",
        encoding="utf-8",
    )
    (tmp_path / "fowiki-20240101-redirect.sql").write_text(
        "CREATE TABLE `redirect` (`rd_from` int, `rd_namespace` int, `rd_title` blob, "
        "`rd_interwiki` blob);\n"
        "INSERT INTO `redirect` VALUES (9,14,'Land_og_fólk',''),(10,0,'Away','de');\n",
        encoding="utf-8",
    )
    tasks = spark_tasks.cut_into_tasks(find_wikis(tmp_path), Options())
    assert [task.kind for task in tasks] == [LINKS, ENTITIES, REDIRECTS]
    assert [task.number for task in tasks] == [0, 1, 2]
    _, entities, redirects = ([*spark_tasks.run_task(Task(*task), Options())] for task in tasks)
    names = ("language", "id", "entity")
    assert [tuple(row[n] for n in names) for row in entities[0].to_pylist()] == [("fo", 7, "Q42")]
    names = ("id", "redirect", "redirect_namespace", "outside")
    assert [tuple(row[n] for n in names) for row in redirects[0].to_pylist()] == [
        (9, "Bólkur:Land og fólk", 14, False),
        (10, "", 0, True),
    ]
