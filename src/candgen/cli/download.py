"""``candgen download``: a wiki's dump files, from Wikimedia or a mirror of it."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from candgen.cli.interrupts import interruptible
from candgen.cli.output import note, show, table
from candgen.cli.progress import is_terminal

if TYPE_CHECKING:
    from candgen.dumps.download import FetchedFile

WIKIMEDIA = "https://dumps.wikimedia.org"
"""Written here too, as the kinds of files are, so that --help need not wait."""


class Files(StrEnum):
    """What there is of a wiki."""

    ARTICLES = "articles"
    PAGE_PROPS = "page-props"
    REDIRECTS = "redirects"
    SITEINFO = "siteinfo"
    LANGLINKS = "langlinks"


def download(
    languages: Annotated[
        list[str],
        typer.Argument(metavar="LANG...", help="Languages such as fo, or wikis such as fowiki."),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder to put the files into."),
    ],
    mirror: Annotated[
        str, typer.Option(metavar="URL", help="Where the folders of the wikis are.")
    ] = WIKIMEDIA,
    contact: Annotated[
        str,
        typer.Option(
            metavar="MAIL-OR-URL",
            envvar="CANDGEN_CONTACT",
            help="Whom the mirror may write to; it is part of the user agent.",
        ),
    ] = "",
    date: Annotated[
        str, typer.Option(metavar="YYYYMMDD", help="The run; latest is the newest complete one.")
    ] = "latest",
    files: Annotated[
        list[Files] | None,
        typer.Option(
            "--files", help="Only these; may be repeated.", show_default="all but langlinks"
        ),
    ] = None,
) -> None:
    """Fetch the dump files of wikis: what candgen extract reads.

    \b
    Examples:
      candgen download fo -o dumps --contact me@example.org
      candgen download fo is da -o dumps --date 20240101 --mirror https://mirror.example/dumps
      candgen download fo -o dumps --files page-props --files langlinks

    All files go into one folder: their names have the wiki and the date. Those that are there and
    have the published checksum are not fetched again, and those that were begun (.part) are
    continued. Two files are fetched at a time.
    """
    from candgen.dumps.download import KINDS, Kind, download  # noqa: PLC0415

    kinds = [Kind(each.value) for each in dict.fromkeys(files)] if files else KINDS
    with interruptible("the same command goes on from here"), _file_bars() as progress:
        fetched = download(
            languages,
            output,
            mirror=mirror,
            contact=contact,
            date=date,
            kinds=kinds,
            progress=progress,
        )
    _show(fetched)
    for command in _extract_commands(languages, fetched):
        note(f"next: {command}")


@contextmanager
def _file_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A function to call, in any thread, with a file's name, the bytes of it here and its size."""
    if not is_terminal(sys.stderr):
        yield lambda _name, _done, _size: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    console = Console(stderr=True, markup=False)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bars:

        def update(name: str, done: int, size: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=size)
            bars.update(tasks[name], completed=done, visible=done < size)

        yield update


def _show(fetched: "Sequence[FetchedFile]") -> None:
    rows = table("file", "bytes", "state", right=("bytes",))
    for each in fetched:
        rows.add_row(str(each.path), f"{each.size:,}", each.state.value)
    show(rows)


def _extract_commands(languages: Sequence[str], fetched: "Sequence[FetchedFile]") -> Iterator[str]:
    """What to do next with each wiki that has articles."""
    from candgen.dumps.wiki_codes import database_name  # noqa: PLC0415

    called = {database_name(each): each.strip().lower() for each in reversed(languages)}
    for wiki, language in dict(reversed(called.items())).items():
        options: dict[str, list[str]] = {"--dump": []}
        for each in fetched:
            if each.wiki == wiki and "-index" not in each.path.name:
                kind = each.kind.value
                name = "--dump" if kind == Files.ARTICLES.value else f"--{kind}"
                options.setdefault(name, []).append(str(each.path))
        options.pop("--langlinks", None)  # means something with a table of another wiki only
        if options["--dump"]:
            code = language.removesuffix("wiki").replace("_", "-")
            words = [word for name, paths in options.items() for p in paths for word in (name, p)]
            yield shlex.join(["candgen", "extract", code, *words, "-o", f"{code}.parquet"])
