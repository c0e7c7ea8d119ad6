"""Lines of the released layout, to rows and back; `released` has the files.

Fields are separated by blanks or tabs, and by nothing else: other white space is text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from candgen.errors import TableError, shown
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import TYPES, Query, query_problem
from candgen.tables.rows import SCHEMA, RawRows, Rows, collect, concat_rows, rows_are_valid

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ENOUGH = 1000
"""After so many bad lines a file is not what somebody thinks it is, and need not be read on."""

_BLOCK = 1 << 24  # bytes
_LINES_AT_ONCE = 1 << 19
_MOST_LINES = 1 << 32
_BLANKS = re.compile("[ \t]+")
_TRAINING = ("wikipedia-id", "entity", "mention")
_TYPED = ("entity", "mention", "type")


# Reading


def read_training_rows(path: Path, *, stop_early: bool) -> Rows:
    """The good rows of a file, summed, with the number of bad ones and what the first one is."""
    parts: list[Rows] = []
    line, bad = 1, 0
    with path.open("rb") as file:
        for block in _blocks(file):
            columns = _parse_block(block)
            if columns is not None:
                parts.append(Rows(_summed(columns)))
            else:
                parts.append(_parse_slowly(path, block, line))
                bad += parts[-1].skipped
            if stop_early and bad >= ENOUGH:
                break
            line += block.count(b"\n")
    return concat_rows(parts)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Whole lines, a few megabytes at a time, without a byte order mark."""
    rest = file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    while data := file.read(_BLOCK):
        end = data.rfind(b"\n") + 1
        if end:
            yield rest + data[:end]
            rest = b""
        rest += data[end:]
    if rest:
        yield rest


def _parse_block(block: bytes) -> pa.Table | None:
    """Parse like `_parse_slowly`, many times faster; None if that must have a look at the lines.

    Arrow's reader skips a mark at the start and ends a line at a lone carriage return.
    """
    text = _single_blanks(block)
    if b"\r" in text or text.startswith(BYTE_ORDER_MARK):
        return None
    try:
        found = pa.csv.read_csv(
            pa.BufferReader(text),
            read_options=pa.csv.ReadOptions(column_names=_TRAINING, block_size=1 << 21),
            parse_options=pa.csv.ParseOptions(
                delimiter=" ",
                quote_char=False,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(_TRAINING, pa.large_string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException:
        return None
    if len(found) != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    mentions = pc.replace_substring(found["mention"], "_", " ")
    ones = pa.chunked_array([np.ones(len(found), np.int64)])
    columns = pa.table([mentions, found["entity"], ones], schema=SCHEMA)
    return columns if rows_are_valid(columns) else None


def _single_blanks(block: bytes) -> bytes:
    """The same lines with one blank between fields, none around them, and plain line ends."""
    text = block.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _summed(columns: pa.Table) -> pa.Table:
    """Equal rows as one: in real data most lines are repetitions."""
    grouped = columns.group_by(["mention", "entity"], use_threads=False)
    summed = grouped.aggregate([("count", "sum")])
    return pa.table([summed["mention"], summed["entity"], summed["count_sum"]], schema=SCHEMA)


def _parse_slowly(path: Path, block: bytes, line: int) -> Rows:
    return collect(
        _training_rows(block), lambda at: f"{path} line {at}", first=line, skip_bad_rows=True
    )


def _training_rows(block: bytes) -> RawRows:
    for line in block.removesuffix(b"\n").split(b"\n"):
        fields = _fields(line, _TRAINING)
        if isinstance(fields, str):
            yield fields
        else:
            yield fields[2].replace("_", " "), fields[1], 1


def _fields(line: bytes, names: tuple[str, ...]) -> list[str] | str:
    """The fields of a line, or what is wrong with it."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{line[error.start]:02x} is not UTF-8: save the file as UTF-8"
    text = text.removesuffix("\r").strip(" \t")
    fields = _BLANKS.split(text) if text else []
    if len(fields) == len(names):
        return fields
    return f"found {shown(text)}, expected {len(names)} fields: {' '.join(names)}"


def parse_query(line: bytes) -> Query | str:
    """The query in a line ``entity mention type``, or what is wrong with the line.

    >>> parse_query(b"Q90 City_of_Light 1")
    Query(mention='City of Light', entity='Q90', type='medium')
    """
    fields = _fields(line, _TYPED)
    if isinstance(fields, str):
        return fields
    entity, mention, code = fields
    if code not in ("0", "1", "2"):
        return f"type is {shown(code)}, expected 0 (easy), 1 (medium) or 2 (hard)"
    query = Query(mention.replace("_", " "), entity, TYPES[int(code)])
    return query_problem(query) or query


# Writing


def training_blocks(table: MentionTable) -> Iterator[bytes]:
    """The lines of a table, each as often as its count, after a check that they would read back."""
    if table.total > _MOST_LINES:
        raise TableError(
            f"the counts add up to {table.total}, and each becomes a line: expected at most "
            f"{_MOST_LINES}, scale them down"
        )
    bad = pc.or_(
        pc.match_substring(table.arrow["mention"], "_"),
        pc.match_substring(table.arrow["entity"], " "),
    )
    if (at := pc.index(bad, True).as_py()) >= 0:
        row = table.arrow.slice(at, 1).to_pylist()[0]
        raise TableError(f"row {at} of the table: {_problem(row['mention'], row['entity'])}")
    return _repeated(table)


def _repeated(table: MentionTable) -> Iterator[bytes]:
    zero, blank, end = (pa.scalar(text, pa.large_string()) for text in ("0", " ", "\n"))
    ends = np.cumsum(table.arrow["count"].to_numpy())
    for first in range(0, table.total, _LINES_AT_ONCE):
        numbers = np.arange(first, min(first + _LINES_AT_ONCE, table.total))
        rows = np.searchsorted(ends, numbers, side="right")
        some = table.arrow.slice(int(rows[0]), int(rows[-1] - rows[0]) + 1)
        mentions = pc.replace_substring(some["mention"], " ", "_")
        lines = pc.binary_join_element_wise(zero, some["entity"], mentions, blank)
        repeated = lines.take(rows - rows[0]).combine_chunks()
        whole = pa.LargeListArray.from_arrays([0, len(repeated)], repeated)
        yield pc.binary_join(whole, end)[0].as_buffer().to_pybytes() + b"\n"


def query_line(query: Query, place: str) -> str:
    """The line of a query, which must read back the same."""
    mention, entity, kind = query
    if kind is None:
        raise TableError(f"{place}: type is missing, expected easy, medium or hard")
    if problem := query_problem(query) or _problem(mention, entity):
        raise TableError(f"{place}: {problem}")
    return f"{entity} {mention.replace(' ', '_')} {TYPES.index(kind)}\n"


def _problem(mention: str, entity: str) -> str | None:
    """What would not read back the same; blanks in a mention do, wherever they are."""
    if "_" in mention:
        return (
            f"mention is {shown(mention)}, and in the released layout an underscore is a blank: "
            "replace it, or write a dataset"
        )
    if " " in entity or entity.startswith("\ufeff"):
        return (
            f"entity is {shown(entity)}, and the released layout has no blanks in entities, nor a "
            "byte order mark before them: replace it, or write a dataset"
        )
    return None
