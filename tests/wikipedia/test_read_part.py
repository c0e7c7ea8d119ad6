"""The pages and links of a part, and pages that cannot be read."""

from candgen.wikipedia import read_part
from candgen.wikipedia.extract import Options, Sources, extract
from tests.support.dumps import WrittenPage, dump_xml, write_dump
from tests.support.faroese_wiki import PAGES, REDIRECT, rows, zipped


def test_a_bad_page_is_reported_and_the_others_are_there(tmp_path):
    xml = dump_xml(PAGES).replace(b"<title>Gomul</title>", b"<title></title>")
    (tmp_path / "fo.xml").write_bytes(xml)
    report = extract(str(tmp_path / "fo.xml"), tmp_path / "fo.parquet")
    assert report.to_dict()["pages"]["bad"] == 1
    assert report.to_dict()["pages"]["read"] == len(PAGES) - 1
    assert report.to_dict()["faults"][0]["kind"] == "bad page"
    assert not report.truncated


def test_all_bad_pages_are_counted_and_the_first_are_told(tmp_path):
    bad = dump_xml([WrittenPage(f"Síða {n}", "") for n in range(30)])
    bad = bad.replace(b"<title>", b"<titel>")
    for name in ("a", "b"):
        (tmp_path / f"{name}.xml").write_bytes(bad)
    sources = Sources((str(tmp_path / "a.xml"), str(tmp_path / "b.xml")))
    told = extract(sources, tmp_path / "fo.parquet").to_dict()
    assert told["pages"]["bad"] == 60
    assert len(told["faults"]) == 20


def test_a_title_that_no_table_can_hold_is_a_bad_page(tmp_path):
    xml = dump_xml([*PAGES, WrittenPage("A\tB", "[[x]]", id=99)]).replace(b"A\tB", b"A&#9;B")
    (tmp_path / "fowiki.xml").write_bytes(xml)
    redirects = zipped(tmp_path / "redirect.sql.gz", REDIRECT.replace("'Suðuroy'", "'A\\tB'"))
    sources = Sources((str(tmp_path / "fowiki.xml"),), redirects=redirects)
    report = extract(sources, tmp_path / "fo.parquet", options=Options(titles=True))
    assert report.to_dict()["pages"]["bad"] == 1
    assert rows(tmp_path / "fo.parquet")["Havnina", "fo:Tórshavn"] == 1  # as the dump says


def test_what_is_no_wikitext_is_no_redirect_and_has_no_links(tmp_path):
    pages = [
        WrittenPage("Gadget.js", "#REDIRECT [[Tórshavn]]", model="javascript"),
        WrittenPage("Føroyar", "[[Gadget.js]]", timestamp="2024-01-01T00:00:00Z"),
        WrittenPage("Gamalt", "x", timestamp="2003-01-01T00:00:00Z"),
    ]
    report = extract(str(write_dump(tmp_path / "x.xml", pages)), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {("Gadget.js", "fo:Gadget.js"): 1}
    assert report.to_dict()["newest_revision"] == "2024-01-01T00:00:00Z"
    assert report.to_dict()["dump_date"] == "20240101"


def test_what_a_dump_does_not_say_is_found_out(tmp_path):
    xml = dump_xml([WrittenPage("Bólkur:Býir", "[[x]]"), WrittenPage("Føroyar", "[[y]]")])
    xml = b"\n".join(line for line in xml.split(b"\n") if b"<ns>" not in line)
    (tmp_path / "x.xml").write_bytes(xml.replace(b"[[y]]", b"[[y]]&nbsp;"))
    report = extract(str(tmp_path / "x.xml"), tmp_path / "fo.parquet")
    assert rows(tmp_path / "fo.parquet") == {("y", "fo:Y"): 1}
    assert report.to_dict()["pages"]["mended"] == 1


def test_links_and_titles_longer_than_any_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(read_part, "_MAX_LINK", 20)
    monkeypatch.setattr(read_part, "_MAX_LINK_BYTES", 40)  # each page is a table
    text = f"[[x|{'a' * 30}]] [[x|stutt]] [[x|stutt]]"
    pages = [WrittenPage("x", ""), WrittenPage("y", text), WrittenPage("z" * 1025, "[[x]]")]
    path = write_dump(tmp_path / "fo.xml", pages * 3)
    report = extract(str(path), tmp_path / "fo.parquet").to_dict()
    assert report["seen"] == {"links": 9}
    assert report["dropped"] == {"longer than a link may be": 3}
    assert rows(tmp_path / "fo.parquet") == {("stutt", "fo:X"): 6}
    assert report["pages"]["bad"] == 3
    assert all(len(fault["detail"]) < 120 for fault in report["faults"])
