"""A baseline in common use: cosine of TF-IDF vectors of character n-grams, with scikit-learn.

>>> from candgen import MentionTable
>>> table = MentionTable.from_pairs([("Wien", "Q1741"), ("Vienna", "Q1741"), ("Oslo", "Q585")])
>>> Tfidf.build({"de": table}, normalizer="default").candidates(["Viena"], k=1)[0][0][0]
'Q1741'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer

from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_many

QUERIES_AT_ONCE = 50
DIGITS = 5
NOISE = 1e-5
"""Cosines that differ by less are equal: 32-bit sums depend on the order of addition."""


@dataclass(frozen=True)
class Tfidf:
    """Every distinct name is a vector; an entity has the cosine of its most similar name.

    ``entities`` stand in the order that breaks ties, and ``text[start[e]:start[e + 1]]`` are the
    numbers of the names of entity e. ``vectors`` has a column for each name.
    """

    vectorizer: Any
    vectors: Any
    entities: list[str]
    text: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    normalizer: str
    language: str | None

    @classmethod
    def build(
        cls, tables: Mapping[str, MentionTable], *, normalizer: str, language: str | None = None
    ) -> "Tfidf":
        """Build the vectors; n-grams are weighted by the number of distinct names with them."""
        pairs = set[tuple[str, str]]()
        for code, table in tables.items():
            mentions = normalize_many(table.arrow["mention"].to_pylist(), normalizer, language=code)
            pairs.update(zip(table.arrow["entity"].to_pylist(), mentions, strict=True))
        listed = sorted(pairs, key=lambda pair: (len(pair[0]), pair))
        numbers: dict[str, int] = {}
        text = [numbers.setdefault(name, len(numbers)) for _, name in listed]
        entities = list(dict.fromkeys(entity for entity, _ in listed))
        owner = {entity: number for number, entity in enumerate(entities)}
        start = np.searchsorted([owner[entity] for entity, _ in listed], range(len(entities)))
        vectorizer = TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(2, 5),
            sublinear_tf=True,
            lowercase=False,
            dtype=np.float32,
        )
        vectors = vectorizer.fit_transform(list(numbers)).T.tocsr()
        return cls(vectorizer, vectors, entities, np.array(text), start, normalizer, language)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays, without those of the strings."""
        arrays = self.vectors.data, self.vectors.indices, self.vectors.indptr, self.text, self.start
        return sum(array.nbytes for array in arrays)

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[tuple[str, float]]]:
        """Return the k entities with the most similar names that share an n-gram, best first."""
        asked = normalize_many(mentions, self.normalizer, language=self.language)
        answers: list[list[tuple[str, float]]] = []
        for first in range(0, len(asked), QUERIES_AT_ONCE):
            queries = self.vectorizer.transform(asked[first : first + QUERIES_AT_ONCE])
            cosines = queries @ self.vectors
            answers += (
                self._best(cosines[[at]].toarray()[0], k) for at in range(len(queries.indptr) - 1)
            )
        return answers

    def _best(self, cosine: npt.NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        best = np.maximum.reduceat(cosine[self.text], self.start)
        k = min(k, len(best))
        some = np.flatnonzero(best >= max(np.partition(best, -k)[-k] - NOISE, NOISE))
        score = np.round(best[some], DIGITS)
        order = np.argsort(-score, kind="stable")[:k]
        return [(self.entities[some[at]], float(score[at])) for at in order.tolist()]
