"""What does choosing among nine weights cost, beside one build and one evaluation?

    python benchmarks/tune.py --data FOLDER --pair mk-bg bar-de

FOLDER holds mention tables <lang>.*. The peer is the obvious way: an index for each alpha, which is
asked all dev queries with each lam.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import Report, cpu_time, in_turn, median_ratio

from candgen.evaluation.corpus import Corpus, parse_pair
from candgen.evaluation.experiment import tune
from candgen.evaluation.metrics import recall
from candgen.evaluation.paper import PAIRS
from candgen.generators import METHODS
from candgen.methods import Training, rank_golds
from candgen.queries import Query

K = 30
REPEATS = 3
PTI = METHODS["pti"]


def one_by_one(training: Training, dev: list[Query]) -> list[float]:
    """Three builds and nine evaluations."""
    found = []
    for alpha in PTI.grid["alpha"]:
        index: Any = PTI(training, {"alpha": alpha})
        for lam in PTI.grid["lam"]:
            candidates = index.candidates([query.mention for query in dev], K, lam=lam)
            hits = (
                query.entity in {candidate.entity for candidate in some}
                for query, some in zip(dev, candidates, strict=True)
            )
            found.append(100 * sum(hits) / len(dev))
    return found


def grid(training: Training, dev: list[Query]) -> list[float]:
    """All at once."""
    return [trial.recall for trial in tune(PTI, training, dev, k=K).trials]


def main() -> None:
    """Measure each pair."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of mention tables")
    parser.add_argument("--pair", nargs="+", default=["fo-is", "mk-bg", "bar-de", "li-nl"])
    arguments = parser.parse_args()
    report = Report("tune", (__doc__ or "").partition("\n")[0], [])
    for key in arguments.pair:
        case = Corpus(arguments.data).case(parse_pair(key, PAIRS))
        training, dev = case.training("joint"), list(case.parts.dev)
        index = PTI(training, {})
        expected = one_by_one(training, dev)  # and everything is compiled
        if grid(training, dev) != expected:
            raise SystemExit(f"{key}: the two ways do not find the same")
        runs: dict[str, Callable[[], float]] = {
            "grid": lambda t=training, d=dev: cpu_time(partial(grid, t, d))[0],
            "one by one": lambda t=training, d=dev: cpu_time(partial(one_by_one, t, d))[0],
            "build": lambda t=training: cpu_time(partial(PTI, t, {}))[0],
            "evaluation": lambda i=index, d=dev: cpu_time(lambda: recall(rank_golds(i, d, K), K))[
                0
            ],
        }
        seconds = in_turn(runs, REPEATS)
        once = [a + b for a, b in zip(seconds["build"], seconds["evaluation"], strict=True)]
        report.add(
            "CPU seconds (best of three) and ratios (medians)",
            [
                {
                    "pair": key,
                    "dev queries": len(dev),
                    **{name: min(some) for name, some in seconds.items()},
                    "grid / (build + evaluation)": median_ratio(seconds["grid"], once),
                    "one by one / grid": median_ratio(seconds["one by one"], seconds["grid"]),
                }
            ],
        )
    report.write()


if __name__ == "__main__":
    main()
