"""An index as the knowledge base of spaCy's entity linker, and the functions for its config.

The linker asks its knowledge base for the candidates of a mention, each with a prior probability
and a vector. The probability is the index's own. An index has no vectors: give them separately, or
only the probability decides.

A knowledge base is saved as an index folder with additional ``spacy.*`` arrays. So a pipeline
contains its index, and ``candgen info`` works on it.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from candgen.errors import MissingExtraError, ParameterError, StorageError
from candgen.generators.calibration import DEPTH
from candgen.generators.candidate import check_query
from candgen.generators.registry import open_stored
from candgen.protocols import Index
from candgen.storage import index_folder
from candgen.storage.atomic import atomic_write
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_array, check_range
from candgen.tables.string_table import StringTable

try:
    import srsly
    from spacy.kb import Candidate, KnowledgeBase
    from spacy.tokens import Span
    from spacy.util import registry
    from spacy.vocab import Vocab
except ImportError as error:
    raise MissingExtraError(
        "the entity linker needs the package spaCy: pip install 'candgen[spacy]'"
    ) from error

DEFAULT_K = 30
DEFAULT_VECTOR_LENGTH = 64
"""The vector length without vectors; spaCy's entity linker has the same default."""
PREFIX = "spacy"
MAX_COMPONENT = float(np.finfo(np.float32).max)

_EMPTY_CONTENTS = bytes(24)
"""The file ``contents``, for spaCy's own knowledge base: no entities and no aliases.

That class reads our folder if a linker has the wrong ``generate_empty_kb``. It then raises an error
for a missing file. Without ``contents`` it would crash the process.
"""

Vectors = Mapping[str, Sequence[float]] | str | os.PathLike[str]
"""A vector for each entity that has one, or an .npz file with the arrays entities and vectors."""


class CandgenKB(KnowledgeBase):
    """The knowledge base of an index folder, for spaCy's entity linker.

    ``k`` is the maximum number of candidates of a mention, 30 by default. ``vectors`` are those of
    the entities; all entities without one have the same vector, so that none is preferred.

    The folder is opened at its first use: a pipeline that is loaded from disk creates its
    knowledge base before it knows where its own copy of the index is.
    """

    def __init__(
        self,
        vocab: Vocab,
        path: str | os.PathLike[str] | None = None,
        *,
        k: int | None = None,
        vectors: Vectors | None = None,
        entity_vector_length: int = DEFAULT_VECTOR_LENGTH,
    ) -> None:
        super().__init__(vocab, entity_vector_length)
        if k is not None:
            check_query([], k)
        self._path, self._k, self._vectors = path, k, vectors
        self._length = entity_vector_length
        self._loaded: _LoadedIndex | None = None

    def _index(self) -> "_LoadedIndex":
        if self._loaded is None:
            if self._path is None:
                raise ParameterError(
                    "this knowledge base has no index: name a folder, as in "
                    "linker.set_kb(knowledge_base('fo.candgen'))"
                )
            vectors = _read_vectors(self._vectors, self._length)
            self._loaded = _LoadedIndex.of(index_folder.load(self._path), self._k, vectors)
        return self._loaded

    def open(self) -> "CandgenKB":
        """Open the folder now, so that errors are raised now."""
        self._index()
        return self

    @property
    def generator(self) -> Any:  # noqa: ANN401
        """The index itself, as in ``linker.kb.generator.explain("Vín", "Q282")``."""
        return self._index().generator

    @property
    def entity_vector_length(self) -> int:
        """The length of the vectors."""
        return int(self._index().vectors.values.shape[1])

    def get_candidates(self, mention: Span, k: int | None = None) -> list[Candidate]:
        """Return the candidates of a mention, the most probable first."""
        return self.get_candidates_batch([mention], k)[0]

    def get_candidates_batch(
        self, mentions: Iterable[Span], k: int | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates of several mentions, with one search for each different text."""
        index = self._index()
        k = index.k if k is None else k
        check_query([], k)
        texts = [mention.text for mention in mentions]
        unique = [text for text in dict.fromkeys(texts) if text.strip()]
        # Probabilities need the first 30 candidates, even if k is smaller.
        answers = index.generator.candidates(unique, max(k, DEPTH)) if unique else []
        found = {
            text: self._candidates(text, answer, k)
            for text, answer in zip(unique, answers, strict=True)
            if answer
        }
        return [list(found.get(text, ())) for text in texts]

    def _candidates(
        self, text: str, answer: Sequence[tuple[str, float]], k: int
    ) -> list[Candidate]:
        index = self._index()
        probabilities = _distinct(index.generator.probabilities(text, answer)[:k])
        entities = [entity for entity, _ in answer[:k]]
        vectors = index.vectors.take(entities)
        add = self.vocab.strings.add
        return [
            Candidate(
                kb=self,
                entity_hash=add(entity),
                entity_freq=0.0,
                entity_vector=vector,
                alias_hash=add(text),
                prior_prob=probability,
            )
            for entity, vector, probability in zip(entities, vectors, probabilities, strict=True)
        ]

    def get_vectors(self, entities: Iterable[str]) -> list[list[float]]:
        """Return the vector of each entity; all entities without one have the same vector."""
        vectors: list[list[float]] = self._index().vectors.take(list(entities)).tolist()
        return vectors

    def get_vector(self, entity: str) -> list[float]:
        """Return the vector of one entity."""
        return self.get_vectors([entity])[0]

    def to_disk(
        self,
        path: str | os.PathLike[str],
        exclude: Iterable[str] = (),  # noqa: ARG002
    ) -> None:
        """Write the index, k and the vectors to an index folder."""
        index_folder.save(path, **self._index().contents())
        with atomic_write(Path(path) / "contents") as file:
            file.write(_EMPTY_CONTENTS)

    def from_disk(
        self,
        path: str | os.PathLike[str],
        exclude: Iterable[str] = (),  # noqa: ARG002
    ) -> "CandgenKB":
        """Replace the index by the one in a folder."""
        self._loaded = _LoadedIndex.of(index_folder.load(path), None, _no_vectors(self._length))
        return self

    def to_bytes(self, **_: object) -> bytes:
        """Return the files that ``to_disk`` writes."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, bytes_data: bytes, **_: object) -> "CandgenKB":
        """Replace the index by the one that ``to_bytes`` has returned."""
        with TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(bytes_data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            stored = index_folder.load(folder)
            arrays = {name: np.array(array) for name, array in stored.arrays.items()}
        stored = replace(stored, arrays=arrays)
        self._loaded = _LoadedIndex.of(stored, None, _no_vectors(self._length))
        return self


@registry.misc("candgen.KnowledgeBase.v1")
def knowledge_base(
    path: str | Path | None = None, k: int | None = None, *, vectors: str | Path | None = None
) -> Callable[..., CandgenKB]:
    """Return a function that makes the knowledge base of an index folder for a vocabulary.

    Use it as ``generate_empty_kb`` of an entity linker, which then needs no training, as
    ``kb_loader`` of its initialization, and with ``linker.set_kb``.
    """

    def make(vocab: Vocab, entity_vector_length: int | None = None) -> CandgenKB:
        if entity_vector_length is None:
            return CandgenKB(vocab, path, k=k, vectors=vectors).open()
        # Not opened: it may belong to a pipeline that is being loaded, which has its own index.
        length = entity_vector_length
        return CandgenKB(vocab, path, k=k, vectors=vectors, entity_vector_length=length)

    return make


@registry.misc("candgen.CandidateGenerator.v1")
def candidate_generator(k: int | None = None) -> Callable[[KnowledgeBase, Span], list[Candidate]]:
    """Return a function that asks a CandgenKB for the candidates of a mention."""

    def get_candidates(kb: KnowledgeBase, mention: Span) -> list[Candidate]:
        return _check_kb(kb).get_candidates(mention, k)

    return get_candidates


@registry.misc("candgen.CandidateBatchGenerator.v1")
def candidate_batch_generator(
    k: int | None = None,
) -> Callable[[KnowledgeBase, Iterable[Span]], list[list[Candidate]]]:
    """Return a function that asks a CandgenKB for the candidates of several mentions."""

    def get_candidates_batch(kb: KnowledgeBase, mentions: Iterable[Span]) -> list[list[Candidate]]:
        return _check_kb(kb).get_candidates_batch(mentions, k)

    return get_candidates_batch


@dataclass(frozen=True)
class EntityVectors:
    """Vectors of some entities, one a row; ``entities`` are sorted.

    >>> vectors = EntityVectors.of(["Q282", "Q1741"], [[0.0, 2.0], [1.0, 0.0]])
    >>> vectors.take(["Q1741", "Q584", "Q282"]).round(3).tolist()
    [[1.0, 0.0], [0.7070000171661377, 0.7070000171661377], [0.0, 2.0]]
    """

    entities: StringTable
    values: npt.NDArray[np.float32]

    @classmethod
    def of(cls, entities: Iterable[str], vectors: npt.ArrayLike) -> "EntityVectors":
        """Check that vectors are finite, equally long, and one for each entity."""
        named = np.array(list(entities), np.str_)
        try:
            with np.errstate(over="ignore"):
                values = np.array(vectors, np.float32)
        except (TypeError, ValueError):
            values = np.zeros(0, np.float32)
        if values.ndim != 2 or len(values) != len(named) or not values.shape[1]:
            raise ParameterError(
                f"the vectors of {len(named)} entities have the shape {values.shape}: "
                "expected a row of numbers for each, all of the same length"
            )
        wrong = ~np.isfinite(values).all(axis=1)
        if wrong.any():
            raise ParameterError(
                f"the vector of {named[wrong][0]} is not finite: leave it out, or correct it"
            )
        order = np.argsort(named)
        named, values = named[order], values[order]
        twice = named[1:][named[1:] == named[:-1]]
        if len(twice):
            raise ParameterError(f"{twice[0]} has two vectors: expected one for each entity")
        # A vector of zeros has no direction: it counts as none.
        there = values.any(axis=1)
        return cls(StringTable(**StringTable.pack(named[there].tolist())), values[there])

    def take(self, entities: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the vectors of entities.

        An entity without one gets a vector of equal components. It cannot be zeros, because the
        linker divides by the length of a vector, and takes NaN for the largest value. Between two
        equal vectors the probability decides. spaCy's training treats zeros in the same way.
        """
        places = self.entities.places(entities)
        length = self.values.shape[1]
        found = np.full((len(places), length), length**-0.5, np.float32)
        found[places >= 0] = self.values[places[places >= 0]]
        return found


@dataclass(frozen=True)
class _LoadedIndex:
    """A loaded index, with k and the vectors."""

    stored: StoredIndex
    generator: Index
    k: int
    vectors: EntityVectors

    @classmethod
    def of(cls, stored: StoredIndex, k: int | None, vectors: EntityVectors) -> "_LoadedIndex":
        """Load a generator; k and vectors default to those that were saved with it."""
        generator = open_stored(stored)
        if saved := strip_prefix(PREFIX, stored.arrays):
            saved_k, saved_vectors = _read_saved(stored.path, saved)
            k = saved_k if k is None else k
            vectors = vectors if len(vectors.entities) else saved_vectors
        return cls(stored, generator, DEFAULT_K if k is None else k, vectors)

    def contents(self) -> dict[str, Any]:
        """Return the arguments of `index_folder.save`: the stored index, k and the vectors."""
        saved = {
            "k": np.array([self.k]),
            "vectors": self.vectors.values,
            **add_prefix("entities", self.vectors.entities.arrays()),
        }
        return {
            "kind": self.stored.kind,
            "parameters": self.stored.parameters,
            "arrays": {**self.stored.arrays, **add_prefix(PREFIX, saved)},
            "inputs": self.stored.inputs,
        }


def _read_saved(path: Path, saved: Mapping[str, npt.NDArray[Any]]) -> tuple[int, EntityVectors]:
    """Return k and the vectors that were saved with an index; raise StorageError if invalid."""
    try:
        check_array("k", saved["k"], np.int64, 1)
        check_range("k", saved["k"], 1, np.iinfo(np.int64).max)
        entities = StringTable(**strip_prefix("entities", saved))
        entities.validate("entities", is_sorted=True)
        check_array("vectors", saved["vectors"], np.float32, len(entities), -1)
        check_range("vectors", saved["vectors"], -MAX_COMPONENT, MAX_COMPONENT)
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"{path} has vectors that cannot be read ({error}): save the pipeline again"
        ) from error
    return int(saved["k"][0]), EntityVectors(entities, saved["vectors"])


def _check_kb(kb: KnowledgeBase) -> CandgenKB:
    if not isinstance(kb, CandgenKB):
        raise ParameterError(
            f"the knowledge base is of class {type(kb).__name__}, expected CandgenKB: use "
            "linker.set_kb(knowledge_base('fo.candgen'))"
        )
    return kb


def _distinct(probabilities: Sequence[float]) -> list[float]:
    """Return probabilities that differ in the precision of spaCy, in the same order.

    The linker shuffles the candidates before it takes the largest, so that equal ones would give
    another result every time.
    """
    rounded = np.array(probabilities, np.float32)
    for at in range(len(rounded) - 2, -1, -1):
        rounded[at] = max(rounded[at], np.nextafter(rounded[at + 1], np.float32(np.inf)))
    distinct: list[float] = rounded.tolist()
    return distinct


def _no_vectors(length: int) -> EntityVectors:
    return EntityVectors.of([], np.zeros((0, length)))


def _read_vectors(vectors: Vectors | None, length: int) -> EntityVectors:
    if vectors is None:
        return _no_vectors(length)
    if isinstance(vectors, Mapping):
        return EntityVectors.of(vectors, list(vectors.values()))
    try:
        # Opened here, because NumPy does not close a damaged file.
        with Path(vectors).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            entities, values = arrays["entities"].tolist(), arrays["vectors"]
    except FileNotFoundError:
        raise StorageError(f"{vectors} does not exist: name a file with vectors") from None
    except (BadZipFile, EOFError, KeyError, OSError, TypeError, ValueError) as error:
        raise StorageError(
            f"{vectors} is not a file with vectors: write one with "
            "numpy.savez(path, entities=[...], vectors=[...])"
        ) from error
    return EntityVectors.of(entities, values)
