"""What does tuning cost: nine choices for one pivot, or an alpha for each of several pivots?

    python benchmarks/tune.py --data FOLDER --pair mk-bg bar-de fo-is+da+no+sv

FOLDER holds mention tables <language>.*. For one pivot the peer is the straightforward grid search:
an index for each alpha, queried with all dev queries and each lam; both must find the same recall.
For several pivots the search is compared with one build and one evaluation; a straightforward
search would need one of each for every alpha that it tries.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from measure import Report, add_data, add_queries, add_repeats, cpu_time, in_turn, median_ratio

from candgen.evaluation.metrics import recall
from candgen.evaluation.tune import tune
from candgen.generators import METHODS
from candgen.generators.pivot.weight_search import search_weights
from candgen.paper.corpus import Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.protocols import Training, rank_golds
from candgen.tables.queries import Query

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
    """The grid search of candgen, all choices at once."""
    return [trial.recall for trial in tune(PTI, training, dev, grid=PTI.grid, k=K).trials]


def measure_grid(key: str, training: Training, dev: list[Query], repeats: int) -> dict[str, Any]:
    """Nine choices, both ways."""
    index = PTI(training, {})
    expected = one_by_one(training, dev)  # compiles everything
    if grid(training, dev) != expected:
        raise SystemExit(f"{key}: the two ways find different recall")
    runs: dict[str, Callable[[], float]] = {
        "grid": lambda: cpu_time(partial(grid, training, dev))[0],
        "one by one": lambda: cpu_time(partial(one_by_one, training, dev))[0],
        "build": lambda: cpu_time(partial(PTI, training, {}))[0],
        "evaluation": lambda: cpu_time(lambda: recall(rank_golds(index, dev, K), K))[0],
    }
    seconds = in_turn(runs, repeats)
    once = [a + b for a, b in zip(seconds["build"], seconds["evaluation"], strict=True)]
    return {
        "pair": key,
        "dev queries": len(dev),
        **{name: min(some) for name, some in seconds.items()},
        "grid / (build + evaluation)": median_ratio(seconds["grid"], once),
        "one by one / grid": median_ratio(seconds["one by one"], seconds["grid"]),
    }


def measure_search(key: str, training: Training, dev: list[Query]) -> dict[str, Any]:
    """One search, and one build and evaluation of its choice, after a small one of each."""
    search_weights(training, {}, dev[:2], K)
    rank_golds(PTI(replace(training, pivots={}), {}), dev[:2], K)
    seconds, found = cpu_time(partial(search_weights, training, {}, dev, K))
    chosen = found.steps[-1].parameters
    build, index = cpu_time(partial(PTI, training, chosen))
    evaluation, ranks = cpu_time(partial(rank_golds, index, list(found.queries), K))
    if ranks.tolist() != found.steps[-1].ranks.tolist():
        raise SystemExit(f"{key}: the index does not give the ranks of the search")
    return {
        "pair": key,
        "dev queries": len(found.queries),
        "choices tried": found.tried,
        "pivots kept": f"{sum(each.kept for each in found.pivots)} of {len(found.pivots)}",
        "recall@30": recall(ranks, K),
        "search": seconds,
        "build": build,
        "evaluation": evaluation,
        "search / (build + evaluation)": seconds / (build + evaluation),
    }


def main() -> None:
    """Measure each pair."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser)
    parser.add_argument(
        "--pair",
        nargs="+",
        default=["fo-is", "mk-bg", "bar-de", "li-nl"],
        metavar="TARGET-PIVOT+PIVOT",
        help="pairs to tune (default: %(default)s)",
    )
    add_queries(parser, 1000)
    add_repeats(parser, REPEATS)
    arguments = parser.parse_args()
    report = Report("tune", (__doc__ or "").partition("\n")[0], [])
    for key in arguments.pair:
        case = Corpus(arguments.data, per_type=arguments.queries).case(parse_pair(key, PAIRS))
        training, dev = case.training("joint"), list(case.folds.dev)
        if len(training.pivots) > 1:
            report.add("A search, CPU seconds", [measure_search(key, training, dev)])
        else:
            title = f"CPU seconds (best of {arguments.repeats}) and ratios (medians)"
            report.add(title, [measure_grid(key, training, dev, arguments.repeats)])
    report.write()


if __name__ == "__main__":
    main()
