"""The lines of Wikidata's dump, and the blocks of bzip2 that they lie in."""

import bz2
import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps.bzip2_parts import Damage, read_blocks
from candgen.wikidata import lines as wikidata_lines
from candgen.wikidata.lines import Chunk, DumpParts, Lines, split_lines
from tests.support import wikidata_world as world
from tests.support.wikidata_files import KINDS, LANGUAGES, extract, tables, write_dump

# Lines and parts


def lines_of(path, size, **options):
    cut = DumpParts(str(path), size=size, **options)
    found = [list(Lines(part)) for part in cut]
    return [line for part in found for line in part], len(found)


TEXT = b"[\n{a},\n\n{bcd},\n{e}\n]"


@pytest.mark.parametrize("text", [TEXT, TEXT + b"\n", b"\n" + TEXT, b"x", b"\n", b"a\n\n\nb\n"])
@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_any_parts(tmp_path, text, kind):
    path = write_dump(tmp_path, text, kind)
    expected = text.removesuffix(b"\n").split(b"\n")
    for size in range(1, 60):
        assert lines_of(path, size)[0] == expected
    assert lines_of(path, None) == (expected, 1)


def test_lines_of_streams_cut_at_every_byte(tmp_path):
    path = tmp_path / "dump.json.bz2"
    expected = TEXT.split(b"\n")
    for first in range(len(TEXT) + 1):
        second = (first + 5) % (len(TEXT) + 1)
        low, high = sorted((first, second))
        streams = [bz2.compress(each) for each in (TEXT[:low], TEXT[low:high], TEXT[high:])]
        path.write_bytes(b"".join(streams))
        for size in (1, 7, 20, 40, len(streams[0]), len(streams[0]) + len(streams[1])):
            assert lines_of(path, size)[0] == expected
    path.write_bytes(b"".join(bz2.compress(TEXT[at : at + 1]) for at in range(len(TEXT))))
    for size in range(1, 200, 3):
        assert lines_of(path, size)[0] == expected


@given(
    text=st.text(alphabet="ab\n", max_size=30).map(str.encode),
    cuts=st.lists(st.integers(0, 30), max_size=5),
    ends=st.lists(st.integers(0, 6), max_size=4),
)
def test_each_line_is_in_one_part_wherever_the_cuts_are(text, cuts, ends):
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    chunks = [text[a:b] for a, b in pairwise(bounds)]
    limits = sorted({0, len(chunks), *(end for end in ends if end < len(chunks))})
    found = []
    for start, end in pairwise(limits):
        given_ = [Chunk(data, start + at < end) for at, data in enumerate(chunks[start:])]
        found += split_lines(given_, from_middle=start > 0)
    expected = text.split(b"\n")
    assert found == (expected if expected[-1] else expected[:-1])


def test_a_line_that_is_too_long_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(wikidata_lines, "MAX_LINE", 2000)
    long = world.item(99, labels=world.texts(fo="x" * 3000))
    text = world.dump_of([world.BARE, long, world.TORSHAVN])
    for kind in KINDS:
        dump = write_dump(tmp_path, text, kind)
        report = extract(dump, tmp_path / kind, part_size=100)
        assert report.skipped["longer than a line may be"] == 1
        assert [bad["line"] for bad in report.bad_lines] == [3]
        assert report.counts["items"] == 2


def test_a_damaged_block_loses_itself_only(long_text, tmp_path):
    packed = bytearray(bz2.compress(long_text, 1))
    whole = list(read_blocks(io.BytesIO(packed), 0))
    packed[whole[2].start + 500] ^= 16
    found = list(read_blocks(io.BytesIO(bytes(packed)), 0))
    damage = Damage(whole[2].start, truncated=False)
    assert found == [*whole[:2], damage, *whole[3:]]
    (tmp_path / "dump.bz2").write_bytes(packed)
    report = extract(tmp_path / "dump.bz2", tmp_path / "made", part_size=10_000)
    assert report.faults == [f"a block at byte {damage.start} is damaged"]
    assert not report.complete
    assert not report.truncated
    lost = whole[2].data
    begins = b'{"type":"item"'
    assert report.counts["items"] >= long_text.count(begins) - lost.count(begins) - 2
    left = long_text.replace(lost, b"")
    assert tables(tmp_path / "made") == world.naive(left, LANGUAGES)
