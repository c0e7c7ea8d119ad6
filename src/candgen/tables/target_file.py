"""What is known of a target, from a file: a mention table, or names without entities."""

import gzip
import zlib
from pathlib import Path

from candgen.errors import TableError, shown
from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import decoded


def read_target(path: Path, *, skip_bad_rows: bool = False) -> MentionTable | list[str]:
    """A mention table; or the names in a text file, one a line, or in a TSV file without entities.

    A TSV file whose header has a column ``mention`` and none ``entity`` has names only, and so has
    one without tabs whose first line is not ``mention``. Empty lines are no names.
    """
    kind = path.name.lower().removesuffix(".gz")
    if path.is_dir() or not kind.endswith((".tsv", ".txt")):
        return MentionTable.read(path, skip_bad_rows=skip_bad_rows)
    lines = _lines(path)
    header = lines[0].split("\t") if lines else []
    if kind.endswith(".tsv") and (
        "entity" in header or (len(header) > 1 and "mention" not in header)
    ):
        return MentionTable.read(path, skip_bad_rows=skip_bad_rows)
    names = _column(path, lines, header) if "mention" in header else lines
    if not (found := [name for name in names if name.strip()]):
        raise TableError(f"{path} has no names: expected one a line, or a column mention")
    return found


def _column(path: Path, lines: list[str], header: list[str]) -> list[str]:
    place = header.index("mention")
    names = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if line and len(fields) != len(header):
            raise TableError(
                f"{path} line {number}: expected {len(header)} columns, found {len(fields)} "
                f"in {shown(line)}"
            )
        names.append(fields[place] if line else "")
    return names


def _lines(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
        if path.name.lower().endswith(".gz"):
            data = gzip.decompress(data)
    except FileNotFoundError as error:
        raise TableError(f"{path} does not exist: check the name and the folder") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{path} is no sound gzip file: copy or download it again") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from error
    # Not str.splitlines: U+2028 and the like are ordinary characters here.
    lines = decoded(path, data).removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]
