"""Many links at once are read as each by itself would be."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from candgen.wikipedia.markup.fast_links import PlainLinkReader
from candgen.wikipedia.markup.link_counter import Slices
from candgen.wikipedia.markup.links import Link, LinkReader
from candgen.wikipedia.markup.site import Site
from tests.support.wikitext_cases import CASES, site_of

READERS = {language: LinkReader(site_of(language)) for language in ("fo", "mr", "tr", "zh")}
CASE_SENSITIVE = LinkReader(
    Site.from_xml(
        b"<mediawiki xml:lang='en'><siteinfo><dbname>enwiktionary</dbname>"
        b"<case>case-sensitive</case></siteinfo>"
    )
)
# Letters that compose, have long capitals or none, are marks, spaces, beyond the first 65,536 ...
LETTERS = "aiıßßǆﬁåÅe\u0301\u0323क\u093c\u094dا가\u1100\u1161𝄞Ω\u2126 ._'\u200e\u00a0\u3000-0"
TEXTS = st.text(st.sampled_from(LETTERS) | st.characters(), max_size=8)
RAWS = st.one_of(
    st.builds("[[{}]]{}".format, TEXTS, TEXTS),
    st.builds("[[{}|{}]]{}".format, TEXTS, TEXTS, TEXTS),
    st.builds("{}[[{}]]".format, TEXTS, TEXTS),
    TEXTS,
).map(lambda text: text.encode("utf-8", "surrogatepass"))


def one_by_one(reader, raws):
    read = reader.read_many(Slices.of(raws))
    found = dict(read.dropped)
    rows = zip(read.places, read.titles.to_pylist(), read.mentions.to_pylist(), strict=True)
    found |= {int(place): Link(title, mention) for place, title, mention in rows}
    assert sorted(found) == list(range(len(raws)))
    return [found[place] for place in range(len(raws))]


@pytest.mark.parametrize("language", READERS)
@given(raws=st.lists(RAWS | st.binary(max_size=12), max_size=8))
@example(
    raws=[b"[[a]]", b"[[]]", b"", b"[[a|b]]c", b"[[.a]]", b"[[a|b]", b"[[" + b"a" * 64 + b"]]"]
)
@example(raws=["[[ı]]".encode(), "[[e\u0323\u0301]]".encode(), "[[e\u0301\u0323]]".encode()])
def test_is_what_each_by_itself_is(language, raws):
    reader = READERS[language]
    assert one_by_one(reader, raws) == [reader.read(raw) for raw in raws]


def test_first_letters_stay_where_the_wiki_wants_it():
    assert one_by_one(CASE_SENSITIVE, [b"[[dog]]"]) == [Link("dog", "dog")]


def test_all_cases():
    for case in CASES:
        reader = READERS.get(case.language) or LinkReader(site_of(case.language))
        raws = reader.raw_links(case.text.encode())
        assert tuple(one_by_one(reader, raws)) == case.expected, case.why


def test_other_namespaces_are_not_taken_for_articles():
    reader = LinkReader(site_of("fo"), namespaces=(14,))
    raws = [b"[[a]]", "[[:Bólkur:b]]".encode()]
    assert one_by_one(reader, raws) == [reader.read(raw) for raw in raws]


def test_most_links_of_a_page_are_plain():
    raws = ["[[Føroyar]]".encode(), "[[føroyar|oyggjarnar 18]]nar".encode(), b"[[a#b]]"]
    read = PlainLinkReader(str.capitalize).read(Slices.of(raws))
    assert read.plain.tolist() == [True, True, False]
    assert read.titles.to_pylist() == ["Føroyar", "Føroyar"]
    assert read.mentions.to_pylist() == ["Føroyar", "oyggjarnar 18nar"]


def test_no_links():
    assert one_by_one(READERS["fo"], []) == []
