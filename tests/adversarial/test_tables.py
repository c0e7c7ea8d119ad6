"""Tables from strangers: bombs, columns without end, deep JSON, odd files, and fuzzed bytes.

Files are read in a process of its own, whose address space is limited: a file is read, or refused
in one sentence that names it; the process never ends, and its memory stays small.
"""

import gzip
import json
import os
import random
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

from tests.adversarial.readers import Readers
from tests.support.commands import is_refusal, process, snapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, for the memory")

MIB = 1 << 20
TRIALS = int(os.environ.get("CANDGEN_TRIALS", "40"))
SEED = int(os.environ.get("CANDGEN_SEED", "0"))
"""How many mutations of each file are tried, and the random seed of the mutations."""

HEADER = b"mention\tentity\n"
ROWS = (b"a name of some length, the same each time, to be packed well\tQ1\n" * (MIB // 64))[
    :-1
] + b"\n"


@pytest.fixture(scope="module")
def readers():
    with Readers() as made:
        yield made


def packed(path, *pieces):
    """Write a gzip file of one member."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        file.writelines(packer.compress(piece) for piece in pieces)
        file.write(packer.flush())
    return path


def members(path, *pieces):
    """Write a gzip file of a member for each piece."""
    cache: dict[bytes, bytes] = {}
    with path.open("wb") as file:
        for piece in pieces:
            if piece not in cache:
                cache[piece] = gzip.compress(piece)
            file.write(cache[piece])
    return path


def three_gigabytes(folder, start, piece):
    """3 GB, in less than 15 MB."""
    path = members(folder / "bomb.gz", start, *[piece * 16] * (3 * 64))
    assert path.stat().st_size < 15 * MIB
    return path


ROW, TABLE = "--max-row-size", "--max-table-size"


@pytest.mark.parametrize(
    ("reader", "suffix", "start", "piece", "said"),
    [
        ("mentions", ".tsv.gz", HEADER, b"x" * MIB, ("line 2 has more than 1 MiB", ROW)),
        ("mentions", ".tsv.gz", b"", bytes(MIB), ("line 1 has more than 1 MiB", ROW)),
        ("mentions", ".tsv.gz", HEADER, ROWS, ("has more than", "unpacked (line", TABLE)),
        (
            "mentions",
            ".jsonl.gz",
            b'{"mention": "',
            b"x" * MIB,
            ("line 1 has more than 1 MiB", ROW),
        ),
        ("entities", ".tsv.gz", b"entity\tname\n", ROWS, ("has more than", TABLE)),
        ("entities", ".jsonl.gz", b'{"entity": "', b"x" * MIB, ("line 1 has more than 1 MiB", ROW)),
        ("queries", ".tsv.gz", HEADER, b"x" * MIB, ("line 2 has more than 1 MiB", ROW)),
        ("target", ".txt.gz", b"", b"x" * MIB, ("line 1 has more than 1 MiB", ROW)),
        ("target", ".txt.gz", b"", ROWS, ("has more than", TABLE)),
        ("ids", ".tsv.gz", b"title\tentity\n", ROWS, ("has more than", TABLE)),
    ],
)
def test_a_small_file_that_holds_three_gigabytes(
    tmp_path, readers, tried, reader, suffix, start, piece, said
):
    tried("tables")
    path = three_gigabytes(tmp_path, start, piece).rename(tmp_path / f"bomb{suffix}")
    answer = readers.read(reader, path)
    assert answer.problem is None
    assert answer.said is not None
    assert all(each in answer.said for each in said)
    assert answer.memory < 3000 * MIB


def test_other_bombs_of_text(tmp_path, readers, tried):
    """One member; truncated; a long mention that is not compressed; a line of a gigabyte."""
    whole = packed(tmp_path / "whole.tsv.gz", HEADER, *[ROWS] * 300)
    cut = tmp_path / "cut.tsv.gz"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 4])
    long = tmp_path / "long.tsv"
    long.write_bytes(HEADER + b"x" * (50 * MIB) + b"\tQ1\n")
    sparse = tmp_path / "sparse.jsonl"
    with sparse.open("wb") as file:
        file.truncate(1 << 30)
    training = tmp_path / "mentions_tr.txt"
    training.write_bytes(b"1 Q1 " + b"x" * (50 * MIB) + b"\n")
    for reader, path, said in (
        ("mentions", whole, "has more than 256 MiB unpacked"),
        ("mentions", cut, "is cut short or damaged"),
        ("mentions", long, "line 2 has more than 1 MiB"),
        ("mentions", sparse, "line 1 has more than 1 MiB"),
        ("training", training, "line 1 has more than 1 MiB"),
        ("typed", training, "line 1 has more than 1 MiB"),
    ):
        tried("tables")
        answer = readers.read(reader, path)
        assert answer.problem is None
        assert answer.said is not None
        assert said in answer.said
        assert answer.memory < 1500 * MIB


def coded(value, rows):
    """A column that is a value so many times, in a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), [value])


def parquet_bombs(folder):
    """Parquet files of a few megabytes that unpack to gigabytes; each with its reader."""
    huge = coded("x" * MIB, 2_000_000)
    path = folder / "dictionary.parquet"
    pq.write_table(pa.table({"mention": huge, "entity": huge}), path)
    yield "mentions", path
    yield "skipping", path
    path = folder / "lengths.parquet"
    many = coded("x", 100_000_000)
    pq.write_table(pa.table({"mention": many, "entity": many}), path, row_group_size=10**9)
    yield "mentions", path
    for codec in ("zstd", "gzip", "brotli"):
        path = folder / f"{codec}.parquet"
        table = pa.table({"mention": ["x" * 1000] * 64_000, "entity": ["Q1"] * 64_000})
        with pq.ParquetWriter(
            path, table.schema, compression=codec, use_dictionary=False
        ) as writer:
            for _ in range(6):
                writer.write_table(table)
        yield "mentions", path
    path = folder / "plain.parquet"
    table = pa.table({"mention": ["a", "x" * (50 * MIB)], "entity": ["Q1", "Q2"]})
    pq.write_table(table, path, use_dictionary=False)
    yield "mentions", path
    path = folder / "prefixes.parquet"
    table = pa.table({"mention": ["x" * 1_000_000] * 400, "entity": ["Q1"] * 400})
    encoding = {"mention": "DELTA_BYTE_ARRAY", "entity": "PLAIN"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encoding)
    assert path.stat().st_size < MIB
    yield "mentions", path
    path = folder / "fixed.parquet"
    fixed = pa.array([b"abcd"] * 100, pa.binary(4))
    ids = coded("Q1", 100)
    pq.write_table(pa.table({"entity": ids, "name": ids, "language": fixed}), path)
    yield "entities", path
    path = folder / "types.parquet"
    offsets = pa.array([0, 3_000_000], pa.int32())
    types = pa.ListArray.from_arrays(offsets, coded("x" * 1000, 3_000_000))
    pq.write_table(pa.table({"entity": ["Q1"], "type": types}), path)
    yield "entities", path
    path = folder / "titles.parquet"
    pq.write_table(pa.table({"title": huge, "entity": huge}), path)
    yield "ids", path


def test_parquet_that_unpacks_to_more_than_the_memory(tmp_path, readers, tried):
    for reader, path in parquet_bombs(tmp_path):
        tried("tables")
        answer = readers.read(reader, path)
        assert answer.problem is None
        assert answer.said is not None
        others = {
            "plain": "row 2: mention has more than 1 MiB",
            "fixed": "column language holds 'fixed_size_binary[4]', expected text",
        }
        assert others.get(path.stem, "has more than 256 MiB unpacked") in answer.said
        assert answer.memory < 1000 * MIB


def varint(number):
    """A number as Thrift's compact protocol writes it."""
    number = number << 1
    data = b""
    while number >= 128:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "gzip"])
def test_page_headers_that_lie(tmp_path, readers, tried, codec):
    """A page says that it has two billion values, or two gigabytes; the footer does not."""
    path = tmp_path / "lie.parquet"
    table = pa.table({"mention": ["a", "b", "c"] * 50, "entity": ["Q1", "Q2", "Q3"] * 50})
    for dictionary in (True, False):
        pq.write_table(table, path, compression=codec, use_dictionary=dictionary)
        data = path.read_bytes()
        column = pq.read_metadata(path).row_group(0).column(1)
        start = column.dictionary_page_offset or column.data_page_offset
        # 0x15 type, 0x15 unpacked size, 0x15 packed size: the second is replaced.
        second = start + 3
        end = second
        while data[end] >= 128:
            end += 1
        for size in (2**31 - 1, 2**31 - 2, 2**30, 2**28, 1, 0):
            tried("tables")
            path.write_bytes(data[:second] + varint(size) + data[end + 1 :])
            answer = readers.read("mentions", path)
            assert answer.problem is None
            assert answer.memory < 600 * MIB
            if size >= 2**28:
                assert answer.said is not None
        values = data.index(varint(150), data.index(b"Q1") if dictionary else second)
        tried("tables")
        path.write_bytes(data[:values] + varint(2**31 - 1) + data[values + 2 :])
        answer = readers.read("mentions", path)
        assert answer.problem is None
        assert answer.memory < 600 * MIB


@pytest.mark.parametrize("reader", ["mentions", "entities"])
@pytest.mark.parametrize("number", [2**40, 2**31, 2**62, 0, 1])
def test_footers_that_lie(tmp_path, readers, tried, reader, number):
    """Every number of rows and of values in a footer is replaced, one at a time."""
    path = tmp_path / "lie.parquet"
    columns = {"mention": ["a", "b", "c"] * 50, "entity": ["Q1", "Q2", "Q3"] * 50}
    table = pa.table({**columns, "name": columns["mention"], "type": [["x"], [], ["y"]] * 50})
    pq.write_table(table, path)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8]
    places = [at for at in range(len(footer)) if footer.startswith(varint(150), at)]
    assert len(places) >= 6
    for at in places:
        tried("tables")
        lie = footer[:at] + varint(number) + footer[at + 2 :]
        path.write_bytes(data[:start] + lie + len(lie).to_bytes(4, "little") + b"PAR1")
        answer = readers.read(reader, path)
        assert answer.problem is None
        assert answer.memory < 600 * MIB


def test_forty_thousand_columns(tmp_path, readers, tried):
    """In time that grows with the number of columns, not with its square."""
    names = ["mention", "entity", *(f"column {n}" for n in range(40_000))]
    lines = [names, ["a"] * len(names)]
    tsv, jsonl, parquet = (tmp_path / f"wide.{each}" for each in ("tsv", "jsonl", "parquet"))
    tsv.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    jsonl.write_text(json.dumps(dict(zip(*lines, strict=True))) + "\n", encoding="utf-8")
    pq.write_table(pa.table({name: ["a"] for name in names}), parquet)
    with Readers(timeout=20) as quick:
        quick.read("mentions", tmp_path / "none.tsv")  # imports
        for path in (tsv, jsonl, parquet):
            for reader in ("mentions", "target", "entities"):
                tried("tables")
                answer = quick.read(reader, path)
                assert answer.problem is None
                assert (answer.said is None) == (reader != "entities")
        tried("tables", 2)
        assert quick.read("queries", tsv) == (None, None, pytest.approx(0, abs=500 * MIB))
        assert "has no column title, only ['mention'" in quick.read("ids", parquet).said


@pytest.mark.parametrize("piece", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("key", ["name", "type", "other", "mention"])
def test_json_that_is_nested_deep(tmp_path, readers, tried, piece, key):
    for closed in (False, True):
        tried("tables", 2)
        inner = piece * 100_000
        inner += "1" + inner[::-1].translate(str.maketrans("[{", "]}", 'a":')) if closed else ""
        path = tmp_path / "deep.jsonl"
        path.write_text(f'{{"entity": "Q1", "name": "a"}}\n{{"{key}": {inner}}}\n', "utf-8")
        for reader in ("entities", "mentions"):
            answer = readers.read(reader, path)
            assert answer.problem is None
            assert answer.said is not None
            line = 2 if reader == "entities" else 1
            assert f"{path} line {line}: " in answer.said
        tried("tables")
        path.write_text(inner, encoding="utf-8")
        assert "line 1: found '" in readers.read("entities", path).said


ODD_TEXTS = {
    "nul": b"mention\tentity\na\0b\tQ1\n\0\t\0\n",
    "mark in the middle": b"mention\tentity\n\xef\xbb\xbfa\tQ1\nb\xef\xbb\xbf\tQ2\n",
    "utf-16": "mention\tentity\na\tQ1\n".encode("utf-16"),
    "utf-16 without a mark": "mention\tentity\na\tQ1\n".encode("utf-16-le"),
    "utf-32": "mention\tentity\na\tQ1\n".encode("utf-32"),
    "surrogates in utf-8": b"mention\tentity\n\xed\xa0\x80\tQ1\n",
    "overlong": b"mention\tentity\n\xc0\xaf\tQ1\n",
    "carriage returns": b"mention\tentity\ra\tQ1\rb\tQ2\r",
    "other line ends": "mention\tentity\na\u2028b\tQ1\nc\x85d\tQ2\ne\x0bf\x0cg\tQ3\n".encode(),
    "empty lines": HEADER + b"\n" * 100_000,
    "tabs": b"\t" * 900_000 + b"\n",
    "one byte": b"m",
    "only line ends": b"\n" * 100_000,
    "quotes": b'mention\tentity\n"a\tQ1\nb"\tQ2\n\\\t\\\n',
    "escapes": b"mention\tentity\n\x1b]0;x\x07\tQ1\n",
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_text(tmp_path, readers, tried, name):
    for suffix in (".tsv", ".tsv.gz", ".txt", ".jsonl"):
        data = ODD_TEXTS[name]
        path = tmp_path / f"odd{suffix}"
        path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
        for reader in ("mentions", "skipping", "entities", "queries", "target", "training", "ids"):
            tried("tables")
            answer = readers.read(reader, path)
            assert answer.problem is None
            assert answer.memory < 500 * MIB


def test_lone_surrogates_in_json(tmp_path, readers, tried):
    path = tmp_path / "half.jsonl"
    for line in (
        r'{"entity": "\ud800", "name": "a", "mention": "a"}',
        r'{"entity": "Q1", "name": "\udfff\ud800", "mention": "\udc00"}',
        r'{"entity": "Q1", "name": "a", "type": ["\ud83d"], "mention": "\ud83d"}',
        r'{"\ud800": "Q1"}',
    ):
        for reader in ("mentions", "entities"):
            tried("tables")
            path.write_text(line + "\n", encoding="utf-8")
            answer = readers.read(reader, path)
            assert answer.problem is None
            assert answer.said is not None


def test_what_is_not_a_file(tmp_path, tried):
    """A folder, a device, a named pipe that has no other end, a link to itself."""
    os.mkfifo(tmp_path / "pipe.tsv")
    (tmp_path / "loop.tsv").symlink_to("loop.tsv")
    (tmp_path / "folder.tsv").mkdir()
    for name in ("zero", "null", "tty"):
        (tmp_path / f"{name}.tsv").symlink_to(f"/dev/{name}")
        (tmp_path / f"{name}.parquet").symlink_to(f"/dev/{name}")
    os.mkfifo(tmp_path / "pipe.parquet")
    with Readers(timeout=30) as quick:
        for path in sorted(tmp_path.iterdir()):
            for reader in ("mentions", "entities", "queries", "target", "training", "typed", "ids"):
                tried("tables")
                answer = quick.read(reader, path)
                assert answer.problem is None
                assert answer.said is not None
                assert answer.memory < 100 * MIB


def test_datasets_and_folders_whose_files_are_not_files(tmp_path, tried):
    """A folder of tables, and the manifest and the files of a dataset."""
    os.mkfifo(tmp_path / "is.tsv")
    table = tmp_path / "fo.tsv"
    rows = "".join(f"name {n}\tQ{n % 40}\n" for n in range(200))
    table.write_text(f"mention\tentity\n{rows}", encoding="utf-8")
    done = process("pivots", "--target", table, "--pivot-tables", tmp_path)
    assert done.returncode == 2
    assert b"is.tsv is not a regular file" in done.stderr
    assert process("split", table, "-o", tmp_path / "d", "--per-type", "5").returncode == 0
    for name in ("dev.tsv", "manifest.json"):
        tried("tables", 2)
        (tmp_path / "d" / name).unlink()
        os.mkfifo(tmp_path / "d" / name)
        for fold in ("dev", "test"):
            done = process("evaluate", tmp_path / "d", tmp_path / "x", "--fold", fold)
            assert done.returncode == 2
            assert len(done.stderr.splitlines()) == 1


def test_a_file_that_grows_while_it_is_read(tmp_path, monkeypatch, tried):
    from candgen.errors import TableError
    from candgen.tables import text_file
    from candgen.tables.mention_table import MentionTable

    tried("tables")
    path = tmp_path / "grows.tsv"
    path.write_bytes(HEADER)
    check = text_file._check_lines

    def grow(*arguments):
        with path.open("ab") as file:
            file.write(b"a\tQ1\n" * 1000)
        check(*arguments)

    monkeypatch.setattr(text_file, "_check_lines", grow)
    with pytest.raises(TableError, match="has more than 1 MiB unpacked"):
        MentionTable.read(path, max_table_bytes=MIB)


def test_encrypted_columns(tmp_path, readers, tried):
    class Keys(pe.KmsClient):
        def wrap_key(self, key, _name):
            return key.hex()

        def unwrap_key(self, key, _name):
            return bytes.fromhex(key)

    table = pa.table({"mention": ["a"], "entity": ["Q1"]})
    for plaintext_footer in (True, False):
        tried("tables", 2)
        settings = pe.EncryptionConfiguration(
            footer_key="f", column_keys={"c": ["mention"]}, plaintext_footer=plaintext_footer
        )
        made = pe.CryptoFactory(lambda _: Keys())
        properties = made.file_encryption_properties(pe.KmsConnectionConfig(), settings)
        path = tmp_path / "secret.parquet"
        with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
            writer.write_table(table)
        for reader in ("mentions", "entities"):
            answer = readers.read(reader, path)
            assert answer.problem is None
            assert answer.said is not None


INTERESTING = [0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x09, 0x22, 0x7B, 0x5B]


def mutated(data, draw):
    """Change a few places of a file: bytes, pieces that are doubled or left out, its end."""
    made = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4, 16])):
        if not made:
            break
        at = draw.randrange(len(made))
        match draw.randrange(6):
            case 0:
                made[at] ^= 1 << draw.randrange(8)
            case 1:
                made[at] = draw.choice(INTERESTING)
            case 2:
                del made[at : at + draw.randrange(1, 20)]
            case 3:
                made[at:at] = made[at : at + draw.randrange(1, 200)]
            case 4:
                made[at : at + 4] = draw.choice([b"\xff\xff\xff\x7f", b"\xff" * 4, bytes(4)])
            case _:
                del made[at:]
    return bytes(made)


def valid_files(folder):
    rows = [(f"name {n}", f"Q{n % 7}", n + 1) for n in range(300)]
    table = pa.table(
        dict(zip(("mention", "entity", "count"), zip(*rows, strict=True), strict=True))
    )
    tsv = "mention\tentity\tcount\n" + "".join(f"{m}\t{e}\t{c}\n" for m, e, c in rows)
    jsonl = "".join(json.dumps({"mention": m, "entity": e, "count": c}) + "\n" for m, e, c in rows)
    described = [
        {"entity": e, "language": "fo", "name": m, "description": None, "type": ["Q5", e]}
        for m, e, _ in rows
    ]
    texts = {
        ("mentions", "a.tsv"): tsv.encode(),
        ("mentions", "a.tsv.gz"): gzip.compress(tsv.encode()),
        ("mentions", "a.jsonl"): jsonl.encode(),
        ("skipping", "b.jsonl"): jsonl.encode(),
        ("skipping", "b.tsv"): tsv.encode(),
        ("queries", "c.tsv"): tsv.replace("count", "type").encode(),
        ("target", "d.tsv"): tsv.replace("entity", "other").encode(),
        ("training", "mentions_tr.txt"): "".join(f"1 {e} n{c}\n" for _, e, c in rows).encode(),
        ("typed", "mentions_tt_type.txt"): "".join(f"{e} n{c} 1\n" for _, e, c in rows).encode(),
        ("ids", "e.tsv"): tsv.replace("mention", "title").encode(),
        ("entities", "f.tsv"): tsv.replace("mention", "name").encode(),
        ("entities", "f.jsonl"): "".join(json.dumps(each) + "\n" for each in described).encode(),
    }
    for (reader, name), data in texts.items():
        yield reader, name, data
    for number, options in enumerate(
        (
            {"compression": "none"},
            {"compression": "snappy", "data_page_version": "2.0"},
            {"compression": "zstd", "use_dictionary": False, "row_group_size": 50},
            {"compression": "gzip", "write_page_index": True, "data_page_size": 100},
            {"compression": "lz4", "use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
            {"compression": "brotli", "store_schema": False},
        )
    ):
        if "column_encoding" in options:
            options["column_encoding"] = {"mention": options["column_encoding"]}
        for reader, made in (("mentions", table), ("entities", pa.Table.from_pylist(described))):
            if "column_encoding" in options and reader == "entities":
                continue
            pq.write_table(made, folder / "made.parquet", **options)
            yield reader, f"{number}.parquet", (folder / "made.parquet").read_bytes()


def test_fuzzed_files(tmp_path, readers, tried):
    problems = []
    for reader, name, data in valid_files(tmp_path):
        path = tmp_path / name
        path.write_bytes(data)
        answer = readers.read(reader, path)
        if reader != "queries":  # whose types are not
            assert (answer.said, answer.problem) == (None, None)
        draw = random.Random(f"{SEED} {reader} {name}")
        for trial in range(TRIALS):
            tried("tables")
            path.write_bytes(mutated(data, draw))
            answer = readers.read(reader, path)
            if answer.problem is not None or answer.memory > 1500 * MIB:
                problems.append(f"{answer}: seed {SEED}, trial {trial}")
    assert problems == []


@pytest.mark.parametrize("bomb", ["gzip", "mention", "parquet"])
def test_a_refused_table_leaves_nothing_behind(tmp_path, tried, bomb):
    tried("tables")
    tables = tmp_path / "tables"
    tables.mkdir()
    path = tables / {"gzip": "fo.tsv.gz", "mention": "fo.tsv", "parquet": "fo.parquet"}[bomb]
    if bomb == "gzip":
        members(path, HEADER, *[b"x" * (16 * MIB)] * 64)
    elif bomb == "mention":
        path.write_bytes(HEADER + b"x" * (2 * MIB) + b"\tQ1\n")
    else:
        huge = coded("x" * MIB, 2_000_000)
        pq.write_table(pa.table({"mention": huge, "entity": huge}), path)
    before = snapshot(tmp_path)
    for arguments in (
        ("build", "--target", path, "-o", tmp_path / "fo.candgen"),
        ("split", path, "-o", tmp_path / "fo.dataset"),
        ("info", path),
    ):
        done = process(*arguments)
        done.status, done.out, done.err = done.returncode, done.stdout, done.stderr.decode()
        assert is_refusal(done)
        assert "--max-" in done.err
        assert str(path) in done.err
    assert snapshot(tmp_path) == before
    if bomb == "mention":
        done = process("info", path, "--max-row-size", "3MB")
        assert done.returncode == 0


def test_a_line_of_standard_input_without_end(tmp_path, tried, cli):
    from tests.support.service_world import save_toy

    tried("tables", 2)
    save_toy(tmp_path / "toy.candgen")
    result = cli("query", tmp_path / "toy.candgen", stdin=b"Wien\n" + b"x" * (2 * MIB))
    assert result.status == 2
    assert len(result.answers) == 1
    assert "line 2 of standard input has more than 1 MiB" in result.err
    result = cli("query", tmp_path / "toy.candgen", "--max-row-size", "5", stdin=b"Wien\n123456\n")
    assert "line 2 of standard input has more than 5 bytes" in result.err
