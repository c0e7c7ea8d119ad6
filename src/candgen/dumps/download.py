"""The dump files of a wiki, downloaded from Wikimedia or a mirror of it."""

import logging
import os
import platform
import re
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import Future, as_completed
from pathlib import Path
from typing import NamedTuple

from candgen.dumps.fetch import DownloadProgress, Job, State, fetch
from candgen.dumps.file_errors import explain_write_errors
from candgen.dumps.http_client import Client, Network, find_url_problem
from candgen.dumps.published import (
    DownloadError,
    Kind,
    PublishedFile,
    find_run_dates,
    parse_status,
    select_files,
)
from candgen.dumps.wiki_codes import database_name
from candgen.errors import ParameterError, StorageError, shown
from candgen.storage.versions import version

__all__ = ["WIKIMEDIA", "DownloadError", "FetchedFile", "Kind", "Network", "State", "download"]

WIKIMEDIA = "https://dumps.wikimedia.org"
LATEST = "latest"
KINDS = (Kind.ARTICLES, Kind.PAGE_PROPS, Kind.REDIRECTS, Kind.SITEINFO)
"""What `candgen extract` reads."""

_CONNECTIONS = 2  # as many as Wikimedia allows
_LOG = logging.getLogger("candgen")


class FetchedFile(NamedTuple):
    """A file that is complete."""

    wiki: str
    kind: Kind
    path: Path
    size: int
    state: State


def download(
    languages: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    mirror: str = WIKIMEDIA,
    contact: str = "",
    date: str = LATEST,
    kinds: Sequence[Kind] = KINDS,
    progress: DownloadProgress = lambda _name, _done, _size: None,
    network: Network | None = None,
) -> list[FetchedFile]:
    """Fetch the files of wikis into one folder, under the names they have on the mirror.

    ``languages`` are codes (``fo``) or names of wikis (``fowiki``). Of each wiki the newest run
    that has all files is taken, or that of a ``date``. A file that is here and has the published
    checksum is not fetched again, and an incomplete one (.part) is resumed; no file gets its name
    before it is complete and verified. Wikimedia asks for a ``contact``, a mail address or a web
    page, in the user agent.
    """
    _check_parameters(languages, mirror, date)
    client = Client(_user_agent(contact), network or Network())
    into = Path(folder)
    jobs: dict[Path, Job] = {}
    for wiki in dict.fromkeys(map(database_name, languages)):
        for job in _find_jobs(client, mirror.rstrip("/"), wiki, date, kinds, into):
            jobs.setdefault(job.path, job)
    _prepare_folder(into, list(jobs.values()))
    return _fetch_all(client, list(jobs.values()), progress)


def _check_parameters(languages: Sequence[str], mirror: str, date: str) -> None:
    if isinstance(languages, str) or not languages:
        raise ParameterError(f"languages is {shown(languages)}, expected a list such as ['fo']")
    if problem := find_url_problem(mirror):
        raise ParameterError(f"the mirror is {shown(mirror)}: {problem}")
    if date != LATEST and not re.fullmatch(r"[0-9]{8}", date):
        raise ParameterError(f"the date is {shown(date)}, expected YYYYMMDD or latest")


def _user_agent(contact: str) -> str:
    """Return a user agent in the form that Wikimedia's policy asks for.

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
            "mirrors ask for a contact in case of problems: give --contact, a mail address or a "
            "web page, or set CANDGEN_CONTACT"
        )
    named = contact.strip() or "no contact given"
    return f"candgen/{version()} ({named}) Python-urllib/{platform.python_version()}"


def _find_jobs(
    client: Client, mirror: str, wiki: str, date: str, kinds: Sequence[Kind], folder: Path
) -> list[Job]:
    dates = [date]
    if date == LATEST:
        listing = client.get_page(f"{mirror}/{wiki}/")
        if listing is None:
            raise DownloadError(
                f"{mirror}/{wiki}/ does not exist: check the language, or the mirror (--mirror)"
            )
        dates = find_run_dates(listing)
    unfinished: list[str] = []
    for run in dates:
        root = f"{mirror}/{wiki}/{run}"
        url = f"{root}/dumpstatus.json"
        text = client.get_page(url)
        found: list[PublishedFile] | str = "it has no dumpstatus.json"
        if text is not None:
            found = select_files(parse_status(text, url), kinds, prefix=f"{wiki}-{run}-", url=url)
        if not isinstance(found, str):
            if unfinished:
                _LOG.warning("%s: the run of %s is taken; %s", wiki, run, "; ".join(unfinished))
            return [Job(wiki, f"{root}/{each.name}", folder / each.name, each) for each in found]
        unfinished.append(f"that of {run} is not complete ({found})")
    raise DownloadError(
        f"{mirror}/{wiki}/ has no complete run: {'; '.join(unfinished) or 'none at all'}: try "
        "again later, another run (--date), fewer files (--files) or another mirror (--mirror)"
    )


def _prepare_folder(folder: Path, jobs: Sequence[Job]) -> None:
    """Make the folder, and check that all files will fit."""
    with explain_write_errors(folder, "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        needed = 0
        for job in jobs:
            here = job.part.stat().st_size if job.part.is_file() else 0
            complete = job.path.is_file() and job.path.stat().st_size == job.file.size
            needed += 0 if complete else max(job.file.size - here, 0)
        free = shutil.disk_usage(folder).free
    if needed > free:
        raise StorageError(
            f"{folder} has {free / 1e9:,.1f} GB of free space, but {needed / 1e9:,.1f} GB are "
            "needed: make room, or choose another folder"
        )
    unverified = [job.file.name for job in jobs if not job.file.has_checksum]
    if unverified:
        _LOG.warning(
            "the mirror has no checksum of %s: only its length is checked", ", ".join(unverified)
        )


def _fetch_all(
    client: Client, jobs: Sequence[Job], progress: DownloadProgress
) -> list[FetchedFile]:
    """Fetch all files, two at a time; the first error stops the others, which can be resumed.

    The threads are daemons, unlike those of an executor: Ctrl-C must not wait for a silent server.
    """
    states: list[Future[State]] = [Future() for _ in jobs]
    waiting = list(zip(jobs, states, strict=True))[::-1]

    def work() -> None:
        while not client.stop.is_set():
            try:
                job, state = waiting.pop()
            except IndexError:
                return
            try:
                state.set_result(fetch(client, job, progress))
            except BaseException as error:
                state.set_exception(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(_CONNECTIONS)]
    for thread in threads:
        thread.start()
    try:
        for finished in as_completed(states):
            finished.result()
    finally:
        client.stop.set()
        for thread in threads:
            thread.join(timeout=1.0)
    return [
        FetchedFile(job.wiki, job.file.kind, job.path, job.file.size, state.result())
        for job, state in zip(jobs, states, strict=True)
    ]
