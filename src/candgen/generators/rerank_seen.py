"""What the second stage gets to see: the candidates of a mention and of its translation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from candgen.errors import ParameterError
from candgen.generators.rerank_stage import Features, Stage

Answer = list[tuple[str, float]]


@dataclass(frozen=True)
class Seen:
    """The candidates of each mention, those with properties first, and these properties.

    The first ``own`` are what the mention itself found. ``translations`` has it in other words,
    None where it has no translation, and ``translated`` tells of each row of the features whether
    it is the translation that the entity's name is like.
    """

    answers: list[Answer]
    own: list[int]
    features: Features
    translations: list[str | None]
    translated: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        generator: Any,  # noqa: ANN401
        stage: Stage,
        mentions: list[str],
        k: int,
        depth: int,
    ) -> "Seen":
        """At least k candidates of each mention, if there are so many, ``depth`` of them compared.

        A mention that has a translation leaves half of the depth to it. Every candidate is compared
        with the text that found it; one that both found with both, and the better one counts.
        """
        found = ask(generator, mentions, max(k, depth))
        half = depth // 2
        translations = stage.translated(mentions if half else [])
        translations += [None] * (len(mentions) - len(translations))  # a depth of 1 is not shared
        asked = [text for text in translations if text is not None]
        others = iter(ask(generator, asked, half) if asked else [])
        texts, answers = [], []
        for mention, text, answer in zip(mentions, translations, found, strict=True):
            texts.append(mention)
            answers.append(answer[: depth if text is None else depth - half])
            if text is not None:
                texts.append(text)
                answers.append(next(others)[:half])
        features = stage.features(texts, answers)
        return _merged(found, translations, answers, features)


def ask(generator: Any, mentions: list[str], k: int) -> list[Answer]:  # noqa: ANN401
    """What the generator answers, without what has no positive score."""
    found = generator.candidates(mentions, k)
    if not isinstance(found, Sequence) or len(found) != len(mentions):
        raise ParameterError(
            f"the generator answered {len(mentions)} mentions with {found!r:.60}: "
            "expected a list, an answer to each mention"
        )
    return [[each for each in answer if 0 < each[1] < math.inf] for answer in found]


def _merged(
    found: list[Answer], translations: list[str | None], answers: list[Answer], features: Features
) -> Seen:
    """One list of candidates for each mention, from its answer and that to its translation."""
    rows: list[int] = []
    mine: list[int] = []
    other: list[int] = []
    alone: list[int] = []
    starts = [0]
    own = []
    merged = []
    parts = iter(zip(answers, features.starts[:-1].tolist(), strict=True))
    for answer, text in zip(found, translations, strict=True):
        seen, first = next(parts)
        rows += range(first, first + len(seen))
        own.append(len(seen))
        if text is not None:
            more, after = next(parts)
            places = {entity: first + at for at, (entity, _) in enumerate(seen)}
            twice = [(places[each[0]], after + at) for at, each in enumerate(more)
                     if each[0] in places]  # fmt: skip
            mine += (row for row, _ in twice)
            other += (row for _, row in twice)
            new = [at for at, each in enumerate(more) if each[0] not in places]
            rows += (after + at for at in new)
            alone += (after + at for at in new)
            known = {entity for entity, _ in more}
            rest = [each for each in answer[len(seen) :] if each[0] not in known]
            merged.append([*seen, *(more[at] for at in new), *rest])
        else:
            merged.append(answer)
        starts.append(len(rows))
    translated = np.zeros(len(features.values), np.bool_)
    translated[alone] = True
    features.values[alone, 5] = 0.0  # another text is one of its names, not the mention
    values, best = features.values, features.best
    values[mine, 0] = np.maximum(values[mine, 0], values[other, 0])
    better = values[other, 1] > values[mine, 1]
    to, of = np.array(mine, np.int64)[better], np.array(other, np.int64)[better]
    values[to, 1:3] = values[of, 1:3]
    best[to] = best[of]
    translated[to] = True
    kept = Features(values[rows], np.array(starts, np.int64), best[rows])
    return Seen(merged, own, kept, translations, translated[rows])
