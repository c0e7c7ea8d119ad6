"""What does choosing pivots, normalizer and weights cost, and is it as good as exhaustively?

    python benchmarks/choose.py --pivots 2500000 500000 50000 --pairs 47000
    python benchmarks/choose.py --data FOLDER --target fo mk

The first makes a family of related languages, see ``world.family``, and runs ``candgen build
--auto`` and ``candgen tune`` on it; the second runs them on real mention tables <language>.*. Each
run is a process of its own. With --exhaustive, golds are ranked among all entities for every choice
of weights too; differences are in points of recall@30 and of 100 MRR on test queries.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from folders import DATA
from measure import Report, add_data, in_child
from world import make_family
from world.family import TABLES, TARGET

import candgen
from candgen.evaluation.evaluate import evaluate
from candgen.protocols import Generator
from candgen.tables.queries import Query
from candgen.tables.table_folder import LanguageFiles

K = 30
EXHAUSTIVELY = """
import sys
from candgen import MentionTable
from candgen.auto import build_auto
from candgen.tables.table_folder import TableFolder

target, language, tables, output = sys.argv[1:]
build_auto(MentionTable.read(target), TableFolder(tables, without=language), language=language,
           exhaustive=True).save(output)
"""


class Case(NamedTuple):
    """A folder of tables, and the language that is the target."""

    name: str
    tables: Path
    target: str


class Usage(NamedTuple):
    """What a process took: CPU and elapsed seconds, and its peak memory in GB."""

    cpu: float
    wall: float
    memory: float


def run(arguments: Sequence[str]) -> Usage:
    """Run a program to its end."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr[-2000:]}")
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Usage(cpu, wall, after.ru_maxrss * 1024 / 1e9)


def measure(*arguments: str) -> Usage:
    """Run a program as the only child of a new process: the peak of memory is that of one child."""
    return in_child(run, list(arguments))


def candgen_command(*arguments: object) -> Usage:
    """Run a command of candgen."""
    return measure("-m", "candgen", *map(str, arguments))


def write_case(case: Case, folder: Path) -> tuple[Path, Path, list[Query]]:
    """Write the pairs to learn from, a dataset of them, and return both with test queries.

    The test queries are those of a split with another random seed than the commands use inside.
    """
    files = LanguageFiles(case.tables)
    folds = candgen.split(
        files.table(case.target), normalizer="default", language=case.target, seed=1
    )
    target, dataset = folder / f"{case.target}.tsv.gz", folder / "dataset"
    folds.train.write(target)
    candgen_command("split", target, "--normalizer", "default", "-o", dataset)
    return target, dataset, list(folds.test)


def measure_quality(path: Path, test: list[Query]) -> dict[str, float]:
    """Return recall@30, MRR and the time of a query of both stages."""
    index: Generator = candgen.load(path)
    report = evaluate({"both": index}, test, ks=(K,))
    times = []
    for query in test:
        start = time.thread_time()
        index.candidates([query.mention], K)
        times.append(1000 * (time.thread_time() - start))
    times.sort()
    return {
        f"recall@{K}": report.recall("both", k=K),
        "100 MRR": 100 * report.mrr("both"),
        "mean ms": sum(times) / len(times),
        "p99 ms": times[int(0.99 * (len(times) - 1))],
    }


def measure_case(case: Case, *, exhaustive: bool) -> list[dict[str, Any]]:
    """Run the commands on a case; a row for each."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=DATA) as made:
        folder = Path(made)
        target, dataset, test = write_case(case, folder)
        pivots = ("--pivot-tables", case.tables)
        commands: dict[str, tuple[str, ...]] = {
            "build --auto": (
                *("-m", "candgen", "build", "--auto", "--target", str(target)),
                *map(str, pivots),
                *("-o", str(folder / "auto")),
            ),
            "tune": (
                *("-m", "candgen", "tune", str(dataset)),
                *map(str, pivots),
                *("-o", str(folder / "tune")),
            ),
        }
        if exhaustive:
            given = (str(target), case.target, str(case.tables), str(folder / "exhaustive"))
            commands["exhaustive"] = ("-c", EXHAUSTIVELY, *given)
        for (name, command), output in zip(
            commands.items(), ("auto", "tune", "exhaustive"), strict=False
        ):
            used = measure(*command)
            quality = in_child(measure_quality, folder / output, test)
            figures = {"CPU s": used.cpu, "wall s": used.wall, "GB": used.memory, **quality}
            rows.append({"case": case.name, "command": name, "test queries": len(test), **figures})
    return rows


def differences(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how ``build --auto`` differs from the exhaustive way, for each case."""
    found = []
    for row in rows:
        if row["command"] == "exhaustive":
            (mine,) = (
                each
                for each in rows
                if each["case"] == row["case"] and each["command"] == "build --auto"
            )
            points = {name: mine[name] - row[name] for name in (f"recall@{K}", "100 MRR")}
            ratio = {"CPU, exhaustive / ours": row["CPU s"] / mine["CPU s"]}
            found.append({"case": row["case"], **points, **ratio})
    return found


def make_case(pivots: Sequence[int], pairs: int, seed: int) -> Case:
    """Return a family, which is kept after the first time."""
    sizes = "-".join(map(str, pivots))
    folder = DATA / f"family-{sizes}-{pairs}-{seed}"
    if not (folder / TABLES).exists():
        make_family(pivots, pairs, seed=seed).write(folder)
    return Case(f"family {' + '.join(f'{size:,}' for size in pivots)}", folder / TABLES, TARGET)


def main() -> None:
    """Measure all cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_data(parser, required=False)
    parser.add_argument(
        "--target",
        nargs="+",
        default=["fo"],
        metavar="LANGUAGE",
        help="targets among the tables of --data (default: %(default)s)",
    )
    parser.add_argument(
        "--pivots",
        type=int,
        nargs="+",
        default=[],
        metavar="ENTITIES",
        help="entities of each pivot of a family to make",
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=47_000,
        metavar="N",
        help="pairs of the family's target (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the family")
    parser.add_argument(
        "--exhaustive", action="store_true", help="choose exhaustively too, and compare"
    )
    given = parser.parse_args()
    DATA.mkdir(parents=True, exist_ok=True)
    cases = [make_case(given.pivots, given.pairs, given.seed)] if given.pivots else []
    if given.data is not None:
        cases += [Case(target, given.data, target) for target in given.target]
    report = Report("choose", (__doc__ or "").partition("\n")[0], given.pivots)
    rows: list[dict[str, Any]] = []
    for case in cases:
        rows += measure_case(case, exhaustive=given.exhaustive)
        report.add("Choosing", rows[-2 - given.exhaustive :])
    if given.exhaustive:
        report.add("Points gained or lost on test, beside the exhaustive way", differences(rows))
    report.write()


if __name__ == "__main__":
    main()
