"""Titles as MediaWiki makes them."""

import bz2
import html
import re
import time
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Title, Titles

NAMES = {
    -2: "Miðil",
    -1: "Serstakt",
    1: "Kjak",
    2: "Brúkari",
    3: "Brúkarakjak",
    4: "Wikipedia",
    5: "Wikipedia-kjak",
    6: "Mynd",
    10: "Fyrimynd",
    14: "Bólkur",
    15: "Bólkakjak",
}


@cache
def titles_of(language="fo", project="wiki", case="first-letter"):
    spaces = "".join(f'<namespace key="{key}">{name}</namespace>' for key, name in NAMES.items())
    header = (
        f'<mediawiki xml:lang="{language}"><siteinfo><dbname>{language}{project}</dbname>'
        f"<case>{case}</case><namespaces>{spaces}</namespaces></siteinfo>"
    )
    return Titles(Site.from_xml(header.encode()))


INVALID, INTERWIKI, SECTION = Reason.INVALID, Reason.INTERWIKI, Reason.SECTION
MAIN = [
    ("Tórshavn", "Tórshavn", "as it stands"),
    ("tórshavn", "Tórshavn", "the first letter is a capital"),
    ("tórshavn Havn", "Tórshavn Havn", "only the first letter"),
    (" Tórshavn ", "Tórshavn", "white space at the ends"),
    ("_Tórs__ _havn_", "Tórs havn", "underscores are spaces"),
    ("a\xa0b\u2003c\u3000d", "A b c d", "every kind of space"),
    ("a  b", "A b", "two spaces are one"),
    ("a\u200bb", "A\u200bb", "a space of no width is a letter"),
    ("a\u200eb\u202ac\u200f", "Abc", "marks of direction are removed"),
    ("e\u0301a", "Éa", "composed"),
    ("e\u200e\u0301a", "Éa", "composed when the mark between has gone"),
    ("Føroyar#Søga", "Føroyar", "the section is cut"),
    ("Føroyar #Søga", "Føroyar", "and the space before it"),
    ("Føroyar#", "Føroyar", "an empty section too"),
    ("A#b#c", "A", "at the first mark"),
    (":Føroyar", "Føroyar", "one colon before is removed"),
    (": Føroyar", "Føroyar", "with the space behind it"),
    ("2001: A Space Odyssey", "2001: A Space Odyssey", "no namespace is named 2001"),
    ("2001 : a", "2001 : a", "where nothing is a namespace, nothing changes"),
    ("Star Wars: Mynd:x", "Star Wars: Mynd:x", "only the first colon counts"),
    ("AT&amp;T", "AT&T", "named"),
    ("AT&#38;T", "AT&T", "decimal"),
    ("AT&#x26;T", "AT&T", "hexadecimal"),
    ("AT&amp;amp;T", "AT&T", "escaped twice"),
    ("AT&T", "AT&T", "an ampersand is a letter"),
    ("a &; b", "A &; b", "this names nothing"),
    ("&eacute;t&eacute;", "Été", "decoded before the first letter is looked at"),
    ("a&nbsp;b", "A b", "a space like others"),
    ("T%C3%B3rshavn", "Tórshavn", "percent-encoded"),
    ("100% b", "100% b", "a percent sign is a letter"),
    ("a%20b%23c", "A b", "an encoded section is cut"),
    ("a+b", "A+b", "a plus sign is not a space"),
    ("/sub", "/sub", "articles have no subpages"),
    ("a/b", "A/b", "a slash is a letter"),
    (".NET", ".NET", "a dot is a letter"),
    ("...", "...", "three dots are no path"),
    ("a/.b", "A/.b", "a hidden file is no path"),
    ("~~", "~~", "two tildes are no signature"),
    ("ßx", "ßx", "no single capital"),
    ("ǆx", "ǅx", "a digraph's title case"),
    ("აბ", "აბ", "Georgian has none in titles"),
    ("ⅳ", "ⅳ", "numbers stay"),
    ("film:x", "Film:x", "Film is neither namespace nor wiki"),
    ("fo:tórshavn", "Tórshavn", "the wiki itself"),
    ("FO: tórshavn", "Tórshavn", "in any case"),
    ("a" * 255, "A" + "a" * 254, "as long as may be"),
    ("é" * 127, "É" + "é" * 126, "254 bytes"),
    ("\x85x", "\x85x", "MediaWiki allows control characters beyond ASCII"),
]


@pytest.mark.parametrize(("text", "title", "why"), MAIN)
def test_articles(text, title, why):
    assert titles_of().parse(text) == Title(0, title), why


OTHER = [
    ("Mynd:x.jpg", 6, "Mynd:X.jpg"),
    ("mynd : x.jpg", 6, "Mynd:X.jpg"),
    (" MYND:_x.jpg", 6, "Mynd:X.jpg"),
    ("File:x.jpg", 6, "Mynd:X.jpg"),
    ("image:x.jpg", 6, "Mynd:X.jpg"),
    ("Media:x.jpg", -2, "Miðil:X.jpg"),
    (":Bólkur:Kommunur í Føroyum", 14, "Bólkur:Kommunur í Føroyum"),
    ("b\u00f3lkur:x", 14, "Bólkur:X"),
    ("bo\u0301lkur:x", 14, "Bólkur:X"),
    ("B&oacute;lkur:x", 14, "Bólkur:X"),
    ("Project:x", 4, "Wikipedia:X"),
    ("wikipedia_talk:x", 5, "Wikipedia-kjak:X"),
    ("User_talk:x#y", 3, "Brúkarakjak:X"),
    ("Help:x", 12, "Help:X"),
    ("fo:Mynd:x", 6, "Mynd:X"),
    ("Mynd:Mynd:x", 6, "Mynd:Mynd:x"),
    ("Mynd:en:x", 6, "Mynd:En:x"),
    ("Kjak:Tórshavn: x", 1, "Kjak:Tórshavn: x"),
    ("Special:" + "a" * 512, -1, "Serstakt:A" + "a" * 511),
    ("Category:" + "a" * 255, 14, "Bólkur:A" + "a" * 254),
]


@pytest.mark.parametrize(("text", "namespace", "title"), OTHER)
def test_other_namespaces(text, namespace, title):
    assert titles_of().parse(text) == Title(namespace, title)


NONE = [
    ("", INVALID, "empty"),
    (" ", INVALID, "empty"),
    ("_", INVALID, "empty"),
    (":", INVALID, "empty"),
    ("\u200e", INVALID, "empty"),
    ("Mynd:", INVALID, "a namespace alone"),
    ("Mynd: #x", INVALID, "a namespace alone"),
    ("fo:", INVALID, "the main page, which we do not know"),
    ("#Søga", SECTION, "a section"),
    ("#", SECTION, "the top of the page"),
    (" :#Søga", SECTION, "a section"),
    ("%23x", SECTION, "a section"),
    ("fo:#x", SECTION, "a section"),
    ("en:Foo", INTERWIKI, "a language"),
    (":en:Foo", INTERWIKI, "with a colon"),
    ("EN : Foo", INTERWIKI, "in any case"),
    ("en:", INTERWIKI, "its main page"),
    ("zh-min-nan:x", INTERWIKI, "a hyphen"),
    ("wikt:en:x", INTERWIKI, "a chain"),
    ("fo:en:x", INTERWIKI, "a chain that begins here"),
    ("w:fo:x", INTERWIKI, "a chain"),
    ("d:Q42", INTERWIKI, "a project"),
    ("en:a<b", INVALID, "not a link at all"),
    ("a<b", INVALID, "a letter that may not be"),
    ("a>b", INVALID, "a letter that may not be"),
    ("a[b", INVALID, "a letter that may not be"),
    ("a]b", INVALID, "a letter that may not be"),
    ("a{b", INVALID, "a letter that may not be"),
    ("a}b", INVALID, "a letter that may not be"),
    ("a|b", INVALID, "a letter that may not be"),
    ("a\nb", INVALID, "a line break"),
    ("a\tb", INVALID, "a tab"),
    ("a\x00b", INVALID, "NUL"),
    ("a\x7fb", INVALID, "delete"),
    ("a\ufffdb", INVALID, "what could not be decoded"),
    ("a\ud800b", INVALID, "half a character"),
    ("a#b\nc", INVALID, "nor in the section"),
    ("a&lt;b", INVALID, "encoded"),
    ("a%3Cb", INVALID, "encoded"),
    ("a%7Cb", INVALID, "encoded"),
    ("a%FFb", INVALID, "not UTF-8"),
    ("a&#0;b", INVALID, "NUL"),
    ("a&#xD800;b", INVALID, "half"),
    ("a&#x110000;b", INVALID, "no character"),
    ("a&#" + "9" * 5000 + ";b", INVALID, "no character"),
    ("a%2541b", INVALID, "looks encoded still"),
    ("a&nosuchname;b", INVALID, "looks encoded still"),
    ("a&שלום;b", INVALID, "looks encoded still"),
    (".", INVALID, "a path"),
    ("..", INVALID, "a path"),
    ("./x", INVALID, "a path"),
    ("../x", INVALID, "a path"),
    ("x/./y", INVALID, "a path"),
    ("x/../y", INVALID, "a path"),
    ("x/.", INVALID, "a path"),
    ("x/..", INVALID, "a path"),
    ("Mynd:../x", INVALID, "a path"),
    ("a~~~b", INVALID, "a signature"),
    ("::a", INVALID, "two colons"),
    ("Mynd::a", INVALID, "two colons"),
    ("fo::a", INVALID, "two colons"),
    ("Kjak:Mynd:x", INVALID, "the talk of a file is elsewhere"),
    ("Talk:File:x", INVALID, "likewise"),
    ("Kjak:en:x", INVALID, "the talk of another wiki"),
    ("Kjak:fo:x", INVALID, "likewise"),
    ("a" * 256, INVALID, "too long"),
    ("é" * 128, INVALID, "too long in bytes"),
    ("Special:" + "a" * 513, INVALID, "too long"),
]


@pytest.mark.parametrize(("text", "reason", "why"), NONE)
def test_what_is_no_title_here(text, reason, why):
    assert titles_of().parse(text) is reason, why


def test_wikis_that_keep_small_letters():
    titles = titles_of(project="wiktionary", case="case-sensitive")
    assert titles.parse("hundur") == Title(0, "hundur")
    assert titles.parse("hundur_x") == Title(0, "hundur x")
    assert titles.parse("mynd:x.jpg") == Title(6, "Mynd:x.jpg")
    assert titles.parse("user:anna") == Title(2, "Brúkari:Anna"), "users always have a capital"


def test_turkic_wikis():
    assert titles_of("tr").parse("istanbul") == Title(0, "İstanbul")
    assert titles_of("az").parse("ilham: x") == Title(0, "İlham: x")
    assert titles_of("tr").parse("image:izmir.jpg") == Title(6, "Mynd:İzmir.jpg")
    assert titles_of("tr").parse("İMAGE:x") == Title(6, "Mynd:X")
    assert titles_of("kk").parse("istanbul") == Title(0, "Istanbul")


def test_codes_that_another_language_has():
    titles = titles_of("als")
    assert titles.parse("als:bern") == titles.parse("gsw:bern") == Title(0, "Bern")
    assert titles_of("fo").parse("als:bern") is INTERWIKI


def test_keys_of_the_database():
    titles = titles_of()
    assert titles.from_database(0, "Føroya_Løgting") == "Føroya Løgting"
    assert titles.from_database(6, "Foo_bar.jpg") == "Mynd:Foo bar.jpg"
    assert titles.from_database(14, "a") == "Bólkur:a"
    assert titles.from_database(1234, "A_b") == "Special:Badtitle/NS1234:A b"


PIECES = st.sampled_from(
    [
        *(
            "a",
            "Z",
            "i",
            "ı",
            "İ",
            "ß",
            "é",
            "e\u0301",
            "\u0307",
            "ſ",
            "\u212a",
            "ა",
            "ǆ",
            "a" * 120,
        ),
        *(":", "#", "&", ";", "amp", "&amp;", "&lt;", "&#x", "%", "25", "%C3", "%A9", "_", " "),
        *("\xa0", "\u200e", ".", "/", "..", "~", "~~~", "\ufffd", "\n", "|", "\ud800"),
        *("fo", "en", "Mynd", "mynd", "Kjak", "Bólkur", "Talk", "File", "user", "Special"),
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))


@pytest.mark.parametrize("titles", [titles_of(), titles_of("tr"), titles_of("en")])
@given(text=TEXTS)
@example(text="ımage:x")
@example(text="i\u0307a")
@example(text="ɐ" + "a" * 253)
def test_any_text_has_an_answer_and_a_title_stays_itself(titles, text):
    answer = titles.parse(text)
    if isinstance(answer, Title):
        assert titles.parse(answer.text) == answer
        assert not re.search(r"[\x00-\x1f\x7f<>\[\]{}|#_\ufffd]|  |^ | $", answer.text)
        assert len(answer.text.encode()) <= 255 or answer.namespace != 0
    else:
        assert answer in {INVALID, INTERWIKI, SECTION}


@given(text=TEXTS)
def test_the_short_way_and_the_long_way_agree(text):
    titles = titles_of()
    assert titles.parse(text) == titles._parse_any(text)


@pytest.mark.parametrize(
    "stem",
    [
        "elwiki-202305-first100k-lines",
        "fowiki-two-pages",
        "hywiki-202305-first100k-lines",
        "mrwiki-202305-first100k-lines",
    ],
)
def test_the_titles_of_real_pages_are_titles(shared_data, stem):
    with bz2.open(shared_data / "dumps" / f"{stem}.xml.bz2") as file:
        dump = file.read()
    titles = Titles(Site.from_xml(dump[: 1 << 17]))
    pages = re.findall(rb"<title>(.*?)</title>\s*<ns>(-?\d+)</ns>", dump)
    assert len(pages) > 1
    for raw, namespace in pages:
        title = html.unescape(raw.decode())
        assert titles.parse(title) == Title(int(namespace), title)


@pytest.mark.parametrize("text", ["fo:" * 1_000_000, "a" + "\u0301\u0323" * 200_000])
def test_a_text_longer_than_any_title_takes_no_time(text):
    """Own prefixes were cut off one by one, and Unicode sorts accents: both took hours."""
    start = time.process_time()
    assert titles_of().parse(text) is INVALID
    assert titles_of().parse("a#" + text) == Title(0, "A")
    assert time.process_time() - start < 5
