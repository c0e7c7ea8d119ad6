"""One file fetched over an unreliable connection, and verified.

The file must have the size and checksum that were published. It is written to a file that ends in
.part, which a later attempt resumes, and gets its name when it is complete.
"""

import hashlib
import http.client
import os
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from candgen.dumps.file_errors import explain_write_errors
from candgen.dumps.http_client import Client, DownloadStopped, describe_problem, is_range_error
from candgen.dumps.published import DownloadError, PublishedFile
from candgen.errors import StorageError

_CHUNK = 1 << 18  # bytes
_ADVICE = "make room, or choose another folder"

DownloadProgress = Callable[[str, int, int], object]
"""Called, by other threads, with a file's name, the bytes of it that are here, and its size."""


class State(StrEnum):
    """How a file came to be here."""

    FETCHED = "fetched"
    RESUMED = "resumed"
    THERE = "there already"


class Job(NamedTuple):
    """A file to fetch, and its place."""

    wiki: str
    url: str
    path: Path
    file: PublishedFile

    @property
    def part(self) -> Path:
        """The path of the file while it is incomplete."""
        return self.path.with_name(f"{self.path.name}.part")


class _FileChangedError(OSError):
    """The server has another file than the one that was published or begun."""


class _ConnectionLostError(http.client.HTTPException):
    """Fewer bytes came than were published; not an OSError, as those of the disk are."""


def fetch(client: Client, job: Job, progress: DownloadProgress) -> State:
    """Fetch a file, or the rest of it, unless it is here and complete."""
    file, part = job.file, job.part
    if checksum_matches(job.path, file):
        progress(file.name, file.size, file.size)
        return State.THERE
    if not file.has_checksum:
        part.unlink(missing_ok=True)  # it may be a part of another version
    state = State.RESUMED if part.exists() else State.FETCHED
    for attempt in (1, 2):
        _complete_part(client, job, progress)
        if checksum_matches(part, file):
            with explain_write_errors(job.path, _ADVICE):
                part.replace(job.path)
            return state if attempt == 1 else State.FETCHED
        part.unlink()
    raise DownloadError(
        f"{job.url} came twice with a wrong checksum: try again later, or another mirror (--mirror)"
    )


def checksum_matches(path: Path, file: PublishedFile) -> bool:
    """Return whether a file exists with the published size and, if there is one, checksum."""
    try:
        if not path.is_file() or path.stat().st_size != file.size:
            return False
        if not file.has_checksum:
            return True
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha1" if file.sha1 else "md5").hexdigest()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    return found == (file.sha1 or file.md5)


def _complete_part(client: Client, job: Job, progress: DownloadProgress) -> None:
    """Make the part as long as the file, however often the connection breaks."""
    part, size = job.part, job.file.size
    condition: dict[str, str] = {}
    furthest = _size(part) if _size(part) <= size else 0

    def has_progressed(problem: Exception) -> bool:
        """Only a byte that never came before counts: else a server could keep us for ever."""
        nonlocal furthest
        if isinstance(problem, _FileChangedError) or is_range_error(problem):
            part.unlink(missing_ok=True)
        before, furthest = furthest, max(furthest, _size(part))
        return furthest > before

    if _size(part) != size or not part.exists():
        client.retry(job.url, lambda: _receive(client, job, condition, progress), has_progressed)


def _receive(
    client: Client, job: Job, condition: dict[str, str], progress: DownloadProgress
) -> None:
    """Append the bytes that the server sends to the part.

    ``condition`` keeps the version of the file that the server named, so that a later request does
    not continue with another one.
    """
    part = job.part
    start = _size(part) if _size(part) <= job.file.size else 0
    headers = {"Range": f"bytes={start}-", **condition} if start else {}
    with client.open(job.url, headers) as response:
        start = _find_start(response, job.file, start)
        etag = response.headers.get("ETag") or ""
        version = etag if etag.startswith('"') else response.headers.get("Last-Modified")
        condition.update({"If-Range": version} if version else {})
        with explain_write_errors(part, _ADVICE), part.open("ab" if start else "wb") as opened:
            _copy(client, response, opened, job.file, start, progress)


def _find_start(response: Any, file: PublishedFile, start: int) -> int:  # noqa: ANN401
    """Return the place in the file at which the answer begins: 0 from a server without ranges."""
    if response.status != http.client.PARTIAL_CONTENT:
        length = response.headers.get("Content-Length") or str(file.size)
        if not file.has_checksum and length != str(file.size):
            raise _FileChangedError(f"the server has {length} bytes, {file.size} were published")
        return 0
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range") or "")
    if not found or int(found[1]) != start or found[2] not in ("*", str(file.size)):
        raise _FileChangedError("the server has another version of the file than was published")
    return start


def _copy(
    client: Client,
    response: Any,  # noqa: ANN401
    part: BinaryIO,
    file: PublishedFile,
    done: int,
    progress: DownloadProgress,
) -> None:
    # The length that the server states is ignored: the published size counts.
    progress(file.name, done, file.size)
    while done < file.size:
        if client.stop.is_set():
            raise DownloadStopped
        try:
            chunk = response.read1(min(_CHUNK, file.size - done))
        except (OSError, ValueError) as error:
            raise _ConnectionLostError(describe_problem(error)) from error
        if not chunk:
            raise _ConnectionLostError("the connection ended early")
        part.write(chunk)
        done += len(chunk)
        progress(file.name, done, file.size)
    part.flush()
    os.fsync(part.fileno())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
