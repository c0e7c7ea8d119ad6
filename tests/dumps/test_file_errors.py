"""Errors of the system become one sentence for the user."""

import pytest

from candgen.dumps.file_errors import explain_read_errors, explain_write_errors
from candgen.errors import StorageError, TableError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError(2, "No such file"), "x.sql does not exist: check the name and"),
        (IsADirectoryError(21, "Is a directory"), "x.sql cannot be read: Is a directory"),
        (OSError("odd"), "x.sql cannot be read: odd"),
    ],
)
def test_reading(error, message):
    with pytest.raises(TableError, match=f"^{message}"), explain_read_errors("x.sql"):
        raise error


def test_writing():
    message = "^x cannot be written: No space left on device; make room$"
    with pytest.raises(StorageError, match=message), explain_write_errors("x", "make room"):
        raise OSError(28, "No space left on device")


def test_an_error_that_was_explained_stays():
    with pytest.raises(StorageError, match=r"^explained$"), explain_write_errors("x"):
        raise StorageError("explained")


def test_other_errors_pass():
    with pytest.raises(KeyError), explain_read_errors("x"), explain_write_errors("x"):
        raise KeyError("x")
