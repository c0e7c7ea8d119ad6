"""An index as the knowledge base of spaCy's entity linker, and the functions that a config names.

The linker asks its knowledge base for the candidates of a mention, each with a prior probability
and a vector. The probability is that of ``candgen.generators.calibration``. An index has no
vectors: they are given beside it, and without them only the probability decides.

A knowledge base is saved as an index folder, with ``spacy.*`` arrays beside those of the index, so
that a pipeline carries its index along, and ``candgen info`` tells what is in it.
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
from candgen.generators.calibration import DEPTH, Calibration
from candgen.generators.candidate import check_query
from candgen.generators.registry import open_stored
from candgen.storage import index_folder
from candgen.storage.atomic import atomic_write
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix
from candgen.tables.string_table import StringTable

try:
    import srsly
    from spacy.kb import Candidate, KnowledgeBase
    from spacy.tokens import Span
    from spacy.util import registry
    from spacy.vocab import Vocab
except ImportError as error:
    raise MissingExtraError(
        "an entity linker needs the package spaCy: pip install 'candgen[spacy]'"
    ) from error

K = 30
LENGTH = 64
"""Of vectors where none are given: what spaCy's entity linker assumes, too."""
PREFIX = "spacy"

_NOTHING = bytes(24)
"""What spaCy's own knowledge base reads as no entities and no aliases, before it misses a file.

That one is asked to read ours where a linker has the wrong ``generate_empty_kb``. Without a file
``contents`` it would not complain: it would bring down the process.
"""

Vectors = Mapping[str, Sequence[float]] | str | os.PathLike[str]
"""A vector for each entity that has one, or an .npz file with the arrays entities and vectors."""


class CandgenKB(KnowledgeBase):
    """The candidates of an index folder, as spaCy's entity linker wants them.

    ``k`` is how many a mention has at most, 30 if nothing else is said. ``vectors`` are those of
    the entities; entities without one share a vector, so that none of them is favoured.

    The folder is opened when it is first needed: a pipeline that is loaded from a disk makes its
    knowledge base before it knows where its own copy of the index is.
    """

    def __init__(
        self,
        vocab: Vocab,
        path: str | os.PathLike[str] | None = None,
        *,
        k: int | None = None,
        vectors: Vectors | None = None,
        entity_vector_length: int = LENGTH,
    ) -> None:
        super().__init__(vocab, entity_vector_length)
        if k is not None:
            check_query([], k)
        self._path, self._k, self._vectors = path, k, vectors
        self._length = entity_vector_length
        self._opened: _Index | None = None

    def _index(self) -> "_Index":
        if self._opened is None:
            if self._path is None:
                raise ParameterError(
                    "this knowledge base has no index: name a folder, as in "
                    "linker.set_kb(knowledge_base('fo.candgen'))"
                )
            vectors = _read(self._vectors, self._length)
            self._opened = _Index.of(index_folder.load(self._path), self._k, vectors)
        return self._opened

    def open(self) -> "CandgenKB":
        """Open the folder now, so that what is wrong with it is said now."""
        self._index()
        return self

    @property
    def generator(self) -> Any:  # noqa: ANN401
        """The index itself: ``linker.kb.generator.explain("Vín", "Q282")`` says why."""
        return self._index().generator

    @property
    def entity_vector_length(self) -> int:
        """How many numbers a vector has."""
        return int(self._index().vectors.values.shape[1])

    def get_candidates(self, mention: Span, k: int | None = None) -> list[Candidate]:
        """The entities that a mention may mean, the most probable first."""
        return self.get_candidates_batch([mention], k)[0]

    def get_candidates_batch(
        self, mentions: Iterable[Span], k: int | None = None
    ) -> list[list[Candidate]]:
        """The same for several mentions, in one question to the index, each text once."""
        index = self._index()
        k = index.k if k is None else k
        check_query([], k)
        texts = [mention.text for mention in mentions]
        asked = [text for text in dict.fromkeys(texts) if text.strip()]
        # Probabilities are those among many candidates, also if few are wanted.
        answers = index.generator.candidates(asked, max(k, DEPTH)) if asked else []
        found = {
            text: self._candidates(text, answer, k)
            for text, answer in zip(asked, answers, strict=True)
            if answer
        }
        return [list(found.get(text, ())) for text in texts]

    def _candidates(
        self, text: str, answer: Sequence[tuple[str, float]], k: int
    ) -> list[Candidate]:
        index = self._index()
        probabilities = _distinct(index.calibration.probabilities(text, answer)[:k])
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
        """The vector of each entity; that of all others for one that has none."""
        vectors: list[list[float]] = self._index().vectors.take(list(entities)).tolist()
        return vectors

    def get_vector(self, entity: str) -> list[float]:
        """The vector of one entity."""
        return self.get_vectors([entity])[0]

    def to_disk(
        self,
        path: str | os.PathLike[str],
        exclude: Iterable[str] = (),  # noqa: ARG002
    ) -> None:
        """Write the index, and what spaCy needs beside it, to an index folder."""
        index_folder.save(path, **self._index().contents())
        with atomic_write(Path(path) / "contents") as file:
            file.write(_NOTHING)

    def from_disk(
        self,
        path: str | os.PathLike[str],
        exclude: Iterable[str] = (),  # noqa: ARG002
    ) -> "CandgenKB":
        """Take what is in an index folder in the place of what was here."""
        self._opened = _Index.of(index_folder.load(path), None, _none(self._length))
        return self

    def to_bytes(self, **_: object) -> bytes:
        """What ``to_disk`` writes, in memory."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, bytes_data: bytes, **_: object) -> "CandgenKB":
        """Take what ``to_bytes`` gave in the place of what was here."""
        with TemporaryDirectory() as folder:
            for name, content in srsly.msgpack_loads(bytes_data).items():
                (Path(folder) / Path(name).name).write_bytes(content)
            stored = index_folder.load(folder)
            arrays = {name: np.array(array) for name, array in stored.arrays.items()}
        self._opened = _Index.of(replace(stored, arrays=arrays), None, _none(self._length))
        return self


@registry.misc("candgen.KnowledgeBase.v1")
def knowledge_base(
    path: str | Path | None = None, k: int | None = None, *, vectors: str | Path | None = None
) -> Callable[..., CandgenKB]:
    """What makes a knowledge base of an index folder, for a vocabulary.

    It is for ``generate_empty_kb`` in the settings of an entity linker, which then needs no
    training, for ``kb_loader`` in those of its initialization, and for ``linker.set_kb``.
    """

    def make(vocab: Vocab, entity_vector_length: int | None = None) -> CandgenKB:
        length = LENGTH if entity_vector_length is None else entity_vector_length
        made = CandgenKB(vocab, path, k=k, vectors=vectors, entity_vector_length=length)
        # With a length it may be one of a pipeline that is being loaded, and has its own index.
        return made.open() if entity_vector_length is None else made

    return make


@registry.misc("candgen.CandidateGenerator.v1")
def candidate_generator(k: int | None = None) -> Callable[[KnowledgeBase, Span], list[Candidate]]:
    """What asks a CandgenKB for the candidates of one mention; ``k`` replaces its own."""

    def get_candidates(kb: KnowledgeBase, mention: Span) -> list[Candidate]:
        return _ours(kb).get_candidates(mention, k)

    return get_candidates


@registry.misc("candgen.CandidateBatchGenerator.v1")
def candidate_batch_generator(
    k: int | None = None,
) -> Callable[[KnowledgeBase, Iterable[Span]], list[list[Candidate]]]:
    """What asks a CandgenKB for the candidates of several mentions; ``k`` replaces its own."""

    def get_candidates_batch(kb: KnowledgeBase, mentions: Iterable[Span]) -> list[list[Candidate]]:
        return _ours(kb).get_candidates_batch(mentions, k)

    return get_candidates_batch


@dataclass(frozen=True)
class EntityVectors:
    """Vectors of some entities, row by row; ``entities`` are sorted.

    >>> vectors = EntityVectors.of(["Q282", "Q1741"], [[0.0, 2.0], [1.0, 0.0]])
    >>> vectors.take(["Q1741", "Q584", "Q282"]).round(3).tolist()
    [[1.0, 0.0], [0.7070000171661377, 0.7070000171661377], [0.0, 2.0]]
    """

    entities: StringTable
    values: npt.NDArray[np.float32]

    @classmethod
    def of(cls, entities: Iterable[str], vectors: npt.ArrayLike) -> "EntityVectors":
        """Refuses what is no vector, vectors of different lengths, and an entity with two."""
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
                f"the vector of {named[wrong][0]} is not finite: leave it out, or mend it"
            )
        order = np.argsort(named)
        named, values = named[order], values[order]
        twice = named[1:][named[1:] == named[:-1]]
        if len(twice):
            raise ParameterError(f"{twice[0]} has two vectors: expected one for each entity")
        # Zeros point nowhere: an entity with such a vector is one without.
        there = values.any(axis=1)
        return cls(StringTable(**StringTable.pack(named[there].tolist())), values[there])

    def take(self, entities: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of entities.

        Where there is none it is not zeros: the linker divides by the length of a vector, and takes
        what is no number for the largest. With the same vector, whatever it is, the probability
        decides between two entities. This one, all parts of which are equal, is also what zeros
        count as when spaCy trains.
        """
        places = self.entities.places(entities)
        length = self.values.shape[1]
        found = np.full((len(places), length), length**-0.5, np.float32)
        found[places >= 0] = self.values[places[places >= 0]]
        return found


@dataclass(frozen=True)
class _Index:
    """An index folder that is open, with what spaCy needs beside it."""

    stored: StoredIndex
    generator: Any
    calibration: Calibration
    k: int
    vectors: EntityVectors

    @classmethod
    def of(cls, stored: StoredIndex, k: int | None, vectors: EntityVectors) -> "_Index":
        """What is given counts, then what was saved with a knowledge base."""
        saved = strip_prefix(PREFIX, stored.arrays)
        if saved and not len(vectors.entities):
            entities = StringTable(**strip_prefix("entities", saved))
            vectors = EntityVectors(entities, saved["vectors"])
        if k is None:
            k = int(saved["k"][0]) if saved else K
        return cls(stored, open_stored(stored), Calibration.from_stored(stored), k, vectors)

    def contents(self) -> dict[str, Any]:
        """What `storage.save` takes: all that the folder had, and ours."""
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


def _ours(kb: KnowledgeBase) -> CandgenKB:
    if not isinstance(kb, CandgenKB):
        raise ParameterError(
            f"the knowledge base is of class {type(kb).__name__}, which has no index: give the "
            "entity linker one that has, as in linker.set_kb(knowledge_base('fo.candgen'))"
        )
    return kb


def _distinct(probabilities: Sequence[float]) -> list[float]:
    """Each a little above the next, in the precision that spaCy keeps.

    The linker shuffles the candidates before it looks for the largest: among equal ones, it would
    take another one every time.
    """
    rounded = np.array(probabilities, np.float32)
    for at in range(len(rounded) - 2, -1, -1):
        rounded[at] = max(rounded[at], np.nextafter(rounded[at + 1], np.float32(np.inf)))
    distinct: list[float] = rounded.tolist()
    return distinct


def _none(length: int) -> EntityVectors:
    return EntityVectors.of([], np.zeros((0, length)))


def _read(vectors: Vectors | None, length: int) -> EntityVectors:
    if vectors is None:
        return _none(length)
    if isinstance(vectors, Mapping):
        return EntityVectors.of(vectors, list(vectors.values()))
    try:
        # Opened here because NumPy would not close a damaged one.
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
