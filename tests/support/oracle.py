"""The formula of docs/design.md in dictionaries: slow, short, obviously right; it judges fast code.

It imports nothing from candgen, and mentions are taken as they are: normalise them first.
"""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np

Token = Hashable
Row = tuple[str, str, int]  # mention, entity, count

BOUNDARY = 0x110000  # one more than the last code point: it cannot occur in text
WILDCARD = -1  # nor can this


def ngrams(
    text: str, low: int = 2, high: int = 5, *, wildcards: bool = False
) -> list[tuple[int, ...]]:
    """Every run of `low` to `high` code points of the text between two boundary marks.

    With `wildcards` also each run, from three on, with one inner code point replaced.
    """
    if not text:
        return []
    points = (BOUNDARY, *map(ord, text), BOUNDARY)
    runs = [
        points[start : start + n]
        for n in range(low, high + 1)
        for start in range(len(points) - n + 1)
    ]
    replaced = [
        tuple(WILDCARD if i == hidden else run[i] for i in range(len(run)))
        for run in runs
        for hidden in range(len(run))
        if 0 < hidden < len(run) - 1
    ]
    return runs + replaced if wildcards else runs


def words(text: str) -> list[str]:
    """The longest runs of letters, marks and decimal digits."""
    spaced = "".join(c if _in_word(c) else " " for c in text)
    return spaced.split()


def _in_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def whole(text: str) -> list[str]:
    """The text itself as its only token."""
    return [text] if text else []


class Oracle:
    """An index of `tables` (language -> rows), each counting `alpha[language]` times."""

    def __init__(
        self,
        tables: Mapping[str, Iterable[Row]],
        alpha: Mapping[str, float],
        lam: float = 1.0,
        threshold: float = 0.0,
        tokenize: Callable[[str], Iterable[Token]] = ngrams,
    ) -> None:
        self.lam = lam
        self.tokenize = tokenize

        # n(t,e) = sum over languages of alpha * n_l(t,e); with alpha 0, there are no counts at all.
        terms: dict[tuple[Token, str], list[float]] = defaultdict(list)
        for language, rows in tables.items():
            if alpha[language] > 0:
                for (token, entity), count in self._count(rows).items():
                    terms[token, entity].append(alpha[language] * count)
        self.n = {posting: math.fsum(summands) for posting, summands in terms.items()}

        # N(t) and N(e), before thresholding.
        row: dict[Token, dict[str, float]] = defaultdict(dict)
        column: dict[str, dict[Token, float]] = defaultdict(dict)
        for (token, entity), count in self.n.items():
            row[token][entity] = column[entity][token] = count
        self.token_total = {token: math.fsum(counts.values()) for token, counts in row.items()}
        self.entity_total = {
            entity: math.fsum(counts.values()) for entity, counts in column.items()
        }
        self.entities = {token: list(counts) for token, counts in row.items()}

        # P(e|t) and P(t|e), each kept or dropped on its own.
        least = threshold * (1 - 1e-9)
        prior = {(t, e): n / self.token_total[t] for (t, e), n in self.n.items()}
        posterior = {(t, e): n / self.entity_total[e] for (t, e), n in self.n.items()}
        self.prior = {posting: p for posting, p in prior.items() if p >= least}
        self.posterior = {posting: p for posting, p in posterior.items() if p >= least}

    def _count(self, rows: Iterable[Row]) -> Counter[tuple[Token, str]]:
        """n_l(t,e) of one language: a token counts as often as it occurs in a mention."""
        counts: Counter[tuple[Token, str]] = Counter()
        for mention, entity, count in rows:
            for token in self.tokenize(mention):
                counts[token, entity] += count
        return counts

    def dropped(self) -> tuple[int, int, int]:
        """How many priors, posteriors, and postings (both of them) the threshold has dropped."""
        gone = [p for p in self.n if p not in self.prior and p not in self.posterior]
        return len(self.n) - len(self.prior), len(self.n) - len(self.posterior), len(gone)

    def parts(self, mention: str, entity: str) -> dict[Token, tuple[float, float]]:
        """Token -> what it adds to A(e) and to B(e); tokens that add nothing are left out."""
        parts = {}
        for token, times in Counter(self.tokenize(mention)).items():
            prior = times * self.prior.get((token, entity), 0.0)
            posterior = times * self.posterior.get((token, entity), 0.0)
            if prior or posterior:
                parts[token] = prior, posterior
        return parts

    def scores(self, mention: str, lam: float | None = None) -> dict[str, float]:
        """Entity -> A(e) + lam * B(e) in float64, for every entity seen with one of the tokens."""
        lam = self.lam if lam is None else lam
        tokens = set(self.tokenize(mention))
        scores = {}
        for entity in {entity for token in tokens for entity in self.entities.get(token, ())}:
            parts = self.parts(mention, entity).values()
            a = math.fsum(prior for prior, _ in parts)
            b = math.fsum(posterior for _, posterior in parts)
            scores[entity] = a + lam * b
        return scores

    def candidates(self, mention: str, k: int, lam: float | None = None) -> list[tuple[str, float]]:
        """The first k: by float32 score, then shorter id, then smaller id; none of score 0."""
        rounded = {e: _float32(score) for e, score in self.scores(mention, lam).items()}
        found = [(entity, score) for entity, score in rounded.items() if score > 0]
        return sorted(found, key=lambda c: (-c[1], len(c[0]), c[0]))[:k]

    def share(self, mention: str, k: int, lam: float | None = None) -> list[tuple[str, float]]:
        """The same candidates, their scores divided by the sum over all entities of the index."""
        scores = self.scores(mention, lam)
        total = math.fsum(scores.values())
        return [(e, _float32(scores[e] / total)) for e, _ in self.candidates(mention, k, lam)]


def _float32(score: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(score))
