"""The mention tables of a folder, by language; each is read when it is used."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from candgen.errors import TableError
from candgen.tables.file_formats import TABLE_SUFFIXES
from candgen.tables.mention_table import MentionTable
from candgen.tables.released import is_released, languages, read_released
from candgen.tables.text_file import check_is_file

Stamped = tuple[tuple[Path, int, int], ...]
ENTITIES = "entities"
"""``candgen extract-wikidata`` writes a table of entities beside the mention tables."""


@dataclass(frozen=True)
class LanguageFiles:
    """A folder with a file ``<language>.*`` or a folder ``<language>`` for each language."""

    folder: Path
    skip_bad_rows: bool = False

    @cached_property
    def released(self) -> bool:
        """Whether this is the layout in which the paper's authors released their data."""
        if not self.folder.is_dir():
            raise TableError(f"{self.folder} is not a folder: name the folder that holds the data")
        return is_released(self.folder)

    @cached_property
    def languages(self) -> list[str]:
        """The languages of the data in the folder."""
        if self.released:
            return languages(self.folder)
        return sorted(
            {path.name.split(".")[0] for path in self.folder.iterdir() if _is_table(path)}
        )

    def table(self, language: str) -> MentionTable:
        """Return all pairs of a language, or its training data in the released layout."""
        path = self.path(language)
        return _read(path, _stamped(path), skip_bad_rows=self.skip_bad_rows)

    def fingerprint(self, *names: str) -> dict[str, str]:
        """Return the SHA-256 of each language's files, which changes when the files do."""
        return {name: _digest(*_stamped(self.path(name))) for name in sorted(set(names))}

    def path(self, language: str) -> Path:
        """Return the file or folder of a language; raise TableError if there is none, or two."""
        if self.released:
            found = [self.folder / language] if language in self.languages else []
        else:
            found = [self.folder / (language + suffix) for suffix in TABLE_SUFFIXES]
            found = [path for path in found if path.exists()]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{found[0]} and {found[1].name} are both tables of {language}: keep one"
            )
        raise TableError(
            f"{self.folder} has no data of {language!r}: expected {language}.tsv.gz, "
            f"{language}.parquet, or a folder {language} with mentions_tr.txt"
        )


class TableFolder(Mapping[str, MentionTable]):
    """A folder of mention tables as a mapping: language -> table, in the order of the codes.

    A language is a file's name up to its first dot: ``is.parquet``, ``da.tsv.gz``. A folder as the
    paper's authors released their data works too, with its training data. Tables are read when they
    are used, and only the last few are kept: all languages of Wikipedia need no more memory than
    the largest ones.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, skip_bad_rows: bool = False, without: str = ""
    ) -> None:
        """List the tables of a folder, leaving out the language ``without``."""
        self._files = LanguageFiles(Path(folder), skip_bad_rows)
        found = [language for language in self._files.languages if language != ENTITIES]
        self._languages = [language for language in found if language != without]
        if not self._languages:
            others = f" but that of {without}" if found else ""
            raise TableError(
                f"{folder} has no mention tables{others}: expected files such as is.tsv.gz or "
                f"da.parquet, which end in {', '.join(TABLE_SUFFIXES)}"
            )

    def __getitem__(self, language: str) -> MentionTable:
        if language not in self:
            raise KeyError(language)
        return self._files.table(language)

    def __contains__(self, language: object) -> bool:
        return language in self._languages

    def __iter__(self) -> Iterator[str]:
        return iter(self._languages)

    def __len__(self) -> int:
        return len(self._languages)

    def path(self, language: str) -> Path:
        """Return the file, or folder, of a language."""
        return self._files.path(language)


def _is_table(path: Path) -> bool:
    return path.name.endswith(TABLE_SUFFIXES) and not path.name.startswith(".")


def _stamped(path: Path) -> Stamped:
    """Return the files of a language, each with its size and when it was written."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    return tuple((each, each.stat().st_size, each.stat().st_mtime_ns) for each in files)


@lru_cache(maxsize=4)
def _read(path: Path, _stamped: Stamped, *, skip_bad_rows: bool) -> MentionTable:
    """Read a table; files that have not changed are not read again."""
    if path.is_dir() and not path.name.endswith(TABLE_SUFFIXES):
        return read_released(path, skip_bad_rows=skip_bad_rows).train
    return MentionTable.read(path, skip_bad_rows=skip_bad_rows)


@lru_cache(maxsize=1024)
def _digest(*stamped: tuple[Path, int, int]) -> str:
    """Return one SHA-256 for all files; files that have not changed are not read again."""
    state = hashlib.sha256()
    for path, _, _ in stamped:
        check_is_file(path)
        with path.open("rb") as file:
            state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest()
