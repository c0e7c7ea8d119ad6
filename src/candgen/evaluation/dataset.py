"""A dataset: a folder that holds a split.

``fo.dataset/`` has ``train.tsv.gz``, ``dev.tsv``, ``test.tsv`` and ``manifest.json``, which has the
parameters of the split, a digest of the input, the counts, and the SHA-256 of each file. It has no
dates: the same split gives byte-identical files.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from candgen.errors import CandgenError, ParameterError, StorageError, shown
from candgen.evaluation.split import TYPES_OF, Split
from candgen.storage.atomic import atomic_folder, write_text
from candgen.storage.manifest import render
from candgen.storage.versions import version
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query, read_queries, write_queries
from candgen.tables.text_file import check_is_file

FORMAT = "candgen dataset"
FORMAT_VERSION = 1
TRAIN, DEV, TEST = FILES = ("train.tsv.gz", "dev.tsv", "test.tsv")
MANIFEST = "manifest.json"
_MAX_MANIFEST = 1 << 20  # bytes

_FIELDS = {
    "candgen_version",
    "checksum",
    "counts",
    "files",
    "format",
    "format_version",
    "input",
    "language",
    "normalizer",
    "per_type",
    "seed",
    "setting",
}

FilePath = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A split in its folder; each file is checked and read when it is first used.

    A file that is not used may be missing: ``test.tsv`` is not needed for tuning.
    """

    path: Path
    manifest: Mapping[str, Any]

    @cached_property
    def train(self) -> MentionTable:
        """The training data of the target."""
        return MentionTable.read(self._verified(TRAIN))

    @cached_property
    def dev(self) -> list[Query]:
        """The queries to tune on."""
        return read_queries(self._verified(DEV))

    @cached_property
    def test(self) -> list[Query]:
        """The held-out queries for the final evaluation."""
        return read_queries(self._verified(TEST))

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The number of queries of each type of the setting, in dev and in test."""
        types = TYPES_OF[self.setting]
        counts = self.manifest["counts"]
        return {name: {kind: counts[name][kind] for kind in types} for name in ("dev", "test")}

    @property
    def setting(self) -> str:
        """The setting of the split: joint, zero-shot or high-resource."""
        return str(self.manifest["setting"])

    @property
    def normalizer(self) -> str:
        """The normalizer after which the types of the queries hold."""
        return str(self.manifest["normalizer"])

    @property
    def language(self) -> str | None:
        """The language of the table, if it was given."""
        language: str | None = self.manifest["language"]
        return language

    def _verified(self, name: str) -> Path:
        """Return the path of a file; raise StorageError if it does not match the manifest."""
        path = self.path / name
        found = _file_entry(path)
        if found != self.manifest["files"][name]:
            raise StorageError(
                f"{path} has changed since it was written: restore the original, or split again"
            )
        return path


def write_dataset(path: FilePath, split: Split) -> None:
    """Write a split to a folder atomically; an existing dataset there is replaced.

    A folder that holds anything but a dataset is left unchanged, and StorageError is raised.
    """
    if not isinstance(split, Split):
        raise ParameterError(f"split is {shown(split)}, expected what candgen.split returns")
    with atomic_folder(Path(path), _may_replace) as folder:
        split.train.write(folder / TRAIN)
        write_queries(folder / DEV, split.dev)
        write_queries(folder / TEST, split.test)
        files = {name: _file_entry(folder / name) for name in FILES}
        write_text(folder / MANIFEST, render({**_content(split), "files": files}).decode("ascii"))


def read_dataset(path: FilePath) -> Dataset:
    """Open a dataset: read its manifest now, its files when they are used."""
    folder = Path(path)
    where = folder / MANIFEST
    try:
        if check_is_file(where) > _MAX_MANIFEST:
            raise StorageError(f"{where} is not the manifest of a dataset: split again")
        text = where.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(
            f"{folder} is not a dataset: expected a folder with {MANIFEST}, made by candgen split"
        ) from None
    except CandgenError:
        raise
    except OSError as error:
        raise StorageError(f"{where} cannot be read: {error.strerror or error}") from error
    content = _parsed(text)
    if content is None or content.get("format") != FORMAT:
        raise StorageError(f"{where} is not the manifest of a dataset: split again")
    version = content.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StorageError(
            f"{where} was written by a newer candgen (format {version}, this one reads "
            f"{FORMAT_VERSION}): upgrade candgen, or split again"
        )
    if version != FORMAT_VERSION or not _is_intact(content, text):
        raise StorageError(
            f"{where} has changed since it was written: restore the original, or split again"
        )
    return Dataset(folder, content)


def _content(split: Split) -> dict[str, Any]:
    train = {
        "pairs": len(split.train),
        "entities": pc.count_distinct(split.train.arrow["entity"]).as_py(),
    }
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "candgen_version": version(),
        "seed": split.seed,
        "per_type": split.per_type,
        "setting": split.setting,
        "normalizer": split.normalizer,
        "language": split.language,
        "input": split.input._asdict(),
        "counts": {"train": train, **split.sizes},
    }


def _file_entry(path: Path) -> dict[str, Any]:
    try:
        check_is_file(path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"bytes": file.tell(), "sha256": digest}
    except FileNotFoundError:
        raise StorageError(f"{path} is missing: restore it, or split again") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _may_replace(folder: Path) -> bool:
    """Return whether the folder holds a dataset and no other file."""
    try:
        content = _parsed((folder / MANIFEST).read_bytes())
    except OSError:
        return False
    names = {entry.name for entry in folder.iterdir()}
    return content is not None and content.get("format") == FORMAT and names <= {*FILES, MANIFEST}


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _is_intact(content: dict[str, Any], text: bytes) -> bool:
    """Return whether `render` wrote this text: its output is unique and has a checksum."""
    unsigned = {name: value for name, value in content.items() if name != "checksum"}
    try:
        return set(content) == _FIELDS and render(unsigned) == text
    except (ValueError, RecursionError):
        return False
