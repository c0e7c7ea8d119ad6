"""Translation: the words of a mention are translated, and the result is looked up among names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.index_base import IndexBase, summarize
from candgen.generators.inputs import validate_shared
from candgen.generators.tiers import Ask, ask_in_turn
from candgen.generators.translation.exact_names import ExactNames
from candgen.generators.translation.fields import build_fields
from candgen.generators.translation.lexicon import Lexicon
from candgen.generators.translation.ranking import Scored, rank
from candgen.generators.translation.readings import Reading, read_mentions
from candgen.generators.translation.shared_words import SharedWords
from candgen.index.cancellation import check_cancellation
from candgen.index.tie_order import tie_order_of
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_texts
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.tables.string_table import StringTable
from candgen.text.normalize import normalize_many

MENTIONS_AT_ONCE = 1024


@dataclass(frozen=True, repr=False)
class Translation(IndexBase):
    """Candidates by their names in English, which a mention is translated into word by word.

    This is the translation baseline of Pan et al. (2017), with its fallbacks. The tiers are, in
    this order:

    1. the mention is a name in the target,
    2. the mention is a name in a pivot,
    3. a translation of the mention is a name,
    4. the same words in another order are a name,
    5. a name shares words with the translations; rare words count more.

    Translations of words are learned from names of the same entity in two languages. A word without
    one is romanized. Without English names, those of the pivots are searched. Here, река has been
    learned from two rivers, Лена is romanized, and the order of the words is another in English:

    >>> english = MentionTable.from_pairs(
    ...     [("Amur River", "Q6422"), ("Don River", "Q1229"), ("Lena River", "Q46841")])
    >>> macedonian = MentionTable.from_pairs([("река Амур", "Q6422"), ("река Дон", "Q1229")])
    >>> index = Translation.build(target=macedonian, english=english, language="mk")
    >>> [(c.entity, round(c.score, 2)) for c in index.candidates(["река Лена"], k=1)[0]]
    [('Q46841', 1.46)]
    """

    entities: StringTable
    target: ExactNames
    pivots: ExactNames
    searched: ExactNames
    """The names that translations are looked up among, as their words with spaces between."""
    words: SharedWords
    """The words of the names that are searched."""
    lexicon: Lexicon
    sources: SourceMentions
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        english: MentionTable | None = None,
        language: str | None = None,
        normalizer: str = "default",
        progress: Progress = no_progress,
    ) -> "Translation":
        """Learn translations of words, and index the names that they are looked up among.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one. Without it, words
                are translated as those of the pivots are.
            english: The mention table of English. Without it, mentions are translated into the
                pivots, and only with a target.
            language: Code of the target language, which is also the language of the queries.
            normalizer: Text normalizer for whole mentions and names. Words that are translated
                are always normalized by "default", and those that are looked up by "latin".
            progress: Called with the name of the current step and the fraction of it that is done.

        Returns:
            The index, ready for ``candidates`` and ``save``.

        Raises:
            ParameterError: A parameter is invalid, or there is no table.
            TableError: No mention has a token.
        """
        fields = build_fields(
            dict(pivots or {}),
            target,
            english,
            language=language,
            normalizer=normalizer,
            progress=progress,
        )
        return cls(*fields)

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[Candidate]]:
        """Return the k best entities for each mention, best first.

            score(e | m) = number of tiers left + s / (1 + s)

        where s is, in the first tier that has e:

            P(e | m)                                           as a name of the target, or of pivots
            sum over translations n of m of  P(n | m) P(e | n)            as a name that is searched
            largest, over names n of e, of  cos(m, n) P(e | n)                       by shared words

        P(n | m) is the product of the probabilities of the words. The cosine is that of vectors
        of words, weighted by their rarity, and in the mention by their probability.

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
        """
        checked = check_query(mentions, k)
        answers: list[list[Candidate]] = []
        for first in range(0, len(checked), MENTIONS_AT_ONCE):
            some = checked[first : first + MENTIONS_AT_ONCE]
            answers += ask_in_turn(self._tiers(some), some, k, fill=True)
        return answers

    def _tiers(self, mentions: Sequence[str]) -> list[Ask]:
        """Return the five tiers, for these mentions."""
        normalizer, language = self.parameters["normalizer"], self.parameters["language"]
        texts = normalize_many(mentions, normalizer, language=language)
        whole = dict(zip(mentions, texts, strict=True))
        every = read_mentions(mentions, self.lexicon, language)
        readings = dict(zip(mentions, every, strict=True))
        return [
            _Exact(self.target, lambda mention: [(whole[mention], 1.0)], self.entities),
            _Exact(self.pivots, lambda mention: [(whole[mention], 1.0)], self.entities),
            _Exact(self.searched, lambda mention: readings[mention].texts, self.entities),
            _Exact(self.searched, lambda mention: readings[mention].reordered(), self.entities),
            lambda some, k: [self._by_words(readings[mention], k) for mention in some],
        ]

    def _by_words(self, reading: Reading, k: int) -> list[Candidate]:
        """Return the entities whose names share words with a mention."""
        check_cancellation()
        names, cosine = self.words.match(reading.weights)
        which, entity, share = self.searched.entities_of(names)
        scored = Scored(np.zeros(len(which), np.int64), entity, cosine[which] * share)
        (answer,) = rank(scored, self.entities, 1, k, total=False)
        return answer

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether it can be a candidate at all."""
        return [tie_order_of(entity, self.entities) is not None for entity in entities]

    def names(self, entity: str) -> list[SourceMention]:
        """Return the mentions of an entity in the tables, most frequent first; [] if unknown."""
        place = tie_order_of(entity, self.entities)
        return [] if place is None else self.sources.of(place)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        return summarize("Translation", self.parameters, len(self.entities))

    def validate(self) -> None:
        """Raise ValueError unless names, words and translations fit together."""
        validate_shared(self.parameters, self.inputs)
        check_texts("the languages that are searched", self.parameters["searched"])
        entities = len(self.entities)
        self.entities.validate("entities")
        self.target.validate("target", entities)
        self.pivots.validate("pivots", entities)
        self.searched.validate("searched", entities)
        self.words.validate(len(self.searched.names))
        self.lexicon.validate()
        self.sources.validate(entities)

    def contents(self) -> Contents:
        """Return what `save` writes."""
        parts: dict[str, Any] = {
            "entities": self.entities,
            "target": self.target,
            "pivots": self.pivots,
            "searched": self.searched,
            "words": self.words,
            "lexicon": self.lexicon,
            "sources": self.sources,
        }
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, part in parts.items():
            arrays |= add_prefix(name, part.arrays())
        return Contents("translation", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "Translation":
        """Return the index that was saved."""

        def arrays(name: str) -> dict[str, npt.NDArray[Any]]:
            return strip_prefix(name, stored.arrays)

        return cls(
            StringTable(**arrays("entities")),
            ExactNames.from_arrays(arrays("target")),
            ExactNames.from_arrays(arrays("pivots")),
            ExactNames.from_arrays(arrays("searched")),
            SharedWords.from_arrays(arrays("words")),
            Lexicon.from_arrays(arrays("lexicon")),
            SourceMentions.from_arrays(arrays("sources"), languages=stored.parameters["sources"]),
            stored.parameters,
            stored.inputs,
            calibration=Calibration.from_stored(stored),
        )


@dataclass(frozen=True)
class _Exact:
    """A tier: the texts that a mention may be are looked up among names."""

    found_in: ExactNames
    texts_of: Callable[[str], Sequence[tuple[str, float]]]
    entities: StringTable

    def __call__(self, mentions: Sequence[str], k: int) -> list[list[Candidate]]:
        check_cancellation()
        texts = [
            (at, text, probability)
            for at, mention in enumerate(mentions)
            for text, probability in self.texts_of(mention)
        ]
        which, entity, share = self.found_in.find([text for _, text, _ in texts])
        mention = np.array([at for at, _, _ in texts], np.int64)[which]
        probability = np.array([each for _, _, each in texts], np.float64)[which]
        scored = Scored(mention, entity, probability * share)
        return rank(scored, self.entities, len(mentions), k, total=True)
