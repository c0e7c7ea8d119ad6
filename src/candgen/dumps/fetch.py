"""Fetching files from servers that cut off, stall, lie and are busy.

What counts is what was published of a file: its size and checksum. It goes to a file that ends in
.part, which a later attempt continues, and gets its name when all of it is right.
"""

import hashlib
import http.client
import os
import re
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

from candgen.dumps.http_client import NO_SUCH_RANGE, Client, Stopped, reason_of
from candgen.dumps.published import DownloadError, Published
from candgen.errors import StorageError

_CHUNK = 1 << 18  # bytes


class State(StrEnum):
    """How a file came to be here."""

    FETCHED = "fetched"
    RESUMED = "resumed"
    THERE = "there already"


class _Short(Exception):  # noqa: N818
    """Fewer bytes came than were published."""


class _Changed(Exception):  # noqa: N818
    """What the server has is not what the part is a part of."""


def fetch(
    client: Client,
    url: str,
    path: Path,
    file: Published,
    progress: Callable[[str, int, int], object],
) -> State:
    """Fetch a file, unless it is here and right; from where an earlier attempt ended."""
    if is_right(path, file):
        progress(file.name, file.size, file.size)
        return State.THERE
    part = part_of(path)
    if not (file.sha1 or file.md5):
        part.unlink(missing_ok=True)  # nothing would tell if it is a part of something else
    state = State.RESUMED if part.exists() else State.FETCHED
    for attempt in (1, 2):
        _complete(client, url, part, file, progress)
        if is_right(part, file):
            with _written(path):
                part.replace(path)
            return state if attempt == 1 else State.FETCHED
        part.unlink()
    raise DownloadError(
        f"{url} came twice with a wrong checksum: try again later, or another mirror (--mirror)"
    )


def part_of(path: Path) -> Path:
    """Where a file lies as long as it is not all there.

    >>> part_of(Path("fowiki.sql.gz")).name
    'fowiki.sql.gz.part'
    """
    return path.with_name(f"{path.name}.part")


def is_right(path: Path, file: Published) -> bool:
    """Whether a file is there, has the published size, and the published checksum if there is one.

    Its name alone says nothing: an older program may have written it.
    """
    try:
        if not path.is_file() or path.stat().st_size != file.size:
            return False
        if not (file.sha1 or file.md5):
            return True
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha1" if file.sha1 else "md5").hexdigest()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    return found == (file.sha1 or file.md5)


def _complete(
    client: Client,
    url: str,
    part: Path,
    file: Published,
    progress: Callable[[str, int, int], object],
) -> None:
    """Make the part as long as the file is, however often the connection breaks."""
    condition: dict[str, str] = {}
    failures, furthest = 0, _size(part) if _size(part) <= file.size else 0
    while _size(part) != file.size or not part.exists():
        problem: Exception
        try:
            _receive(client, url, part, file, condition, progress)
            continue
        except urllib.error.HTTPError as error:
            error.close()
            problem = error
        except (_Short, _Changed, http.client.HTTPException, OSError) as error:
            problem = error
        if isinstance(problem, StorageError):
            raise problem
        if isinstance(problem, _Changed) or getattr(problem, "code", 0) == NO_SUCH_RANGE:
            part.unlink(missing_ok=True)
        # Only a byte that never came before is progress: else a server could keep us for ever.
        failures = 1 if _size(part) > furthest else failures + 1
        furthest = max(furthest, _size(part))
        client.wait(url, problem, failures)


def _receive(
    client: Client,
    url: str,
    part: Path,
    file: Published,
    condition: dict[str, str],
    progress: Callable[[str, int, int], object],
) -> None:
    """Append what the server gives to the part.

    ``condition`` keeps what the server called this version of the file, so that it does not go on
    with another one.
    """
    start = _size(part) if _size(part) <= file.size else 0
    headers = {"Range": f"bytes={start}-", **condition} if start else {}
    with client.open(url, headers) as response:
        start = _start_of(response, file, start)
        etag = response.headers.get("ETag") or ""
        version = etag if etag.startswith('"') else response.headers.get("Last-Modified")
        condition.update({"If-Range": version} if version else {})
        with _written(part), part.open("ab" if start else "wb") as opened:
            _copy(client, response, opened, file, start, progress)


def _start_of(response: Any, file: Published, start: int) -> int:  # noqa: ANN401
    """Where in the file the answer begins; 0 if the server does not know ranges."""
    if response.status != http.client.PARTIAL_CONTENT:
        length = response.headers.get("Content-Length") or str(file.size)
        if not (file.sha1 or file.md5) and length != str(file.size):
            raise _Changed(f"the server has {length} bytes, {file.size} were published")
        return 0
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range") or "")
    if not found or int(found[1]) != start or found[2] not in ("*", str(file.size)):
        raise _Changed("the server has another version of the file than was published")
    return start


def _copy(
    client: Client,
    response: Any,  # noqa: ANN401
    part: BinaryIO,
    file: Published,
    done: int,
    progress: Callable[[str, int, int], object],
) -> None:
    # What a server says of the length does not count, and what comes after it is not looked at.
    progress(file.name, done, file.size)
    while done < file.size:
        if client.stop.is_set():
            raise Stopped
        try:
            chunk = response.read1(min(_CHUNK, file.size - done))
        except (OSError, ValueError) as error:
            raise _Short(reason_of(error)) from error
        if not chunk:
            raise _Short("the connection ended early")
        part.write(chunk)
        done += len(chunk)
        progress(file.name, done, file.size)
    part.flush()
    os.fsync(part.fileno())


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Tell a full disk from a broken connection."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror or error}; make room, or choose another "
            "folder"
        ) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
