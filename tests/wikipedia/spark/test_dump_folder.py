"""Which files of a folder are whose, and how the work on them is cut for a cluster."""

import pytest

from candgen.errors import TableError
from candgen.wikipedia.spark.dump_folder import find_wikis


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
