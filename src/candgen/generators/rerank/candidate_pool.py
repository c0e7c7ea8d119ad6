"""The candidates that the second stage compares: those of a mention and of its translation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.generators.rerank.stage import Features, Stage
from candgen.generators.rerank.weights import Weights

Answer = list[tuple[str, float]]
SCORE, SIMILARITY, FREQUENCY, SAME = (
    Weights._fields.index(name) for name in ("score", "likeness", "frequency", "same")
)


@dataclass(frozen=True)
class CandidatePool:
    """The candidates of each mention, those with properties first, and these properties.

    The first ``own`` were found by the mention itself. ``translations`` has the mention with words
    translated, None if it has no translation. ``translated`` says for each row of the features
    whether the entity's name is compared with the translation.
    """

    answers: list[Answer]
    own: list[int]
    features: Features
    translations: list[str | None]
    translated: npt.NDArray[np.bool_]

    @classmethod
    def gather(
        cls,
        generator: Any,  # noqa: ANN401
        stage: Stage,
        mentions: list[str],
        k: int,
        depth: int,
    ) -> "CandidatePool":
        """Gather at least k candidates of each mention, if it has them; ``depth`` are compared.

        A mention that has a translation leaves half of the depth to it. Every candidate is compared
        with the text that found it; one that both found is compared with both, and the better
        comparison counts.
        """
        found = ask(generator, mentions, max(k, depth))
        half = depth // 2
        translations = stage.translate(mentions if half else [])
        translations += [None] * (len(mentions) - len(translations))  # a depth of 1 is not shared
        known = [text for text in translations if text is not None]
        others = iter(ask(generator, known, half) if known else [])
        texts, answers = [], []
        for mention, text, answer in zip(mentions, translations, found, strict=True):
            texts.append(mention)
            answers.append(answer[: depth if text is None else depth - half])
            if text is not None:
                texts.append(text)
                answers.append(next(others)[:half])
        features = stage.features(texts, answers)
        return _merge(found, translations, answers, features)


def ask(generator: Any, mentions: list[str], k: int) -> list[Answer]:  # noqa: ANN401
    """Ask a generator, and drop candidates without a positive score."""
    found = generator.candidates(mentions, k)
    if not isinstance(found, Sequence) or len(found) != len(mentions):
        raise ParameterError(
            f"the generator answered {len(mentions)} mentions with {found!r:.60}: "
            "expected a list, an answer to each mention"
        )
    return [[each for each in answer if 0 < each[1] < math.inf] for answer in found]


def _merge(
    found: list[Answer], translations: list[str | None], answers: list[Answer], features: Features
) -> CandidatePool:
    """Merge the answers to each mention and to its translation into one list."""
    rows: list[int] = []
    twice: list[tuple[int, int]] = []
    alone: list[int] = []
    starts, own, merged = [0], [], []
    parts = iter(zip(answers, features.starts[:-1].tolist(), strict=True))
    for answer, text in zip(found, translations, strict=True):
        seen, first = next(parts)
        listed = answer
        rows += range(first, first + len(seen))
        if text is not None:
            more, after = next(parts)
            row_of = {entity: first + at for at, (entity, _) in enumerate(seen)}
            theirs = {entity: after + at for at, (entity, _) in enumerate(more)}
            twice += [(row_of[each], row) for each, row in theirs.items() if each in row_of]
            new = [row for each, row in theirs.items() if each not in row_of]
            rest = (each for each in answer[len(seen) :] if each[0] not in theirs)
            listed = [*seen, *(more[row - after] for row in new), *rest]
            rows += new
            alone += new
        merged.append(listed)
        own.append(len(seen))
        starts.append(len(rows))
    translated = _take_better(features, twice, alone)
    kept = Features(features.values[rows], np.array(starts, np.int64), features.best[rows])
    return CandidatePool(merged, own, kept, translations, translated[rows])


def _take_better(
    features: Features, twice: list[tuple[int, int]], alone: list[int]
) -> npt.NDArray[np.bool_]:
    """Give candidates that were found ``twice`` the better of their two rows, in the first one.

    Return for each row whether it is now about the translation. Rows that only the translation
    has, ``alone``, cannot say that the mention equals a name.
    """
    values, best = features.values, features.best
    translated = np.zeros(len(values), np.bool_)
    translated[alone] = True
    values[alone, SAME] = 0.0
    mine, theirs = np.array(twice, np.int64).reshape(-1, 2).T
    values[mine, SCORE] = np.maximum(values[mine, SCORE], values[theirs, SCORE])
    better = values[theirs, SIMILARITY] > values[mine, SIMILARITY]
    to, of = mine[better], theirs[better]
    for column in (SIMILARITY, FREQUENCY):
        values[to, column] = values[of, column]
    best[to] = best[of]
    translated[to] = True
    return translated
