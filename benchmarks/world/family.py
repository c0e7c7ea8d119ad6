"""Families: related languages of several sizes whose names differ by spelling rules.

The largest pivot is a world. Every other language has its most popular entities, and spells their
names by rules of its own: one that is closer to the target shares more of the target's rules.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from world.chance import Integers, stream
from world.elements import SPELLINGS
from world.table import World, load_world, merge_pairs

RULES = 8
"""Spelling rules of the target; the pivot that is closest to it shares all but two of them."""
HELD_OUT = 0.05
"""The fraction of the target's pairs that are test queries."""
TABLES, TEST = "tables", "test.tsv"
TARGET = "qtt"


@dataclass(frozen=True)
class Family:
    """The mention tables of pivots and of a target, and held-out queries of the target.

    Attributes:
        tables: By language code, those of the pivots from the largest on, then the target's.
        test: Pairs of the target that its table does not have: mention and entity.
    """

    tables: dict[str, pa.Table]
    test: pa.Table

    def write(self, folder: Path) -> None:
        """Write ``tables/<code>.parquet`` and ``test.tsv``, which candgen reads."""
        (folder / TABLES).mkdir(parents=True, exist_ok=True)
        for code, table in self.tables.items():
            pq.write_table(table, folder / TABLES / f"{code}.parquet", compression="zstd")
        options = pa.csv.WriteOptions(delimiter="\t", quoting_style="none", quoting_header="none")
        pa.csv.write_csv(self.test, folder / TEST, options)


def make_family(pivots: Sequence[int], pairs: int, *, seed: int = 0) -> Family:
    """Make pivots with these numbers of entities, and a target with this number of pairs.

    The first pivot spells names as the world does; the last one is closest to the target.
    """
    sizes = sorted(pivots, reverse=True)
    world = load_world(sizes[0], seed)
    order = np.argsort(-np.bincount(world.entity, weights=world.count), kind="stable")
    shuffled = stream(seed, "rules").permutation(len(SPELLINGS))
    rules = [SPELLINGS[at] for at in shuffled.tolist()]
    own, others = rules[:RULES], rules[RULES:]
    tables = {}
    for number, size in enumerate(sizes):
        shared = (RULES - 2) * number // max(len(sizes) - 1, 1)
        mine = own[:shared] + others[2 * number : 2 * number + 2]
        spelled = mine if number else []
        tables[f"qa{chr(ord('a') + number)}"] = language_of(world, order[:size], spelled).table()
    target = language_of(world, order[: 2 * pairs], own)
    kept = _some_pairs(target, pairs, stream(seed, "pairs"))
    held_out = stream(seed, "held out").random(len(kept)) < HELD_OUT
    every = target.table()
    tables[TARGET] = every.take(pa.array(kept[~held_out]))
    test = every.take(pa.array(kept[held_out])).select(["mention", "entity"])
    return Family(tables, test)


def language_of(world: World, entities: Integers, rules: Sequence[str]) -> World:
    """Return the part of a world that a language has, spelled by its rules, old:new each."""
    here = np.zeros(len(world.identifiers), np.bool_)
    here[entities] = True
    rows = np.flatnonzero(here[world.entity])
    names = world.names.take(pa.array(rows))
    for rule in rules:
        old, new = rule.split(":")
        names = pc.replace_substring(names, old, new)
    return merge_pairs(
        names, world.entity[rows].astype(np.int64), world.count[rows], world.identifiers
    )


def _some_pairs(language: World, pairs: int, rng: np.random.Generator) -> Integers:
    """Return rows of that many pairs, those of entities drawn at random, in their order."""
    sizes = np.bincount(language.entity, minlength=len(language.identifiers))
    entities = rng.permutation(np.flatnonzero(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[entities]), pairs)) + 1
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[entities[:enough]] = True
    return np.flatnonzero(chosen[language.entity])[:pairs]


def main(arguments: Sequence[str]) -> None:
    """Write a family to a folder."""
    parser = argparse.ArgumentParser(prog="python -m world family", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write to")
    parser.add_argument(
        "--pivots",
        type=int,
        nargs="+",
        default=[2_500_000, 500_000, 50_000],
        metavar="ENTITIES",
        help="entities of each pivot (default: %(default)s)",
    )
    parser.add_argument(
        "--pairs", type=int, default=47_000, metavar="N", help="pairs of the target"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    given = parser.parse_args(arguments)
    family = make_family(given.pivots, given.pairs, seed=given.seed)
    family.write(given.folder)
    for code, table in family.tables.items():
        entities = pc.count_distinct(table["entity"]).as_py()
        print(f"{code:40}{entities:15,} entities{table.num_rows:15,} pairs")
    print(f"{'test':40}{family.test.num_rows:15,} queries")
