"""``candgen serve``: the HTTP API, the Reconciliation API and a page to try, from one command."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candgen.cli.index_extras import Table
from candgen.cli.output import note, write
from candgen.cli.progress import progress_bar
from candgen.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from candgen.protocols import Progress


def serve(
    indexes: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]INDEX...",
            help="Folders made by candgen build; the first is the default.",
        ),
    ],
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is for everybody.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="0 takes any that is free.")
    ] = 8000,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Processes that answer; they share the indexes.")
    ] = 1,
    entities: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Table of names, descriptions and types of entities, stored with the index.",
        ),
    ] = None,
    match: Annotated[
        float,
        typer.Option(
            metavar="P", min=0, max=1, help="How likely a first candidate must be to be a match."
        ),
    ] = 0.9,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where clients reach the service, if it is behind a proxy."
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Holds a key that clients must send.",
            show_default="the variable CANDGEN_API_KEY, if it is set",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log requests.")] = False,
    max_body: Annotated[int, typer.Option(metavar="BYTES", min=1, help="Size of a request.")] = 1
    << 20,
    max_batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Mentions in a request.")
    ] = 1000,
    max_mention: Annotated[
        int, typer.Option(metavar="N", min=1, help="Characters of a mention.")
    ] = 1000,
    max_k: Annotated[int, typer.Option(metavar="N", min=1, help="Candidates of a mention.")] = 1000,
    max_candidates: Annotated[
        int, typer.Option(metavar="N", min=1, help="Candidates in an answer: mentions times k.")
    ] = 100_000,
    max_seconds: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Time for the work on a request.")
    ] = 30.0,
    max_wait: Annotated[
        float, typer.Option(metavar="S", min=0.01, help="Time in which a request must arrive.")
    ] = 10.0,
    max_requests: Annotated[
        int, typer.Option(metavar="N", min=1, help="Requests at once, in each worker.")
    ] = 64,
) -> None:
    """Answer over HTTP: a JSON API, the Reconciliation API for OpenRefine, and a page to try.

    \b
    Examples:
      candgen serve fo.candgen
      candgen serve fo.candgen mk.candgen --port 9000 --workers 2
      candgen serve fo=new/fo.candgen --entities fo=entities.parquet
      kill -HUP PID                  # answers from indexes that were built again, without a gap

    The address is printed when it answers; a log of requests, a JSON object a line, goes to stderr.
    Ctrl-C ends it, after the requests in flight. OpenRefine takes the address with /reconcile, or
    /reconcile/NAME, behind it.
    """
    from candgen.service.settings import Limits, Settings, check_limits, name_indexes, read_key  # noqa: PLC0415

    try:
        from candgen.service.server import serve as run  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            f"the service needs {error.name}: python3 -m pip install 'candgen[server]'"
        ) from error
    named = name_indexes(indexes)
    if url is not None and not url.startswith(("http://", "https://")):
        raise ParameterError(
            f"--url {url!r}: expected an address such as https://example.org/names"
        )
    limits = Limits(
        body=max_body,
        batch=max_batch,
        mention=max_mention,
        k=max_k,
        candidates=max_candidates,
        work_timeout=max_seconds,
        request_timeout=max_wait,
        concurrency=max_requests,
    )
    check_limits(limits)
    settings = Settings(named, limits, match, url, key=read_key(api_key_file), log=not quiet)
    check_indexes(named)
    _describe(named, entities or [])
    if settings.key is None and host not in ("127.0.0.1", "::1", "localhost"):
        note(f"candgen: everybody who reaches {host} may ask: set CANDGEN_API_KEY to want a key")

    def show_address(address: str) -> None:
        write(f"{address}\n")
        if sys.stdout is not None and sys.stdout.isatty():
            note(f"OpenRefine: {address}reconcile    Ctrl-C ends it")

    run(settings, host=host, port=port, workers=workers, on_ready=show_address)


def check_indexes(named: dict[str, str]) -> None:
    """Refuse, before anything is started, what cannot be opened."""
    from candgen.storage import index_folder  # noqa: PLC0415

    for folder in named.values():
        index_folder.load(folder)


def _describe(named: dict[str, str], tables: list[str]) -> None:
    """Store tables of entities with their indexes."""
    for text in tables:
        name, equals, file = text.partition("=")
        if not equals or name not in named:
            name, file = next(iter(named)), text
        with progress_bar() as progress:
            _store_table(named[name], Path(file), progress)


def _store_table(folder: str, file: Path, progress: "Progress") -> None:
    import candgen  # noqa: PLC0415

    shown = Table(file, progress).chosen(candgen.load(folder))
    if shown is not None:
        shown.store(folder)
        note(f"{folder}: {len(shown.entities):,} entities described")
