"""Which files of a folder are whose, and how the work on them is cut for a cluster."""

import random
import re
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.dumps.compressed_streams import Part, aligned
from candgen.errors import TableError
from candgen.wikipedia.options import Options
from candgen.wikipedia.spark import tasks as spark_tasks
from candgen.wikipedia.spark.dump_folder import find_wikis
from candgen.wikipedia.spark.queries import views
from candgen.wikipedia.spark.tasks import ENTITIES, LINKS, PAGES, REDIRECTS, ROWS, TALLIES, Task
from candgen.wikipedia.statistics import Tally
from tests.support.dumps import WrittenPage, dump_xml, write_dump


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def names_of(wiki):
    return [dump.rsplit("/", 1)[1] for dump in wiki.sources.dumps]


# Files


def test_the_files_of_a_wiki_are_found_by_name_in_any_folder(tmp_path):
    touch(
        tmp_path,
        "fowiki/20240101/fowiki-20240101-pages-articles-multistream.xml.bz2",
        "fowiki/20240101/fowiki-20240101-pages-articles-multistream-index.txt.bz2",
        "fowiki/20240101/fowiki-20240101-pages-articles.xml.bz2",
        "fowiki/20240101/fowiki-20240101-stub-articles.xml.gz",
        "fowiki/20240101/fowiki-20240101-abstract.xml.gz",
        "fowiki/20240101/fowiki-20240101-page_props.sql.gz",
        "fowiki/20240101/fowiki-20240101-redirect.sql.gz",
        "fowiki/20240101/fowiki-20240101-siteinfo-namespaces.json.gz",
        "fowiki/20240101/fowiki-20240101-langlinks.sql.gz",
        "zh_min_nanwiki-20240101-pages-articles.xml.gz",
        "elwiki-202305-first100k-lines.xml.bz2",
        "wikidatawiki-20240101-pages-articles.xml.bz2",
        "enwiktionary-20240101-pages-articles.xml.bz2",
        "svwiki-20240101-redirect.sql.gz",
        "notes.txt",
    )
    greek, faroese, southern_min = find_wikis(tmp_path)
    assert (greek.language, faroese.language, southern_min.language) == ("el", "fo", "zh-min-nan")
    assert names_of(faroese) == ["fowiki-20240101-pages-articles-multistream.xml.bz2"]
    beside = faroese.sources.page_props, faroese.sources.redirects, faroese.sources.siteinfo
    assert [path.name for path in beside] == [
        "fowiki-20240101-page_props.sql.gz",
        "fowiki-20240101-redirect.sql.gz",
        "fowiki-20240101-siteinfo-namespaces.json.gz",
    ]
    assert greek.sources.page_props is greek.sources.redirects is None


def test_the_newest_run_is_taken_and_its_pieces_in_the_order_of_pages(tmp_path):
    touch(
        tmp_path,
        "dewiki-20231201-pages-articles-multistream.xml.bz2",
        "dewiki-20231201-page_props.sql.gz",
        "dewiki-20240101-pages-articles-multistream2.xml-p10000p20000.bz2",
        "dewiki-20240101-pages-articles-multistream1.xml-p873p9999.bz2",
        "dewiki-20240101-pages-articles-multistream1.xml-p1p872.bz2",
        "dewiki-20240101-pages-articles1.xml-p1p872.bz2",
        "copy/dewiki-20240101-pages-articles-multistream1.xml-p1p872.bz2",
        "dewiki-20240101-redirect.sql.gz",
        "dewiki-20240201-redirect.sql.gz",
    )
    (german,) = find_wikis(tmp_path)
    assert names_of(german) == [
        "dewiki-20240101-pages-articles-multistream1.xml-p1p872.bz2",
        "dewiki-20240101-pages-articles-multistream1.xml-p873p9999.bz2",
        "dewiki-20240101-pages-articles-multistream2.xml-p10000p20000.bz2",
    ]
    assert german.sources.redirects.name == "dewiki-20240101-redirect.sql.gz"
    assert german.sources.page_props.name == "dewiki-20231201-page_props.sql.gz"
    touch(tmp_path, "dewiki-20240101-pages-articles-multistream.xml.bz2")
    (german,) = find_wikis(tmp_path)
    assert names_of(german) == ["dewiki-20240101-pages-articles-multistream.xml.bz2"]


def test_languages_are_chosen_and_missing_ones_told(tmp_path):
    touch(tmp_path, "fowiki-a.xml", "iswiki-20240101-pages-articles.xml", "iswiki-old.xml.bz2")
    (icelandic,) = find_wikis(tmp_path, languages={"is"})
    assert names_of(icelandic) == ["iswiki-20240101-pages-articles.xml"]
    with pytest.raises(TableError, match=r"no dump of be-tarask, nn: .*be_taraskwiki-.*of fo, is"):
        find_wikis(tmp_path, languages=["is", "nn", "be-tarask"])


@pytest.mark.parametrize("place", ["nowhere", "empty", "a-file"])
def test_a_folder_without_dumps_is_told(tmp_path, place):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a-file").write_bytes(b"")
    with pytest.raises(TableError, match="expected"):
        find_wikis(tmp_path / place)


# Tasks


def world(draw):
    titles = [f"Síða {number}" for number in range(40)]
    pages = [
        WrittenPage(t, " ".join(f"[[{draw.choice(titles)}|{draw.choice('abc')}]]" for _ in "12345"))
        for t in titles
    ]
    return [*pages, WrittenPage("Stutt", "#REDIRECT [[Síða 1]]")]


def gathered(folder, options, **given):
    """Everything that the tasks of a folder give, however it was cut."""
    links, pages, tally = Counter(), [], Tally()
    for task in spark_tasks.tasks(find_wikis(folder), options, **given):
        for batch in spark_tasks.rows(task, options):
            assert batch.schema == ROWS
            for row in batch.to_pylist():
                if row["kind"] == LINKS:
                    links[row["language"], row["mention"], row["title"], row["fold"]] += row[
                        "count"
                    ]
                elif row["kind"] == PAGES:
                    pages.append((row["title"], row["id"], row["redirect"], row["mention"]))
                elif row["kind"] == TALLIES:
                    tally.add(Tally.from_json(row["tally"]))
    return links, pages, +tally.pages, +tally.seen, tally.truncated


@pytest.fixture(scope="module")
def faroese(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mirror")
    write_dump(folder / "fowiki-multistream.xml.bz2", world(random.Random(1)), together=3)
    return folder


@settings(max_examples=15)
@given(size=st.integers(200, 6000))
def test_a_dump_gives_the_same_wherever_it_is_cut(faroese, size):
    options = Options(redirect_titles=True, split=(1, 1, 1))
    whole = gathered(faroese, options, size=1 << 40)
    assert whole[2]["read"] == 41 and not whole[4]
    assert ("Stutt", 41, "Síða 1", "Stutt") in whole[1]
    assert gathered(faroese, options, size=size) == whole


@pytest.mark.parametrize("suffix", [".xml", ".xml.gz"])
def test_what_cannot_be_cut_is_one_task(tmp_path, faroese, suffix):
    write_dump(tmp_path / f"fowiki-whole{suffix}", world(random.Random(1)))
    assert len(spark_tasks.tasks(find_wikis(tmp_path), Options(), size=100)) == 1
    assert gathered(tmp_path, Options()) == gathered(faroese, Options())


def test_the_first_pages_are_one_task_over_all_pieces_of_a_dump(tmp_path):
    pages = world(random.Random(2))
    for number in (1, 2):
        name = f"fowiki-20240101-pages-articles{number}.xml-p{number}00p{number}99.bz2"
        write_dump(tmp_path / name, pages[20 * number - 20 : 20 * number])
    (task,) = spark_tasks.tasks(find_wikis(tmp_path), Options(pages=25), size=10)
    assert len(task.dumps) == 2
    _, found, counts, *_ = gathered(tmp_path, Options(pages=25))
    assert counts["read"] == 25
    assert [title for title, *_ in found] == [page.title for page in pages[:25]]


def test_pieces_of_a_dump_must_be_of_one_wiki(tmp_path):
    write_dump(tmp_path / "fowiki-a.xml", [], "fo")
    write_dump(tmp_path / "fowiki-b.xml", [], "is")
    (wiki,) = find_wikis(tmp_path)
    with pytest.raises(TableError, match=r"fowiki-b.xml is of iswiki, and .*fowiki-a.xml of fow"):
        spark_tasks.site_of(wiki)


@pytest.mark.parametrize("size", [11, 100, 1 << 18])
def test_streams_whose_start_lies_on_the_edge_of_a_range_are_read_once(faroese, monkeypatch, size):
    monkeypatch.setattr("candgen.dumps.compressed_streams._READ", size)
    (path,) = faroese.glob("*.bz2")
    data = path.read_bytes()
    second, third = (found.start() for found in islice(re.finditer(b"BZh.1AY&SY", data), 1, 3))
    for start in range(second - 12, second + 1):
        assert aligned(Part(str(path), start, second + 1)).start == second
        assert aligned(Part(str(path), start, second)) is None
    assert aligned(Part(str(path), second + 1, len(data))).start == third
    assert aligned(Part(str(path), len(data) - 5, len(data))) is None


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
    tasks = spark_tasks.tasks(find_wikis(tmp_path), Options())
    assert [task.kind for task in tasks] == [LINKS, ENTITIES, REDIRECTS]
    assert [task.number for task in tasks] == [0, 1, 2]
    _, entities, redirects = ([*spark_tasks.rows(Task(*task), Options())] for task in tasks)
    names = ("language", "id", "entity")
    assert [tuple(row[n] for n in names) for row in entities[0].to_pylist()] == [("fo", 7, "Q42")]
    names = ("id", "redirect", "redirect_namespace", "outside")
    assert [tuple(row[n] for n in names) for row in redirects[0].to_pylist()] == [
        (9, "Bólkur:Land og fólk", 14, False),
        (10, "", 0, True),
    ]


# Queries


def test_every_view_is_made_of_those_before_it():
    made_so_far = {"harvest"}
    made = views(Options(titles=True, namespaces=(0, 4)), {"is", "fo"})
    for name, query in made.items():
        words = set(query.replace("(", " ").replace(")", " ").split())
        assert "{" not in query
        assert words & made_so_far, name
        made_so_far.add(name)
    assert "IN ('fo', 'is')" in made["resolved"]
    assert "IN (0, 4)" in made["pages"]


def test_names_are_among_the_links_only_if_they_are_asked_for():
    assert "pages" not in views(Options(), ())["links"]
    assert "redirect IS NULL" in views(Options(titles=True), ())["links"]
    assert "redirect IS NOT NULL" in views(Options(redirect_titles=True), ())["links"]
