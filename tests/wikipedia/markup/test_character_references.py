"""Character references, compared with what Python's own decoder of HTML makes of them."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.wikipedia.markup.character_references import decode_references


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("&amp;amp;", "&amp;"),
        ("&nbsp;&oslash;&CounterClockwiseContourIntegral;", "\xa0ø∳"),
        ("&nosuchname; &; & &#; &#x; &#12", "&nosuchname; &; & &#; &#x; &#12"),
        ("&#65;&#x41;&#X00041;&#0000000000065;", "AAAA"),
        ("&#0;", "(0)"),
        ("&#99999999;", "(99999999)"),
        ("&#123456789;&#xffffffffff;", "(-1)(-1)"),
        ("&#" + "9" * 5000 + ";", "(-1)"),
        ("&#7;", "&#7;"),
    ],
)
def test_by_hand(text, decoded):
    def decode(number):
        if number == 7:
            return None
        return chr(number) if 32 <= number < 0x110000 else f"({number})"

    assert decode_references(text, decode) == decoded


@given(st.lists(st.sampled_from([*"&#x;a7 ", "amp", "lt;", "&#x41;", "&quot;"]), max_size=12))
def test_whole_references_are_those_of_html(parts):
    text = "".join(parts)
    found = decode_references(text, lambda number: html.unescape(f"&#{number};"))
    without_semicolon = html.unescape(text)
    if ";" not in text or "&" not in text:
        assert found == text
    assert html.unescape(found) in {without_semicolon, html.unescape(without_semicolon)}
