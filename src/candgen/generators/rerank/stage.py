"""The second stage: names of entities, learned edits and translations, and the features."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError
from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.endings import Endings
from candgen.generators.rerank.logarithms import decode_logarithm
from candgen.generators.rerank.name_pairs import (
    choose_partner,
    edit_pairs,
    word_entities,
    word_pairs,
)
from candgen.generators.rerank.rarity import Rarity
from candgen.generators.rerank.spellings import Spellings, no_rows, normalized_rows
from candgen.generators.rerank.translations import TranslatedWord, Translations
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS, Weights
from candgen.kernels.rerank import Names
from candgen.kernels.word_match import WordTables
from candgen.storage.index_folder import add_prefix, strip_prefix
from candgen.storage.validation import check_text
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import check_normalizer, normalize_many

Knows = Callable[[Sequence[str]], Sequence[bool]]

MAX_SYMBOLS = 1000
"""How many symbols of a mention or name are compared."""
SCRIPT_NORMALIZER = "default"
"""A normalizer that keeps the script: the first stage is asked with translations, and it may or may
not romanize."""


@dataclass(frozen=True)
class Stage:
    """Spellings of entities, how rare their parts are, and what was learned about words."""

    spellings: Spellings
    rarity: Rarity
    endings: Endings
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
        names: Sequence[str] = (),
        sitelinks: Mapping[str, int] | None = None,
    ) -> tuple["Stage", int]:
        """Learn a stage with fixed weights; return it and how many pairs the edits come from.

        Edits are learned from names of the same entity in the target and in a pivot, or, without a
        target, in two pivots; endings from the target's names and from ``names``, which have no
        entities. Words are translated into one language: the one with most to learn from. Only
        names of entities that the generator ``knows`` are kept.
        """
        tables, spoken, rows = _rows_of(pivots, target, language, normalizer)
        joint = target is not None
        pairs = edit_pairs(rows, joint=joint)
        texts = normalize_many(names, normalizer, language=language)
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
        spellings = Spellings.build(_known(rows, knows), model, sitelinks)
        stage = cls(
            spellings,
            _rarity_of(spellings, model),
            Endings.learn(chain(_own_texts(rows) if joint else (), texts), model),
            model,
            Translations.learn(words),
            DEFAULT_WEIGHTS,
            normalizer,
            language,
        )
        return stage, len(pairs)

    def with_names(
        self,
        pivots: Mapping[str, MentionTable],
        target: MentionTable | None,
        knows: Knows | None = None,
        sitelinks: Mapping[str, int] | None = None,
    ) -> "Stage":
        """Return the same stage with the names of other tables: nothing is learned from them."""
        _, _, rows = _rows_of(dict(sorted(pivots.items())), target, self.language, self.normalizer)
        known = _known(rows, knows)
        return self._with_spellings(Spellings.build(known, self.edits, sitelinks))

    def without_names(self) -> "Stage":
        """Return what was learned, with no spellings."""
        return self._with_spellings(Spellings.build(no_rows(), self.edits))

    def _with_spellings(self, spellings: Spellings) -> "Stage":
        return replace(self, spellings=spellings, rarity=_rarity_of(spellings, self.edits))

    def texts(self, mentions: Sequence[str]) -> list[str]:
        """Normalize mentions as they are compared, and cut long ones."""
        texts = normalize_many(mentions, self.normalizer, language=self.language)
        return [text[:MAX_SYMBOLS] for text in texts]

    def translate(
        self, mentions: Sequence[str], texts: Sequence[str] | None = None
    ) -> list[str | None]:
        """Translate words of mentions; None where that changes nothing.

        ``texts`` are the mentions as they are compared, if they are known already.
        """
        texts = self.texts(mentions) if texts is None else texts
        written = normalize_many(mentions, SCRIPT_NORMALIZER, language=self.language)
        found = self.translations.translate(texts, written)
        changed = [at for at, each in enumerate(found) if each is not None]
        seen = self.texts([found[at] or "" for at in changed])
        for at, new in zip(changed, seen, strict=True):
            if new == texts[at]:
                found[at] = None
        return found

    def replaced_words(self, mention: str) -> list[TranslatedWord]:
        """Return the words of a mention that have translations."""
        (text,) = self.texts([mention])
        return [entry for word in text.split() if (entry := self.translations.entry(word))]

    @cached_property
    def names(self) -> Names:
        """What kernels read of the spellings."""
        spellings, codes = self.spellings, np.arange(256, dtype=np.uint8)
        return Names(
            spellings.first,
            spellings.start,
            spellings.symbols,
            self.rarity.length,
            spellings.count,
            spellings.popularity,
            spellings.languages,
            spellings.sitelinks,
            decode_logarithm(codes),
            np.log1p(codes, dtype=np.float64),
        )

    @cached_property
    def word_tables(self) -> WordTables:
        """What kernels read to compare words."""
        endings = self.endings.code, self.endings.ratio
        return WordTables(*self.rarity.tables, self.edits.consonants, *endings)

    def spelling(self, number: int) -> str:
        """Return a spelling, as it is compared."""
        start, end = self.spellings.start[number : number + 2].tolist()
        return self.edits.decode(self.spellings.symbols[start:end])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored in arrays."""
        return {
            **add_prefix("spellings", self.spellings.arrays()),
            **add_prefix("rarity", self.rarity.arrays()),
            **add_prefix("endings", self.endings.arrays()),
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
        self.rarity.validate(len(self.spellings.count))
        self.endings.validate()
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
        edits = EditModel(parameters["alphabet"], **strip_prefix("edits", arrays))
        return cls(
            Spellings.from_arrays(strip_prefix("spellings", arrays)),
            Rarity.from_arrays(strip_prefix("rarity", arrays), edits.space),
            Endings.from_arrays(strip_prefix("endings", arrays)),
            edits,
            Translations.from_arrays(strip_prefix("lexicon", arrays)),
            Weights(**parameters["weights"]),
            parameters["normalizer"],
            parameters["language"],
        )


def _rarity_of(spellings: Spellings, edits: EditModel) -> Rarity:
    return Rarity.build(spellings.symbols, spellings.start, edits.space)


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


def _own_texts(rows: pa.Table) -> Iterator[str]:
    """Yield texts of the target, whose table is the first one; few are strings at a time."""
    return _texts(rows.filter(pc.equal(rows["table"], 0)))


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
