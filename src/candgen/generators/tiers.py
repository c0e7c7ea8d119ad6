"""Tiers: several sources of candidates that are asked in turn, each for what the others left."""

import math
from collections.abc import Callable, Sequence

from candgen.errors import ParameterError
from candgen.generators.candidate import Candidate

Ask = Callable[[list[str], int], Sequence[Sequence[tuple[str, float]]]]
"""A tier: the candidates of each mention, the best first, at most so many."""


def ask_in_turn(
    tiers: Sequence[Ask], mentions: Sequence[str], k: int, *, fill: bool
) -> list[list[Candidate]]:
    """The first k candidates of each mention, those of earlier tiers before those of later ones.

    With ``fill``, a tier is asked for every mention that has places left, else only for those that
    have no candidate at all. It is asked for k, which always suffices: of so many, at most as many
    are there already as there are places taken. An entity stays where it came first.

        score = number of tiers left after this one + s / (1 + s)

    where s is the score in the tier, so that scores never increase along the tiers. What has no
    positive score is no candidate.

    >>> first, then = [[("Q282", 1.0)], []], [[("Q282", 3.0), ("Q1741", 1.0)]] * 2
    >>> tiers = [lambda asked, k: first, lambda asked, k: then]
    >>> [[tuple(candidate) for candidate in some]
    ...  for some in ask_in_turn(tiers, ["Vín", "Wien"], 30, fill=True)]
    [[('Q282', 1.5), ('Q1741', 0.5)], [('Q282', 0.75), ('Q1741', 0.5)]]
    """
    taken: list[dict[str, float]] = [{} for _ in mentions]
    for number, ask in enumerate(tiers, start=1):
        short = [i for i, found in enumerate(taken) if not found or (fill and len(found) < k)]
        if not short:
            break
        answers = ask([mentions[i] for i in short], k)
        if not isinstance(answers, Sequence):
            raise ParameterError(
                f"generator {number} gave {answers!r}: expected a list, an answer to each mention"
            )
        if len(answers) != len(short):
            raise ParameterError(
                f"generator {number} gave {len(answers)} answers to {len(short)} mentions: "
                "expected one for each"
            )
        for i, answer in zip(short, answers, strict=True):
            _take(taken[i], answer, k, left=len(tiers) - number)
    return [list(map(Candidate, found, found.values())) for found in taken]


def _take(found: dict[str, float], answer: Sequence[tuple[str, float]], k: int, left: int) -> None:
    """Put what is new in an answer at the end of what was found, up to k in all.

    s / (1 + s) may round what the tier tells apart to the same number, or to one in the other
    order. So that scores tell what the tier told, whoever is worse there gets at most the next
    smaller number.
    """
    last = next(reversed(found.values()), math.inf)
    before = math.inf
    for entity, given in answer:
        if len(found) >= k:
            break
        score = float(given)
        if not score > 0 or entity in found:
            continue
        made = left + (score / (1 + score) if score < math.inf else 1.0)
        last = min(made, math.nextafter(last, 0.0) if score < before else last)
        before = score
        found[entity] = last
