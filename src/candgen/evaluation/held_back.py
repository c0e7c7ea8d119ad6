"""Queries that were held back from the training data, beside easy ones, which it has.

Choices are made for names that are not known yet. Four fifths of a dev fold may be easy queries:
any weights find them, and the best weights for them hurt the others.
"""

from collections.abc import Sequence

from candgen.tables.queries import EASY, Query

EASY_PER_HELD_BACK = 0.5
"""How many easy queries there are for each held-back one, at most, where choices are made."""


def held_back(queries: Sequence[Query]) -> list[Query]:
    """Return the queries that are not easy, in their order.

    >>> held_back([Query("Vín", "Q1741", "easy"), Query("Oslo", "Q585", "hard")])
    [Query(mention='Oslo', entity='Q585', type='hard')]
    """
    return [query for query in queries if query.type != EASY]


def thin_easy(queries: Sequence[Query]) -> list[Query]:
    """Return all held-back queries and at most half as many easy ones, evenly spaced, in order.

    If no query was held back, all stay.

    >>> kinds = "easy", "easy", "easy", "easy", "hard", "medium"
    >>> [query.mention for query in thin_easy([Query(f"{n}", "Q1", kind)
    ...     for n, kind in enumerate(kinds)])]
    ['0', '4', '5']
    """
    easy = [number for number, query in enumerate(queries) if query.type == EASY]
    most = int(EASY_PER_HELD_BACK * (len(queries) - len(easy)))
    if len(easy) in (0, len(queries)) or len(easy) <= most:
        return list(queries)
    kept = {easy[at * len(easy) // most] for at in range(most)}
    dropped = set(easy) - kept
    return [query for number, query in enumerate(queries) if number not in dropped]
