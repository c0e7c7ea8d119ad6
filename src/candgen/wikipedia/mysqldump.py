"""The text that mysqldump writes: from INSERT statements to rows of values.

A dump is read in pieces: a statement may be longer than memory, a row may not. One regular
expression, made from the columns that CREATE TABLE names, finds all the rows of a piece at once.
"""

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from candgen.errors import TableError, shown

Value = int | float | bytes | None
"""What a column may hold; text is bytes, because MySQL's binary columns need not be UTF-8."""

_PIECE = 1 << 16  # bytes; what is found in it stays in the cache of the processor
_LONGEST_ROW = 1 << 24  # bytes; what is longer is damage, and must not fill the memory


def rows(
    file: BinaryIO,
    table: str,
    columns: Sequence[str],
    *,
    name: str = "the dump",
    where: tuple[str, bytes] | None = None,
    optional: Collection[str] = (),
    piece: int = _PIECE,
) -> Iterator[tuple[Value, ...]]:
    r"""Read some columns of a table's dump, in the order they are asked for.

    Only rows whose column ``where[0]`` holds ``where[1]``, if that is given. A column that is
    ``optional`` is None where the table has none. Errors call the file ``name``.

    >>> import io
    >>> dump = io.BytesIO(
    ...     b"CREATE TABLE `page_props` (`pp_page` int(10), `pp_value` blob);\n"
    ...     b"INSERT INTO `page_props` VALUES (7,'Q42'),(8,'L\\'Aquila'),(9,NULL);\n"
    ... )
    >>> list(rows(dump, "page_props", ["pp_value", "pp_page"]))
    [(b'Q42', 7), (b"L'Aquila", 8), (None, 9)]
    """
    wanted = _Wanted(table, tuple(columns), where[0] if where else None, frozenset(optional))
    for shape, found in _raw_rows(_Text(file, name, piece), wanted):
        if where:
            fits, filtered = _equal_to(where[1]), shape.filtered
            found = [row for row in found if fits(row[filtered])]  # noqa: PLW2901
        cells = list(zip(*found, strict=True))
        if cells:
            yield from zip(*(_values(cells[i]) for i in shape.order), strict=True)


class _Wanted(NamedTuple):
    table: str
    columns: tuple[str, ...]
    filtered: str | None
    optional: frozenset[str]


class _Shape(NamedTuple):
    """How the rows of a statement are found, and where in what is found the columns are."""

    pattern: re.Pattern[bytes]
    order: tuple[int, ...]
    filtered: int


class _Text:
    """The part of a file that is being looked at, from ``at`` on."""

    def __init__(self, file: BinaryIO, name: str, piece: int) -> None:
        self._file, self._piece = file, piece
        self.name = name
        self.data, self.at = b"", 0
        self.rows = 0
        self.ended = False

    def more(self) -> None:
        """Read on; as much again as is still unread, so that a long row costs no square."""
        rest = self.data[self.at :]
        if self.ended or len(rest) > _LONGEST_ROW:
            raise self.damaged("is cut off" if self.ended else "is damaged")
        try:
            new = self._file.read(max(self._piece, len(rest)))
        except (EOFError, OSError, zlib.error) as error:
            raise self.damaged("is cut off or damaged") from error
        self.ended = not new
        # The last line may be a comment without its line end.
        self.data, self.at = rest + (new or b"\n"), 0

    def damaged(self, how: str) -> TableError:
        if self.rows:
            return TableError(f"{self.name} {how} after {self.rows:,} rows: download it again")
        return TableError(
            f"{self.name} {how}, or is not what mysqldump writes, for no row was found: check that "
            "it is the right file, or download it again"
        )


# Statements

_STRING = rb"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'"
_QUOTED = rb"%s|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|`[^`]*`" % _STRING
_TABLE = rb"(?:(?:`[^`]*`|\w+)\.)?(`[^`]+`|\w+)"
# What stands in /*!40000 ... */ is for a MySQL that is new enough, but never a row.
_NOTHING = re.compile(rb"(?:[\s;]|(?:--|#)[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)+")
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+%s\s*(\([^()]*\))?\s*VALUES?\s*(?=\()" % _TABLE,
    re.IGNORECASE,
)
_CREATE = re.compile(
    rb"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?%s\s*(\((?:[^;'\"`]|%s)*);" % (_TABLE, _QUOTED),
    re.IGNORECASE | re.DOTALL,
)
_OTHER = re.compile(
    rb"(?!INSERT|REPLACE|CREATE\s+TABLE)[a-z](?:[^;'\"`]|%s)*;" % _QUOTED, re.IGNORECASE | re.DOTALL
)


def _raw_rows(text: _Text, wanted: _Wanted) -> Iterator[tuple[_Shape, list[tuple[bytes, ...]]]]:
    """Go through the statements, and give the rows of a piece of one at a time."""
    columns: list[str] | None = None
    begun = completed = False
    while True:
        if nothing := _NOTHING.match(text.data, text.at):
            begun = begun or b"-- MySQL dump" in nothing[0] or b"-- MariaDB dump" in nothing[0]
            completed = completed or b"-- Dump completed" in nothing[0]
            text.at = nothing.end()
        elif other := _OTHER.match(text.data, text.at):
            text.at = other.end()
        elif create := _CREATE.match(text.data, text.at):
            _check_table(create[1], wanted, text)
            columns = _column_names(create[2])
            text.at = create.end()
        elif insert := _INSERT.match(text.data, text.at):
            _check_table(insert[1], wanted, text)
            named = _column_names(insert[2]) if insert[2] else columns
            shape = _shape(named, wanted, insert[0], text.name)
            text.at = insert.end()
            for found in _rows_of_statement(text, shape.pattern):
                yield shape, found
        elif text.ended and text.at == len(text.data):
            break
        else:
            text.more()
    if begun and not completed:
        raise text.damaged("is cut off")
    if columns is None and not text.rows:
        raise TableError(
            f"{text.name} has no table {wanted.table}: name the file ...-{wanted.table}.sql.gz"
        )


def _rows_of_statement(
    text: _Text, pattern: re.Pattern[bytes]
) -> Iterator[list[tuple[bytes, ...]]]:
    """Give the rows up to the end of a statement, or of the last of several that are alike."""
    while not text.data.startswith(b";", text.at):
        found = pattern.findall(text.data, text.at)
        # What no row was found in is in the last group of the last, which is no row.
        rest = found.pop()[-1] if found and found[-1][-1] else b""
        text.data, text.at = rest, 0
        text.rows += len(found)
        if found:
            yield found
        if not rest.startswith(b";"):
            text.more()


def _check_table(found: bytes, wanted: _Wanted, text: _Text) -> None:
    table = found.strip(b"`").decode("utf-8", "replace")
    if table != wanted.table:
        raise TableError(
            f"{text.name} holds the table {table}, expected {wanted.table}: "
            f"name the file ...-{wanted.table}.sql.gz (were two files swapped?)"
        )


# Columns

_WORD = re.compile(rb"%s|[(),]|[^\s(),'\"`]+" % _QUOTED, re.DOTALL)
_NO_COLUMN = frozenset(
    b"PRIMARY UNIQUE KEY INDEX CONSTRAINT FULLTEXT SPATIAL FOREIGN CHECK PERIOD".split()
)


def _column_names(definitions: bytes) -> list[str]:
    """The columns of CREATE TABLE t (...), or of INSERT INTO t (...): the first word of each.

    >>> _column_names(b"(`id` int(8) DEFAULT '1,2', `x` enum('a','b'), PRIMARY KEY (`id`,`x`)) E=1")
    ['id', 'x']
    """
    names: list[str] = []
    depth, before = 0, b""
    for word in _WORD.findall(definitions):
        depth += (word == b"(") - (word == b")")
        if depth == 0:
            break
        if depth == 1 and before in (b"(", b",") and word.upper() not in _NO_COLUMN:
            names.append(word.strip(b"`").decode("utf-8", "replace"))
        before = word
    return names


# The commonest first. No text fits two of these, nor one of them in two ways: a row that does not
# end, as the last of every piece, is given up after one attempt.
_LITERAL = rb"|".join(
    (
        rb"'[^'\\]*(?:'|(?:(?:\\.|'')[^'\\]*)+')",
        rb"[0-9]{1,99}",
        rb"NULL",
        rb"-[0-9]{1,99}",
        rb"-?[0-9]{1,99}(?:\.[0-9]{0,99}(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)",
        rb"0[xX][0-9a-fA-F]*",
        rb"_[a-z0-9]+ *" + _STRING,
    )
)


def _shape(columns: list[str] | None, wanted: _Wanted, head: bytes, name: str) -> _Shape:
    if columns is None:
        raise TableError(
            f"{name} has no CREATE TABLE before its rows, so that nobody knows its columns: "
            "use the file as it was published"
        )
    filtered = (wanted.filtered,) if wanted.filtered else ()
    needed = (*wanted.columns, *filtered)
    missing = [each for each in needed if each not in columns and each not in wanted.optional]
    if missing:
        raise TableError(
            f"{name}: the table {wanted.table} has no column {' and no column '.join(missing)}, "
            f"only {shown(columns)}: use a dump of another date"
        )
    captured = [column for column in columns if column in needed]
    # A column that the table has not is looked up at -1: the last group, empty in every row.
    places = [captured.index(each) if each in captured else -1 for each in needed]
    order = tuple(places[: len(wanted.columns)])
    return _Shape(_row_pattern(tuple(columns), frozenset(captured), head), order, places[-1])


@lru_cache(maxsize=16)
def _row_pattern(
    columns: tuple[str, ...], captured: frozenset[str], head: bytes
) -> re.Pattern[bytes]:
    """A row and what follows it; or else, in the last group, all the rest.

    A statement that begins like the one before goes on with its rows: a dump may have one row
    in each statement.
    """
    cells = (b"(%s)" if column in captured else b"(?:%s)" for column in columns)
    row = rb"\s*\(%s\)\s*" % rb", ?".join(cell % _LITERAL for cell in cells)
    return re.compile(rb"%s(?:,|;\s*%s|(?=;))|(.+)" % (row, re.escape(head)), re.DOTALL)


# Values

_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
# MySQL keeps the backslash of \% and \_ wherever no pattern is meant.
_ESCAPED = {
    b"0": b"\0",
    b"b": b"\b",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"Z": b"\x1a",
    b"%": b"\\%",
    b"_": b"\\_",
}


def _values(literals: Sequence[bytes]) -> list[Value]:
    """Do what `_value` does, for a whole column at once, which mostly is all of one kind."""
    least, greatest = min(literals)[:1], max(literals)[:1]
    if least == greatest == b"'":
        return [_value(each) if b"\\" in each or b"''" in each else each[1:-1] for each in literals]
    if b"".join(literals).isdigit():
        return [int(each) for each in literals]
    return [_value(each) for each in literals]


def _value(literal: bytes) -> Value:
    if literal.endswith(b"'"):
        text = literal[literal.index(b"'") + 1 : -1]
        return _ESCAPE.sub(_unescape, text) if b"\\" in text or b"'" in text else text
    if literal in (b"NULL", b""):
        return None
    if literal[:2] in (b"0x", b"0X"):
        digits = literal[2:].decode("ascii")
        return bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2))
    try:
        return int(literal)
    except ValueError:
        return float(literal)


def _unescape(found: re.Match[bytes]) -> bytes:
    escaped: bytes | None = found[1]
    return b"'" if escaped is None else _ESCAPED.get(escaped, escaped)


@lru_cache(maxsize=4)
def _equal_to(value: bytes) -> Callable[[bytes], bool]:
    """Whether a literal is this value; remembered, since such a column has few values."""
    return lru_cache(maxsize=4096)(lambda literal: _value(literal) == value)
