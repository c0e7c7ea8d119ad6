"""Made-up worlds for tests: several languages, tiny alphabets so that ties abound."""

import random
from dataclasses import dataclass

from hypothesis import strategies as st

from candgen import CharNgrams, MentionTable, PivotTokenIndex, WholeMention, Words
from tests.support.oracle import Oracle, ngrams, whole, words

Rows = list[tuple[str, str, int]]

LETTERS = st.sampled_from("ab")
SOME_LETTERS = st.sampled_from("abcé ́𝔸😀ß-")
ENTITIES = st.sampled_from(["Q1", "Q2", "Q10", "Q11", "Q9", "P1", "é", "𝔸", "Q100", "a", "b", "aa"])
ALPHAS = st.sampled_from([0.0, 0.1, 0.4, 1.0, 1 / 3, 2.5])
LAMS = st.sampled_from([0.0, 0.2, 0.4, 1.0, 7.0])
THRESHOLDS = st.sampled_from([0.0, 0.01, 0.1, 0.25, 1 / 3, 0.5, 1.0])
TOKENIZERS = st.sampled_from(
    [
        CharNgrams(2, 5),
        CharNgrams(1, 2),
        CharNgrams(3, 3),
        CharNgrams(2, 8),
        CharNgrams(2, 5, wildcards=True),
        CharNgrams(1, 3, wildcards=True),
        CharNgrams(4, 4, wildcards=True),
        Words(),
        WholeMention(),
    ]
)


def mentions() -> st.SearchStrategy[str]:
    """Short texts that are not empty."""
    return st.text(LETTERS, min_size=1, max_size=6) | st.text(SOME_LETTERS, min_size=1, max_size=5)


def tables() -> st.SearchStrategy[Rows]:
    """Rows of one language, without repeated pairs."""
    rows = st.tuples(mentions(), ENTITIES, st.integers(1, 3) | st.integers(1, 10**7))
    return st.lists(rows, min_size=1, max_size=14, unique_by=lambda row: row[:2])


@dataclass(frozen=True)
class World:
    """Tables, weights and options; ``oracle`` and ``index`` must agree on everything."""

    target: Rows | None
    pivots: dict[str, Rows]
    alpha: dict[str, float]
    lam: float
    threshold: float
    tokenizer: CharNgrams | Words | WholeMention

    def oracle(self) -> Oracle:
        tables = dict(self.pivots)
        alpha = dict(self.alpha)
        if self.target is not None:
            tables["target"], alpha["target"] = self.target, 1.0
        return Oracle(
            tables, alpha, lam=self.lam, threshold=self.threshold, tokenize=self._tokenize
        )

    def index(self, **options: object) -> PivotTokenIndex:
        return PivotTokenIndex.build(
            pivots={name: MentionTable.from_pairs(rows) for name, rows in self.pivots.items()},
            target=None if self.target is None else MentionTable.from_pairs(self.target),
            alpha=self.alpha,
            lam=self.lam,
            threshold=self.threshold,
            tokenizer=self.tokenizer,
            normalizer="none",
            **options,
        )

    def _tokenize(self, text: str) -> list[object]:
        if isinstance(self.tokenizer, CharNgrams):
            low, high = self.tokenizer.low, self.tokenizer.high
            return ngrams(text, low, high, wildcards=self.tokenizer.wildcards)
        return words(text) if isinstance(self.tokenizer, Words) else whole(text)


def worlds() -> st.SearchStrategy[World]:
    """Worlds in which something can be found."""
    return any_worlds().filter(lambda world: bool(world.oracle().token_total))


@st.composite
def any_worlds(draw: st.DrawFn) -> World:
    """Also worlds whose tables have no token at all."""
    names = draw(st.lists(st.sampled_from(["is", "da", "no"]), max_size=3, unique=True))
    pivots = {name: draw(tables()) for name in names}
    alpha = {name: draw(ALPHAS) for name in names}
    zero_shot = any(value > 0 for value in alpha.values()) and draw(st.booleans())
    target = None if zero_shot else draw(tables())
    return World(target, pivots, alpha, draw(LAMS), draw(THRESHOLDS), draw(TOKENIZERS))


def large_world(seed: int, *, entities: int, letters: str, threshold: float = 0.0) -> World:
    """A world of many blocks and groups, with frequent and rare tokens, and many ties."""
    rng = random.Random(seed)
    ids = [f"Q{number}" for number in rng.sample(range(1, 20 * entities), entities)]

    def rows(share: float) -> Rows:
        pairs = {}
        for entity in ids:
            if rng.random() < share:
                for _ in range(rng.choice([1, 1, 2, 3])):
                    length = rng.choice([1, 2, 3, 5, 8, 13])
                    mention = "".join(rng.choices(letters, range(len(letters), 0, -1), k=length))
                    pairs[mention, entity] = rng.choice([1, 1, 1, 2, 5, 300, 70_000])
        return [(mention, entity, count) for (mention, entity), count in pairs.items()]

    return World(
        rows(0.3),
        {"is": rows(0.9), "da": rows(0.4)},
        {"is": 0.4, "da": 1 / 3},
        0.4,
        threshold,
        CharNgrams(2, 5),
    )
