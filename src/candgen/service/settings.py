"""The settings of a service: indexes, limits, match threshold, API key."""

import math
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from candgen.errors import ParameterError

KEY_VARIABLE = "CANDGEN_API_KEY"
MAX_HEAD_BYTES = 1 << 16
"""Bytes of request line and headers."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Limits:
    """Limits of one request; one that exceeds them gets a problem document."""

    body: int = 1 << 20
    """Bytes of a request."""
    batch: int = 1000
    """Mentions, or queries, in a request."""
    mention: int = 250
    """Characters of a mention."""
    characters: int = 50_000
    """Characters of all mentions, or queries, of a request."""
    k: int = 1000
    """Candidates of a mention."""
    candidates: int = 100_000
    """Candidates in an answer: mentions times k."""
    work_timeout: float = 30.0
    """Seconds for the work on a request."""
    request_timeout: float = 10.0
    """Seconds in which a request must have arrived completely."""
    concurrency: int = 64
    """Concurrent requests in each worker."""
    connections: int = 1000
    """Open connections of each worker."""

    def work(self, characters: int, candidates: int) -> float:
        """Return how large a request is, from 0 to 1 for the largest one that is allowed."""
        return (characters / self.characters + candidates / self.candidates) / 2

    def as_json(self) -> dict[str, float]:
        """Return the limits under the names that they have in the JSON API."""
        names = {"work_timeout": "seconds", "request_timeout": "patience"}
        return {names.get(name, name): value for name, value in vars(self).items()}


@dataclass(frozen=True)
class Settings:
    """All settings of a service."""

    indexes: dict[str, str]
    """Index folders by name; the first is the default."""
    limits: Limits = field(default_factory=Limits)
    match_threshold: float = 0.9
    """Probability from which the first candidate is a match."""
    url: str | None = None
    """Public address of the service, if it is not the one in the header Host."""
    key: str | None = None
    """API key that clients must send; never logged or stored."""
    log: bool = True
    """Whether to write an access log."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts to answer for, beside the address at which a connection arrives; ``*`` allows all."""


def name_indexes(texts: Sequence[str]) -> dict[str, str]:
    """Return folders by name, from ``[NAME=]FOLDER`` texts.

    The default name is that of the folder, up to the first dot.

    >>> name_indexes(["fo.candgen", "old=archive/fo.candgen"])
    {'fo': 'fo.candgen', 'old': 'archive/fo.candgen'}
    """
    named: dict[str, str] = {}
    for text in texts:
        before, equals, after = text.partition("=")
        explicit = bool(equals) and NAME.fullmatch(before) is not None
        folder = after if explicit else text
        name = before if explicit else Path(folder).absolute().name.split(".")[0]
        if not folder:
            raise ParameterError(f"{text!r} names no folder: expected [NAME=]FOLDER")
        if not NAME.fullmatch(name):
            raise ParameterError(
                f"{folder} needs a name of letters, digits, - and _: write NAME={folder}"
            )
        if name in named:
            raise ParameterError(
                f"{named[name]} and {folder} have the same name {name!r}: "
                f"rename one, as in other={folder}"
            )
        named[name] = folder
    return named


def check_limits(limits: Limits) -> None:
    """Raise ParameterError if a limit is not a finite number over 0."""
    for name, value in vars(limits).items():
        if not 0 < value < math.inf:
            raise ParameterError(f"the limit {name} is {value}: expected a finite number over 0")


def read_key(path: str | os.PathLike[str] | None) -> str | None:
    """Read the API key from a file or, without a path, from the environment."""
    if path is None:
        key = os.environ.get(KEY_VARIABLE)
        where = f"the environment variable {KEY_VARIABLE}"
    else:
        where = os.fspath(path)
        try:
            key = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise ParameterError(f"the API key cannot be read from {where}: {reason}") from error
    if key is not None and not re.fullmatch(r"[\x21-\x7e]{8,}", key):
        raise ParameterError(
            f"the API key in {where} is invalid: expected at least 8 printable ASCII characters "
            "without spaces"
        )
    return key


def is_key_file_exposed(path: str | os.PathLike[str] | None) -> bool:
    """Return whether users other than the owner can read the file with the API key."""
    if path is None or os.name != "posix":
        return False
    return bool(Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
