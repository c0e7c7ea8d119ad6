"""``candgen build --auto``: an index whose parameters are chosen, with the reasons."""

import time
from collections.abc import Sequence
from pathlib import Path

from rich.filesize import decimal

import candgen
from candgen.cli.index_extras import EntityFile
from candgen.cli.options import check_output, parse_table
from candgen.cli.output import note, suggest_query
from candgen.cli.progress import progress_bar
from candgen.errors import ParameterError
from candgen.tables.limits import parse_size


def build_auto_command(
    target: str | None,
    pivot_tables: Path | None,
    output: Path,
    other_options: Sequence[str],
    entities: Path | None,
    *,
    auto: bool,
    max_size: str | None,
    skip_bad_rows: bool,
) -> None:
    """Build an index of a target from the languages of a folder; print the reasons to stderr."""
    _check(target, pivot_tables, other_options, auto=auto)
    limit = parse_size("--max-size", max_size)
    from candgen.storage import index_folder  # noqa: PLC0415
    from candgen.tables.table_folder import TableFolder  # noqa: PLC0415
    from candgen.tables.target_file import read_target  # noqa: PLC0415

    named = parse_table("--target", target or "")
    check_output(output)
    start = time.perf_counter()
    with progress_bar(whole=True) as progress:
        table = EntityFile(entities, progress)
        progress(f"reading {named.path}", 0.0)
        known = read_target(named.path, skip_bad_rows=skip_bad_rows)
        folder = TableFolder(
            pivot_tables or "", skip_bad_rows=skip_bad_rows, without=named.language
        )
        made = candgen.build_auto(
            known,
            folder,
            language=named.language,
            max_size=limit,
            sitelinks=table.sitelinks(),
            progress=progress,
        )
        shown = table.select(made.generator)
        progress(f"saving {output}", 0.0)
        made.save(output)
        if shown is not None:
            shown.store(output)
    for reason in made.reasons:
        note(f"- {reason}", wrap=True)
    size = decimal(sum(index_folder.load(output).sizes.values()))
    note(f"{output}: {size}, {time.perf_counter() - start:.1f} s")
    suggest_query(
        output, known[0] if isinstance(known, list) else max(known, key=lambda row: row[2])[0]
    )


def _check(
    target: str | None, pivot_tables: Path | None, other_options: Sequence[str], *, auto: bool
) -> None:
    if not auto:
        raise ParameterError(
            "--pivot-tables is for --auto, which chooses pivots among them: add --auto"
        )
    if pivot_tables is None:
        raise ParameterError(
            "--auto needs --pivot-tables FOLDER: mention tables of other languages to learn from"
        )
    if target is None:
        raise ParameterError(
            "--auto needs --target [LANG=]FILE: names in the target language, with or without "
            "their entities"
        )
    if other_options:
        raise ParameterError(
            f"--auto takes no {other_options[0]}, because it chooses that: drop one of them"
        )
