"""What a service is told when it starts: which indexes, which limits, how careful a match is."""

import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from candgen.errors import ParameterError

VARIABLE = "CANDGEN_SERVICE"
"""The environment variable through which worker processes are told their settings."""
PARENT = "CANDGEN_SERVICE_PARENT"
"""The process that started this one; it may be gone before this one knows its parent."""
AGAIN = "CANDGEN_SERVICE_AGAIN"
"""Set for a worker that takes the place of one that died: it reads every byte of its indexes."""
KEY_VARIABLE = "CANDGEN_API_KEY"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Limits:
    """What one request may cost; beyond it there is a clear answer instead of work."""

    body: int = 1 << 20
    """Bytes of a request."""
    batch: int = 1000
    """Mentions, or queries, of one request."""
    mention: int = 1000
    """Characters of a mention."""
    k: int = 1000
    """Candidates of a mention."""
    candidates: int = 100_000
    """Candidates of one request: its mentions times k."""
    seconds: float = 30.0
    """Of work on one request."""
    patience: float = 10.0
    """Seconds in which a client must have sent its request."""
    concurrency: int = 64
    """Requests that are worked on or wait, in each worker."""


@dataclass(frozen=True)
class Settings:
    """All of it; a worker process gets it as JSON."""

    indexes: dict[str, str]
    """Folders by name; the first is the one that is asked where no name is given."""
    limits: Limits = field(default_factory=Limits)
    match: float = 0.9
    """How likely the first candidate must be right to be called a match."""
    url: str | None = None
    """Where clients reach the service, if not where they say they do."""
    key: str | None = None
    """What clients must know; never written anywhere."""
    log: bool = True
    """Whether every request is logged."""

    def to_environment(self) -> None:
        """Leave it where worker processes find it."""
        os.environ[VARIABLE] = json.dumps({**asdict(self), "key": None})
        if self.key is not None:
            os.environ[KEY_VARIABLE] = self.key

    @classmethod
    def from_environment(cls) -> "Settings":
        """What the process that started this one has left."""
        said: dict[str, Any] = json.loads(os.environ[VARIABLE])
        limits = Limits(**said.pop("limits"))
        return cls(**{**said, "limits": limits, "key": os.environ.get(KEY_VARIABLE) or None})


def name_indexes(texts: Sequence[str]) -> dict[str, str]:
    """Folders by name, from [NAME=]FOLDER each; a folder's name up to the first dot is its name.

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
                f"{folder} needs a name of letters, digits, - and _ to be asked by: NAME={folder}"
            )
        if name in named:
            raise ParameterError(
                f"{named[name]} and {folder} are both called {name!r}: "
                f"give one another name, as in other={folder}"
            )
        named[name] = folder
    return named


def check_limits(limits: Limits) -> None:
    """Refuse limits under which nothing could be answered."""
    for each in fields(limits):
        value = getattr(limits, each.name)
        if not 0 < value < math.inf:
            raise ParameterError(f"the limit {each.name} is {value}: expected a number over 0")


def read_key(path: str | os.PathLike[str] | None) -> str | None:
    """The key that clients must know: from a file, or else from the environment."""
    if path is None:
        key = os.environ.get(KEY_VARIABLE)
        where = f"the environment variable {KEY_VARIABLE}"
    else:
        where = os.fspath(path)
        try:
            key = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "it is not UTF-8"
            raise ParameterError(f"the API key cannot be read from {where}: {said}") from error
    if key is None:
        return None
    if not re.fullmatch(r"[\x21-\x7e]{8,}", key):
        raise ParameterError(
            f"the API key in {where} must have at least 8 characters, all of them visible ASCII"
        )
    return key
