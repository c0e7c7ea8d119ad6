"""``candgen download``: a wiki's dump files, from Wikimedia or a mirror."""

import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.interrupts import interruptible
from candgen.cli.options import option
from candgen.cli.output import note, show, table
from candgen.cli.progress import file_bars

if TYPE_CHECKING:
    from candgen.dumps.download import FetchedFile

WIKIMEDIA = "https://dumps.wikimedia.org"
"""Written here too, as the kinds of files are, so that --help does not import the downloader."""


class Files(StrEnum):
    """The kinds of dump files."""

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
    output: Annotated[Path, option("DIR", "Folder for the files.", "--output", "-o")],
    mirror: Annotated[str, option("URL", "Mirror of Wikimedia's dumps.")] = WIKIMEDIA,
    contact: Annotated[
        str,
        option(
            "MAIL-OR-URL",
            "Your address, for the mirror's operators; sent in the user agent.",
            envvar="CANDGEN_CONTACT",
        ),
    ] = "",
    date: Annotated[
        str, option("YYYYMMDD", "Date of the dump; latest is the newest complete one.")
    ] = "latest",
    files: Annotated[
        list[Files] | None,
        typer.Option(
            "--files", help="Kinds of files; may be repeated.", show_default="all but langlinks"
        ),
    ] = None,
) -> None:
    """Download dump files of Wikipedias, for candgen extract.

    \b
    Examples:
      candgen download fo -o dumps --contact me@example.org
      candgen download fo is da -o dumps --date 20240101 \\
        --mirror https://mirror.example/dumps
      candgen download fo -o dumps --files page-props --files langlinks

    All files go into one folder: their names have the wiki and the date. A file that is there with
    the published checksum is not downloaded again; a partial file (.part) is continued. Two files
    are downloaded at a time.
    """
    from candgen.dumps.download import KINDS, Kind, download  # noqa: PLC0415

    kinds = [Kind(each.value) for each in dict.fromkeys(files)] if files else KINDS
    with interruptible("the same command continues the download"), file_bars() as progress:
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


def _show(fetched: "Sequence[FetchedFile]") -> None:
    rows = table("file", "bytes", "state", right=("bytes",))
    for each in fetched:
        rows.add_row(str(each.path), f"{each.size:,}", each.state.value)
    show(rows)


def _extract_commands(languages: Sequence[str], fetched: "Sequence[FetchedFile]") -> Iterator[str]:
    """Yield the next command for each wiki that has articles."""
    from candgen.dumps.wiki_codes import database_name  # noqa: PLC0415

    called = {database_name(each): each.strip().lower() for each in reversed(languages)}
    for wiki, language in dict(reversed(called.items())).items():
        options: dict[str, list[str]] = {"--dump": []}
        for each in fetched:
            if each.wiki == wiki and "-index" not in each.path.name:
                kind = each.kind.value
                name = "--dump" if kind == Files.ARTICLES.value else f"--{kind}"
                options.setdefault(name, []).append(str(each.path))
        options.pop("--langlinks", None)  # needs a table of another wiki
        if options["--dump"]:
            code = language.removesuffix("wiki").replace("_", "-")
            words = [word for name, paths in options.items() for p in paths for word in (name, p)]
            yield shlex.join(["candgen", "extract", code, *words, "-o", f"{code}.parquet"])
