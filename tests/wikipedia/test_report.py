"""What the report and the metadata of a table say."""

import json

import candgen
from candgen.wikipedia.extract import Sources, extract
from tests.support.dumps import END, dump_xml, write_dump
from tests.support.faroese_wiki import PAGES


def test_the_table_says_what_it_is(faroese, tmp_path, cli):
    extract(faroese, tmp_path / "fo.parquet")
    metadata = candgen.MentionTable.read(tmp_path / "fo.parquet").metadata
    assert metadata["wiki"] == "fowiki"
    assert metadata["candgen_version"]
    assert json.loads(metadata["dropped"])["image"] == 1
    assert json.loads(metadata["options"])["minimum"] == 1
    assert json.loads(metadata["pages"])["redirects"] == 6
    shown = cli("info", tmp_path / "fo.parquet")
    assert shown.status == 0
    for line in ("wiki            ", "fowiki", "redirect loop", "dump date", "20230501"):
        assert line in shown.out


def test_a_truncated_file_among_whole_ones_is_told(tmp_path):
    cut = tmp_path / "fowiki-1.xml"
    cut.write_bytes(dump_xml(PAGES[:2])[: -len(END)])
    whole = write_dump(tmp_path / "fowiki-2.xml", PAGES[2:])
    report = extract(Sources((str(cut), str(whole))), tmp_path / "fo.parquet")
    assert report.truncated
    assert report.to_dict()["pages"]["read"] == len(PAGES)
