"""Which order of pivots has the best recall, and how accurate are estimates from names alone?

    python benchmarks/pivots.py --data FOLDER

FOLDER holds mention tables <language>.*. The first table has recall on dev of the paper's method
with the first four pivots of each order; orders are computed from the training data, and test is
not used. The order by linguistic distance needs lang2vec. The second table compares the coverage
that ``rank_pivots`` estimates from names alone with the true one; its threshold was chosen on the
default targets of --estimate, none of which is one of the paper's.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from measure import NOT_INSTALLED, add_data, add_queries, installed_version
from scipy.stats import spearmanr

import candgen
from candgen.evaluation.ceilings import candidate_space
from candgen.evaluation.pivot_ranking import Pivot
from candgen.integrations.uriel import distances
from candgen.protocols import rank_golds
from candgen.reporting.table import Cell, Table
from candgen.tables.queries import Query
from candgen.tables.table_folder import TableFolder

MOST = 4
K = 30
TARGETS = ["fo", "mk", "mr", "jv"]
CALIBRATED_ON = ["lb", "nn", "sk", "uk", "az", "bn", "uz", "oc", "gu"]
Tables = Mapping[str, candgen.MentionTable]


def orders(
    train: candgen.MentionTable, others: Tables, target: str, normalizer: str
) -> dict[str, list[str]]:
    """Return the first few pivots of every order."""
    found = {}
    for name, known in (("", train), (", names alone", train.mentions)):
        for by in ("ceiling", "closeness"):
            ranking = candgen.rank_pivots(
                known, others, by=by, language=target, normalizer=normalizer, most=MOST
            )
            found[f"{by}{name}"] = ranking.chosen()
            rows: list[Pivot] = list(ranking.rows)
    found["overlap"] = [row.language for row in sorted(rows, key=lambda row: -row.overlap)]
    if has_lang2vec():
        far = distances(target, others)
        found["distance"] = [
            row.language for row in sorted(rows, key=lambda row: (far[row.language], -row.pairs))
        ]
    found["size"] = [row.language for row in sorted(rows, key=lambda row: -row.pairs)]
    return {name: some[:MOST] for name, some in found.items()}


def has_lang2vec() -> bool:
    """Return whether lang2vec is installed, whose data are read without importing it."""
    return installed_version("lang2vec") != NOT_INSTALLED


def recalls(
    pivots: Tables,
    train: candgen.MentionTable | None,
    dev: list[Query],
    target: str,
    normalizer: str,
) -> tuple[float, float]:
    """Recall@1 and recall@30 on dev."""
    index = candgen.PivotTokenIndex.build(
        pivots=pivots, target=train, language=target, lam=1.0, normalizer=normalizer
    )
    ranks = rank_golds(index, dev, K)
    return 100 * float((ranks == 1).mean()), 100 * float((ranks > 0).mean())


def compare_orders(folder: Path, targets: list[str], normalizer: str, per_type: int) -> Table:
    """Return the table of recall by order of pivots."""
    rows: list[tuple[Cell, ...]] = []
    for target in targets:
        others = dict(TableFolder(folder, without=target))
        whole = candgen.MentionTable.read(TableFolder(folder).path(target))
        split = candgen.split(whole, per_type=per_type, normalizer="default", language=target)
        for name, chosen in orders(split.train, others, target, normalizer).items():
            pivots = {code: others[code] for code in chosen}
            joint = recalls(pivots, split.train, split.dev, target, normalizer)
            zero = recalls(pivots, None, split.dev, target, normalizer)
            rows.append((target, name, " ".join(chosen), len(split.dev), *joint, *zero))
    columns = (
        "target",
        "order by",
        "pivots",
        "dev queries",
        "joint @1",
        f"joint @{K}",
        "zero-shot @1",
        f"zero-shot @{K}",
    )
    return Table("Recall on dev with four pivots", columns, tuple(rows))


def compare_estimates(folder: Path, targets: list[str], normalizer: str) -> Table:
    """Return the table of estimated and true coverage."""
    rows: list[tuple[Cell, ...]] = []
    for target in targets:
        others = TableFolder(folder, without=target)
        whole = candgen.MentionTable.read(TableFolder(folder).path(target))
        true, guess = (
            candgen.rank_pivots(known, others, language=target, normalizer=normalizer, most=MOST)
            for known in (whole, whole.mentions)
        )
        share = {row.language: 100 * row.coverage for row in true.rows}
        pairs = np.array([(share[row.language], 100 * row.coverage) for row in guess.rows])
        known = candidate_space(*(others[code] for code in guess.chosen()), named=whole.entities)
        reached = 100 * sum(entity in known for _, entity, _ in whole) / len(whole)
        said = guess.rows[len(guess.chosen()) - 1].ceiling
        off = pairs[:, 1] - pairs[:, 0]
        rows.append(
            (
                target,
                float(np.abs(off).mean()),
                float(off.mean()),
                f"{spearmanr(pairs[:, 0], pairs[:, 1])[0]:.2f}",
                " ".join(true.chosen()),
                true.rows[len(true.chosen()) - 1].ceiling,
                " ".join(guess.chosen()),
                reached,
                said,
            )
        )
    columns = (
        "target",
        "error, points",
        "bias",
        "rank correlation",
        "four with entities",
        "ceiling",
        "four from names",
        "their ceiling",
        "as estimated",
    )
    return Table("Coverage estimated from names alone, and the truth", columns, tuple(rows))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser)
    parser.add_argument(
        "--target",
        nargs="*",
        default=TARGETS,
        metavar="LANGUAGE",
        help="targets of the first table (default: %(default)s)",
    )
    parser.add_argument(
        "--estimate",
        nargs="*",
        default=CALIBRATED_ON,
        metavar="LANGUAGE",
        help="targets of the second table (default: %(default)s)",
    )
    parser.add_argument(
        "--normalizer", default="latin", help="text normalizer (default: %(default)s)"
    )
    add_queries(parser, 1000)
    given = parser.parse_args()
    if given.target:
        if not has_lang2vec():
            print(
                "lang2vec is not installed: the order by distance is left out "
                "(pip install 'candgen[uriel]')\n"
            )
        table = compare_orders(given.data, given.target, given.normalizer, given.queries)
        print(f"{table.to_markdown()}\n")
    if given.estimate:
        print(compare_estimates(given.data, given.estimate, given.normalizer).to_markdown())


if __name__ == "__main__":
    main()
