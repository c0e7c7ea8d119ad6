"""The second stage by dictionaries and whole tables: slow, and right for names of any length.

Nothing here is shared with the library. Probabilities are decimal numbers, whose exponents have no
end, so that nothing has to be scaled.
"""

import decimal
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

DIGITS = decimal.Context(prec=34, Emin=-999_999, Emax=999_999)
OTHER = "\N{REPLACEMENT CHARACTER}"

Path = list[tuple[str, str]]
"""Ways of copying: (before, after), one of them empty where a symbol comes or goes."""
Names = Mapping[str, Mapping[str, int]]
"""The spellings of each entity, with their counts."""


@dataclass(frozen=True)
class NaiveModel:
    """What a symbol becomes, what comes and what goes, by symbol."""

    change: dict[tuple[str, str], float]
    add: dict[str, float]
    drop: dict[str, float]
    common: dict[str, float]

    @classmethod
    def of(cls, alphabet: str, change, add, drop, common) -> "NaiveModel":
        """From the tables of a model, by the place of symbols in its alphabet."""
        symbols = list(enumerate(alphabet))
        return cls(
            {(a, b): float(change[i][j]) for i, a in symbols for j, b in symbols},
            *({a: float(table[i]) for i, a in symbols} for table in (add, drop, common)),
        )

    def known(self, text: str) -> list[str]:
        return [symbol if symbol in self.add else OTHER for symbol in text]

    def step(self, before: str, after: str) -> float:
        """The probability of one edit."""
        if not before:
            return self.add[after]
        return self.drop[before] if not after else self.change[before, after]

    def probability(self, query: str, name: str) -> decimal.Decimal:
        """P(query | name): ``table[i][j]`` is that of the first i symbols becoming the first j."""
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
        return table[-1][-1]

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
    """log(1 + count), in steps of which eight double it."""
    return round(8 * math.log2(1 + count)) * math.log(2) / 8


@dataclass(frozen=True)
class NaiveStage:
    """Names of entities after the normalizer, how many languages have them, and the weights."""

    model: NaiveModel
    names: Names
    languages: Mapping[str, int]
    weights: Sequence[float]

    def features(self, text: str, entity: str, ratio: float) -> list[float]:
        """The properties of a candidate whose score is so much of the best one's."""
        mine = self.names.get(entity, {})
        if not mine:
            return [math.log(ratio), 0.0, 0.0, 0.0, 0.0, 0.0]
        listed = sorted(mine, key=lambda name: (-mine[name], name.encode()))
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
        ]

    def value(self, features: Sequence[float]) -> float:
        return math.fsum(w * x for w, x in zip(self.weights, features, strict=True))

    def compared(
        self, text: str, answer: Sequence[tuple[str, float]]
    ) -> dict[str, tuple[float, float, float]]:
        """Share of the best score, likeness and frequency of the candidates of one text."""
        most = max((score for _, score in answer), default=1.0)
        rows = ((entity, self.features(text, entity, score / most)) for entity, score in answer)
        return {entity: (row[0], row[1], row[2]) for entity, row in rows}

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
            row = self.features(text, entity, 1.0)
            row[0] = max(share for share, _, _ in found)
            # Where both are as like, the mention counts; where only the translation found it, it is
            # not compared with the mention.
            row[1], row[2] = next(
                (alike, often)
                for _, alike, often in found
                if alike == max(like for _, like, _ in found)
            )
            row[5] = row[5] if entity in mine else 0.0
            v = self.value(row)
            moved.append((entity, 1 + (1 + v / (1 + abs(v))) / 2))
        moved.sort(key=lambda each: (-each[1], len(each[0]), each[0]))
        seen = {entity for entity, _ in moved}
        rest = [(entity, s / (1 + s)) for entity, s in answer if entity not in seen]
        return (moved + rest)[:k]
