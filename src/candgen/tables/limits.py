"""How large a table and a row may be: a small file can unpack to more than the memory.

Every reader asks `table_limits()`. The limits are those of the innermost `use_limits`; a command
sets them from its options, and `MentionTable.read` from its arguments.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from candgen.errors import ParameterError, TableError, check_whole_number

ROW_OPTION, TABLE_OPTION = "--max-row-size", "--max-table-size"

MAX_ROW_BYTES = 1 << 20
MAX_TABLE_BYTES = 1 << 32
MAX_RATIO = 50
"""Real tables unpack to 3 to 12 times the size of their files, bombs to 500 times and more."""
ALWAYS_ALLOWED = 1 << 28
"""A table of so many bytes is never refused for its ratio."""

_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20}
_UNITS["gib"] = 1 << 30


@dataclass(frozen=True)
class Limits:
    """The largest row and the largest table that are read, in bytes; None is the default."""

    row_bytes: int | None = None
    table_bytes: int | None = None

    @property
    def row(self) -> int:
        """The largest row: the text of a line, or the values of a row of Parquet."""
        return MAX_ROW_BYTES if self.row_bytes is None else self.row_bytes

    def table(self, stored: int) -> int:
        """Return the largest size of a table, unpacked, whose file has ``stored`` bytes."""
        if self.table_bytes is not None:
            return self.table_bytes
        return min(MAX_TABLE_BYTES, max(ALWAYS_ALLOWED, MAX_RATIO * stored))


_DEFAULTS = Limits()
_LIMITS = ContextVar("candgen.table_limits", default=_DEFAULTS)


def table_limits() -> Limits:
    """Return the limits that hold now."""
    return _LIMITS.get()


@contextmanager
def use_limits(row_bytes: int | None = None, table_bytes: int | None = None) -> Iterator[None]:
    """Set limits for the block; None keeps the limit that holds."""
    before = _LIMITS.get()
    try:
        set_limits(row_bytes, table_bytes)
        yield
    finally:
        _LIMITS.set(before)


def set_limits(row_bytes: int | None = None, table_bytes: int | None = None) -> None:
    """Set limits until the end of the `use_limits` around; None keeps the limit that holds."""
    for name, value in (("max_row_bytes", row_bytes), ("max_table_bytes", table_bytes)):
        if value is not None:
            check_whole_number(name, value)
    now = _LIMITS.get()
    _LIMITS.set(
        Limits(
            now.row_bytes if row_bytes is None else row_bytes,
            now.table_bytes if table_bytes is None else table_bytes,
        )
    )


def row_too_large(place: str, limit: int) -> TableError:
    """Return the error about a row; ``place`` names the file and the row."""
    return TableError(
        f"{place} has more than {show_size(limit)}: correct the row, or allow larger ones with "
        f"{ROW_OPTION} (max_row_bytes)"
    )


def table_too_large(path: object, limit: int, place: str = "") -> TableError:
    """Return the error about a table; ``place`` says how far it was read."""
    return TableError(
        f"{path} has more than {show_size(limit)} unpacked{place}: if you trust it, allow more "
        f"with {TABLE_OPTION} (max_table_bytes)"
    )


def show_size(size: int) -> str:
    """Return a size in the unit that suits it.

    >>> show_size(1 << 20), show_size(290_000_000), show_size(999)
    ('1 MiB', '290 MB', '999 bytes')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} bytes"


def parse_size(option: str, text: str | None) -> int | None:
    """Return the bytes that a text like 500MB or 4GiB means; raise ParameterError.

    >>> parse_size("", "500MB"), parse_size("", "4 GiB"), parse_size("", None)
    (500000000, 4294967296, None)
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-z]*)", text.strip().lower())
    size = int(float(found[1]) * _UNITS[found[2]]) if found and found[2] in _UNITS else 0
    if size < 1:
        raise ParameterError(f"{option} {text!r}: expected a size, such as 1000000, 500MB or 4GiB")
    return size
