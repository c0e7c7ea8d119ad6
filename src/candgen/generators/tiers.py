"""Tiers: several sources of candidates that are asked in order, each for what is still missing."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from candgen.errors import ParameterError
from candgen.generators.candidate import Candidate

Ask = Callable[[list[str], int], Sequence[Sequence[tuple[str, float]]]]
"""A tier: returns at most k candidates for each mention, best first."""


def ask_in_turn(
    tiers: Sequence[Ask], mentions: Sequence[str], k: int, *, fill: bool
) -> list[list[Candidate]]:
    """Return the first k candidates of each mention, those of earlier tiers first.

    With ``fill``, a tier is asked for every mention with fewer than k candidates, otherwise only
    for those without any. It is asked for k, which always suffices: at most as many of them are
    already there as places are taken. An entity keeps its first place.

        score = number of tiers after this one + s / (1 + s)

    where s is the score in the tier, so that scores never increase along the tiers. Entities
    without a positive score are not candidates.

    >>> first, then = [[("Q282", 1.0)], []], [[("Q282", 3.0), ("Q1741", 1.0)]] * 2
    >>> tiers = [lambda mentions, k: first, lambda mentions, k: then]
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
            _add(taken[i], answer, k, tiers_left=len(tiers) - number)
    return [list(map(Candidate, found, found.values())) for found in taken]


def _add(
    found: dict[str, float], answer: Sequence[tuple[str, float]], k: int, tiers_left: int
) -> None:
    """Add the new entities of an answer after those that were found, up to k in all."""
    last = next(reversed(found.values()), math.inf)
    new: dict[str, float] = {}
    for entity, score in answer:
        if len(found) + len(new) >= k:
            break
        if float(score) > 0 and entity not in found:
            new.setdefault(entity, float(score))
    found.update(zip(new, tier_scores(new.values(), tiers_left, last), strict=True))


def tier_scores(scores: Iterable[float], tiers_left: int, last: float) -> Iterator[float]:
    """Yield tiers_left + s / (1 + s) for each score s of a tier, best first, from ``last`` down.

    That may round two scores to the same number, or to numbers in the opposite order. The scores
    must keep the order of the tier, so a worse one gets at most the next smaller number.

    >>> list(tier_scores([3.0, 1.0], 1, 2.0))
    [1.75, 1.5]
    """
    before = math.inf
    for score in scores:
        made = tiers_left + (score / (1 + score) if score < math.inf else 1.0)
        last = min(made, math.nextafter(last, 0.0) if score < before else last)
        before = score
        yield last
