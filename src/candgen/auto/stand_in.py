"""Without labels, one pivot plays the target: its names are hidden, and the others are its pivots.

The pivot whose names are most similar to the target's is the best imitation of the target that
there is. What is best for finding its names with the other pivots is chosen for the target. Its
names are those of the entities that the target's names probably mean: a language with many names
has many of entities that hardly anybody writes about, for which other weights are best.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candgen.evaluation.pivot_ranking import PivotRanking
from candgen.evaluation.shuffle import shuffle_keys
from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
from candgen.generators.promise import Promise
from candgen.protocols import Training
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import HARD, Query

STAND_IN_QUERIES = 1000
MIN_STAND_IN_ENTITIES = 60
"""With fewer, neither half of the queries would show anything."""
MIN_PREFERRED = 200
"""With fewer entities that the target's names probably mean, others are added."""
MAX_NAMES = 2000
MAX_OWN_NAMES = 100_000
"""The most names of the stand-in that are known as those of the target are: without entities."""
STREAM = 3
"""Of random numbers; a split has those below."""


class StandIn(NamedTuple):
    """A pivot that plays the target.

    Attributes:
        language: Its code.
        training: The other pivots, with the queries to choose on as dev.
        queries: The queries to calibrate and to measure on; no entity is in both.
        absent: The share of the target's names that no pivot is estimated to have, from 0 to 1.
    """

    language: str
    training: Training
    queries: list[Query]
    absent: float

    def complete(self, alpha: float | Mapping[str, float]) -> dict[str, float]:
        """Return alphas of all pivots: no pivot has a larger one than the stand-in."""
        pivots = self.training.pivots
        alphas = dict(alpha) if isinstance(alpha, Mapping) else dict.fromkeys(pivots, alpha)
        largest = max(alphas.values())
        return {
            self.language: 1.0,
            **{pivot: value / largest for pivot, value in alphas.items() if largest},
        }


def choose_stand_in(
    ranking: PivotRanking,
    pivots: Mapping[str, MentionTable],
    names: Sequence[str],
    seed: int,
    sitelinks: Mapping[str, int] | None = None,
) -> StandIn | None:
    """Return the chosen pivot of the highest closeness, hidden; None if it would be the only one.

    The queries are up to 1,000 of its names, one of each entity, first those of the entities that
    ``names`` probably mean. Those whose entity no other pivot has stay among them: they teach which
    answers are wrong.
    """
    rows = [row for row in ranking.rows if row.language in pivots]
    able = [row for row in rows if row.entities >= MIN_STAND_IN_ENTITIES]
    if len(rows) < 2 or not able:
        return None
    language = max(able, key=lambda row: (row.closeness, row.coverage)).language
    queries = draw_queries(pivots[language], seed, probable_entities(pivots, names))
    others = {name: table for name, table in pivots.items() if name != language}
    own = some_names(pivots[language], MAX_OWN_NAMES)
    dev, known = queries[::2], sitelinks or {}
    training = Training(others, None, language, dev=dev, names=own, sitelinks=known)
    covered = max((row.ceiling for row in ranking.rows if row.ceiling is not None), default=100.0)
    return StandIn(language, training, queries[1::2], absent=1.0 - covered / 100)


def probable_entities(pivots: Mapping[str, MentionTable], names: Sequence[str]) -> set[str]:
    """Return the first candidate of each name, of at most 2,000, in an index of all pivots."""
    index = PivotTokenIndex.build(pivots, alpha=1.0, lam=1.0, normalizer="latin")
    size = min(len(names), MAX_NAMES)
    some = [names[at * len(names) // size] for at in range(size)]
    return {found[0].entity for found in index.candidates(some, k=1) if found}


def some_names(table: MentionTable, most: int) -> list[str]:
    """Return mentions of a table, at most ``most``, evenly spaced."""
    column = table.arrow["mention"]
    size = min(len(column), most)
    found: list[str] = column.take(
        pa.array(np.arange(size) * len(column) // max(size, 1))
    ).to_pylist()
    return found


def draw_queries(table: MentionTable, seed: int, preferred: Collection[str] = ()) -> list[Query]:
    """Return random names of a table, at most one of each entity, in random order.

    Of more than ``STAND_IN_QUERIES`` entities the preferred ones are taken; others only as far as
    those are fewer than ``MIN_PREFERRED``.

    >>> table = MentionTable.from_pairs([("Vín", "Q1741"), ("Wien", "Q1741"), ("Oslo", "Q585")])
    >>> sorted(query.entity for query in draw_queries(table, seed=0))
    ['Q1741', 'Q585']
    """
    order = np.argsort(shuffle_keys(np.arange(len(table)), seed, STREAM))
    column = table.arrow["entity"].combine_chunks().dictionary_encode()
    entities = column.indices.to_numpy()
    first = np.sort(np.unique(entities[order], return_index=True)[1])
    is_preferred = pc.is_in(column.dictionary, value_set=pa.array(sorted(preferred), pa.string()))
    wanted = is_preferred.to_numpy(zero_copy_only=False)[entities[order[first]]]
    others = max(MIN_PREFERRED - int(wanted.sum()), 0) if preferred else len(first)
    taken = wanted | (~wanted & (np.cumsum(~wanted) <= others))
    chosen = order[first[taken][:STAND_IN_QUERIES]]
    columns = table.arrow.select(["mention", "entity"]).take(chosen)
    pairs = zip(columns["mention"].to_pylist(), columns["entity"].to_pylist(), strict=True)
    return [Query(mention, entity, HARD) for mention, entity in pairs]


def explain_stand_in(stand_in: StandIn, promise: Promise, language: str | None, why: str) -> str:
    """Return who stood in, and what was found, in some sentences."""
    target = language or "the target"
    others = ", ".join(sorted(stand_in.training.pivots))
    recalls = ", ".join(f"{each:.1f}" for each in promise[2:5])
    return (
        f"The target {why}, so {stand_in.language}, whose names are most similar, stood in for "
        f"it: its names were hidden, and {others} were its pivots. As stand-in it had a recall@1, "
        f"@10, @30 of {recalls} on {promise.queries:,} names that were not used for any choice "
        f"(at least {100 * stand_in.absent:.1f}% of them as if no pivot had their entity, because "
        f"as many names of {target} seem to be missing in all pivots); "
        f"the mean probability of the first candidate is {promise.mean_probability:.1f}%. This is "
        f"an estimate, not a measurement of {target}."
    )


def known_names(target: MentionTable | Sequence[str]) -> Sequence[str]:
    """Return the names of a target, whose entities are unknown or too few."""
    return target.mentions if isinstance(target, MentionTable) else target
