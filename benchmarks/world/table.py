"""The mention table of a synthetic Wikipedia, made or read from the cache."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from folders import DATA

from world.chance import Integers, stream
from world.forms import surface_forms
from world.lexicon import make_lexicons
from world.names import KINDS
from world.text import TEXT, join

# Part of the cache's file names: raise it whenever a change in this package changes the data.
VERSION = 2

HIGHEST_IDENTIFIER = 120_000_000
# Of an entity, on average, before rounding down.
OCCURRENCES = 17.3


@dataclass(frozen=True)
class World:
    """The distinct (mention, entity) pairs of a synthetic Wikipedia, sorted by entity.

    names, entity and count have one row for each pair; identifiers is the number in the QID of
    each entity.
    """

    names: pa.Array
    entity: npt.NDArray[np.int32]
    count: Integers
    identifiers: Integers

    @property
    def entity_ids(self) -> pa.Array:
        """The QID of each entity, e.g. Q1204."""
        return join("Q", pa.array(self.identifiers).cast(TEXT))

    def table(self) -> pa.Table:
        """The pairs as a mention table: mention, entity, count."""
        entities = self.entity_ids.take(pa.array(self.entity))
        return pa.table(
            {
                "mention": self.names.cast(pa.string()),
                "entity": entities.cast(pa.string()),
                "count": self.count,
            }
        )


def make_world(entities: int, *, seed: int = 0) -> World:
    """Make a world with this many entities, each with about 2.4 names and 17 occurrences."""
    lexicons = make_lexicons(stream(seed, "lexicons"))
    popularity = make_popularity(entities, stream(seed, "popularity"))
    names, owners, counts = [], [], []
    bounds = [round(entities * share) for share in np.cumsum([0.0, *KINDS.values()])]
    for kind, first, last in zip(KINDS, bounds, [*bounds[1:-1], entities], strict=False):
        rng = stream(seed, kind.__name__)
        made = kind(lexicons, last - first, rng)
        for form in surface_forms(made, popularity[first:last], lexicons, rng):
            names.append(form.names)
            owners.append(form.rows + first)
            counts.append(form.counts)
    # Kinds were made one after another; an entity's number says nothing about its kind.
    renumbered = stream(seed, "numbers").permutation(entities)
    return merge_pairs(
        pa.concat_arrays(names),
        renumbered[np.concatenate(owners)],
        np.concatenate(counts),
        make_identifiers(entities, seed=seed),
    )


def load_world(entities: int, seed: int = 0) -> World:
    """Return the same as make_world, which is stored on disk after the first time."""
    path = DATA / f"world-v{VERSION}-{entities}-{seed}.parquet"
    if not path.exists():
        world = make_world(entities, seed=seed)
        DATA.mkdir(parents=True, exist_ok=True)
        pairs = {"name": world.names, "entity": world.entity, "count": world.count}
        unfinished = path.with_suffix(".unfinished")
        pq.write_table(pa.table(pairs), unfinished, compression="zstd")
        unfinished.rename(path)
    columns = pq.read_table(path).combine_chunks()
    return World(
        names=columns["name"].chunk(0).cast(TEXT),
        entity=columns["entity"].to_numpy().astype(np.int32, copy=False),
        count=columns["count"].to_numpy(),
        identifiers=make_identifiers(entities, seed=seed),
    )


def make_identifiers(entities: int, *, seed: int) -> Integers:
    """Return distinct numbers for QIDs, in random order."""
    rng = stream(seed, "identifiers")
    widest = max(1, HIGHEST_IDENTIFIER // entities)
    gaps = rng.integers(1, 2 * widest, size=entities)
    return rng.permutation(np.cumsum(gaps))


def make_popularity(entities: int, rng: np.random.Generator) -> Integers:
    """Return how often each entity is mentioned: Zipf's law, with a long tail of ones."""
    shares = 1.0 / (np.arange(entities) + 1.0 + entities / 400_000)
    curve = shares * (OCCURRENCES * entities / np.cumsum(shares)[-1])
    return rng.permutation(np.maximum(curve.astype(np.int64), 1))


def merge_pairs(names: pa.Array, entity: Integers, count: Integers, identifiers: Integers) -> World:
    """Sum the counts of equal pairs."""
    encoded = pc.utf8_trim_whitespace(names).dictionary_encode()
    codes = encoded.indices.to_numpy().astype(np.int64)
    key = entity * len(encoded.dictionary) + codes
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    kept = order[first]
    return World(
        names=encoded.dictionary.take(pa.array(codes[kept])),
        entity=entity[kept].astype(np.int32),
        count=np.add.reduceat(count[order], first),
        identifiers=identifiers,
    )
