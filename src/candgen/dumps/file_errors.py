"""What the user is told about a file that cannot be read or written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from candgen.errors import StorageError, TableError


@contextmanager
def explain_read_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Raise TableError, with a sentence for the user, instead of an OSError."""
    try:
        yield
    except FileNotFoundError as error:
        raise TableError(f"{path} does not exist: check the name and the folder") from error
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def explain_write_errors(
    path: str | PathLike[str], advice: str = "choose another place"
) -> Iterator[None]:
    """Raise StorageError, with a sentence for the user, instead of an OSError."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        # Arrow puts words of its own around what the system says.
        reason = os.strerror(error.errno) if error.errno else error
        raise StorageError(f"{path} cannot be written: {reason}; {advice}") from error
