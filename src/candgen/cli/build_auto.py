"""``candgen build --auto``: an index for which everything is chosen, and said why."""

import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.filesize import decimal

import candgen
from candgen.cli.index_extras import Table
from candgen.cli.options import check_output, parse_table
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError

LONGEST_EXAMPLE = 100


def build_auto_command(
    target: str | None,
    candidates: Path | None,
    output: Path,
    said: Sequence[str],
    entities: Path | None,
    *,
    auto: bool,
    skip_bad_rows: bool,
) -> None:
    """Build an index of a target from the languages of a folder, and tell the reasons on stderr."""
    _check(target, candidates, said, auto=auto)
    from candgen.tables.table_folder import TableFolder  # noqa: PLC0415
    from candgen.tables.target_file import read_target  # noqa: PLC0415

    named = parse_table("--target", target or "")
    check_output(output)
    start = time.perf_counter()
    with progress_bar() as progress:
        table = Table(entities, progress)
        progress(f"reading {named.path}", 0.0)
        known = read_target(named.path, skip_bad_rows=skip_bad_rows)
        folder = TableFolder(candidates or "", skip_bad_rows=skip_bad_rows, without=named.language)
        made = candgen.build_auto(known, folder, language=named.language, progress=progress)
        shown = table.chosen(made.generator)
        progress(f"saving {output}", 0.0)
        made.save(output)
        if shown is not None:
            shown.store(output)
    from candgen.storage import index_folder  # noqa: PLC0415

    size = decimal(sum(index_folder.load(output).sizes.values()))
    for reason in made.reasons:
        sys.stderr.write(f"- {reason}\n")
    sys.stderr.write(f"{output}: {size}, {time.perf_counter() - start:.1f} s\n")
    example = known[0] if isinstance(known, list) else max(known, key=lambda row: row[2])[0]
    if len(example) <= LONGEST_EXAMPLE:
        asked = shlex.join(["candgen", "query", str(output), example, "-k", "5"])
        sys.stderr.write(f"try: {asked}\n")


def _check(target: str | None, candidates: Path | None, said: Sequence[str], *, auto: bool) -> None:
    if not auto:
        raise ParameterError("--candidates is for --auto, which chooses pivots among them: add it")
    if candidates is None:
        raise ParameterError(
            "--auto needs --candidates FOLDER: mention tables of other languages to learn from"
        )
    if target is None:
        raise ParameterError(
            "--auto needs --target [LANG=]FILE: the names of the language that is asked for, with "
            "their entities or without"
        )
    if said:
        raise ParameterError(f"--auto takes no {said[0]}, it chooses by itself: drop one of them")
