"""Fetching a wiki's dump files from Wikimedia or a mirror of it."""

import logging
import os
import platform
import queue
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from candgen.dumps.fetch import State, fetch, part_of
from candgen.dumps.http_client import Client, Network, check_url
from candgen.dumps.published import (
    DownloadError,
    Kind,
    Published,
    database_name,
    files_of_run,
    parse_status,
    run_dates,
)
from candgen.errors import ParameterError, StorageError, shown
from candgen.storage.versions import version

__all__ = ["WIKIMEDIA", "DownloadError", "Fetched", "Kind", "Network", "State", "download"]

WIKIMEDIA = "https://dumps.wikimedia.org"
LATEST = "latest"
KINDS = (Kind.ARTICLES, Kind.PAGE_PROPS, Kind.REDIRECTS, Kind.SITEINFO)
"""What `candgen extract` reads."""

_CONNECTIONS = 2  # as many as Wikimedia allows
_LOG = logging.getLogger("candgen")

Progress = Callable[[str, int, int], object]
"""Is called with a file's name, the bytes of it that are here, and its size; by other threads."""


class Fetched(NamedTuple):
    """A file that is now complete."""

    wiki: str
    kind: Kind
    path: Path
    size: int
    state: State


class _Job(NamedTuple):
    wiki: str
    url: str
    path: Path
    file: Published


def download(
    languages: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    mirror: str = WIKIMEDIA,
    contact: str = "",
    date: str = LATEST,
    kinds: Sequence[Kind] = KINDS,
    progress: Progress | None = None,
    network: Network | None = None,
) -> list[Fetched]:
    """Fetch the files of wikis into one folder, under the names they have on the mirror.

    ``languages`` are codes (``fo``) or names of wikis (``fowiki``). The run is the newest one of
    each wiki that has all files, or that of a ``date``. A file that is here already and has the
    published checksum is not fetched again, and one that was begun (.part) is continued; no file
    has its name before all of it is here and right. Wikimedia asks that ``contact``, a mail
    address or a web page, tells who is asking.
    """
    _check(languages, mirror, date)
    client = Client(_user_agent(contact), network or Network())
    into = Path(folder)
    jobs: dict[Path, _Job] = {}
    for wiki in dict.fromkeys(map(database_name, languages)):
        for job in _jobs(client, mirror.rstrip("/"), wiki, date, kinds, into):
            jobs.setdefault(job.path, job)
    _make_room(into, list(jobs.values()))
    return _fetch_all(client, list(jobs.values()), progress or (lambda _name, _done, _size: None))


def _check(languages: Sequence[str], mirror: str, date: str) -> None:
    if isinstance(languages, str) or not languages:
        raise ParameterError(f"languages is {shown(languages)}, expected a list such as ['fo']")
    if problem := check_url(mirror):
        raise ParameterError(f"the mirror is {shown(mirror)}: {problem}")
    if date != LATEST and not re.fullmatch(r"[0-9]{8}", date):
        raise ParameterError(f"the date is {shown(date)}, expected YYYYMMDD or latest")


def _user_agent(contact: str) -> str:
    """Say who is asking, in the form that Wikimedia's policy wants.

    >>> _user_agent("me@example.org").partition(" Python")[0].partition("/")[2].partition(" ")[2]
    '(me@example.org)'
    """
    if not re.fullmatch(r"[\x20-\x7e]*", contact) or set("()") & set(contact):
        raise ParameterError(
            f"the contact is {shown(contact)}, expected a mail address or the address of a web "
            "page in plain ASCII"
        )
    if not contact.strip():
        _LOG.warning(
            "mirrors want to know whom to write to if something is wrong: give --contact, a mail "
            "address or a web page, or set CANDGEN_CONTACT"
        )
    told = contact.strip() or "no contact given"
    return f"candgen/{version()} ({told}) Python-urllib/{platform.python_version()}"


# Which files


def _jobs(
    client: Client, mirror: str, wiki: str, date: str, kinds: Sequence[Kind], folder: Path
) -> list[_Job]:
    dates = [date] if date != LATEST else _dates(client, mirror, wiki)
    unfinished: list[str] = []
    for run in dates:
        root = f"{mirror}/{wiki}/{run}"
        found = _files(client, root, f"{wiki}-{run}-", kinds)
        if not isinstance(found, str):
            if unfinished:
                _LOG.warning("%s: the run of %s is taken; %s", wiki, run, "; ".join(unfinished))
            return [_Job(wiki, f"{root}/{each.name}", folder / each.name, each) for each in found]
        unfinished.append(f"that of {run} is not complete ({found})")
    raise DownloadError(
        f"{mirror}/{wiki}/ has no complete run: {'; '.join(unfinished) or 'none at all'}: try "
        "again later, another run (--date), fewer files (--files) or another mirror (--mirror)"
    )


def _dates(client: Client, mirror: str, wiki: str) -> list[str]:
    listing = client.page(f"{mirror}/{wiki}/")
    if listing is None:
        raise DownloadError(
            f"{mirror}/{wiki}/ does not exist: check the language, or the mirror (--mirror)"
        )
    return run_dates(listing)


def _files(client: Client, root: str, prefix: str, kinds: Sequence[Kind]) -> list[Published] | str:
    url = f"{root}/dumpstatus.json"
    text = client.page(url)
    if text is None:
        return "it has no dumpstatus.json"
    return files_of_run(parse_status(text, url), kinds, prefix=prefix, url=url)


def _make_room(folder: Path, jobs: list[_Job]) -> None:
    """Make the folder, and see that all files will fit."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        needed = 0
        for job in jobs:
            begun = part_of(job.path)
            here = begun.stat().st_size if begun.is_file() else 0
            complete = job.path.is_file() and job.path.stat().st_size == job.file.size
            needed += 0 if complete else max(job.file.size - here, 0)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror or error}; choose another folder"
        ) from error
    if needed > free:
        raise StorageError(
            f"{folder} has {free / 1e9:,.1f} GB of room, and {needed / 1e9:,.1f} GB are to come: "
            "make room, or choose another folder"
        )
    unchecked = [job.file.name for job in jobs if not (job.file.sha1 or job.file.md5)]
    if unchecked:
        _LOG.warning(
            "the mirror has no checksum of %s: only its length is checked", ", ".join(unchecked)
        )


# Two at a time


def _fetch_all(client: Client, jobs: list[_Job], progress: Progress) -> list[Fetched]:
    """Fetch all files; the first that cannot be had ends the others, which can be continued.

    The threads are daemons: one that waits for a silent server must not keep Ctrl-C waiting too.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[int, State | BaseException]] = queue.SimpleQueue()
    for number in range(len(jobs)):
        waiting.put(number)

    def work() -> None:
        while not client.stop.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            job = jobs[number]
            try:
                state = fetch(client, job.url, job.path, job.file, progress)
            except BaseException as error:
                finished.put((number, error))
            else:
                finished.put((number, state))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(_CONNECTIONS)]
    for thread in threads:
        thread.start()
    states: dict[int, State] = {}
    try:
        while len(states) < len(jobs):
            number, told = finished.get()
            if isinstance(told, BaseException):
                raise told
            states[number] = told
    finally:
        client.stop.set()
        for thread in threads:
            thread.join(timeout=1.0)
    return [
        Fetched(job.wiki, job.file.kind, job.path, job.file.size, states[number])
        for number, job in enumerate(jobs)
    ]
