"""Is a candidate that is called 90% likely right nine times in ten?

For each pair, an index learns from a part of the target's names and from the pivots, probabilities
are learned on dev, and asked for on test, which neither has seen. Beside them, as a peer, stand the
fixed numbers that an index has where nobody tuned it.

    python benchmarks/calibration.py --data names --pair fo-is+da+no mk-bg+sr+ru jv-id
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

import candgen
from candgen.generators.calibration import FIXED, Calibration

PAIRS = ("fo-is+da+no", "mk-bg+sr+ru", "jv-id")
BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
MATCH = 0.9
SEED = 7
"""Of the split: another one than that of the tables in docs/results.md."""


class Generator(Protocol):
    """What can be asked."""

    def candidates(self, mentions: Sequence[str], k: int = 30) -> list[list[candgen.Candidate]]:
        """The k best entities for each mention."""


def main() -> None:
    """Print a row for each pair, setting, method and calibration."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of <lang>.tsv.gz")
    parser.add_argument("--pair", nargs="+", default=PAIRS, metavar="TARGET-PIVOT+PIVOT")
    given = parser.parse_args()
    bins = [f"{low:g}-{high:g}" for low, high in pairwise(BOUNDS)]
    print("Of the first candidates: how likely they were called / how many were right, in percent")
    print("\t".join(["pair", "setting", "method", "weights", "error", *bins, "matches", "right"]))
    for pair in given.pair:
        target, _, pivots = pair.partition("-")
        measure(given.data, pair, target, pivots.split("+"))


def measure(data: Path, pair: str, target: str, pivots: Sequence[str]) -> None:
    """Both settings and both methods of one pair."""
    tables = {each: candgen.MentionTable.read(data / f"{each}.tsv.gz") for each in pivots}
    names = candgen.MentionTable.read(data / f"{target}.tsv.gz")
    parts = candgen.split(names, per_type=1000, seed=SEED, normalizer="default", language=target)
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


def row(
    pair: str,
    setting: str,
    method: str,
    weights: str,
    calibration: Calibration,
    generator: Generator,
    test: Sequence[candgen.Query],
) -> None:
    """What became of the first candidates of the test queries."""
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
