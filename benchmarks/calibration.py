"""Is a candidate with a probability of 90% correct nine times out of ten?

    python benchmarks/calibration.py --data names --pair fo-is+da+no mk-bg+sr+ru jv-id

For each pair, an index is built from the pivots and the training names of the target, probabilities
are calibrated on dev and measured on test, which is held out. The baseline is the fixed calibration
of an index that was not tuned.
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from measure import add_data, add_queries

import candgen
from candgen.generators.calibration import FIXED, Calibration

PAIRS = ("fo-is+da+no", "mk-bg+sr+ru", "jv-id")
BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
MATCH = 0.9
SEED = 7
"""Random seed of the split; the tables in docs/results.md use another one."""


class Generator(Protocol):
    """What is measured: anything with candidates."""

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[candgen.Candidate]]:
        """The k best entities for each mention."""


def main() -> None:
    """Print a row for each pair, setting, method and calibration."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser)
    parser.add_argument(
        "--pair",
        nargs="+",
        default=PAIRS,
        metavar="TARGET-PIVOT+PIVOT",
        help="pairs to measure (default: %(default)s)",
    )
    add_queries(parser, 1000)
    given = parser.parse_args()
    bins = [f"{low:g}-{high:g}" for low, high in pairwise(BOUNDS)]
    print("First candidates by probability: mean probability / correct, in percent (number)")
    print("\t".join(["pair", "setting", "method", "weights", "error", *bins, "matches", "correct"]))
    for pair in given.pair:
        target, _, pivots = pair.partition("-")
        measure(given.data, pair, target, pivots.split("+"), given.queries)


def measure(data: Path, pair: str, target: str, pivots: Sequence[str], per_type: int) -> None:
    """Both settings and both methods of one pair."""
    tables = {each: read_table(data, each) for each in pivots}
    names = read_table(data, target)
    parts = candgen.split(
        names, per_type=per_type, seed=SEED, normalizer="default", language=target
    )
    for setting, train in (("joint", parts.train), ("zero-shot", None)):
        index = candgen.PivotTokenIndex.build(
            tables, train, language=target, normalizer="latin", lam=1.0
        )
        both = candgen.Rerank(index, dev=parts.dev)
        plain = candgen.Rerank(index)
        for method, generator, peer in (("pti", index, index), ("rerank", both, plain)):
            learned = Calibration.learn(generator, parts.dev)
            row(pair, setting, method, "learned", learned, generator, parts.test)
            fixed = Calibration(learned.link, FIXED[learned.link])
            row(pair, setting, method, "fixed", fixed, peer, parts.test)


def read_table(data: Path, language: str) -> candgen.MentionTable:
    """Read the table of a language, in whatever format it has."""
    found = sorted(data.glob(f"{language}.*"))
    if len(found) != 1:
        raise SystemExit(f"{data}: expected one table {language}.*, found {len(found)}")
    return candgen.MentionTable.read(found[0])


def row(
    pair: str,
    setting: str,
    method: str,
    weights: str,
    calibration: Calibration,
    generator: Generator,
    test: Sequence[candgen.Query],
) -> None:
    """Print how often the first candidates of the test queries are correct."""
    answers = generator.candidates([query.mention for query in test], 30)
    asked = [(query, answer) for query, answer in zip(test, answers, strict=True) if answer]
    chance = np.array([calibration.probabilities(q.mention, answer)[0] for q, answer in asked])
    right = np.array([answer[0].entity == query.entity for query, answer in asked])
    place = np.clip(np.digitize(chance, BOUNDS) - 1, 0, len(BOUNDS) - 2)
    cells, error = [], 0.0
    for number in range(len(BOUNDS) - 1):
        mine = place == number
        if not mine.any():
            cells.append("-")
            continue
        said, was = 100 * chance[mine].mean(), 100 * right[mine].mean()
        error += mine.mean() * abs(said - was)
        cells.append(f"{said:.0f}/{was:.0f} ({mine.sum()})")
    sure = chance >= MATCH
    matches = f"{100 * sure.mean():.1f}", f"{100 * right[sure].mean():.1f}" if sure.any() else "-"
    print("\t".join([pair, setting, method, weights, f"{error:.1f}", *cells, *matches]), flush=True)


if __name__ == "__main__":
    main()
