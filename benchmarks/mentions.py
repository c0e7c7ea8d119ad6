"""What is recall on real mentions and other kinds of mention, and do probabilities hold?

    python benchmarks/mentions.py --data FOLDER [--kind news labels] [--language mk fo] [--seed 0 1]
    python benchmarks/mentions.py --show [--csv FOLDER]
    python benchmarks/mentions.py --data FOLDER --kind labels --language fo --without
    python benchmarks/mentions.py --data FOLDER --kind news --language bg --failures 20 [--at 1]

FOLDER holds the folders names, slavicner, anchors and scripts; a kind whose folder is missing is
left out. In each case, all methods get the same tables and the same queries: both stages of
``build_auto``, its first stage, and cosine of TF-IDF, romanised or not, whichever is better.
Each result is stored in results/mentions, so that a run can be interrupted and continued; results
of other queries or of another source of candgen are measured again. The tables show all stored
results of the kinds, languages and seeds that are asked for.

- news: mentions in news (SlavicNER), the other languages of the folder as pivots; zero-shot on a
  sample of all mentions, and joint with the target's other mentions.
- anchors: texts of links in Wikipedia, with labels of the target as its names or its table.
- labels: names that are held out, and some that are not, with the pivots that candgen chooses.
- languages: names of languages in CLDR, at most half of them; the target's other names there, also
  those of other languages, are known.
- order: names of persons, the last word first. partial: one word of a name, of a person's the last,
  of others the rarest. generic: names with a frequent word of the language before or after them.
- scripts: names of persons in one script against names in Latin letters, with fixed weights.

--without sets the weight of one feature of the second stage at a time to 0.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from measure import add_queries
from mentions_cases import KINDS, SETTINGS, Case, open_case, places
from mentions_methods import ablate, measure
from mentions_results import BOTH, FIRST, KS, Ablation, Place, Result, pool, stored_places
from mentions_tables import tables
from recall_csv import write_csv
from recall_failures import names_of, show, some_of
from synthetic_index import source_hash

from candgen.evaluation.metrics import recall
from candgen.generators.rerank.weights import Weights


def measure_all(wanted: Sequence[Place], arguments: argparse.Namespace) -> None:
    """Measure what is not stored yet."""
    for place in wanted:
        case = open_case(arguments.data, place, arguments.queries)
        if not case.queries:
            print(place.name, place.setting, "has no queries: it is left out", flush=True)
            continue
        if arguments.again or not is_stored(case, Result.read(place.path("result"))):
            result = measure(case)
            result.write()
            print_recalls(place, result.ranks[BOTH])
        if arguments.without is None:
            continue
        stored = None if arguments.again else Ablation.read(place.path("without"))
        known = stored.ranks if stored is not None and is_stored(case, stored) else {}
        features = [each for each in arguments.without or Weights._fields if each not in known]
        if features:
            ablate(case, features).write()
            print(place.name, place.setting, place.seed, "without", *features, flush=True)


def is_stored(case: Case, stored: Result | Ablation | None) -> bool:
    """Return whether something was measured with the same queries and source."""
    return stored is not None and (stored.digest, stored.source) == (case.digest, source_hash())


def print_recalls(place: Place, ranks: Sequence[int]) -> None:
    """Print the recalls of both stages on one line."""
    shown = (f"{recall(ranks, k):.1f}" for k in KS)
    print(place.name, place.setting, place.seed, *shown, flush=True)


def failures(wanted: Sequence[Place], arguments: argparse.Namespace) -> None:
    """Print queries whose gold both stages do not have among the first --at, evenly spaced."""
    for place in wanted:
        result = Result.read(place.path("result"))
        case = open_case(arguments.data, place, arguments.queries)
        if result is None or result.digest != case.digest:
            print(f"{place.name}, {place.setting}, seed {place.seed}: measure it first")
            continue
        ranks = result.ranks[BOTH]
        missed = [at for at, rank in enumerate(ranks) if not 0 < rank <= arguments.at]
        print(
            f"{place.name}, {place.setting}, seed {place.seed}: {len(missed)} of {len(ranks)} "
            f"are missed at rank {arguments.at}."
        )
        some = some_of(missed, arguments.failures)
        golds = {gold for at in some for gold in case.golds(case.queries[at])}
        names = names_of(case.tables, golds | {result.first[at] or "" for at in some})
        for at in some:
            first_rank = result.ranks[FIRST][at]
            show(case.queries[at], ranks[at], first_rank, result.first[at] or "", names)


def main() -> None:
    """Measure, then print all stored results that are asked for; or failures."""
    arguments = parse()
    if arguments.data is None:
        wanted = [place for place in stored_places() if is_wanted(place, arguments)]
    else:
        wanted = [
            place
            for place in places(
                arguments.data, arguments.kind, arguments.language, arguments.seed or [0]
            )
            if place.setting in arguments.setting
        ]
    if arguments.failures:
        failures(wanted, arguments)
        return
    if not arguments.show:
        measure_all(wanted, arguments)
    made = tables(pool(wanted))
    if arguments.csv is not None:
        write_csv(arguments.csv, made)
    print("\n\n".join(table.to_markdown().strip() for table in made.values()))


def is_wanted(place: Place, arguments: argparse.Namespace) -> bool:
    """Return whether a stored result is asked for."""
    return (
        place.kind in arguments.kind
        and place.setting in arguments.setting
        and place.language in (arguments.language or [place.language])
        and place.seed in (arguments.seed or [place.seed])
    )


def parse() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="folder with the folders names, slavicner, anchors and scripts of mention tables",
    )
    parser.add_argument(
        "--kind",
        nargs="+",
        default=list(KINDS),
        choices=list(KINDS),
        help="kinds of mention to measure (default: all)",
    )
    parser.add_argument(
        "--language",
        nargs="+",
        metavar="CODE",
        help="target languages, or scripts (default: those listed for each kind)",
    )
    parser.add_argument(
        "--setting",
        nargs="+",
        default=list(SETTINGS),
        choices=list(SETTINGS),
        help="settings to measure (default: all)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        nargs="+",
        metavar="N",
        help="random seeds of what is held out and asked; the tables pool them (default: 0)",
    )
    add_queries(parser, 900, "queries of a case, of all types together")
    parser.add_argument(
        "--without",
        nargs="*",
        choices=Weights._fields,
        metavar="FEATURE",
        help="also measure both stages without a feature of the second one at a time "
        "(default without names: each feature)",
    )
    parser.add_argument("--again", action="store_true", help="measure stored results again")
    parser.add_argument("--show", action="store_true", help="only print the stored results")
    parser.add_argument("--csv", type=Path, metavar="FOLDER", help="write the tables as CSV files")
    parser.add_argument(
        "--failures",
        type=int,
        metavar="N",
        help="print N queries that both stages missed, and exit",
    )
    parser.add_argument(
        "--at",
        type=int,
        default=KS[-1],
        metavar="K",
        help="rank beyond which a query counts as missed (default: %(default)s)",
    )
    arguments = parser.parse_args()
    if arguments.data is None and (arguments.failures or not arguments.show):
        parser.error("name the folder of the data with --data, or use --show")
    return arguments


if __name__ == "__main__":
    main()
