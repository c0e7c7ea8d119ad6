"""The pages of a dump: all of them, once each, in order, wherever streams and parts are cut."""

import io
import re
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps.compressed_streams import DAMAGED, STDIN, TRUNCATED, Fault, Part, cut_into_parts
from candgen.errors import TableError
from candgen.wikipedia import pages as pages_module
from candgen.wikipedia.page_xml import Page
from candgen.wikipedia.pages import BAD_PAGE, CUT_PAGE, read_header, read_pages
from tests.support.dumps import (
    END,
    WrittenPage,
    compressed,
    cut,
    cut_every,
    dump_xml,
    header_xml,
    members,
    multistream,
    page_xml,
    pieces,
)

PAGES = [
    WrittenPage("Føroyar", 'Eitt <b>land</b> & "oyggjar"; &lt;page&gt; [[Havn|høvuðsstaður]]ur.'),
    WrittenPage("Fyrimynd:Land", "", 10),
    WrittenPage("Tórshavn", "#REDIRECT [[Havn]]", redirect="Havn"),
]
SMALL = {"namespaces": {0: "", 10: "Fyrimynd"}}
XML = dump_xml(PAGES, **SMALL)
HEADER = XML[: XML.index(b"</siteinfo>") + len(b"</siteinfo>")]
KINDS = (".xml", ".xml.gz", ".xml.bz2")
PAGE_FAULTS = {BAD_PAGE, CUT_PAGE}


def expected(xml):
    """The pages of sound XML, as ElementTree reads them."""
    root = ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b"", xml, count=1))
    for page in root.iter("page"):
        redirect = page.find("redirect")
        yield Page(
            id=int(page.findtext("id")),
            namespace=int(page.findtext("ns")),
            title=page.findtext("title"),
            redirect=None if redirect is None else redirect.get("title"),
            text=page.findall("revision")[-1].findtext("text").encode(),
            model=page.findtext("revision/model"),
            timestamp=page.findtext("revision/timestamp"),
        )


EXPECTED = list(expected(XML))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


def everything(data, folder, *, size=None):
    """What all parts of a file give: headers, pages, faults."""
    path = folder / "dump"
    path.unlink(missing_ok=True)  # some file systems wait for the disk if it is cut to nothing
    path.write_bytes(data)
    items = [item for part in cut_into_parts([str(path)], size=size) for item in read_pages(part)]
    kinds = (bytes, Page, Fault)
    return tuple([item for item in items if isinstance(item, kind)] for kind in kinds)


def kinds_of(faults):
    return [fault.kind for fault in faults]


def test_the_pages_that_the_tests_are_about():
    assert [(page.title, page.namespace, page.redirect) for page in EXPECTED] == [
        ("Føroyar", 0, None),
        ("Fyrimynd:Land", 10, None),
        ("Tórshavn", 0, "Havn"),
    ]
    assert [page.text.decode() for page in EXPECTED] == [page.text for page in PAGES]


@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("together", [1, 2, 100])
@pytest.mark.parametrize("suffix", KINDS)
def test_dumps_as_they_are_published(folder, suffix, together, size):
    data = compressed(pieces(PAGES, together=together, **SMALL), suffix)
    assert everything(data, folder, size=size) == ([HEADER], EXPECTED, [])


def test_two_streams_cut_at_every_byte(folder):
    for place in range(1, len(XML)):
        found = everything(multistream(cut(XML, place)), folder, size=1)
        assert found == ([HEADER], EXPECTED, []), place


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 8, 64])
def test_pages_over_many_streams_and_parts(folder, size):
    start = XML.index(b"<page>") - 20  # the header must be in the first part
    streams = [XML[:start], *cut_every(XML[start:], size)]
    assert everything(multistream(streams), folder, size=1) == ([HEADER], EXPECTED, [])
    assert everything(multistream(streams), folder, size=200) == ([HEADER], EXPECTED, [])


@given(
    places=st.lists(st.integers(0, len(XML)), max_size=8).map(sorted),
    suffix=st.sampled_from(KINDS),
    size=st.none() | st.integers(1, 400),
)
def test_streams_cut_anywhere_also_empty_ones(folder, places, suffix, size):
    data = compressed(cut(XML, *places), suffix)
    headers, found, faults = everything(data, folder, size=size)
    assert (found, faults) == (EXPECTED, [])
    assert headers in ([HEADER], [])


def test_the_header_is_that_of_the_first_part_even_where_it_goes_on_behind_it(folder):
    data = multistream(cut_every(XML, 100))
    assert everything(data, folder, size=1)[0] == [HEADER]


@pytest.mark.parametrize("suffix", KINDS)
def test_stdin(monkeypatch, suffix):
    data = compressed(pieces(PAGES, together=1, **SMALL), suffix)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert list(read_pages(*cut_into_parts([STDIN]))) == [HEADER, *EXPECTED]


def test_progress_tells_how_far_the_file_was_read(folder):
    data = multistream(pieces(PAGES, together=1, **SMALL))
    (folder / "dump").write_bytes(data)
    places = []
    list(read_pages(Part(str(folder / "dump")), progress=places.append))
    assert places == sorted(places)
    assert 0 < places[0] <= places[-1] == len(data)


def test_two_dumps_in_one_file_and_several_files(folder):
    assert everything(XML + XML, folder)[1:] == (EXPECTED * 2, [])
    one, two = folder / "one", folder / "two"
    one.write_bytes(XML)
    two.write_bytes(multistream([XML]))
    found = [item for part in cut_into_parts([str(one), str(two)]) for item in read_pages(part)]
    assert found == [HEADER, *EXPECTED] * 2


# -- cut off


@pytest.mark.parametrize("suffix", KINDS)
def test_cut_off_at_every_byte(folder, suffix):
    streams = pieces(PAGES, together=2, **SMALL)
    data = compressed(streams, suffix)
    ends = [match.end() for match in re.finditer(b"</page>", XML)]
    starts = [match.end() for match in re.finditer(b"<page>", XML)]
    shown = 0
    for length in range(1, len(data) + 1):
        headers, found, faults = everything(data[:length], folder)
        assert found == EXPECTED[: len(found)], length
        assert len(found) >= shown
        shown = len(found)
        complete = length == len(data) or (suffix == ".xml" and length == len(data) - 1)
        assert kinds_of(faults).count(TRUNCATED) == (not complete), length
        if suffix == ".xml":
            assert len(found) == sum(end <= length for end in ends), length
            begun = sum(start <= length for start in starts)
            assert kinds_of(faults).count(CUT_PAGE) == begun - len(found), length
            assert headers == ([HEADER] if length >= len(HEADER) else []), length
    assert shown == len(EXPECTED)


def test_a_truncated_stream_is_told_once_however_many_parts_come_to_it(folder):
    data = multistream(cut_every(XML, 300))[:-9]
    _, found, faults = everything(data, folder, size=1)
    assert kinds_of(faults).count(TRUNCATED) == 1
    assert found == EXPECTED


def test_a_dump_without_its_end(folder):
    _, found, faults = everything(multistream([XML.removesuffix(END)]), folder)
    assert found == EXPECTED
    assert kinds_of(faults) == [TRUNCATED]
    assert "</mediawiki>" in faults[0].detail


# -- damaged


@pytest.mark.parametrize("size", [None, 1])
def test_a_damaged_stream_costs_its_pages_only(folder, size):
    streams = [multistream([piece]) for piece in pieces(PAGES, together=1, **SMALL)]
    for number in (1, 2, 3):
        wrong = bytearray(streams[number])
        for at in range(len(wrong)):
            wrong[at] ^= 0x55
            data = b"".join([*streams[:number], bytes(wrong), *streams[number + 1 :]])
            headers, found, faults = everything(data, folder, size=size)
            wrong[at] ^= 0x55
            rest = EXPECTED[: number - 1] + EXPECTED[number:]
            end = len(wrong) - 11  # its bits are of the block and of what marks the end
            assert found == (EXPECTED if at > end or not faults else rest) or at == end
            # A wrong size of blocks, or a bit that fills up the last byte, does no harm.
            assert set(kinds_of(faults)) == {DAMAGED} or at in (3, len(wrong) - 1), (number, at)
            assert headers == [HEADER]


def test_a_page_that_goes_on_in_a_damaged_stream_is_told_as_is_the_stream(folder):
    place = XML.index("høvuðsstaður".encode())
    streams = [bytearray(multistream([piece])) for piece in cut(XML, place, place + 20)]
    streams[1][20] ^= 0xFF
    for size in (None, 1):
        _, found, faults = everything(b"".join(streams), folder, size=size)
        assert found == EXPECTED[1:]
        assert sorted(kinds_of(faults)) == [DAMAGED, CUT_PAGE]
        assert any("'Føroyar' has no end" in fault.detail for fault in faults)


@given(st.data())
def test_wrong_bytes_never_raise(folder, data):
    suffix = data.draw(st.sampled_from(KINDS))
    file = bytearray(compressed(pieces(PAGES, together=1, **SMALL), suffix))
    for _ in range(data.draw(st.integers(1, 5))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(1, len(file)))
    _, found, faults = everything(bytes(file[:end]), folder, size=data.draw(st.none() | st.just(1)))
    assert len(found) <= len(EXPECTED)
    if len(found) < len(EXPECTED) and suffix != ".xml":  # there a tag itself may be spoilt
        assert faults


@pytest.mark.parametrize("pack", [multistream, members])
def test_zeros_behind_the_end_do_no_harm_and_anything_else_is_told(folder, pack):
    data = pack(pieces(PAGES, **SMALL))
    assert everything(data + bytes(512), folder) == ([HEADER], EXPECTED, [])
    _, found, faults = everything(data + b"garbage", folder)
    assert (found, kinds_of(faults)) == (EXPECTED, [DAMAGED])


# -- XML that is not sound


FIRST, SECOND = page_xml(PAGES[0], 1), page_xml(PAGES[1], 2)


def around(*written):
    return header_xml(**SMALL) + b"".join(written) + END


def test_a_page_without_its_end_does_not_take_the_next_one_with_it(folder):
    unclosed = FIRST.replace(b"</page>", b"")
    for first in (unclosed, unclosed[: unclosed.index(b"</text>")], b"<page>", b"<page><title>"):
        _, found, faults = everything(around(first, SECOND), folder)
        assert found == EXPECTED[1:2]
        assert kinds_of(faults) == [CUT_PAGE]
    assert "a page without a title has no end" in faults[0].detail
    _, found, faults = everything(around(unclosed, b"<page></page>"), folder)
    assert not found
    assert kinds_of(faults) == [CUT_PAGE, BAD_PAGE]


def test_what_follows_a_page_without_its_end_is_read_by_the_part_that_it_is_in(folder):
    unclosed = FIRST.replace(b"</page>", b"")
    streams = [around()[: -len(END)], unclosed, SECOND, unclosed, unclosed + SECOND, END]
    _, found, faults = everything(multistream(streams), folder, size=1)
    assert found == [EXPECTED[1]] * 2
    assert kinds_of(faults) == [CUT_PAGE] * 3


def test_two_pages_that_are_glued_are_two_pages(folder):
    glued = FIRST.strip() + SECOND.strip()
    assert everything(around(glued), folder)[1:] == (EXPECTED[:2], [])


def test_what_stands_between_pages_is_left_out(folder):
    noise = b"\x00\xff </page> <pages> <page </text> & <!-- -->"
    assert everything(around(noise, FIRST, noise, SECOND, noise), folder)[1:] == (EXPECTED[:2], [])


def test_a_page_that_makes_no_sense_is_told_by_its_title(folder):
    nonsense = b"<page><title>Nes &amp; Mykines</title><revision/></nothing></page>"
    _, found, faults = everything(around(FIRST, nonsense, SECOND), folder)
    assert found == EXPECTED[:2]
    assert [(fault.kind, fault.detail) for fault in faults] == [
        (BAD_PAGE, "'Nes & Mykines' is not a valid page")
    ]
    assert faults[0].place.startswith("dump, before byte ")


def test_a_page_that_is_too_long(folder, monkeypatch):
    monkeypatch.setattr(pages_module, "MAX_PAGE", 5000)
    long = page_xml(WrittenPage("Langt", "[[a]] " * 5000), 3)
    # pages are looked for in what is read at a time, so the long one has reads of its own
    data = multistream([around()[: -len(END)], FIRST, *cut_every(long, 4000), SECOND, END])
    for size in (None, 1):
        _, found, faults = everything(data, folder, size=size)
        assert found == EXPECTED[:2]
        assert kinds_of(faults) == [CUT_PAGE]
        assert faults[0].detail == "'Langt' has no end in 5,000 bytes"


def test_many_starts_of_pages_take_little_time(folder, monkeypatch):
    read = []
    parse = pages_module.parse_page
    monkeypatch.setattr(pages_module, "parse_page", lambda raw: read.append(len(raw)) or parse(raw))
    for end in (b"</page>", b""):
        _, found, faults = everything(around(b"<page>" * 20_000, end), folder)
        assert not found
        assert len(faults) == 20_000
        assert set(kinds_of(faults)) <= PAGE_FAULTS
    assert len(read) <= 2


WRONG = {
    "an entity of HTML": FIRST.replace(b"[[", b"&nbsp;[["),
    "a bare ampersand": FIRST.replace(b"[[", b"& [["),
    "an ampersand in the title": FIRST.replace("Føroyar".encode(), b"R&B"),
    "a control character": FIRST.replace(b"[[", b"\x01[["),
    "a reference to one": FIRST.replace(b"[[", b"&#1;[["),
    "a NUL": FIRST.replace(b"[[", b"\x00[["),
    "bytes that are no UTF-8": FIRST.replace(b"[[", b"\xff\xc3[["),
    "such bytes in the title": FIRST.replace(b"<title>F", b"<title>\xff"),
    "markup": FIRST.replace(b"&lt;", b"<").replace(b"&gt;", b">"),
    "a wrong tag": FIRST.replace(b"<minor />", b"<minor>"),
}


@pytest.mark.parametrize("raw", WRONG.values(), ids=WRONG)
def test_a_page_of_which_little_is_wrong_is_read_nevertheless(folder, raw):
    _, found, faults = everything(around(raw, SECOND), folder)
    assert not faults
    assert len(found) == 2
    assert "[[Havn|høvuðsstaður]]ur" in found[0].text.decode("utf-8", "replace")
    assert found[0][:2] == (1, 0)
    assert found[1] == EXPECTED[1]


FRAGMENTS = st.sampled_from(
    [
        FIRST,
        SECOND,
        *WRONG.values(),
        FIRST.replace(b"</page>", b""),
        FIRST.replace(b"</text>", b""),
        FIRST.replace(b"<title>", b""),
        FIRST.replace(b"<page>", b""),
        FIRST[: len(FIRST) // 2],
        b"<page>",
        b"</page>",
        b"<text>",
        b"</text>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"<",
    ]
)


@given(
    written=st.lists(FRAGMENTS, max_size=6),
    places=st.lists(st.integers(0, 9000), max_size=4).map(sorted),
    suffix=st.sampled_from(KINDS),
)
def test_no_page_is_lost_without_a_word(folder, written, places, suffix):
    xml = around(*written)
    data = compressed(cut(xml, *places), suffix)
    _, found, faults = everything(data, folder, size=1)
    assert set(kinds_of(faults)) <= PAGE_FAULTS
    assert len(found) + len(faults) == xml.count(b"<page>")


# -- what is no dump


def test_the_header_of_a_file(folder):
    (folder / "dump").write_bytes(multistream(cut(XML, 50)))
    assert read_header(str(folder / "dump")) == HEADER


@pytest.mark.parametrize(
    "data",
    [
        b"Bara ein tekstur.\n" * 9,
        b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(100),
        multistream([b"INSERT INTO `page` VALUES (1,0,'x');"]),
        members([b"text"]),
        XML[:-200].replace(b"</siteinfo>", b""),
        b"\n",
    ],
    ids=["text", "7z", "bz2", "gz", "no siteinfo", "a line"],
)
def test_what_is_no_dump_has_no_header(folder, data):
    path = folder / "dump"
    path.write_bytes(data)
    with pytest.raises(TableError, match="does not begin as a dump of MediaWiki does"):
        read_header(str(path))


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"BZh", "the file ends in the middle"), (b"BZh91AY&SY" + bytes(40), "a block is damaged")],
    ids=["cut off", "damaged"],
)
def test_where_the_header_cannot_be_read_it_is_said_why(folder, data, why):
    path = folder / "dump"
    path.write_bytes(data)
    with pytest.raises(TableError, match=f"dump cannot be read, {why}.*: download it again"):
        read_header(str(path))


def test_a_header_that_never_ends_is_not_read_for_ever(folder, monkeypatch):
    monkeypatch.setattr(pages_module, "MAX_HEADER", 4000)
    endless = XML.replace(b"</siteinfo>", b"<x/>" * 3000) + b"</siteinfo>"
    headers, found, faults = everything(multistream(cut_every(endless, 2000)), folder)
    assert (headers, found, faults) == ([], EXPECTED, [])


def test_pages_are_not_taken_for_a_part_of_the_header(folder):
    headless = XML[len(HEADER) :]
    headers, found, faults = everything(headless + XML, folder)
    assert (headers, found, faults) == ([], EXPECTED * 2, [])
