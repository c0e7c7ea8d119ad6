"""What can go wrong because of what the user gave us; each message says the way out."""


class CandgenError(Exception):
    """Any mistake that the caller can mend. Its text is one sentence for a person."""


class ParameterError(CandgenError, ValueError):
    """An argument has a value that makes no sense."""


class TableError(CandgenError, ValueError):
    """A mention table cannot be read, or holds something that it may not."""


class StorageError(CandgenError, OSError):
    """An index folder is missing, damaged, foreign, or cannot be written."""


class MissingExtraError(CandgenError, ImportError):
    """An optional package is needed for this and is not installed."""
