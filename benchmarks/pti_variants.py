"""What do the variants of PTI cost, and how much recall do they add?

    python benchmarks/pti_variants.py --data FOLDER --pair mk-bg fo-is

FOLDER holds mention tables <language>.*. All variants are built from the same training data, in the
joint setting, with the same alpha and lam, which were tuned for none of them. The baseline is pti.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measure import Report, add_data, add_queries, add_repeats, cpu_time, in_turn, median_ratio

from candgen.evaluation.metrics import recall
from candgen.generators import METHODS
from candgen.kernels.blocks import KEY_BITS
from candgen.paper.corpus import Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.protocols import Training, rank_golds
from candgen.tables.queries import Query

K = 30
REPEATS = 5
WEIGHTS = {"alpha": 0.4, "lam": 0.4}
PLAIN = "pti"
VARIANTS = {
    name: METHODS[name]
    for name in (PLAIN, "pti-wildcards", "pti-fusion", "pti-smoothing")
    if name in METHODS
}


def bytes_of(index: Any) -> int:  # noqa: ANN401
    """Return the bytes of a stored index that search reads: all but the source mentions."""
    with TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        files = (Path(folder) / "index").iterdir()
        return sum(file.stat().st_size for file in files if not file.name.startswith("sources."))


def figures(index: Any, dev: list[Query]) -> dict[str, Any]:  # noqa: ANN401
    """Return the size of an index and its recall on dev."""
    return {
        "entities": len(index.token_index.entities),
        "tokens": len(np.unique(index.token_index.blocks.key >> KEY_BITS)),
        "postings": index.token_index.postings,
        "bytes": bytes_of(index),
        "dev recall@30": recall(rank_golds(index, dev, K), K),
    }


def seconds(
    indexes: Mapping[str, Any], training: Training, dev: list[Query], repeats: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """CPU seconds of building each variant, and of all dev queries in one thread."""
    mentions = [query.mention for query in dev]
    builds = {
        name: partial(taken, partial(method, training, WEIGHTS))
        for name, method in VARIANTS.items()
    }
    asks = {
        name: partial(taken, partial(index.candidates, mentions, K, threads=1))
        for name, index in indexes.items()
    }
    return in_turn(builds, repeats), in_turn(asks, repeats)


def taken(work: Callable[[], object]) -> float:
    """Return the CPU seconds only: the result is released, so that memory does not fill up."""
    return cpu_time(work)[0]


def measure(key: str, training: Training, dev: list[Query], repeats: int, report: Report) -> None:
    """Both tables of one pair."""
    indexes = {name: method(training, WEIGHTS) for name, method in VARIANTS.items()}
    found = {name: figures(index, dev) for name, index in indexes.items()}  # compiles everything
    building, asking = seconds(indexes, training, dev, repeats)
    report.add(
        f"Size, recall and CPU time (medians of {repeats})",
        [
            {
                "pair": key,
                "method": name,
                "dev queries": len(dev),
                **found[name],
                "build, s": median(building[name]),
                "ms a query": 1e3 * median(asking[name]) / len(dev),
            }
            for name in indexes
        ],
    )
    report.add(
        f"Compared with {PLAIN}: ratios (of times, medians), and percentage points",
        [
            {
                "pair": key,
                "method": name,
                **{
                    what: found[name][what] / found[PLAIN][what]
                    for what in ("tokens", "postings", "bytes")
                },
                "build": median_ratio(building[name], building[PLAIN]),
                "query": median_ratio(asking[name], asking[PLAIN]),
                "dev recall@30, points": found[name]["dev recall@30"]
                - found[PLAIN]["dev recall@30"],
            }
            for name in indexes
            if name != PLAIN
        ],
    )


def main() -> None:
    """Measure each pair."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_data(parser)
    parser.add_argument(
        "--pair",
        nargs="+",
        default=["mk-bg", "fo-is", "bar-de", "mr-hi"],
        metavar="TARGET-PIVOT",
        help="pairs to measure (default: %(default)s)",
    )
    add_queries(parser, 1000)
    add_repeats(parser, REPEATS)
    arguments = parser.parse_args()
    report = Report("pti-variants", question, [])
    for key in arguments.pair:
        case = Corpus(arguments.data, per_type=arguments.queries).case(parse_pair(key, PAIRS))
        measure(key, case.training("joint"), list(case.folds.dev), arguments.repeats, report)
    report.write()


if __name__ == "__main__":
    main()
