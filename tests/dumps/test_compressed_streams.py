"""Dump files become bytes of XML, in parts, whatever was cut off or damaged."""

import io
import os
import sys
import zlib
from bz2 import BZ2Decompressor, compress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.dumps import compressed_streams
from candgen.dumps.compressed_streams import (
    DAMAGED,
    STDIN,
    TRUNCATED,
    Fault,
    Part,
    Reading,
    cut_into_parts,
    read,
)
from candgen.errors import TableError
from tests.support.dumps import WrittenPage, compressed, cut, dump_xml, members, multistream

XML = dump_xml([WrittenPage("Føroyar", "[[Tórshavn]]" * 9), WrittenPage("Land", "")])
KINDS = (".xml", ".xml.gz", ".xml.bz2")
PIECES = st.lists(st.binary(max_size=40), min_size=1, max_size=12)


@pytest.fixture
def written(tmp_path):
    def write(data, name="fo.xml"):
        path = tmp_path / name
        path.unlink(missing_ok=True)  # some file systems wait for the disk if it is cut to nothing
        path.write_bytes(data)
        return str(path)

    return write


def outcome(part):
    """What a part gives from inside it, what follows, and the faults."""
    items = list(read(part))
    readings = [item for item in items if isinstance(item, Reading)]
    inside = b"".join(reading.data for reading in readings if reading.inside)
    behind = b"".join(reading.data for reading in readings if not reading.inside)
    return inside, behind, [item for item in items if isinstance(item, Fault)]


def kinds_of(faults):
    return [fault.kind for fault in faults]


@pytest.mark.parametrize("suffix", KINDS)
def test_a_file_is_read_whole_and_its_place_is_known(written, suffix):
    data = compressed(cut(XML, 100, 1000), suffix)
    items = list(read(Part(written(data))))
    assert b"".join(item.data for item in items) == XML
    places = [item.at for item in items]
    assert places == sorted(places)
    assert places[-1] <= len(data) and all(item.inside for item in items)


@given(PIECES)
def test_parts_cover_a_file_and_begin_with_its_streams(tmp_path_factory, pieces):
    path = tmp_path_factory.getbasetemp() / "parts.xml.bz2"
    path.write_bytes(multistream(pieces))
    found = cut_into_parts([str(path)], size=1)
    lengths = [len(multistream([piece])) for piece in pieces]
    starts = [sum(lengths[:number]) for number, piece in enumerate(pieces) if piece]
    assert [part.start for part in found] == sorted({0, *starts})
    assert [part.end for part in found] == [*(part.start for part in found[1:]), sum(lengths)]
    outcomes = [outcome(part) for part in found]
    assert b"".join(inside for inside, _, _ in outcomes) == b"".join(pieces)
    for number, (_, behind, faults) in enumerate(outcomes):
        assert behind == b"".join(inside for inside, _, _ in outcomes[number + 1 :])
        assert not faults


def test_an_empty_reading_comes_before_what_is_behind_the_part(written):
    first, *_ = cut_into_parts([written(multistream([b"<a>", b"<b>"]))], size=1)
    assert [(item.data, item.inside) for item in read(first)] == [
        (b"<a>", True),
        (b"", False),
        (b"<b>", False),
    ]


@given(PIECES, st.integers(1, 30), st.integers(1, 30), st.sampled_from(KINDS))
def test_however_much_is_read_at_a_time(tmp_path_factory, pieces, taken, made, suffix):
    path = tmp_path_factory.getbasetemp() / "small"
    path.write_bytes(compressed([b"<", *pieces], suffix))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressed_streams, "_READ_BYTES", taken)
        patch.setattr(compressed_streams, "_MAX_OUTPUT", made)
        inside, behind, faults = outcome(Part(str(path)))
    assert inside == b"<" + b"".join(pieces)
    assert not behind and not faults


@pytest.mark.parametrize("suffix", KINDS)
def test_a_stream_that_makes_just_as_much_as_is_asked_for_is_whole(written, monkeypatch, suffix):
    monkeypatch.setattr(compressed_streams, "_MAX_OUTPUT", 10)
    for length in range(1, 31):
        pieces = [b"<" * 20, b">" * length]
        assert outcome(Part(written(compressed(pieces, suffix)))) == (b"".join(pieces), b"", [])


def test_a_gzip_stream_that_makes_very_much_is_given_bit_by_bit(written, monkeypatch):
    monkeypatch.setattr(compressed_streams, "_MAX_OUTPUT", 1 << 16)
    zeros = b"<" + bytes(1 << 20)
    items = list(read(Part(written(members([zeros, b">"])))))
    assert b"".join(item.data for item in items) == zeros + b">"
    assert max(len(item.data) for item in items) == 1 << 16


def test_a_bzip2_stream_that_makes_very_much_is_given_block_by_block(written):
    zeros = b"<" + bytes(100 << 20)
    lengths = [len(item.data) for item in read(Part(written(multistream([zeros]))))]
    assert sum(lengths) == len(zeros)
    assert max(lengths) < 47_000_000


def test_a_stream_of_several_blocks(written):
    noise = Random(0).randbytes(1 << 20)
    data = compress(noise, 1)
    assert len(data) > 2 * compressed_streams._READ_BYTES
    assert outcome(Part(written(data))) == (noise, b"", [])


def test_large_files_have_large_parts(written, monkeypatch):
    path = written(multistream([bytes([65 + number]) for number in range(20)]))
    assert len(cut_into_parts([path])) == 1
    monkeypatch.setattr(compressed_streams, "MIN_PART", 1)
    assert len(cut_into_parts([path])) == 20
    monkeypatch.setattr(compressed_streams, "MAX_PARTS", 4)
    assert len(cut_into_parts([path])) == 4


def test_files_that_cannot_be_cut_have_one_part(written):
    plain, gzipped = written(XML), written(members(cut(XML, 100)), "fo.xml.gz")
    assert cut_into_parts([plain, gzipped, STDIN], size=1) == [
        Part(plain, 0, len(XML)),
        Part(gzipped, 0, len(members(cut(XML, 100)))),
        Part(STDIN),
    ]
    assert Part(STDIN).name == "stdin"
    assert Part(plain).name == "fo.xml"


def test_what_is_no_file(tmp_path, written):
    with pytest.raises(TableError, match="does not exist: check the name"):
        cut_into_parts([str(tmp_path / "absent")])
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        cut_into_parts([str(tmp_path)])
    with pytest.raises(TableError, match=r"empty, expected a dump"):
        cut_into_parts([written(b"")])
    with pytest.raises(TableError, match="does not exist"):
        next(read(Part(str(tmp_path / "absent"))))


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names here")
def test_a_pipe_that_has_a_name_is_refused():
    reading, writing = os.pipe()
    with pytest.raises(TableError, match="is a pipe, expected a file: let - read it"):
        cut_into_parts([f"/dev/fd/{reading}"])
    os.close(reading)
    os.close(writing)


def available(data, suffix):
    """What the standard library makes of data that may be cut off."""
    if suffix == ".xml":
        return data
    made = b""
    while data:
        stream = BZ2Decompressor() if suffix == ".xml.bz2" else zlib.decompressobj(wbits=31)
        made += stream.decompress(data)
        data = stream.unused_data if stream.eof else b""
    return made


@pytest.mark.parametrize("most", [1 << 20, 7])
@pytest.mark.parametrize("suffix", KINDS[1:])
def test_cut_off_at_every_byte(written, monkeypatch, suffix, most):
    monkeypatch.setattr(compressed_streams, "_MAX_OUTPUT", most)
    pieces = cut(XML[:700], 300, 301)
    data = compressed(pieces, suffix)
    whole = {len(compressed(pieces[:number], suffix)) for number in range(len(pieces) + 1)}
    for length in range(4, len(data) + 1):
        inside, _, faults = outcome(Part(written(data[:length])))
        assert inside == available(data[:length], suffix)
        assert kinds_of(faults) == ([] if length in whole else [TRUNCATED]), length


def damaged(pieces, number, at, change):
    """A bzip2 file of which one byte is not what it was."""
    streams = [bytearray(multistream([piece])) for piece in pieces]
    streams[number][at % len(streams[number])] ^= change
    return b"".join(streams)


def is_in_order(pieces, data):
    at = 0
    for piece in pieces:
        at = data.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


@pytest.mark.parametrize("change", [0xFF, 0x01, 0x80])
def test_one_wrong_byte_costs_one_stream(written, change):
    pieces = [b"<first>", b"<second>" * 9, b"<third>", b"<fourth>"]
    for at in range(len(multistream(pieces[1:2]))):
        path = written(damaged(pieces, 1, at, change))
        inside, _, faults = outcome(Part(path))
        assert is_in_order([pieces[0], *pieces[2:]], inside), at
        assert set(kinds_of(faults)) <= {DAMAGED}, at
        assert faults or inside == b"".join(pieces), at
        by_part = [outcome(part) for part in cut_into_parts([path], size=1)]
        assert b"".join(found for found, _, _ in by_part) == inside


@given(PIECES, st.data())
def test_wrong_bytes_anywhere_never_raise(tmp_path_factory, pieces, data):
    suffix = data.draw(st.sampled_from(KINDS))
    file = bytearray(compressed(pieces, suffix))
    for _ in range(data.draw(st.integers(1, 4))):
        if file:
            file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "wrong"
    path.write_bytes(bytes(file) + data.draw(st.binary(max_size=12)))
    _, behind, faults = outcome(Part(str(path)))
    assert not behind
    assert set(kinds_of(faults)) <= {DAMAGED, TRUNCATED}


@pytest.mark.parametrize("length", range(1, 40))
def test_the_next_stream_is_found_wherever_reads_end(written, monkeypatch, length):
    monkeypatch.setattr(compressed_streams, "_READ_BYTES", 16)
    data = multistream([b"<first>"]) + b"BZh9" + b"-" * length + multistream([b"<last>"])
    inside, _, faults = outcome(Part(written(data)))
    assert (inside, kinds_of(faults)) == (b"<first><last>", [DAMAGED])


def test_a_damaged_stream_that_seems_to_go_on_to_the_end_hides_no_other(written):
    noise = multistream([Random(0).randbytes(9000)])
    data = noise[:5000] + multistream([b"<last>"])
    inside, _, faults = outcome(Part(written(data)))
    assert (inside, kinds_of(faults)) == (b"<last>", [DAMAGED])
    _, _, (fault,) = outcome(Part(written(noise[:5000])))
    assert fault.kind == TRUNCATED


@pytest.mark.parametrize("pack", [multistream, members])
def test_what_follows_the_last_stream(written, pack):
    data = pack([b"<a>", b"<b>"])
    assert outcome(Part(written(data + bytes(1000)))) == (b"<a><b>", b"", [])
    inside, _, faults = outcome(Part(written(data + b"\n<!-- by me -->")))
    assert (inside, kinds_of(faults)) == (b"<a><b>", [DAMAGED])
    assert f"byte {len(data)}" in faults[0].place
    inside, _, faults = outcome(Part(written(data + bytes(9) + b"x")))
    assert (inside, kinds_of(faults)) == (b"<a><b>", [DAMAGED])


class Pipe(io.RawIOBase):
    """Bytes that can be read once."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._data.readinto(buffer)


def piped(data, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(data))))
    return outcome(*cut_into_parts([STDIN]))


@pytest.mark.parametrize("suffix", KINDS)
def test_stdin(monkeypatch, suffix):
    assert piped(compressed(cut(XML, 100, 1000), suffix), monkeypatch) == (XML, b"", [])


def test_a_damaged_stream_in_a_pipe_costs_only_that_stream(monkeypatch):
    pieces = [b"<first>", b"<second>" * 9, b"<third>"]
    inside, _, faults = piped(damaged(pieces, 1, 20, 0xFF), monkeypatch)
    assert (inside, kinds_of(faults)) == (b"<first><third>", [DAMAGED])
    inside, _, faults = piped(damaged(pieces, 1, 1, 0xFF), monkeypatch)
    assert (inside, kinds_of(faults)) == (b"<first><third>", [DAMAGED])
