"""The kernel that decompresses a block of bzip2.

A block was made in four steps: repeated bytes became a byte and a number, all bytes were sorted by
what follows them, each became its place in a list of those seen last, and the places became codes
of few bits. Here they are undone, the last first.

Undoing the sorting takes longest: byte after byte is looked up in another corner of an array that
is larger than the processor's nearest memory. So the text is followed in many pieces at a time,
from one marked row to the next, and the waits for memory overlap.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.kernels import kernel

BLOCK = 900_000
"""No block has more bytes before its repeated bytes are written out."""
PADDING = 512
"""So many bytes behind the data may be read, and mean nothing."""
MORE, BAD = -1, -2

_CODES = 6  # sets of codes that a block may have
_SYMBOLS = 258  # two for repetitions, 255 places, and the end
_LONGEST = 20  # bits of a code
_QUICK = 10  # bits of a code that is looked up at once
_GROUP = 50  # symbols in a row that use the same set of codes
_MARKS = 256  # rows that a piece of the text begins with
_LANES = 32  # pieces that are followed at the same time
_ROOM = 1 << 12  # bytes that a lane gets for its pieces, again and again
_ROOMS = BLOCK // _ROOM + 1 + _LANES
_MARK = np.uint32(1 << 31)
_BYTE, _SHIFT, _ROW = np.uint32(0xFF), np.uint32(8), np.uint32(0xFFFFF)
_RUN = 4  # equal bytes, after which a number tells how many more there are
_EXPANDED = BLOCK // (_RUN + 1) * (_RUN + 255)


class Space(NamedTuple):
    """Arrays for one block after the other."""

    out: npt.NDArray[np.uint8]
    """The decompressed bytes."""
    rows: npt.NDArray[np.uint32]
    """A byte of the text, which row has the next one, and whether a piece begins here."""
    text: npt.NDArray[np.uint8]
    pieces: npt.NDArray[np.uint8]
    """Pieces of the text, as they were found."""
    marks: npt.NDArray[np.int64]
    """The rows that the first pieces begin with; others go on with one that had no more room."""
    begins: npt.NDArray[np.int64]
    """Where each piece lies, its length, and the piece that follows it in the text."""
    sizes: npt.NDArray[np.int64]
    followers: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    """How often each byte occurs, and then its next row."""
    recent: npt.NDArray[np.uint8]
    """Bytes, the one that was seen last first."""
    selectors: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.uint8]
    """Bits of the code of each symbol, in each set of codes."""
    quick: npt.NDArray[np.uint16]
    """A symbol and the bits of its code, by the next bits; 0 if these are not all of it."""
    limits: npt.NDArray[np.int64]
    """Codes of so many bits, followed by zeros to make 20 of them, are less than this."""
    offsets: npt.NDArray[np.int64]
    """What makes a code of so many bits a place in ``ordered``."""
    ordered: npt.NDArray[np.int64]


def new_space() -> Space:
    """Reserve the memory; what a block does not need is never touched."""
    return Space(
        out=np.empty(_EXPANDED, dtype=np.uint8),
        rows=np.empty(BLOCK, dtype=np.uint32),
        text=np.empty(BLOCK, dtype=np.uint8),
        pieces=np.empty(_ROOMS * _ROOM, dtype=np.uint8),
        marks=np.empty(_MARKS, dtype=np.int64),
        begins=np.empty(_MARKS + _ROOMS, dtype=np.int64),
        sizes=np.empty(_MARKS + _ROOMS, dtype=np.int64),
        followers=np.empty(_MARKS + _ROOMS, dtype=np.int64),
        counts=np.empty(256, dtype=np.int64),
        recent=np.empty(256, dtype=np.uint8),
        selectors=np.empty(1 << 15, dtype=np.uint8),
        lengths=np.empty((_CODES, _SYMBOLS), dtype=np.uint8),
        quick=np.empty((_CODES, 1 << _QUICK), dtype=np.uint16),
        limits=np.empty((_CODES, _LONGEST + 1), dtype=np.int64),
        offsets=np.empty((_CODES, _LONGEST + 1), dtype=np.int64),
        ordered=np.empty((_CODES, _SYMBOLS), dtype=np.int64),
    )


@kernel
def decode_block(data, bit, most, space):
    """Decompress what follows a block's marker and checksum; returns its length and the next bit.

    The length is MORE if the data ends before the block does, and BAD if it is not a block.
    ``most`` is how many bytes a block of this stream may have.
    """
    end = 8 * (len(data) - PADDING)
    origin = _bits(data, bit + 1, 24)
    bit, used = _read_bytes_used(data, bit + 25, space)
    status, bit, selectors = _read_codes(data, bit, used, space)
    length = 0
    if not status:
        status, bit, length = _read_symbols(data, bit, used, selectors, most, space)
    if bit > end:  # whatever it was that was read there
        return MORE, end
    if status or origin >= length:
        return BAD, bit
    _link(space.rows, length, space.counts)
    _mark_and_follow(length, space)
    _put_together(length, np.int64(space.rows[origin] >> _SHIFT & _ROW), space)
    return _expand(space.text[:length], space.out), bit


@kernel
def _next_bits(data, bit):
    """Return at least the next 25 bits, and zeros to make 32 of them."""
    at = bit >> 3
    four = (
        np.uint32(data[at]) << 24
        | np.uint32(data[at + 1]) << 16
        | np.uint32(data[at + 2]) << 8
        | np.uint32(data[at + 3])
    )
    return np.uint32(four << (bit & 7))


@kernel
def _bits(data, bit, count):
    return np.int64(_next_bits(data, bit) >> np.uint32(32 - count))


@kernel
def _fill(array, first, last, value):
    for i in range(first, last):
        array[i] = value


@kernel
def _move_to_front(array, place):
    """Move the byte at a place to the front; returns it."""
    value = array[place]
    while place > 0:
        array[place] = array[place - 1]
        place -= 1
    array[0] = value
    return value


@kernel
def _read_bytes_used(data, bit, space):
    """Read which bytes occur, sixteen groups of sixteen; they are the first that count as seen."""
    groups = _bits(data, bit, 16)
    bit += 16
    used = 0
    for group in range(16):
        if groups >> (15 - group) & 1:
            members = _bits(data, bit, 16)
            bit += 16
            for member in range(16):
                if members >> (15 - member) & 1:
                    space.recent[used] = 16 * group + member
                    used += 1
    return bit, used


@kernel
def _read_codes(data, bit, used, space):
    """Read the sets of codes, and which group of symbols uses which."""
    end = 8 * (len(data) - PADDING)
    sets = _bits(data, bit, 3)
    selectors = _bits(data, bit + 3, 15)
    bit += 18
    if used == 0 or not 2 <= sets <= _CODES or selectors == 0:
        return BAD, bit, 0
    order = np.empty(_CODES, dtype=np.uint8)
    for number in range(_CODES):
        order[number] = number
    for group in range(selectors):
        place = 0
        while place < sets and _bits(data, bit, 1):
            place += 1
            bit += 1
        bit += 1
        if place == sets or bit > end:
            return BAD, bit, 0
        space.selectors[group] = _move_to_front(order, place)
    for number in range(sets):
        length = _bits(data, bit, 5)
        bit += 5
        for symbol in range(used + 2):
            while _bits(data, bit, 1) and bit <= end:
                length += -1 if _bits(data, bit + 1, 1) else 1
                bit += 2
            bit += 1
            if not 1 <= length <= _LONGEST or bit > end:
                return BAD, bit, 0
            space.lengths[number, symbol] = length
        _make_codes(number, used + 2, space)
    return 0, bit, selectors


@kernel
def _make_codes(number, symbols, space):
    """Give codes to symbols by their lengths: the shortest first, and then in their own order."""
    quick = space.quick[number]
    _fill(quick, 0, 1 << _QUICK, 0)
    code = placed = 0
    for length in range(1, _LONGEST + 1):
        space.offsets[number, length] = placed - code
        for symbol in range(symbols):
            if space.lengths[number, symbol] == length:
                space.ordered[number, placed] = symbol
                placed += 1
                if length <= _QUICK:
                    rest = _QUICK - length
                    last = min(code + 1, 1 << length)  # a damaged block may have more of them
                    _fill(quick, code << rest, last << rest, symbol << 5 | length)
                code += 1
        space.limits[number, length] = code << (_LONGEST - length)
        code <<= 1


@kernel
def _read_symbols(data, bit, used, selectors, most, space):
    """Read the sorted bytes and count them; returns where they end and how many they are."""
    end = 8 * (len(data) - PADDING)
    rows, counts, recent = space.rows, space.counts, space.recent
    _fill(counts, 0, 256, 0)
    length = 0
    run, weight = 0, 1  # a number of repetitions, in digits that are 1 or 2
    for group in range(selectors):
        if bit > end:
            break
        number = space.selectors[group]
        quick = space.quick[number]
        for _ in range(_GROUP):
            following = _next_bits(data, bit)
            found = np.int64(quick[following >> np.uint32(32 - _QUICK)])
            if found:
                symbol = found >> 5
                bit += found & 31
            else:
                code = np.int64(following >> np.uint32(32 - _LONGEST))
                bits = _QUICK + 1
                while bits <= _LONGEST and code >= space.limits[number, bits]:
                    bits += 1
                if bits > _LONGEST:
                    return BAD, bit + _LONGEST, 0
                at = space.offsets[number, bits] + (code >> (_LONGEST - bits))
                symbol = space.ordered[number, at]
                bit += bits
            if symbol <= 1:
                run += int(weight << symbol)
                weight <<= 1
                if length + run > most:
                    return BAD, bit, 0
                continue
            if run:
                counts[recent[0]] += run
                _fill(rows, length, length + run, recent[0])
                length += run
                run, weight = 0, 1
            if symbol == used + 1:
                return 0, bit, length
            if length == most:
                return BAD, bit, 0
            byte = _move_to_front(recent, symbol - 1)
            counts[byte] += 1
            rows[length] = byte
            length += 1
    return BAD, bit, 0


@kernel
def _link(rows, length, counts):
    """Write into each row which one has the next byte."""
    before = 0
    for byte in range(256):
        counts[byte], before = before, before + counts[byte]
    for row in range(length):
        byte = rows[row] & _BYTE
        at = counts[byte]
        counts[byte] = at + 1
        rows[at] |= np.uint32(row) << _SHIFT


@kernel
def _mark_and_follow(length, space):
    """Follow the text from every marked row up to the next that it meets."""
    rows, out = space.rows, space.pieces
    marks = min(_MARKS, length)
    for mark in range(marks):
        space.marks[mark] = mark * length // marks
        rows[space.marks[mark]] |= _MARK
    lanes = begun = rooms = min(_LANES, marks)
    pieces = marks
    at = np.empty(_LANES, dtype=np.uint32)  # the next row of each lane, where its byte goes
    place = np.empty(_LANES, dtype=np.int64)
    mine = np.empty(_LANES, dtype=np.int64)  # and the piece that it is of
    for lane in range(lanes):
        mine[lane] = lane
        space.begins[lane] = lane * _ROOM
        row = rows[space.marks[lane]]
        out[lane * _ROOM] = row & _BYTE
        at[lane] = row >> _SHIFT & _ROW
        place[lane] = lane * _ROOM + 1
    lane = 0
    while lanes:
        row, to = rows[at[lane]], place[lane]
        if not to & (_ROOM - 1):
            _end_piece(mine[lane], to, pieces, space)
            mine[lane] = pieces
            pieces += 1
            space.begins[mine[lane]] = to = rooms * _ROOM
            rooms += 1
        if row & _MARK:
            _end_piece(mine[lane], to, _piece_at(at[lane], marks, space.marks), space)
            if begun == marks:
                lanes -= 1
                at[lane], place[lane], mine[lane] = at[lanes], place[lanes], mine[lanes]
                lane = 0
                continue
            mine[lane] = begun
            begun += 1
            space.begins[mine[lane]] = to
            row = rows[space.marks[mine[lane]]]
        out[to] = row & _BYTE
        at[lane] = row >> _SHIFT & _ROW
        place[lane] = to + 1
        lane += 1
        if lane == lanes:
            lane = 0


@kernel
def _end_piece(piece, end, follower, space):
    space.sizes[piece] = end - space.begins[piece]
    space.followers[piece] = follower


@kernel
def _piece_at(row, count, marks):
    """Return the piece that begins with a marked row; the marks are in order."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if marks[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _put_together(length, row, space):
    """Put the pieces into the order of the text, which begins at a row.

    A text that repeats itself may have less than its length in the pieces that follow each other,
    and goes round.
    """
    rows, text = space.rows, space.text
    made = 0
    while made < length and not rows[row] & _MARK:
        text[made] = rows[row] & _BYTE
        row = np.int64(rows[row] >> _SHIFT & _ROW)
        made += 1
    piece = _piece_at(row, min(_MARKS, length), space.marks)
    while made < length:
        size = min(space.sizes[piece], length - made)
        begin = space.begins[piece]
        for i in range(size):
            text[made + i] = space.pieces[begin + i]
        made += size
        piece = space.followers[piece]


@kernel
def _expand(text, out):
    """Write out repeated bytes; returns how many bytes there are."""
    made = run = 0
    last = text[0]
    for byte in text:
        if run == _RUN:
            _fill(out, made, made + byte, last)
            made += byte
            run = 0
        else:
            run = run + 1 if byte == last and run else 1
            last = byte
            out[made] = byte
            made += 1
    return made
