"""``candgen serve``: the HTTP API, the Reconciliation API and a web page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import candgen
from candgen.cli.index_extras import EntityFile
from candgen.cli.options import NamedIndexes, option
from candgen.cli.output import note, write
from candgen.cli.progress import is_terminal, progress_bar
from candgen.errors import MissingExtraError


def serve(
    indexes: NamedIndexes,
    *,
    host: Annotated[
        str, option("ADDRESS", "Address to bind; 0.0.0.0 listens on all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[int, option("N", "Port; 0 picks a free one.", min=0, max=65535)] = 8000,
    workers: Annotated[int, option("N", "Number of worker processes.", min=1)] = 1,
    entities: Annotated[
        list[str] | None,
        option(
            "[NAME=]FILE",
            "Table of names, descriptions and types of entities, stored with the index.",
        ),
    ] = None,
    match_threshold: Annotated[
        float, option("P", "Minimum probability of a match.", min=0, max=1)
    ] = 0.9,
    url: Annotated[str | None, option("URL", "Public address, if behind a proxy.")] = None,
    allowed_host: Annotated[
        list[str] | None,
        option("HOST", "Host name to answer for, beside the own address; * for all."),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        option(
            "FILE",
            "File with the API key that clients must send.",
            show_default="the variable CANDGEN_API_KEY, if it is set",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not log requests.")] = False,
    max_body: Annotated[int, option("BYTES", "Maximum size of a request.", min=1)] = 1 << 20,
    max_batch: Annotated[int, option("N", "Maximum mentions per request.", min=1)] = 1000,
    max_mention: Annotated[int, option("N", "Maximum characters per mention.", min=1)] = 250,
    max_characters: Annotated[
        int, option("N", "Maximum characters of all mentions of a request.", min=1)
    ] = 50_000,
    max_k: Annotated[int, option("N", "Maximum candidates per mention.", min=1)] = 1000,
    max_candidates: Annotated[
        int, option("N", "Maximum candidates per request: mentions * k.", min=1)
    ] = 100_000,
    work_timeout: Annotated[
        float, option("S", "Timeout for the work on a request.", min=0.01)
    ] = 30.0,
    request_timeout: Annotated[
        float, option("S", "Timeout for receiving a request.", min=0.01)
    ] = 10.0,
    max_requests: Annotated[
        int, option("N", "Maximum concurrent requests per worker.", min=1)
    ] = 64,
    max_connections: Annotated[
        int, option("N", "Maximum open connections per worker.", min=1)
    ] = 1000,
) -> None:
    """Serve a JSON API, the Reconciliation API and a web page.

    \b
    Examples:
      candgen serve fo.candgen
      candgen serve fo.candgen mk.candgen --port 9000 --workers 2
      candgen serve fo=new/fo.candgen --entities fo=entities.parquet
      kill -HUP PID            # load rebuilt indexes again, without downtime

    The first index is the default. The address is printed when the service is ready. Requests are
    logged to stderr, one JSON object per line, or as text on a terminal. Ctrl-C stops the service
    after the requests in progress. OpenRefine takes the address followed by /reconcile or
    /reconcile/NAME.
    """
    from candgen.service.settings import (  # noqa: PLC0415
        Limits,
        Settings,
        check_limits,
        is_key_file_exposed,
        name_indexes,
        read_key,
    )

    try:
        from candgen.service.hosts import check_hosts  # noqa: PLC0415
        from candgen.service.server import serve as run  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            f"the service needs {error.name}: python3 -m pip install 'candgen[server]'"
        ) from error
    named = name_indexes(indexes)
    check_hosts(allowed_host or [], url)
    limits = Limits(
        body=max_body,
        batch=max_batch,
        mention=max_mention,
        characters=max_characters,
        k=max_k,
        candidates=max_candidates,
        work_timeout=work_timeout,
        request_timeout=request_timeout,
        concurrency=max_requests,
        connections=max_connections,
    )
    check_limits(limits)
    settings = Settings(
        named,
        limits,
        match_threshold,
        url,
        key=read_key(api_key_file),
        log=not quiet,
        allowed_hosts=tuple(allowed_host or []),
    )
    check_indexes(named)
    _describe(named, entities or [])
    warnings = []
    if settings.key is None and host not in ("127.0.0.1", "::1", "localhost"):
        warnings.append(f"{host} answers every client: set CANDGEN_API_KEY to require an API key")
    if is_key_file_exposed(api_key_file):
        warnings.append(f"other users can read the API key in {api_key_file}: chmod 600 it")

    def show_address(address: str) -> None:
        write(f"{address}\n")
        if is_terminal(sys.stdout):
            _note(f"OpenRefine: {address}reconcile    Ctrl-C stops it")

    run(settings, host=host, port=port, workers=workers, on_ready=show_address, warnings=warnings)


def _note(sentence: str) -> None:
    """Print a line for people; the log, if stderr is not a terminal, consists of JSON objects."""
    if is_terminal(sys.stderr):
        note(sentence)


def check_indexes(named: dict[str, str]) -> None:
    """Raise StorageError for an index that cannot be opened, before anything is started."""
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
            shown = EntityFile(Path(file), progress).select(candgen.load(named[name]))
            if shown is not None:
                shown.store(named[name])
                _note(f"{named[name]}: {len(shown.entities):,} entities described")
