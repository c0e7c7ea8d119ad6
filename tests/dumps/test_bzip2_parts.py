"""Blocks of bzip2 found and decompressed from any byte of a file on."""

import bz2
import io

import pytest

from candgen.dumps import bzip2_parts
from candgen.dumps.bzip2_parts import Damage, read_blocks
from tests.support.wikidata_files import many_items


@pytest.fixture(scope="module")
def long_text():
    return many_items(1500)


def test_blocks_of_a_single_stream(long_text):
    for level in (1, 9):
        packed = bz2.compress(long_text, level)
        found = list(read_blocks(io.BytesIO(packed), 0))
        assert b"".join(block.data for block in found) == long_text
        assert (len(found) > 3) == (level == 1)
        for at, block in enumerate(found):
            assert next(read_blocks(io.BytesIO(packed), block.start)) == block
            later = list(read_blocks(io.BytesIO(packed), block.start + 1))
            assert later == found[at + 1 :]


def test_blocks_around_the_ends_of_what_is_read_at_once(long_text, monkeypatch):
    packed = bz2.compress(long_text[:150_000], 1)
    expected = list(read_blocks(io.BytesIO(packed), 0))
    for size in [*range(1, 14), 1000, len(packed) - 9, len(packed) - 1]:
        monkeypatch.setattr("candgen.dumps.bzip2_parts._READ_BYTES", max(size, 40))
        assert list(read_blocks(io.BytesIO(packed), 0)) == expected


def test_bits_that_look_like_a_block(long_text, monkeypatch):
    """It happens once in hundreds of dumps, so the bits that announce a block are made common."""
    packed = bz2.compress(long_text[:90_000], 1)
    (block,) = read_blocks(io.BytesIO(packed), 0)
    inside = bzip2_parts.Marker(8 * 5000 + 3, True)
    found = bzip2_parts._Window._search
    monkeypatch.setattr(
        bzip2_parts._Window,
        "_search",
        lambda window, position: sorted([*found(window, position), inside]),
    )
    assert list(read_blocks(io.BytesIO(packed), 0)) == [block]


def test_a_hole_is_not_kept_in_memory(long_text, monkeypatch):
    monkeypatch.setattr(bzip2_parts, "_MAX_GAP", 200_000)
    monkeypatch.setattr(bzip2_parts, "_READ_BYTES", 50_000)
    packed = bz2.compress(long_text[:90_000], 1)
    (block,) = read_blocks(io.BytesIO(packed), 0)
    held = []
    found = bzip2_parts._Window._search

    def watched(window, position):
        held.append(len(window._data))
        return found(window, position)

    monkeypatch.setattr(bzip2_parts._Window, "_search", watched)
    hole = bytes(2_000_000)
    around = list(read_blocks(io.BytesIO(packed + hole + packed), 0))
    assert [each.data for each in around] == [block.data] * 2
    inside = list(read_blocks(io.BytesIO(packed[:-20] + hole + packed), 0))
    assert inside == [
        Damage(block.start, truncated=False),
        around[1]._replace(start=around[1].start - 20),
    ]
    assert max(held) < 300_000
