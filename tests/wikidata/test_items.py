"""A line of the dump is an item or has a reason why not; reading it never raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.wikidata.items import SkipReason, read_item
from candgen.wikidata.names import Selection
from tests.support import wikidata_world as world


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (world.BAD[0], SkipReason.ENCODING),
        (world.BAD[1], SkipReason.JSON),
        (world.BAD[2], SkipReason.SHAPE),
        (world.BAD[3], SkipReason.SHAPE),
        (world.BAD[4], SkipReason.JSON),
        (world.BAD[5], SkipReason.SHAPE),
        (b"{}", SkipReason.SHAPE),
        (b"null", SkipReason.SHAPE),
        (b'{"id": "Q1"} {"id": "Q2"}', SkipReason.JSON),
        (b'{"id": 10704}', SkipReason.SHAPE),
        (b'{"id": "Q0"}', SkipReason.SHAPE),
        (b'{"type": "item", "id": "P31"}', SkipReason.SHAPE),
        (b'{"id": "Q1", "claims": [1]}', SkipReason.SHAPE),
        (b'{"id": "Q1", "n": ' + b"9" * 5000 + b"}", SkipReason.JSON),
        (b'{"id": "P31"}', SkipReason.PROPERTY),
        (b'{"type": "property", "id": "P31"}', SkipReason.PROPERTY),
        (b'{"type": "lexeme", "id": "L7"}', SkipReason.LEXEME),
        (b'{"type": "form", "id": "L7-F1"}', SkipReason.OTHER),
        (b'{"type": "mediainfo", "id": "M7"}', SkipReason.OTHER),
        (b'{"entity": "Q1", "redirect": "Q2"}', SkipReason.REDIRECT),
        (b'{"type": ["item"], "id": "Q1"}', SkipReason.OTHER),
    ],
)
def test_what_is_no_item(line, reason):
    assert read_item(line) is reason


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "type", "labels", "claims", "P31", "fo", "value", "mainsnak"]
                ),
                inner,
                max_size=4,
            )
        ),
    ).map(
        lambda value: json.dumps(
            {"type": "item", "id": "Q1", "x": value} | (value if isinstance(value, dict) else {})
        ).encode()
    )
)
def test_a_line_never_raises(line):
    from candgen.wikidata.names import ItemDescriber

    item = read_item(line)
    if not isinstance(item, SkipReason):
        ItemDescriber(Selection(languages=("fo",), mul=True)).describe(item)


def test_classes_of_an_item():
    assert read_item(world.encoded(world.PARIS)).instance_of == ("Q95074", "Q4271324")
    assert read_item(world.encoded(world.TORSHAVN)).instance_of == ("Q515", "Q5119")
