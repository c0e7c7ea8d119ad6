"""What is the recall of candgen's methods, compared with baselines in common use?

    python benchmarks/recall.py --data FOLDER [--fixed FOLDER] [--pair mk-bg] [--setting joint]
                                [--method pti rerank] [--again]
    python benchmarks/recall.py --show [--csv FOLDER]
    python benchmarks/recall.py --data FOLDER --pair li-nl --setting joint --failures 20 [--at 1]

FOLDER holds mention tables <language>.*; --fixed names a folder with a train.tsv and a test.tsv of
Macedonian. All methods are trained on the same data and get the same test queries;
hyperparameters are chosen on dev. Each result is stored in results/recall, so that a run can be
interrupted and continued, and single results measured again. The tables show all stored results;
--csv also writes each of them to a CSV file.

- wikipriors, pti: as in the paper, with its one pivot; weights chosen on dev.
- translation: words translated into English as names of the same entities teach, from the same
  pivot and the target; looked up among English names.
- tfidf: scikit-learn's TfidfVectorizer with character n-grams of 2 to 5 within words and sublinear
  frequencies, cosine, the best name of an entity counts; with the same pivot, or with several.
- charagram: for 5 epochs, with the mu that dev chose in ``candgen reproduce``.
- pti-several: PTI with several pivots, with the choices of rerank: its first stage.
- rerank: the same with the second stage, which learns its weights on dev; the normalizer is also
  chosen on dev.

Several pivots are the six that ``candgen pivots`` ranks first by closeness, with the pairs of dev,
and English.
"""

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

from measure import add_data, add_queries, cpu_time, missing_packages
from recall_cases import EPOCHS, FIXED, JOINT, MOST_DEV, NAMES, ZERO_SHOT, Case, open_case
from recall_csv import write_csv
from recall_failures import failures
from recall_methods import NEEDS, ROWS, K, bytes_of
from recall_results import Cell, path_of, read_json, write_json
from recall_tables import columns, tables
from synthetic_index import source_hash

from candgen.protocols import gold_rank


def several(case: Case) -> list[str]:
    """Return the pivots of a case, which are chosen once."""
    path = path_of(case.name, "all", "pivots")
    if (known := read_json(path)) is None:
        known = case.several()
        write_json(path, known)
    return list(known)


def measure(case: Case, setting: str, method: str) -> Cell:
    """Tune on dev, build, and run all test queries."""
    row = ROWS[method]
    pivots = several(case) if row.several else [case.pivot]
    made = row.make(case, setting, pivots)
    mentions, golds = zip(*((query.mention, query.entity) for query in case.test), strict=True)
    made.generator.candidates(mentions[:8], K)  # compiles and maps everything
    seconds, found = cpu_time(lambda: made.generator.candidates(mentions, K))
    spent = {"tuning": made.tuning, "building": made.building, "query": seconds / len(mentions)}
    knows = getattr(made.generator, "knows", None)
    more = {} if knows is None else {"ceiling": 100 * sum(knows(golds)) / len(golds)}
    return Cell(
        case.name,
        setting,
        method,
        case.digest,
        [gold_rank(gold, some) for gold, some in zip(golds, found, strict=True)],
        made.parameters,
        pivots,
        spent,
        bytes_of(made.generator),
        source_hash(),
        made.note,
        [some[0][0] if some else "" for some in found],
        more,
    )


def describe(case: Case) -> None:
    """Store what the tables need to know about the queries."""
    write_json(
        path_of(case.name, "all", "queries"),
        {
            "digest": case.digest,
            "unlike": case.unlike,
            "types": [query.type for query in case.test],
            "settings": list(case.settings),
        },
    )


def is_stored(case: Case, setting: str, method: str) -> bool:
    """Return whether a method was measured with the same queries."""
    stored = read_json(path_of(case.name, setting, method))
    return stored is not None and stored["queries"] == case.digest


def measure_all(arguments: argparse.Namespace) -> None:
    """Measure what is asked for and not stored yet."""
    methods = []
    for method in arguments.method:
        if missing := missing_packages(*NEEDS.get(method, ())):
            print(f"{', '.join(missing)} not installed: {method} is left out")
        else:
            methods.append(method)
    for name in arguments.pair:
        case = open_case(name, arguments.data, arguments.fixed, arguments.queries, arguments.seed)
        case = replace(case, most_dev=arguments.dev, epochs=arguments.epochs)
        describe(case)
        for setting, method in product(arguments.setting, methods):
            if setting in case.settings and (
                arguments.again or not is_stored(case, setting, method)
            ):
                cell = measure(case, setting, method)
                cell.write()
                recalls = (
                    100 * sum(0 < r <= k for r in cell.ranks) / len(cell.ranks) for k in (1, K)
                )
                print(name, setting, method, *(f"{recall:.1f}" for recall in recalls), flush=True)


def main() -> None:
    """Measure, then print all stored results; or only one of these."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser, required=False)
    parser.add_argument(
        "--fixed", type=Path, metavar="FOLDER", help="folder of the fixed Macedonian split"
    )
    parser.add_argument(
        "--pair",
        nargs="+",
        default=list(NAMES),
        metavar="TARGET-PIVOT",
        help=f"any two languages of the folder, or {FIXED} (default: {FIXED} and the paper's)",
    )
    parser.add_argument(
        "--setting",
        nargs="+",
        default=[ZERO_SHOT, JOINT],
        choices=[ZERO_SHOT, JOINT],
        help="settings to measure (default: both)",
    )
    parser.add_argument(
        "--method",
        nargs="+",
        default=list(ROWS),
        choices=list(ROWS),
        help="methods to measure (default: all)",
    )
    add_queries(parser, 1000)
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="random seed of the split (default: %(default)s); one is stored at a time",
    )
    parser.add_argument(
        "--dev",
        type=int,
        default=MOST_DEV,
        metavar="N",
        help="maximum number of dev queries to choose the alphas of several pivots with "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--epochs",
        type=int,
        default=EPOCHS,
        metavar="N",
        help="epochs of charagram (default: %(default)s)",
    )
    parser.add_argument("--again", action="store_true", help="measure stored results again")
    parser.add_argument("--show", action="store_true", help="only print the stored results")
    parser.add_argument("--csv", type=Path, metavar="FOLDER", help="write the tables as CSV files")
    parser.add_argument(
        "--failures", type=int, metavar="N", help="print N queries that rerank missed, and exit"
    )
    parser.add_argument(
        "--at",
        type=int,
        default=K,
        metavar="K",
        help="rank beyond which a query counts as missed (default: %(default)s)",
    )
    arguments = parser.parse_args()
    if not arguments.show and arguments.data is None:
        parser.error("name the folder of mention tables with --data, or use --show")
    if arguments.failures:
        for name in arguments.pair:
            case = open_case(
                name, arguments.data, arguments.fixed, arguments.queries, arguments.seed
            )
            for setting in (each for each in arguments.setting if each in case.settings):
                failures(case, setting, arguments.failures, k=arguments.at)
        return
    if not arguments.show:
        measure_all(arguments)
    made = tables(columns(arguments.pair))
    if arguments.csv is not None:
        write_csv(arguments.csv, made)
    print("\n\n".join(table.to_markdown().strip() for table in made.values()))


if __name__ == "__main__":
    main()
