"""The text of a link that a reader sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.wikipedia.markup.anchors import apply_pipe_trick, prepare, strip_markup, strip_quotes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("''a'' '''b'''", "a b"),
        ("'''a''", "'a"),
        ("dell'''Eneide''", "dell'Eneide"),
        ("a '''b c'''d''", "a b cd"),
        ("a b'''c '''d '''e''", "a b'c d e"),
        ("''''a''''", "'a'"),
        ("'''''''a'''''", "''a"),
        ("''a", "a"),
        ("a'b'c", "a'b'c"),
    ],
)
def test_quotes(line, expected):
    assert strip_quotes(line) == expected


@given(st.text(alphabet="ab '", max_size=30))
def test_quotes_take_nothing_but_quotes(line):
    assert strip_quotes(line).replace("'", "") == line.replace("'", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<ref>b</ref>c<ref/>d<ref name=x>e</ref >f", "acdf"),
        ("a<ref>b", "a<ref>b"),
        ("<nowiki>a<!-- b --></nowiki>", "a&#60;!-- b --&#62;"),
        ("a<!-- <nowiki> -->b</nowiki>", "ab</nowiki>"),
        ("a<!--", "a"),
        ("<nowiki/>a<ref", "a<ref"),
        ("<references>a</references>", "<references>a</references>"),
    ],
)
def test_notes_comments_and_nowiki_are_prepared(text, expected):
    assert prepare(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<br>b<BR />c<wbr>d", "a b cd"),
        ("[http://x y z] [//x w] [mailto:x v] [x u]", "y z w v [x u]"),
        (
            "&lt;b&gt; &bogus; &#0; &#xD800; &#x110000; &#00000000065;",
            "<b> &bogus; &#0; &#xD800; &#x110000; A",
        ),
        ("1 < 2 > 0", "1 < 2 > 0"),
    ],
)
def test_what_is_seen(text, expected):
    assert strip_markup(text) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Help:A (b)", "A"),
        (":Help:A", "A"),
        (":A (b)", "A"),
        ("A (b) (c)", "A"),
        ("A (b), C", "A"),
        ("A، B", "A"),
        ("(a)", "(a)"),
        ("A&amp;B (c)", "A&B"),
        ("", ""),
    ],
)
def test_the_pipe_trick(target, expected):
    assert apply_pipe_trick(target) == expected
