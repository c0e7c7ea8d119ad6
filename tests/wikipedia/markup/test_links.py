"""Where links are wanted, what becomes of odd bytes, and where redirects lead."""

import pytest

from candgen.wikipedia.markup.links import Link, LinkReader
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.titles import Title
from tests.support.wikitext_cases import site_of

FAROESE = site_of("fo")
PAGE = "[[p]]{{t|[[t]]}}<ref>[[r]]</ref>\n{|\n|[[b]]{{u|[[u]]}}<ref>[[s]]</ref>\n|}\n[[e]]"


def mentions(text, **options):
    links = LinkReader(FAROESE, **options).links(text.encode())
    return "".join(link.mention if isinstance(link, Link) else "?" for link in links)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "ptrbuse"),
        ({"templates": False}, "prbse"),
        ({"refs": False}, "ptbue"),
        ({"tables": False}, "ptre"),
        ({"templates": False, "refs": False, "tables": False}, "pe"),
    ],
)
def test_links_in_templates_notes_and_tables_can_be_left_out(options, expected):
    assert mentions(PAGE, **options) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{t [[a]]", "a"),
        ("[[a]] }} [[b]]", "ab"),
        ("{{t}} [[a]] {{t}}", "a"),
        ("{{{x|[[a]]}}} [[b]]", "b"),
        ("{{{{t|[[a]]}}}} [[b]]", "b"),
        ("{{a|{{b}}[[c]]}}", ""),
        ("{{a|<ref>}}[[b]]</ref>[[c]]}}[[d]]", "d"),
        ("{{a|<nowiki>}}</nowiki>[[b]]}}[[c]]", "c"),
        ("{{a|<!-- }} -->[[b]]}}[[c]]", "c"),
        ("{{a\n|}}[[b]]", "b"),
    ],
)
def test_only_closed_templates_are_templates(text, expected):
    assert mentions(text, templates=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{|\n[[a]]", "a"),
        ("x {|\n[[a]]\n|}", "a"),
        ("{|\n[[a]]\nx |}", "a"),
        (":: {|\n[[a]]\n |}[[b]]", "b"),
        ("{|\n[[a]]\n{|\n[[b]]\n|}\n[[c]]\n|}\n[[d]]", "d"),
        ("{|\n{|\n[[a]]\n|}[[b]]", "b"),
        ("{{t|\n{|\n[[a]]\n|}\n[[b]]}}", "b"),
        ("{|\n[[a]]\n{{t\n|}}\n[[b]]\n|}[[c]]", "c"),
        ("{|\n[[a]]\n|}}[[b]]", "b"),
    ],
)
def test_only_closed_tables_are_tables(text, expected):
    assert mentions(text, tables=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<ref>[[a]]", "a"),
        ("<ref name=x/>[[a]]<ref>[[b]]</ref>", "a"),
        ("<REF name=x >[[a]]</Ref\n>[[b]]", "b"),
        ("<references><ref>[[a]]</ref></references>[[b]]", "b"),
        ("<ref>[[a]]<!-- </ref>[[b]]", "b"),
        ("<reference>[[a]]</reference>", "a"),
    ],
)
def test_only_closed_notes_are_notes(text, expected):
    assert mentions(text, refs=False) == expected


def test_namespaces_can_be_asked_for():
    reader = LinkReader(FAROESE, namespaces=(0, 12, 14))
    text = "[[a]] [[Help:b|c]] [[:Bólkur:d]] [[Bólkur:e]] [[:Mynd:f.jpg]]".encode()
    assert reader.links(text) == [
        Link("A", "a"),
        Link("Help:B", "c"),
        Link("Bólkur:D", "Bólkur:d"),
        Reason.CATEGORY,
        Reason.NAMESPACE,
    ]


def test_raw_links_are_the_bytes_of_the_page():
    page = "x[[Føroyar|''F'']]nar [[a|{{t|[[b]]s}}]] [[Mynd:x|y [[c]]z]] [[d|[e]]]f".encode()
    assert LinkReader(FAROESE).raw_links(page) == [
        "[[Føroyar|''F'']]nar".encode(),
        b"[[a|{{",
        b"[[b]]s",
        b"[[Mynd:x|",
        b"[[c]]z",
        b"[[d|[e]]]f",
    ]


@pytest.mark.parametrize("text", [b"", b"[", b"[[", b"a", b"\x00", b"[[\xff]]", b"\xff[[a]]\xff"])
def test_odd_bytes_are_no_reason_to_raise(text):
    for link in LinkReader(site_of("ar")).links(text):
        assert link in (Reason.INVALID, Link("A", "a"))


@pytest.mark.parametrize("letter", [b"\xc1\xa1", b"\xe0\x81\xa1", b"\xed\xa0\x80", b"\xf5\x80"])
def test_what_is_not_utf8_is_no_trail_and_no_prefix(letter):
    reader = LinkReader(site_of("ar"))
    assert reader.raw_links(letter + b"[[a]]" + letter) == [b"[[a]]"]


def test_a_broken_title_is_not_legal():
    assert LinkReader(FAROESE).read(b"[[a\xff|b]]") is Reason.INVALID


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#REDIRECT [[Tórshavn]]", Title(0, "Tórshavn")),
        ("#redirect[[tórshavn#Søga|x]] more", Title(0, "Tórshavn")),
        (" \n#Redirect : [[Bólkur:x]]", Title(14, "Bólkur:X")),
        ("#REDIRECT [[:Bólkur:x]]", Title(14, "Bólkur:X")),
        ("#REDIRECT [[T%C3%B3rshavn]]", Title(0, "Tórshavn")),
        ("#REDIRECT [[is:Ísland]]", Reason.INTERWIKI),
        ("#REDIRECT [[a{{b]]", Reason.INVALID),
        ("#REDIRECT [[#a]]", Reason.SECTION),
        ("#REDIRECT [[a\nb]]", None),
        ("#REDIRECT [[a", None),
        ("#REDIRECT a", None),
        ("#REDIRECTS [[a]]", None),
        ("#REDIRECT to [[a]]", None),
        ("<!-- x -->#REDIRECT [[a]]", None),
        ("a #REDIRECT [[a]]", None),
        ("[[a]]", None),
        ("", None),
    ],
)
def test_redirects(text, expected):
    assert LinkReader(FAROESE).redirect_target(text.encode()) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "#WEITERLEITUNG [[A]]"),
        ("mr", "#पुनर्निर्देशन [[A]]"),
        ("tr", "#YÖNLENDİRME [[A]]"),
        ("tr", "#yönlendirme [[A]]"),
        ("ar", "#تحويل [[A]]"),
    ],
)
def test_redirects_in_the_words_of_the_wiki(language, text):
    assert LinkReader(site_of(language)).redirect_target(text.encode()) == Title(0, "A")
