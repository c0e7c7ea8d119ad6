"""The mention tables of a folder, by language, each read when it is asked for."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from candgen.errors import TableError
from candgen.evaluation.corpus import SUFFIXES, Corpus
from candgen.mentions import MentionTable

NOT_NAMES = "entities"
"""``candgen extract-wikidata`` puts a table of what entities are beside the names."""


class TableFolder(Mapping[str, MentionTable]):
    """A folder of mention tables as a mapping: language -> table, in the order of the codes.

    A language is a file's name up to its first dot: ``is.parquet``, ``da.tsv.gz``. A folder as the
    paper's authors released their data works too, and gives its training data. Tables are read
    when they are asked for, and only the last few are kept: all languages of Wikipedia need no
    more memory than the largest.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, skip_bad_rows: bool = False, without: str = ""
    ) -> None:
        """Look into the folder; the language ``without`` is as if it were not there."""
        self._corpus = Corpus(Path(folder), skip_bad_rows=skip_bad_rows)
        found = [language for language in self._corpus.languages if language != NOT_NAMES]
        self._languages = [language for language in found if language != without]
        if not self._languages:
            others = f" but that of {without}" if found else ""
            raise TableError(
                f"{folder} has no mention tables{others}: expected files such as is.tsv.gz or "
                f"da.parquet, which end in {', '.join(SUFFIXES)}"
            )

    def __getitem__(self, language: str) -> MentionTable:
        if language not in self:
            raise KeyError(language)
        return self._corpus.table(language)

    def __contains__(self, language: object) -> bool:
        return language in self._languages

    def __iter__(self) -> Iterator[str]:
        return iter(self._languages)

    def __len__(self) -> int:
        return len(self._languages)

    def path(self, language: str) -> Path:
        """The file, or folder, of a language."""
        return self._corpus.path(language)
