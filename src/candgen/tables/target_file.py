"""The target's data from a file: a mention table, or names without entities."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from candgen.errors import TableError
from candgen.tables.mention_table import MentionTable
from candgen.tables.text_file import read_blocks, split_lines
from candgen.tables.tsv import read_tsv


def read_target(path: Path, *, skip_bad_rows: bool = False) -> MentionTable | list[str]:
    """Read a mention table; or names from a text file, one a line, or a TSV without entities.

    A TSV file whose header has a column ``mention`` and none ``entity`` has names only, and so has
    one without tabs whose first line is not ``mention``. Empty lines are not names.
    """
    kind = path.name.lower().removesuffix(".gz")
    if path.is_dir() or not kind.endswith((".tsv", ".txt")):
        return MentionTable.read(path, skip_bad_rows=skip_bad_rows)
    blocks = read_blocks(path)
    start = next(blocks, b"")
    header = start.partition(b"\n")[0].decode("utf-8").split("\t") if start else []
    if kind.endswith(".tsv") and (
        "entity" in header or (len(header) > 1 and "mention" not in header)
    ):
        blocks.close()
        return MentionTable.read(path, skip_bad_rows=skip_bad_rows)
    if "mention" in header:
        blocks.close()
        rows = read_tsv(path, "mention").rows(skip_empty_lines=True)
        place = header.index("mention")
        names: Iterator[str] = (fields[place] for _, fields in rows)
    else:
        names = chain.from_iterable(map(split_lines, chain([start], blocks)))
    if not (found := [name for name in names if name.strip()]):
        raise TableError(f"{path} has no names: expected one a line, or a column mention")
    return found
