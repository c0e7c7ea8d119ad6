"""Mentions as they stand in texts, made from names: shortened, inflected, reordered, described.

Dev queries are names from lists, but the index is asked with what people write. Weights that were
learned from names alone trust a name that is there as a whole too much.

>>> names = [Query("Peter Hansen", "Q1"), Query("Jonas Lund", "Q2"), Query("Søren Lund", "Q3")]
>>> [made.mention for made in simulate_mentions(names)]
['Hansen', 'Lund Jonas', 'Søren Lundund']
"""

from collections import Counter
from collections.abc import Sequence

from candgen.tables.queries import Query

ENDINGS = (3, 1, 2)
"""Lengths of the endings that are added, in turn."""


def simulate_mentions(queries: Sequence[Query]) -> list[Query]:
    """Return one more mention of each query's entity, of four kinds in turn.

    The rarest word alone; the words in reverse order; with the ending of another mention; with a
    word that occurs in several mentions. A mention of one word has the last two kinds only.
    """
    often = Counter(word for query in queries for word in set(query.mention.split()))
    frequent = sorted((word for word in often if often[word] > 1), key=lambda w: (-often[w], w))
    made = []
    for number, query in enumerate(queries):
        words = query.mention.split()
        kind = number % 4 if len(words) > 1 else 2 + number % 2
        if kind == 0:
            mention = min(words, key=lambda word: (often[word], -len(word)))
        elif kind == 1:
            mention = " ".join(reversed(words))
        elif kind == 2 or not frequent:
            other = queries[number - 1].mention
            mention = query.mention + other[-ENDINGS[number // 4 % len(ENDINGS)] :].strip()
        else:
            around = frequent[number // 4 % len(frequent)]
            mention = f"{query.mention} {around}"
        made.append(query._replace(mention=mention))
    return made
