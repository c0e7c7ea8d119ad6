"""The output of mysqldump: INSERT statements to rows of values.

A dump is read in pieces: a statement may be longer than memory, a row may not. One regular
expression, made from the columns in CREATE TABLE, finds all the rows of a piece at once.
"""

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from candgen.errors import TableError, shown

Value = int | float | bytes | None
"""A value of a column; text is bytes, because MySQL's binary columns need not be UTF-8."""

_PIECE = 1 << 16  # bytes; a piece and its rows fit into the cache of the processor
_MAX_ROW = 1 << 24  # bytes; a longer row is damage


def read_rows(
    file: BinaryIO,
    table: str,
    columns: Sequence[str],
    *,
    name: str = "the dump",
    where: tuple[str, bytes] | None = None,
    optional: Collection[str] = (),
    piece: int = _PIECE,
) -> Iterator[tuple[Value, ...]]:
    r"""Yield some columns of a table's dump, in the order of ``columns``.

    ``where`` selects the rows whose column ``where[0]`` is ``where[1]``. A column that is
    ``optional`` is None if the table does not have it. Errors call the file ``name``.

    >>> import io
    >>> dump = io.BytesIO(
    ...     b"CREATE TABLE `page_props` (`pp_page` int(10), `pp_value` blob);\n"
    ...     b"INSERT INTO `page_props` VALUES (7,'Q42'),(8,'L\\'Aquila'),(9,NULL);\n"
    ... )
    >>> list(read_rows(dump, "page_props", ["pp_value", "pp_page"]))
    [(b'Q42', 7), (b"L'Aquila", 8), (None, 9)]
    """
    wanted = _Request(table, tuple(columns), where[0] if where else None, frozenset(optional))
    for shape, found in _read_statements(_Text(file, name, piece), wanted):
        if where:
            fits, filtered = _equals(where[1]), shape.filtered
            found = [row for row in found if fits(row[filtered])]  # noqa: PLW2901
        cells = list(zip(*found, strict=True))
        if cells:
            yield from zip(*(_parse_column(cells[i]) for i in shape.order), strict=True)


class _Request(NamedTuple):
    table: str
    columns: tuple[str, ...]
    filtered: str | None
    optional: frozenset[str]


class _Shape(NamedTuple):
    """The pattern of the rows of a statement, and the groups in which the columns are."""

    pattern: re.Pattern[bytes]
    order: tuple[int, ...]
    filtered: int


class _Text:
    """The piece of a file that is in memory, to be parsed from ``at`` on."""

    def __init__(self, file: BinaryIO, name: str, piece: int) -> None:
        self._file, self._piece = file, piece
        self.name = name
        self.data, self.at = b"", 0
        self.rows = 0
        self.ended = False

    def read_more(self) -> None:
        """Read on; as much again as is left, so that a long row takes linear time."""
        rest = self.data[self.at :]
        if self.ended or len(rest) > _MAX_ROW:
            raise self.describe_damage("is cut off" if self.ended else "is damaged")
        try:
            new = self._file.read(max(self._piece, len(rest)))
        except (EOFError, OSError, zlib.error) as error:
            raise self.describe_damage("is cut off or damaged") from error
        self.ended = not new
        # The last line may be a comment without its line end.
        self.data, self.at = rest + (new or b"\n"), 0

    def describe_damage(self, how: str) -> TableError:
        if self.rows:
            return TableError(f"{self.name} {how} after {self.rows:,} rows: download it again")
        return TableError(
            f"{self.name} {how}, or is not a dump by mysqldump, as it has no rows: check that it "
            "is the right file, or download it again"
        )


# Statements

# *+ and ++ never give back what they took. Without them a statement that does not end would be
# tried in very many ways: '' is two quotes in a string, or the end of one and the start of another.
_STRING = rb"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
_QUOTED = rb"%s|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|`[^`]*+`" % _STRING
_TABLE = rb"(?:(?:`[^`]*+`|\w++)\.)?(`[^`]++`|\w++)"
_ANYTHING = rb"(?:[^;'\"`]++|%s)*+" % _QUOTED
# /*!40000 ... */ has statements for newer versions of MySQL, but never a row.
_IGNORED = re.compile(rb"(?:[\s;]++|(?:--|#)[^\n]*+\n|/\*[\s\S]*?\*/)++")
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s++(?:IGNORE\s++)?INTO\s++%s\s*+(\([^()]*+\))?+\s*+VALUES?\s*+(?=\()"
    % _TABLE,
    re.IGNORECASE,
)
_CREATE = re.compile(
    rb"CREATE\s++TABLE\s++(?:IF\s++NOT\s++EXISTS\s++)?%s\s*+(\(%s);" % (_TABLE, _ANYTHING),
    re.IGNORECASE | re.DOTALL,
)
_OTHER_STATEMENT = re.compile(
    rb"(?!INSERT|REPLACE|CREATE\s++TABLE)[a-z]%s;" % _ANYTHING, re.IGNORECASE | re.DOTALL
)


def _read_statements(
    text: _Text, wanted: _Request
) -> Iterator[tuple[_Shape, list[tuple[bytes, ...]]]]:
    """Parse the statements, and yield the rows of a piece of one at a time."""
    columns: list[str] | None = None
    begun = completed = False
    while True:
        if ignored := _IGNORED.match(text.data, text.at):
            begun = begun or b"-- MySQL dump" in ignored[0] or b"-- MariaDB dump" in ignored[0]
            completed = completed or b"-- Dump completed" in ignored[0]
            text.at = ignored.end()
        elif other := _OTHER_STATEMENT.match(text.data, text.at):
            text.at = other.end()
        elif create := _CREATE.match(text.data, text.at):
            _check_table(create[1], wanted, text)
            columns = _parse_columns(create[2])
            text.at = create.end()
        elif insert := _INSERT.match(text.data, text.at):
            _check_table(insert[1], wanted, text)
            named = _parse_columns(insert[2]) if insert[2] else columns
            shape = _make_shape(named, wanted, insert[0], text.name)
            text.at = insert.end()
            for found in _find_rows(text, shape.pattern):
                yield shape, found
        elif text.ended and text.at == len(text.data):
            break
        else:
            text.read_more()
    if begun and not completed:
        raise text.describe_damage("is cut off")
    if columns is None and not text.rows:
        raise TableError(
            f"{text.name} has no table {wanted.table}: name the file ...-{wanted.table}.sql.gz"
        )


def _find_rows(text: _Text, pattern: re.Pattern[bytes]) -> Iterator[list[tuple[bytes, ...]]]:
    """Yield the rows up to the end of a statement, or of several that begin alike."""
    while not text.data.startswith(b";", text.at):
        found = pattern.findall(text.data, text.at)
        # The last match may be no row but, in its last group, text in which none was found.
        rest = found.pop()[-1] if found and found[-1][-1] else b""
        text.data, text.at = rest, 0
        text.rows += len(found)
        if found:
            yield found
        if not rest.startswith(b";"):
            text.read_more()


def _check_table(found: bytes, wanted: _Request, text: _Text) -> None:
    table = found.strip(b"`").decode("utf-8", "replace")
    if table != wanted.table:
        named = table if re.fullmatch(r"\w{1,64}", table) else shown(table)
        raise TableError(
            f"{text.name} holds the table {named}, expected {wanted.table}: "
            f"name the file ...-{wanted.table}.sql.gz (were two files swapped?)"
        )


# Columns

_WORD = re.compile(rb"%s|[(),]|[^\s(),'\"`]+" % _QUOTED, re.DOTALL)
_KEY_WORDS = frozenset(
    b"PRIMARY UNIQUE KEY INDEX CONSTRAINT FULLTEXT SPATIAL FOREIGN CHECK PERIOD".split()
)


def _parse_columns(definitions: bytes) -> list[str]:
    """Return the columns of CREATE TABLE t (...), or of INSERT INTO t (...).

    >>> _parse_columns(b"(`id` int(8) DEFAULT '1,2', `x` enum('a','b'), PRIMARY KEY (`id`,`x`))")
    ['id', 'x']
    """
    names: list[str] = []
    depth, before = 0, b""
    for word in _WORD.findall(definitions):
        depth += (word == b"(") - (word == b")")
        if depth == 0:
            break
        if depth == 1 and before in (b"(", b",") and word.upper() not in _KEY_WORDS:
            names.append(word.strip(b"`").decode("utf-8", "replace"))
        before = word
    return names


# The commonest first. No text matches two of these, nor one of them in two ways: a row that does
# not end, as the last of every piece, fails after one attempt.
_LITERAL = rb"|".join(
    (
        rb"'[^'\\]*+(?:'|(?:(?:\\.|'')[^'\\]*+)++')",
        rb"[0-9]{1,99}",
        rb"NULL",
        rb"-[0-9]{1,99}",
        rb"-?[0-9]{1,99}(?:\.[0-9]{0,99}(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)",
        rb"0[xX][0-9a-fA-F]*",
        rb"_[a-z0-9]+ *" + _STRING,
    )
)


def _make_shape(columns: list[str] | None, wanted: _Request, head: bytes, name: str) -> _Shape:
    if columns is None:
        raise TableError(
            f"{name} has no CREATE TABLE before its rows, so its columns are unknown: "
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
    # A column that the table does not have is at -1: the last group, empty in every row.
    places = [captured.index(each) if each in captured else -1 for each in needed]
    order = tuple(places[: len(wanted.columns)])
    return _Shape(_row_pattern(tuple(columns), frozenset(captured), head), order, places[-1])


@lru_cache(maxsize=16)
def _row_pattern(
    columns: tuple[str, ...], captured: frozenset[str], head: bytes
) -> re.Pattern[bytes]:
    """Return the pattern of a row and its end; or else, in the last group, of all the rest.

    The end of a row may include the beginning of a statement like the one before: a dump may have
    one row in each statement.
    """
    cells = (b"(%s)" if column in captured else b"(?:%s)" for column in columns)
    row = rb"\s*\(%s\)\s*" % rb", ?".join(cell % _LITERAL for cell in cells)
    return re.compile(rb"%s(?:,|;\s*%s|(?=;))|(.+)" % (row, re.escape(head)), re.DOTALL)


# Values

_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
# MySQL keeps the backslash of \% and \_ outside of patterns.
_ESCAPED = dict(
    zip(
        (b"0", b"b", b"n", b"r", b"t", b"Z", b"%", b"_"),
        (b"\0", b"\b", b"\n", b"\r", b"\t", b"\x1a", b"\\%", b"\\_"),
        strict=True,
    )
)


def _parse_column(literals: Sequence[bytes]) -> list[Value]:
    """Parse a whole column at once as `_parse_value` does: mostly it is all of one kind."""
    least, greatest = min(literals)[:1], max(literals)[:1]
    if least == greatest == b"'":
        return [
            _parse_value(each) if b"\\" in each or b"''" in each else each[1:-1]
            for each in literals
        ]
    if b"".join(literals).isdigit():
        return [int(each) for each in literals]
    return [_parse_value(each) for each in literals]


def _parse_value(literal: bytes) -> Value:
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
def _equals(value: bytes) -> Callable[[bytes], bool]:
    """Return a test of literals for a value; cached, since such a column has few values."""
    return lru_cache(maxsize=4096)(lambda literal: _parse_value(literal) == value)
