"""What does training Charagram cost compared with PTI, and searching a million names?

    python benchmarks/neural.py --data FOLDER [--pair mk-bg] [--epochs 5] [--encoder ngrams]
    python benchmarks/neural.py --names 1000000

FOLDER holds mention tables <language>.*, among them en.*. PTI is built and queried on the same pair
in the same run. The time of 200 epochs is extrapolated, and labelled as such.
"""

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from measure import (
    Report,
    add_data,
    add_queries,
    cpu_time,
    in_child,
    missing_packages,
    peak_memory,
    wall_time,
)

from candgen.evaluation.metrics import recall
from candgen.generators.neural.method import CHAR_CNN, CHAR_LSTM, CHARAGRAM, size
from candgen.generators.neural.nearest import nearest
from candgen.generators.pivot.method import PTI
from candgen.paper.corpus import Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.protocols import Generator, rank_golds
from candgen.tables.queries import Query

K = 30
PLANNED = 200
DIMENSIONS = 300
VECTOR_QUERIES = 256
METHODS: dict[str, Any] = {"ngrams": CHARAGRAM, "lstm": CHAR_LSTM, "cnn": CHAR_CNN}


def timed(owner: Any, name: str) -> list[float]:  # noqa: ANN401
    """Replace a function by one that times its calls; return the list of their CPU seconds."""
    work: Callable[..., Any] = getattr(owner, name)
    seconds: list[float] = []

    def call(*arguments: object) -> object:
        took, made = cpu_time(partial(work, *arguments))
        seconds.append(took)
        return made

    setattr(owner, name, call)
    return seconds


def inference(generator: Generator, queries: Sequence[Query]) -> tuple[float, float]:
    """CPU seconds for all queries, and recall@30."""
    rank_golds(generator, queries[:8], K)  # compiles and maps everything
    seconds, ranks = cpu_time(lambda: rank_golds(generator, queries, K))
    return seconds, recall(ranks, K)


def compare(
    corpus: Corpus, key: str, setting: str, epochs: int, encoder: str
) -> dict[str, dict[str, Any]]:
    """Build and query both generators of one pair; return a row for each table."""
    from candgen.generators.neural import encoders  # noqa: PLC0415

    case = corpus.case(parse_pair(key, PAIRS))
    training, test = case.training(setting), list(case.folds.test)
    PTI(training, {})  # compiles everything
    build, pti = cpu_time(lambda: PTI(training, {}))
    learning, judging = timed(encoders, "_epoch"), timed(encoders, "_recall")
    total, neural = cpu_time(lambda: METHODS[encoder](training, {"epochs": epochs}))
    epoch, dev = statistics.median(learning), statistics.median(judging)
    pairs = sum(neural.parameters["used"].values())
    planned = total + (PLANNED - epochs) * (epoch + dev)
    numbers, numbers_of_pti = size(neural).parameters, PTI.size(pti).parameters
    asked, found = inference(neural, test)
    asked_of_pti, found_of_pti = inference(pti, test)
    named = {"pair": key, "setting": setting}
    return {
        f"Training {encoder}, CPU seconds": {
            **named,
            "pairs": pairs,
            "an epoch": epoch,
            "at 80,000 pairs": epoch * 80_000 / pairs,
            "dev": dev,
        },
        f"Training {encoder} compared with PTI, CPU seconds": {
            **named,
            f"{epochs} epochs": total,
            "PTI": build,
            "ratio": total / build,
            f"{PLANNED} epochs (extrapolated)": planned,
            "ratio (extrapolated)": planned / build,
        },
        f"Parameters of {encoder} and of PTI": {
            **named,
            encoder: numbers,
            "PTI": numbers_of_pti,
            "ratio": numbers / numbers_of_pti,
        },
        f"Inference of {encoder} and of PTI, CPU seconds": {
            **named,
            "test queries": len(test),
            encoder: asked,
            "PTI": asked_of_pti,
            "ratio": asked / asked_of_pti,
            f"recall@{K} after {epochs} epochs": found,
            f"recall@{K} of PTI": found_of_pti,
        },
    }


def search(names: int) -> dict[str, Any]:
    """Search random vectors: a query reads all of them, as it does with real ones."""
    rng = np.random.default_rng(0)
    vectors = np.empty((names, DIMENSIONS), np.float32)
    for first in range(0, names, 10_000):
        part = rng.standard_normal((min(10_000, names - first), DIMENSIONS), np.float32)
        vectors[first : first + 10_000] = part / np.linalg.norm(part, axis=1, keepdims=True)
    queries = rng.standard_normal((VECTOR_QUERIES, DIMENSIONS))
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    single, _ = wall_time(lambda: list(nearest(queries[:1], vectors, K)))
    seconds, _ = cpu_time(lambda: list(nearest(queries, vectors, K)))
    wall, _ = wall_time(lambda: list(nearest(queries, vectors, K)))
    return {
        "names": names,
        "CPU ms a query": 1000 * seconds / VECTOR_QUERIES,
        "ms a query": 1000 * wall / VECTOR_QUERIES,
        "ms, a single query": 1000 * single,
        "vectors, GB": vectors.nbytes / 1e9,
        "peak, GB": peak_memory() / 1e9,
    }


def main() -> None:
    """Measure each pair, and a search."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser, required=False)
    parser.add_argument(
        "--pair",
        nargs="+",
        default=["mk-bg"],
        metavar="TARGET-PIVOT",
        help="pairs of --data (default: %(default)s)",
    )
    add_queries(parser, 1000)
    parser.add_argument(
        "--epochs",
        type=int,
        default=3,
        metavar="N",
        help="epochs of training (default: %(default)s)",
    )
    parser.add_argument(
        "--encoder",
        default="ngrams",
        choices=list(METHODS),
        help="the encoder to train (default: %(default)s)",
    )
    parser.add_argument(
        "--names",
        type=int,
        nargs="*",
        default=[],
        metavar="N",
        help="search among this many random vectors; several numbers are measured in turn",
    )
    arguments = parser.parse_args()
    report = Report("neural", (__doc__ or "").partition("\n")[0], arguments.names)
    if arguments.data and missing_packages("torch"):
        print("PyTorch is not installed: training is left out (pip install 'candgen[neural]')")
    elif arguments.data:
        corpus = Corpus(arguments.data, per_type=arguments.queries)
        measure_pairs(corpus, arguments, report)
    for names in arguments.names:
        report.add("Search among random vectors", [in_child(search, names)])
    report.write()


def measure_pairs(corpus: Corpus, arguments: argparse.Namespace, report: Report) -> None:
    """Train and query each pair in each setting, in its own process."""
    for key in arguments.pair:
        for setting in corpus.case(parse_pair(key, PAIRS)).settings:
            rows = in_child(compare, corpus, key, setting, arguments.epochs, arguments.encoder)
            for title, row in rows.items():
                report.add(title, [row])


if __name__ == "__main__":
    main()
