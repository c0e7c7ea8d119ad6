"""The second stage by dictionaries and whole tables: slow, and right for names of any length.

Nothing here is shared with the library. Probabilities are decimal numbers, whose exponents have no
end, so that nothing has to be scaled.
"""

import decimal
import math
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

DIGITS = decimal.Context(prec=34, Emin=-999_999, Emax=999_999)
OTHER = "\N{REPLACEMENT CHARACTER}"

Path = list[tuple[str, str]]
"""Ways of copying: (before, after), one of them empty where a symbol comes or goes."""
Names = Mapping[str, Mapping[str, int]]
"""The spellings of each entity, with their counts."""
Part = tuple[str, tuple[int, ...]]
"""An n-gram or a beginning of a word, in numbers of symbols: the kind, and which symbols."""
BOUNDARY = 256
KINDS = "bfpvw", "dt", "cgkqx", "jsz", "mn", "l", "r"
"Letters that sound alike; all others are left out of skeletons."
SEEDS = {"n-gram": 0xCBF29CE484222325, "beginning": 0x9E3779B97F4A7C15}


@dataclass(frozen=True)
class NaiveModel:
    """What a symbol becomes, what comes and what goes, by symbol."""

    change: dict[tuple[str, str], float]
    add: dict[str, float]
    drop: dict[str, float]
    common: dict[str, float]
    endings: Mapping[str, float] = field(default_factory=dict)
    """How much likelier each ending is than its symbols."""

    @classmethod
    def of(
        cls, alphabet: str, change, add, drop, common, texts: Sequence[str] = ()
    ) -> "NaiveModel":
        """From the tables of a model, by the place of symbols in its alphabet.

        Endings are those of ``texts``.
        """
        symbols = list(enumerate(alphabet))
        made = cls(
            {(a, b): float(change[i][j]) for i, a in symbols for j, b in symbols},
            *({a: float(table[i]) for i, a in symbols} for table in (add, drop, common)),
        )
        return replace(made, endings=made.endings_of(texts))

    def endings_of(self, texts: Sequence[str]) -> dict[str, float]:
        """The endings of at least three words of texts that are other words with an ending."""
        words = {word for text in texts for word in text.split(" ")}
        owners: dict[str, set[str]] = {}
        for word, stem in product(words, words):
            if len(stem) >= 3 and 1 <= len(word) - len(stem) <= 8 and word.startswith(stem):
                owners.setdefault(word[len(stem) :], set()).add(word)
        return {
            ending: len(mine) / len(words) / math.prod(self.common[each] for each in ending)
            for ending, mine in owners.items()
            if len(mine) >= 3 and OTHER not in self.known(ending)
        }

    def known(self, text: str) -> list[str]:
        return [symbol if symbol in self.add else OTHER for symbol in text]

    def step(self, before: str, after: str) -> float:
        """The probability of one edit."""
        if not before:
            return self.add[after]
        return self.drop[before] if not after else self.change[before, after]

    def probability(self, query: str, name: str) -> decimal.Decimal:
        """P(query | name)."""
        return self.probabilities(query, name)[-1]

    def probabilities(self, query: str, name: str) -> list[decimal.Decimal]:
        """P(beginning | name) of every beginning of the query, also of the empty one.

        ``table[i][j]`` is the probability that the first i symbols become the first j.
        """
        a, b = self.known(name), self.known(query)
        exact = {each: decimal.Decimal(self.step(*each)) for each in _steps(a, b)}
        table = [[decimal.Decimal(0)] * (len(b) + 1) for _ in range(len(a) + 1)]
        table[0][0] = decimal.Decimal(1)
        with decimal.localcontext(DIGITS):
            for i in range(len(a) + 1):
                for j in range(len(b) + 1):
                    if i:
                        table[i][j] += table[i - 1][j] * exact[a[i - 1], ""]
                    if j:
                        table[i][j] += table[i][j - 1] * exact["", b[j - 1]]
                    if i and j:
                        table[i][j] += table[i - 1][j - 1] * exact[a[i - 1], b[j - 1]]
        return table[-1]

    def word_likelihood(self, word: str, other: str) -> float:
        """log of how much likelier a word is as another, maybe with an ending, than by itself."""
        with decimal.localcontext(DIGITS):
            total, made_up = decimal.Decimal(0), decimal.Decimal(1)
            for kept, likely in enumerate(self.probabilities(word, other)):
                if kept:
                    made_up *= decimal.Decimal(self.common[self.known(word)[kept - 1]])
                added = len(word) - kept
                ending = decimal.Decimal("0.125") * decimal.Decimal("0.8") ** added if added else 1
                if 0 < kept < len(word) and word[kept:] in self.endings:
                    ending = max(ending, decimal.Decimal(self.endings[word[kept:]]))
                total += ending * likely / made_up
            return float(total.ln())

    def word_similarity(self, word: str, other: str) -> float:
        """Of a word of a mention and a word of a name: 1 for what is as likely as the same word."""
        itself = max(self.word_likelihood(word, word), 1e-6)
        return min(max(self.word_likelihood(word, other) / itself, 0.0), 1.0)

    def similarity(self, query: str, name: str) -> float:
        """log (P(query | name) / P(query)) / length, at least 0."""
        if not query:
            return 0.0
        made_up = math.fsum(math.log(self.common[symbol]) for symbol in self.known(query))
        logarithm = float(self.probability(query, name).ln(DIGITS))
        return max(logarithm - made_up, 0.0) / len(query)

    def paths(self, name: str, query: str) -> Iterator[tuple[Path, float]]:
        """Every way in which a name becomes a query, with its probability. There are many."""
        if not name and not query:
            yield [], 1.0
        steps = [(name[:1], query[:1])] * bool(name and query)
        steps += [(name[:1], "")] * bool(name) + [("", query[:1])] * bool(query)
        for before, after in steps:
            here = self.step("".join(self.known(before)), "".join(self.known(after)))
            for path, value in self.paths(name[len(before) :], query[len(after) :]):
                yield [(before, after), *path], here * value


def _steps(name: Sequence[str], query: Sequence[str]) -> set[tuple[str, str]]:
    """Every edit that two texts may need."""
    return set(product({*name, ""}, {*query, ""})) - {("", "")}


def logarithm(count: int) -> float:
    """log(1 + count), in steps of which eight double it, up to 255 of them."""
    return min(round(8 * math.log2(1 + count)), 255) * math.log(2) / 8


def skeleton(word: str) -> str:
    """The kinds of a word's consonants, where consecutive ones of one kind are one.

    Unknown symbols are a kind too.
    """
    known = (*KINDS, OTHER)
    kinds = [str(kind) for letter in word for kind, some in enumerate(known) if letter in some]
    return "".join(
        kind for kind, before in zip(kinds, ["", *kinds], strict=False) if kind != before
    )


def distance(one: str, other: str) -> int:
    """The edit distance of two texts."""
    row = list(range(len(other) + 1))
    for number, symbol in enumerate(one, 1):
        before, row[0] = row[0], number
        for at, each in enumerate(other, 1):
            cost = before + (symbol != each)
            before, row[at] = row[at], min(cost, row[at] + 1, row[at - 1] + 1)
    return row[-1]


def hashed(part: Part) -> int:
    """The hash of 64 bits by which the library counts."""
    kind, symbols = part
    code = SEEDS[kind]
    for symbol in symbols:
        code = (code ^ (symbol + 1)) * 0x100000001B3 % 2**64
    code = (code ^ code >> 29) * 0xBF58476D1CE4E5B9 % 2**64
    return code ^ code >> 32


@dataclass(frozen=True)
class NaiveRarity:
    """How often n-grams and beginnings of words occur in all names of an index.

    In a table of so many ``places``, parts whose hashes share a place are counted together. None
    counts every part by itself.
    """

    model: NaiveModel
    names: Sequence[str]
    places: int | None = None
    share: float = 0.0
    """The part of the largest cosine of an entity's names that a name needs to be compared."""

    def words(self, text: str) -> list[str]:
        """Texts are one word if no name has a space."""
        every = text.split(" ") if " " in self.model.add else [text]
        return [word for word in every if word]

    def numbers(self, text: str) -> tuple[int, ...]:
        """Symbols by their place in the alphabet, whose first stands for all others."""
        places = {symbol: place for place, symbol in enumerate(self.model.add)}
        return tuple(places[symbol] for symbol in self.model.known(text))

    def ngrams(self, text: str) -> list[Part]:
        """The n-grams of all words, as often as they occur."""
        every = ((BOUNDARY, *self.numbers(word), BOUNDARY) for word in self.words(text))
        return [
            ("n-gram", marked[first:last])
            for marked in every
            for first in range(len(marked))
            for last in range(first + 2, min(first + 5, len(marked)) + 1)
            if 0 not in marked[first:last]
        ]

    def beginnings(self, text: str) -> list[Part]:
        """The beginnings of all words: those of three or more symbols, or all of a shorter word."""
        return [
            ("beginning", self.numbers(word)[:length])
            for word in self.words(text)
            for length in range(min(3, len(word)), len(word) + 1)
        ]

    def place(self, part: Part) -> Part | int:
        return part if self.places is None else hashed(part) % self.places

    @cached_property
    def counts(self) -> Counter[Part | int]:
        """How often what stands at each place occurs in names."""
        return Counter(
            self.place(part)
            for name in self.names
            for part in (*self.ngrams(name), *self.beginnings(name))
        )

    def logarithm(self, part: Part) -> float:
        return logarithm(self.counts[self.place(part)])

    def ngram_weight(self, part: Part) -> float:
        return 1.0 + max(math.log(1 + len(self.names)) - self.logarithm(part), 0.0)

    def word_weight(self, word: str) -> float:
        """That of its beginning: three fourths of it, and at least three symbols."""
        kept = max(3, len(word) - len(word) // 4)
        part = ("beginning", self.numbers(word)[:kept])
        return max(math.log(len(self.names) + 2) - self.logarithm(part), 0.1)

    def length(self, text: str) -> float:
        """Of the vector of distinct n-grams."""
        return math.sqrt(math.fsum(self.ngram_weight(each) ** 2 for each in {*self.ngrams(text)}))

    def cosine(self, text: str, name: str) -> float:
        """Of the n-grams of both, where the length of a name is stored as a float32."""
        shared = {*self.ngrams(text)} & {*self.ngrams(name)}
        if not shared:
            return 0.0
        (stored,) = struct.unpack("f", struct.pack("f", self.length(name)))
        product_ = math.fsum(self.ngram_weight(each) ** 2 for each in shared)
        return min(product_ / (self.length(text) * stored), 1.0)

    def compared(self, text: str, mine: Sequence[str]) -> list[str]:
        """Those names of an entity whose cosine is not far below the largest."""
        cosines = [self.cosine(text, name) for name in mine]
        least = self.share * max(cosines)
        return [name for name, alike in zip(mine, cosines, strict=True) if alike >= least]

    def partners(self, word: str, name: str) -> list[tuple[float, float]]:
        """(similarity, weight) of the words of a name, the most similar first."""
        others = self.words(name)
        found = [(self.model.word_similarity(word, v), self.word_weight(v)) for v in others]
        return sorted(found, key=lambda each: -each[0])

    def sound(self, word: str, name: str) -> float:
        """The similarity of the skeletons of a word and of the most similar word of a name."""
        mine, *others = (
            skeleton("".join(self.model.known(each))) for each in (word, *self.words(name))
        )
        return max(
            (
                max(1 - 2 * distance(mine, v) / max(len(mine), len(v)), 0.0)
                for v in others
                if mine and v
            ),
            default=0.0,
        )

    def match(self, text: str, name: str) -> tuple[float, float, float]:
        """How much of a text the words of a name explain, the cosine of their words, and how much
        of it their skeletons explain."""
        mine, theirs = ([self.word_weight(w) for w in self.words(x)] for x in (text, name))
        if not mine or not theirs:
            return 0.0, 0.0, 0.0
        best = [self.partners(word, name)[0] for word in self.words(text)]
        explained = math.fsum(w * like for w, (like, _) in zip(mine, best, strict=True))
        shared = math.fsum(w * like * v for w, (like, v) in zip(mine, best, strict=True))
        sound = (self.sound(word, name) for word in self.words(text))
        sounded = math.fsum(w * like for w, like in zip(mine, sound, strict=True))
        cosine = shared / (math.hypot(*mine) * math.hypot(*theirs))
        whole = self.whole(text, name) if (len(mine) == 1) != (len(theirs) == 1) else 0.0
        covered = max(explained / math.fsum(mine), whole)
        return covered, max(cosine, whole), sounded / math.fsum(mine)

    def whole(self, text: str, name: str) -> float:
        """How similar two texts are: 1 for what is as likely as the text itself."""
        itself = max(len(text) * self.model.similarity(text, text), 1e-6)
        return min(len(text) * self.model.similarity(text, name) / itself, 1.0)

    def is_doubtful(self, text: str, name: str) -> bool:
        """Whether words of different weights are so equally similar that rounding decides."""
        for word in self.words(text):
            (like, weight), *others = self.partners(word, name) or [(0.0, 0.0)]
            if any(like - other < 1e-9 < like and w != weight for other, w in others):
                return True
        return False


@dataclass(frozen=True)
class NaiveStage:
    """Names of entities after the normalizer, how many languages have them, and the weights."""

    model: NaiveModel
    names: Names
    languages: Mapping[str, int]
    weights: Sequence[float]
    rarity: NaiveRarity
    sitelinks: Mapping[str, int] = field(default_factory=dict)

    def features(self, text: str, entity: str, ratio: float) -> list[float]:
        """The properties of a candidate whose score is so much of the best one's."""
        mine = self.names.get(entity, {})
        if not mine:
            return [math.log(ratio), *[0.0] * 10]
        every = sorted(mine, key=lambda name: (-mine[name], name.encode()))
        listed = self.rarity.compared(text, every)
        alike = [self.model.probability(text, name) for name in listed]
        best = listed[alike.index(max(alike))]
        known = OTHER not in self.model.known(text)
        return [
            math.log(ratio),
            self.model.similarity(text, best),
            logarithm(mine[best]) if text else 0.0,
            logarithm(sum(mine.values())),
            math.log1p(self.languages[entity]),
            float(bool(text) and known and text in mine),
            max(self.rarity.cosine(text, name) for name in mine),
            *map(max, zip(*(self.rarity.match(text, name) for name in listed), strict=True)),
            logarithm(self.sitelinks.get(entity, 0)),
        ]

    def value(self, features: Sequence[float]) -> float:
        return math.fsum(w * x for w, x in zip(self.weights, features, strict=True))

    def is_doubtful(self, text: str) -> bool:
        """Whether the words of a text have partners between which rounding decides."""
        every = (name for mine in self.names.values() for name in mine)
        return any(self.rarity.is_doubtful(text, name) for name in every)

    def compared(self, text: str, answer: Sequence[tuple[str, float]]) -> dict[str, list[float]]:
        """The properties of the candidates of one text."""
        most = max((score for _, score in answer), default=1.0)
        return {entity: self.features(text, entity, score / most) for entity, score in answer}

    def candidates(
        self,
        text: str,
        answer: Sequence[tuple[str, float]],
        k: int,
        depth: int,
        other: tuple[str, Sequence[tuple[str, float]]] | None = None,
    ) -> list[tuple[str, float]]:
        """The candidates that are compared by their values, then the rest, all with new scores.

        ``other`` is a translation and its answer, which has half of the depth.
        """
        half = 0 if other is None else depth // 2
        mine = self.compared(text, answer[: depth - half])
        theirs = {} if other is None or not half else self.compared(other[0], other[1][:half])
        moved = []
        for entity in {**mine, **theirs}:
            found = [each[entity] for each in (mine, theirs) if entity in each]
            # Where both are as like, the mention counts; where only the translation found it, it is
            # not compared with the mention.
            alike = max(row[1] for row in found)
            row = list(next(row for row in found if row[1] == alike))
            for better in (0, 6, 7, 8, 9):
                row[better] = max(each[better] for each in found)
            row[5] = mine[entity][5] if entity in mine else 0.0
            v = self.value(row)
            moved.append((entity, 1 + (1 + v / (1 + abs(v))) / 2))
        moved.sort(key=lambda each: (-each[1], len(each[0]), each[0]))
        seen = {entity for entity, _ in moved}
        rest = [(entity, s / (1 + s)) for entity, s in answer if entity not in seen]
        return (moved + rest)[:k]
