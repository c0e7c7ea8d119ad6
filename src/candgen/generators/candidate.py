"""Candidates, the checks of a query that all generators share, and how hits become candidates."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from candgen.errors import ParameterError, check_number, check_whole_number, shown
from candgen.index.token_index import TokenIndex

SMALLEST, LARGEST = 1e-30, 1e30
"""The limits of weights other than 0: beyond them, scores would not fit a float32."""


class Candidate(NamedTuple):
    """An entity that a mention may mean: its id in ``entity``, such as Q1741, and its ``score``."""

    entity: str
    score: float


def make_candidates(ids: Iterable[str], scores: Iterable[float]) -> list[Candidate]:
    """Return candidates of ids and scores, in half the time of a call for each."""
    return list(map(partial(tuple.__new__, Candidate), zip(ids, scores, strict=True)))


def check_query(mentions: Sequence[str], k: int) -> list[str]:
    """Return the mentions as a list; raise ParameterError if they or k are invalid."""
    if isinstance(mentions, str | bytes):
        raise ParameterError(
            f"mentions is {shown(mentions)}: expected several strings, such as [{shown(mentions)}]"
        )
    check_whole_number("k", k)
    listed = list(mentions)
    for place, mention in enumerate(listed):
        if not isinstance(mention, str):
            raise ParameterError(f"mention {place} is {shown(mention)}: expected a string")
    return listed


def check_weight(name: str, value: object) -> float:
    """Return a finite number of at least 0 with which scores fit a float32."""
    number = check_number(name, value)
    if number > LARGEST:
        raise ParameterError(f"{name} is {value!r}: expected at most {LARGEST:g}")
    if 0 < number < SMALLEST:
        raise ParameterError(f"{name} is {value!r}: expected 0, or at least {SMALLEST:g}")
    return number


def search_candidates(
    index: TokenIndex,
    texts: Sequence[str],
    k: int,
    *,
    lam: float,
    threads: int | None,
    share: bool = False,
) -> list[list[Candidate]]:
    """Return the k best candidates for each normalized text.

    With ``share``, a score is divided by the sum of the scores of all entities.
    """
    answers: list[list[Candidate]] = []
    at_once = max(1, min(4096, 1_000_000 // k))
    for first in range(0, len(texts), at_once):
        batch = texts[first : first + at_once]
        hits = index.search(batch, k, lam=lam, threads=threads)
        if share:
            totals = np.array([index.total(text, lam=lam) for text in batch])
            hits.score[:] = hits.score / np.maximum(totals, 1e-300)[:, np.newaxis]
        # All rows together, because a call for each mention would be slower.
        places, values = hits.flat()
        every = make_candidates(index.ids(places), values.tolist())
        ends = accumulate(hits.found.tolist(), initial=0)
        answers += [every[start:end] for start, end in pairwise(ends)]
    return answers
