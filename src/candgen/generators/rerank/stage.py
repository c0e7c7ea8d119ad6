"""The second stage: names of entities, learned edits and translations, and the features."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.name_pairs import (
    choose_partner,
    edit_pairs,
    word_entities,
    word_pairs,
)
from candgen.generators.rerank.spellings import (
    NO_ROWS,
    Spellings,
    decode_logarithm,
    normalized_rows,
)
from candgen.generators.rerank.translations import TranslatedWord, Translations
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS, Weights
from candgen.kernels.edit_model import similarity_rows
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_text
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import check_normalizer, normalize_many

Knows = Callable[[Sequence[str]], Sequence[bool]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Answers = Sequence[Sequence[tuple[str, float]]]

MIN_SCORE_SHARE = 1e-300
"""A score that is less of the best one counts as so much: its decode_logarithm must be finite."""
MAX_SYMBOLS = 1000
"""How many symbols of a mention or name are compared."""
SCRIPT_NORMALIZER = "default"
"""A normalizer that keeps the script: the first stage is asked with translations, and it may or may
not romanize."""


@dataclass(frozen=True)
class Features:
    """The properties of candidates, a row each: those of query q are the rows from ``starts[q]``.

    Columns are those of ``Weights``. ``best`` is the spelling that is most similar to the mention.
    """

    values: Floats
    starts: Integers
    best: Integers


@dataclass(frozen=True)
class Stage:
    """Spellings of entities, an edit model, translations of words, and weights."""

    spellings: Spellings
    edits: EditModel
    translations: Translations
    weights: Weights
    normalizer: str
    language: str | None

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable],
        target: MentionTable | None,
        language: str | None,
        normalizer: str,
        knows: Knows | None = None,
    ) -> tuple["Stage", int]:
        """Learn a stage with fixed weights; return it and how many pairs the edits come from.

        Edits are learned from names of the same entity in the target and in a pivot, or, without a
        target, in two pivots. Words are translated into one language: the one with most to learn
        from. Only names of entities that the generator ``knows`` are kept.
        """
        tables, spoken, rows = _rows_of(pivots, target, language, normalizer)
        joint = target is not None
        pairs = edit_pairs(rows, joint=joint)
        model = EditModel.learn(pairs, _texts(rows))
        into = choose_partner(rows, joint=joint)
        words: list[tuple[str, str]] = []
        if into is not None:
            name = list(tables)[into]
            written = normalized_rows(
                {name: tables[name]},
                SCRIPT_NORMALIZER,
                spoken,
                longest=MAX_SYMBOLS,
                only=word_entities(rows, joint=joint),
            )
            words = word_pairs(rows, written, into, joint=joint)
        spellings = Spellings.build(_known(rows, knows), model)
        stage = cls(
            spellings, model, Translations.learn(words), DEFAULT_WEIGHTS, normalizer, language
        )
        return stage, len(pairs)

    def with_names(
        self,
        pivots: Mapping[str, MentionTable],
        target: MentionTable | None,
        knows: Knows | None = None,
    ) -> "Stage":
        """Return the same stage with the names of other tables: nothing is learned from them."""
        _, _, rows = _rows_of(dict(sorted(pivots.items())), target, self.language, self.normalizer)
        return replace(self, spellings=Spellings.build(_known(rows, knows), self.edits))

    def without_names(self) -> "Stage":
        """Return what was learned, with no spellings."""
        return replace(self, spellings=Spellings.build(NO_ROWS, self.edits))

    def texts(self, mentions: Sequence[str]) -> list[str]:
        """Normalize mentions as they are compared, and cut long ones."""
        texts = normalize_many(mentions, self.normalizer, language=self.language)
        return [text[:MAX_SYMBOLS] for text in texts]

    def translate(self, mentions: Sequence[str]) -> list[str | None]:
        """Translate words of mentions; None where that changes nothing."""
        texts = self.texts(mentions)
        written = normalize_many(mentions, SCRIPT_NORMALIZER, language=self.language)
        found = self.translations.translate(texts, written)
        seen = self.texts([each or "" for each in found])
        return [
            None if new == text else other
            for text, new, other in zip(texts, seen, found, strict=True)
        ]

    def replaced_words(self, mention: str) -> list[TranslatedWord]:
        """Return the words of a mention that have translations."""
        (text,) = self.texts([mention])
        return [entry for word in text.split() if (entry := self.translations.entry(word))]

    def features(self, mentions: Sequence[str], answers: Answers) -> Features:
        """Return the properties of the candidates of each mention, which have positive scores."""
        spellings = self.spellings
        sizes = np.array([len(answer) for answer in answers], np.int64)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        query_of = np.repeat(np.arange(len(sizes)), sizes)
        entity_of = spellings.places([entity for answer in answers for entity, _ in answer])
        scores = np.array([score for answer in answers for _, score in answer], np.float64)
        texts, text_starts = self.edits.encode(self.texts(mentions))
        values = np.zeros((len(scores), len(Weights._fields)), np.float64)
        best = np.empty(len(scores), np.int64)
        similarity, frequency, same = (np.empty(len(scores), np.float64) for _ in range(3))
        similarity_rows(
            query_of,
            texts,
            text_starts,
            entity_of,
            spellings.symbols,
            spellings.start,
            spellings.first,
            spellings.count,
            self.edits.ratios,
            best,
            similarity,
            frequency,
            same,
        )
        known = entity_of >= 0
        tops = np.maximum.reduceat(scores, starts[:-1][sizes > 0]) if len(scores) else scores
        share = scores / np.repeat(tops, sizes[sizes > 0])
        values[:, 0] = np.log(np.maximum(share, MIN_SCORE_SHARE))
        values[:, 1] = similarity
        values[:, 2] = decode_logarithm(frequency)
        values[known, 3] = decode_logarithm(spellings.popularity[entity_of[known]])
        values[known, 4] = np.log1p(spellings.languages[entity_of[known]], dtype=np.float64)
        values[:, 5] = same
        return Features(values, starts, best)

    def spelling(self, number: int) -> str:
        """Return a spelling, as it is compared."""
        start, end = self.spellings.start[number : number + 2].tolist()
        return self.edits.decode(self.spellings.symbols[start:end])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored in arrays."""
        return {
            **add_prefix("spellings", self.spellings.arrays()),
            **add_prefix("edits", self.edits.arrays()),
            **add_prefix("lexicon", self.translations.arrays()),
        }

    def validate(self) -> None:
        """Raise ValueError unless names, edits and translations can be used."""
        check_normalizer(check_text("normalizer", self.normalizer))
        if self.language is not None:
            check_text("language", self.language)
        self.edits.validate()
        self.spellings.validate(len(self.edits.alphabet))
        self.translations.validate()

    def parameters(self) -> dict[str, Any]:
        """Return what is stored beside the arrays."""
        return {
            "alphabet": self.edits.alphabet,
            "weights": self.weights._asdict(),
            "normalizer": self.normalizer,
            "language": self.language,
        }

    @classmethod
    def from_stored(
        cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> "Stage":
        """Return the stage that was stored."""
        return cls(
            Spellings.from_arrays(strip_prefix("spellings", arrays)),
            EditModel(parameters["alphabet"], **strip_prefix("edits", arrays)),
            Translations.from_arrays(strip_prefix("lexicon", arrays)),
            Weights(**parameters["weights"]),
            parameters["normalizer"],
            parameters["language"],
        )


def _rows_of(
    pivots: Mapping[str, MentionTable],
    target: MentionTable | None,
    language: str | None,
    normalizer: str,
) -> tuple[dict[str, MentionTable], dict[str, str | None], pa.Table]:
    """Return the tables, the target's first, the language of each, and all rows, normalized."""
    tables = {**({} if target is None else {"": target}), **pivots}
    spoken = {name: name or language for name in tables}
    rows = normalized_rows(tables, normalizer, spoken, longest=MAX_SYMBOLS)
    if not len(rows):
        raise ParameterError("no name is left after normalizing: there is nothing to compare")
    return tables, spoken, rows


def _texts(rows: pa.Table) -> Iterator[str]:
    """Yield the texts of rows; few are strings at a time."""
    for chunk in rows["text"].chunks:
        yield from chunk.to_pylist()


def _known(rows: pa.Table, knows: Knows | None) -> pa.Table:
    """Return the rows of entities that can be asked for."""
    if knows is None:
        return rows
    entities = rows["entity"].unique()
    known = entities.filter(pa.array(knows(entities.to_pylist()), pa.bool_()))
    return rows.filter(pc.is_in(rows["entity"], value_set=known))
