"""Queries: mentions of a world, and misspelt mentions that it does not have."""

import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex

from world.chance import draw_weighted, stream
from world.elements import ENDINGS, SPELLINGS
from world.table import World
from world.text import TEXT

QUERY_STREAMS = 8


def make_queries(world: World, number: int, *, seed: int) -> list[str]:
    """Return distinct queries: a third are mentions of the table, the rest misspelt and not in it.

    Seeds that differ modulo 8 never share a query, whatever the world: what is chosen on one
    is measured on another.
    """
    rng = stream(seed, "queries")
    known = number // 3
    queries = collect(world, known, rng, seed=seed, write=lambda name, _: name, in_table=True)
    queries += collect(world, number - known, rng, seed=seed, write=misspell, in_table=False)
    return [queries[position] for position in rng.permutation(number)]


def collect(
    world: World,
    number: int,
    rng: np.random.Generator,
    *,
    seed: int,
    write: Callable[[str, np.random.Generator], str],
    in_table: bool,
) -> list[str]:
    """Draw names by the square root of their counts until enough good queries are found."""
    weights = np.sqrt(world.count.astype(np.float64))
    found: dict[str, None] = {}
    for _ in range(100):
        if len(found) >= number:
            return list(found)[:number]
        rows = draw_weighted(weights, 2 * QUERY_STREAMS * (number - len(found)), rng)
        written = [write(name, rng) for name in world.names.take(pa.array(rows)).to_pylist()]
        mine = [
            text
            for text in written
            if len(text) > 1 and zlib.crc32(text.encode()) % QUERY_STREAMS == seed % QUERY_STREAMS
        ]
        member = pc.is_in(pa.array(mine, TEXT), value_set=world.names).to_pylist()
        found.update(
            (text, None) for text, known in zip(mine, member, strict=True) if known == in_table
        )
    raise ValueError(f"{number} queries are too many for a world of {len(world.names)} pairs")


def misspell(name: str, rng: np.random.Generator) -> str:
    """Make one to three edits, like those between related languages or of a typist."""
    for _ in range(int(rng.integers(1, 4))):
        name = EDITS[int(rng.integers(len(EDITS)))](name, rng)
    return " ".join(name.split())


def change_sound(name: str, rng: np.random.Generator) -> str:
    """Spell one sound differently."""
    possible = [pair.split(":") for pair in SPELLINGS if pair.split(":")[0] in name]
    if not possible:
        return double_letter(name, rng)
    old, new = possible[int(rng.integers(len(possible)))]
    places = [m.start() for m in regex.finditer(regex.escape(old), name)]
    place = places[int(rng.integers(len(places)))]
    return name[:place] + new + name[place + len(old) :]


def change_ending(name: str, rng: np.random.Generator) -> str:
    """Give the last word another ending."""
    for pair in ENDINGS:
        old, new = pair.split(":")
        if name.endswith(old):
            return name[: -len(old)] + new
    return name + "aeiosn"[int(rng.integers(6))]


def double_letter(name: str, rng: np.random.Generator) -> str:
    """Write a letter twice."""
    place = int(rng.integers(len(name))) if name else 0
    return name[:place] + name[place : place + 1] + name[place:]


def drop_letter(name: str, rng: np.random.Generator) -> str:
    """Leave out a letter."""
    place = int(rng.integers(len(name))) if name else 0
    return name[:place] + name[place + 1 :]


def insert_letter(name: str, rng: np.random.Generator) -> str:
    """Put in a letter."""
    place = int(rng.integers(len(name) + 1))
    return name[:place] + "enirstahdlu"[int(rng.integers(11))] + name[place:]


# Other spellings are the commonest difference between related languages.
EDITS = (
    change_sound,
    change_sound,
    change_sound,
    change_ending,
    double_letter,
    drop_letter,
    insert_letter,
)
