"""Entities and redirects from the files beside the dump."""

import candgen
from candgen.wikipedia.extract import Sources, extract
from tests.support.faroese_wiki import LANGLINKS, PAGE_PROPS, REDIRECT, WITHOUT_IDS, rows, zipped


def test_entities_of_page_props(faroese, tmp_path):
    props = zipped(tmp_path / "page_props.sql.gz", PAGE_PROPS)
    report = extract(Sources((faroese,), page_props=props), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Tórshavn", "Q10704"): 1,
        ("Havnina", "Q10704"): 1,
        ("T.", "Q10704"): 1,
        ("Føroyar", "Q4628"): 1,
        ("Føroyum", "Q4628"): 1,
        ("søgu", "Q4628"): 1,
    }
    assert report.to_dict()["dropped"]["no entity"] == 6
    assert sum(report.to_dict()["seen"].values()) == 6 + sum(report.to_dict()["dropped"].values())


def test_redirects_of_the_database_count_more_than_those_of_the_dump(faroese, tmp_path):
    redirects = zipped(tmp_path / "redirect.sql.gz", REDIRECT)
    report = extract(Sources((faroese,), redirects=redirects), tmp_path / "fo.parquet")
    # Havnin leads to Suðuroy there, which leads to another wiki; Gomul leads to Føroyar.
    gone = {("Havnina", "fo:Tórshavn"), ("Suðuroyar", "fo:Suðuroy"), ("Suðuroy", "fo:Suðuroy")}
    wanted = {pair: count for pair, count in WITHOUT_IDS.items() if pair not in gone}
    assert rows(tmp_path / "fo.parquet") == wanted
    assert report.to_dict()["dropped"]["redirect to another wiki"] == 1 + 3


def test_entities_of_a_table_of_titles(faroese, tmp_path):
    (tmp_path / "ids.tsv").write_text("title\tentity\nTórshavn\tQ10704\nKina\tQ148\n", "utf-8")
    extract(Sources((faroese,), ids=tmp_path / "ids.tsv"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Tórshavn", "Q10704"): 1,
        ("Havnina", "Q10704"): 1,
        ("T.", "Q10704"): 1,
        ("Kina", "Q148"): 2,
    }


def test_entities_by_way_of_another_language(faroese, tmp_path):
    (tmp_path / "en.tsv").write_text("title\tentity\nFaroe Islands\tQ4628\n", "utf-8")
    sources = Sources(
        (faroese,),
        ids=tmp_path / "en.tsv",
        langlinks=zipped(tmp_path / "langlinks.sql.gz", LANGLINKS),
        langlinks_to="en",
    )
    extract(sources, tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {
        ("Føroyar", "Q4628"): 1,
        ("Føroyum", "Q4628"): 1,
        ("søgu", "Q4628"): 1,
    }


def test_the_table_says_where_its_entities_come_from(faroese, tmp_path):
    extract(faroese, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["entities_from"] == "titles"
    assert metadata["redirects_from"] == "the dump"
    props = zipped(tmp_path / "fowiki-20230501-page_props.sql.gz", PAGE_PROPS)
    redirects = zipped(tmp_path / "fowiki-20230501-redirect.sql.gz", REDIRECT)
    sources = Sources((faroese,), page_props=props, redirects=redirects)
    extract(sources, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["entities_from"] == "page_props"
    assert metadata["redirects_from"] == "the database, then the dump"


def test_the_table_of_titles_may_be_written_as_links_are(faroese, tmp_path):
    (tmp_path / "ids.tsv").write_text("title\tentity\ntórshavn\tQ10704\n", "utf-8")
    props = zipped(tmp_path / "props.sql.gz", PAGE_PROPS.replace("Q10704", "Q7"))
    extract(Sources((faroese,), ids=tmp_path / "ids.tsv"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet")["Tórshavn", "Q10704"] == 1
    both = Sources((faroese,), ids=tmp_path / "ids.tsv", page_props=props)
    extract(both, tmp_path / "fo.parquet")  # of the two, page_props is right
    assert rows(tmp_path / "fo.parquet")["Tórshavn", "Q7"] == 1
