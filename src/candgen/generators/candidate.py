"""What all generators have in common: what they answer with, and what they are asked."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from candgen.errors import ParameterError

SMALLEST, LARGEST = 1e-30, 1e30
"""With other weights but 0, scores would not fit a float32."""


class Candidate(NamedTuple):
    """An entity that a mention may mean, and its score."""

    entity: str
    score: float


def check_query(mentions: Sequence[str], k: int) -> list[str]:
    """The mentions as a list; refuses what is not several strings, and a k that is no number."""
    if isinstance(mentions, str | bytes):
        raise ParameterError(
            f"mentions is {mentions!r}: expected several strings, such as [{mentions!r}]"
        )
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k is {k!r}: expected a whole number of at least 1")
    listed = list(mentions)
    for place, mention in enumerate(listed):
        if not isinstance(mention, str):
            raise ParameterError(f"mention {place} is {mention!r}: expected a string")
    return listed


def check_weight(name: str, value: object) -> float:
    """A finite number that is not negative, and not so large that scores overflow float32."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ParameterError(f"{name} is {value!r}: expected a finite number of at least 0")
    if value > LARGEST:
        raise ParameterError(f"{name} is {value!r}: expected at most {LARGEST:g}")
    if 0 < value < SMALLEST:
        raise ParameterError(f"{name} is {value!r}: expected 0, or at least {SMALLEST:g}")
    return float(value)
