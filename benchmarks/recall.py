"""How much of what is asked do we find, beside what people use today?

    python benchmarks/recall.py --data FOLDER [--fixed FOLDER] [--pair mk-bg] [--setting joint]
                                [--method pti rerank] [--again]
    python benchmarks/recall.py --show [--csv FOLDER]
    python benchmarks/recall.py --data FOLDER --pair li-nl --setting joint --failures 20 [--at 1]

FOLDER holds mention tables <lang>.*; --fixed names a folder with a train.tsv and a test.tsv of
Macedonian. All methods learn from the same data and are asked the same test queries; what they
choose, they choose on dev. Every cell is kept in results/recall, so that a run can be stopped and
continued, and single cells measured again. Tables are made of all the cells that there are;
--csv writes each of them to a file too.

- wikipriors, pti: as in the paper, with its one pivot; weights by dev.
- tfidf: scikit-learn's TfidfVectorizer with character n-grams of 2 to 5 within words and sublinear
  frequencies, cosine, the best name of an entity counts; with the same pivot, or with several.
- charagram: ours, for 5 epochs, with mu as dev chose it in ``candgen reproduce``.
- pti-several: PTI with several pivots, as chosen for the next one: its first stage.
- rerank: the same with the second stage, which learns its weights on dev; the normalizer too is
  what dev says.

Several pivots are the six that ``candgen pivots`` ranks first by closeness, asked with the pairs of
dev, and English.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from measure import cpu_time
from recall_cases import FIXED, JOINT, MOST_DEV, NAMES, ZERO_SHOT, Case, open_case
from recall_cells import Cell, path_of, read_json, write_json
from recall_csv import write_csv
from recall_failures import failures
from recall_rows import ROWS, K, bytes_of
from recall_tables import columns, tables
from stored import source_hash

from candgen.protocols import gold_rank


def several(case: Case) -> list[str]:
    """The pivots of a case, chosen once."""
    path = path_of(case.name, "all", "pivots")
    if (known := read_json(path)) is None:
        known = case.several()
        write_json(path, known)
    return list(known)


def measure(case: Case, setting: str, method: str) -> Cell:
    """Choose on dev, build, and ask all test queries."""
    row = ROWS[method]
    pivots = several(case) if row.several else [case.pivot]
    made = row.make(case, setting, pivots)
    mentions, golds = zip(*((query.mention, query.entity) for query in case.test), strict=True)
    made.generator.candidates(mentions[:8], K)  # whatever is compiled or mapped, is now
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
    """Keep what the tables need to know of the queries."""
    write_json(
        path_of(case.name, "all", "queries"),
        {
            "digest": case.digest,
            "unlike": case.unlike,
            "types": [query.type for query in case.test],
            "settings": list(case.settings),
        },
    )


def measure_all(arguments: argparse.Namespace) -> None:
    """Measure what is asked for and not there yet."""
    for name in arguments.pair:
        wanted = [
            (setting, method)
            for setting in arguments.setting
            for method in arguments.method
            if arguments.again or not path_of(name, setting, method).exists()
        ]
        if not wanted:
            continue
        case = open_case(name, arguments.data, arguments.fixed)
        case = replace(case, most_dev=arguments.dev)
        describe(case)
        for setting, method in wanted:
            if setting in case.settings:
                cell = measure(case, setting, method)
                cell.write()
                recalls = (
                    100 * sum(0 < r <= k for r in cell.ranks) / len(cell.ranks) for k in (1, K)
                )
                print(name, setting, method, *(f"{recall:.1f}" for recall in recalls), flush=True)


def main() -> None:
    """Measure, then show what there is; or only one of these."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of mention tables")
    parser.add_argument("--fixed", type=Path, help="the folder of the fixed Macedonian split")
    parser.add_argument(
        "--pair",
        nargs="+",
        default=list(NAMES),
        metavar="TARGET-PIVOT",
        help=f"of any two languages of the folder, or {FIXED} (default: the paper's and that)",
    )
    parser.add_argument(
        "--setting", nargs="+", default=[ZERO_SHOT, JOINT], choices=[ZERO_SHOT, JOINT]
    )
    parser.add_argument("--method", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument(
        "--dev",
        type=int,
        default=MOST_DEV,
        metavar="N",
        help="so many dev queries choose the alphas of several pivots (default: %(default)s)",
    )
    parser.add_argument("--again", action="store_true", help="also what was measured before")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    parser.add_argument("--csv", type=Path, metavar="FOLDER", help="write the tables as CSV files")
    parser.add_argument("--failures", type=int, metavar="N", help="print so many missed queries")
    parser.add_argument("--at", type=int, default=K, metavar="K", help="missed at this rank")
    arguments = parser.parse_args()
    if not arguments.show and arguments.data is None:
        parser.error("name the folder of mention tables with --data, or show what there is")
    if arguments.failures:
        for name in arguments.pair:
            case = open_case(name, arguments.data, arguments.fixed)
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
