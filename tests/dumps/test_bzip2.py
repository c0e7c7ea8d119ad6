"""Our decompression of bzip2 gives what the C library gives."""

import bz2
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from candgen.dumps.bzip2 import Decompressor, read_bits, read_block

LEVELS = st.integers(1, 9)
WORDS = st.sampled_from([b"a", b"ab", b"aaaa", b"\0", b"\xff", b"[[", bytes(range(256))])
REPETITIVE = st.lists(st.tuples(WORDS, st.integers(0, 600)), max_size=9).map(
    lambda pairs: b"".join(word * times for word, times in pairs)
)
TEXTS = REPETITIVE | st.binary(max_size=3000) | st.text(max_size=900).map(str.encode)
TEXT = b"Havnin eitur " + bytes(range(200)) + b"n" * 300
SMALL = bz2.compress(TEXT)


def decompressed(data, *, step=1 << 18):
    """The text of a stream that is handed over in steps, and what follows it."""
    decompressor = Decompressor()
    texts, at = [], 0
    while not decompressor.eof:
        taken = data[at : at + step] if decompressor.needs_input else b""
        at += len(taken)
        texts.append(decompressor.decompress(taken))
    return b"".join(texts), decompressor.unused_data + data[at:]


def outcome(decompress, data):
    """What a function makes of the data, or the kind of its error."""
    try:
        return decompress(data)
    except (OSError, EOFError, ValueError) as error:
        return type(error)


def from_c(data):
    decompressor = bz2.BZ2Decompressor()
    text = decompressor.decompress(data)
    if not decompressor.eof:
        raise EOFError
    return text, decompressor.unused_data


@given(TEXTS, LEVELS, st.binary(max_size=4), st.integers(1, 400))
@example(b"", 9, b"", 1)
@example(b"a", 1, b"BZh", 1)
@example(b"ab" * 500, 9, b"", 7)
@example(b"a" * 259, 9, b"", 7)
def test_a_stream_is_what_was_compressed_however_it_comes(text, level, behind, step):
    assert decompressed(bz2.compress(text, level) + behind, step=step) == (text, behind)


@pytest.mark.parametrize("kind", ["random", "equal", "periodic", "four", "words", "two bytes"])
@pytest.mark.parametrize("level", [1, 9])
def test_full_blocks(kind, level):
    random = Random(17)
    words = [random.randbytes(random.randrange(1, 9)) for _ in range(2000)]
    text = {
        "random": random.randbytes(2_000_000),
        "equal": b"x" * 5_000_000,
        "periodic": bytes(range(100)) * 15_000,
        "four": b"".join(bytes([byte % 256]) * 4 for byte in range(300_000)),
        "words": b" ".join(random.choices(words, k=300_000)),
        "two bytes": bytes(random.choices(b"ab", k=1_500_000)),
    }[kind]
    assert decompressed(bz2.compress(text, level)) == (text, b"")


def test_a_block_that_takes_more_than_usual_is_waited_for(monkeypatch):
    text = Random(3).randbytes(890_000)
    monkeypatch.setattr("candgen.dumps.bzip2._USUAL_BYTES", 1 << 10)
    assert decompressed(bz2.compress(text) + b"behind", step=1 << 9) == (text, b"behind")


def test_cut_off_anywhere():
    for length in range(len(SMALL)):
        with pytest.raises(EOFError):
            decompressed(SMALL[:length])


def test_a_wrong_bit_anywhere_is_noticed_or_does_no_harm():
    harmless = set()
    for bit in range(8 * len(SMALL)):
        wrong = bytearray(SMALL)
        wrong[bit // 8] ^= 0x80 >> bit % 8
        ours = outcome(decompressed, bytes(wrong))
        if isinstance(ours, tuple):
            assert ours == outcome(from_c, bytes(wrong)) == (TEXT, b""), bit
            harmless.add(bit // 8)
        else:
            assert outcome(from_c, bytes(wrong)) in (OSError, EOFError), bit
    # The size of blocks, how a longer block would have been "randomised", what fills up a byte.
    assert harmless <= {3, 14, len(SMALL) - 1}


@given(st.data())
def test_whatever_it_is_it_is_an_error_or_the_same_as_from_the_c_library(data):
    stream = bytearray(bz2.compress(data.draw(TEXTS), data.draw(LEVELS)))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(stream)))
        length = data.draw(st.integers(0, 6))
        stream[start : start + length] = data.draw(st.binary(max_size=6))
    ours = outcome(decompressed, bytes(stream))
    assert ours == outcome(from_c, bytes(stream)) or ours in (OSError, EOFError)
    if isinstance(ours, tuple):
        assert ours == from_c(bytes(stream))


def noise(number):
    """The start of a stream, or all of it, with some bytes that are wrong."""
    random = Random(number)
    stream = bytearray(bz2.compress(random.choice([TEXT, b"a" * 99, b"", random.randbytes(50)])))
    for _ in range(random.randrange(1, 5)):
        stream[random.randrange(4, len(stream))] = random.randrange(256)
    return bytes(stream[: random.randrange(20, 2 * len(stream))]) + random.randbytes(40)


def read_noise():
    for number in range(150):
        assert outcome(decompressed, noise(number)) == outcome(from_c, noise(number)) or (
            outcome(decompressed, noise(number)) in (OSError, EOFError)
        )
    sys.stdout.write("read\n")


def test_the_kernel_stays_within_its_arrays_whatever_it_reads():
    """Without compilation an index that is out of bounds is an IndexError."""
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import read_noise; read_noise()"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("read\n", 0), done.stderr


def test_bits():
    data = bytes.fromhex("314159265359")
    assert read_bits(data, 0, 48) == 0x314159265359
    assert [read_bits(data, first, 4) for first in range(0, 48, 4)] == [
        int(c, 16) for c in data.hex()
    ]
    assert read_bits(data, 3, 9) == int(f"{0x314159265359:048b}"[3:12], 2)


def test_a_block_is_read_at_any_bit():
    whole = bz2.compress(b"Velbastad" * 40)
    block = read_bits(whole, 32, 8 * len(whole) - 32)
    for shift in range(8):
        length = 8 * len(whole) - 32 + shift
        moved = (block << -length % 8).to_bytes((length + 7) // 8, "big")
        found = read_block(moved, shift)
        assert found is not None and found.text == b"Velbastad" * 40
        assert read_bits(moved, found.end, 48) == 0x177245385090
