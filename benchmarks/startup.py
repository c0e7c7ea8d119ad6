"""How much CPU time does a short command take, and how long is it compiled on first use?

    python benchmarks/startup.py
    python benchmarks/startup.py --compile all

The first table compares commands with the imports that they cannot do without. With ``--compile``,
commands run in a copy of candgen that has no compiled kernels: the figures of
``candgen.cli.first_use`` are from there.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Report, add_repeats, in_turn

import candgen
from candgen.cache_folder import CACHE_VARIABLE
from candgen.cli.warm_world import write_world

REPEATS = 7
BASE = "import numba"
PIVOT, TABLES = "--pivot is.tsv", "--pivot is.tsv --target fo.tsv"
PREPARED = {
    "one": f"build {TABLES} -o one",
    "two": f"build --method rerank {TABLES} -o two",
    "fo.dataset": "split fo.tsv --per-type 5 -o fo.dataset",
}
"""What commands read, and the commands that make it."""
SHORT = {
    "--help": "--help",
    "info": "info one",
    "query, one stage": "query one Havi",
    "query, two stages": "query two Havi",
}
COMPILED = {
    "split": "split fo.tsv --per-type 5 -o dataset-new",
    "build": f"build --method rerank {TABLES} -o index-new",
    "tune": f"tune fo.dataset {PIVOT} -o tuned-new",
    "query": "query two Havi",
    "explain": "explain two Havi Q1",
    "info": "info two --verify",
    "evaluate": "evaluate fo.dataset two",
    "pivots": "pivots --target fo.tsv --pivot-tables tables",
    "extract": "extract fo --dump wiki.xml.bz2 --page-props page_props.sql.gz -o new.parquet",
    "extract-wikidata": "extract-wikidata wikidata.json.bz2 --languages fo -o names-new",
    "demo": "demo --no-serve -o demo-new",
    "build --auto": "build --auto --target fo=fo.tsv --pivot-tables tables -o auto-new",
    "warm": "warm",
}
"""Commands that use kernels."""


def cpu_seconds(arguments: Sequence[str], world: Path, **variables: str) -> float:
    """Return the CPU seconds of a process and its children."""
    environment = {**os.environ, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed candgen has bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], cwd=world, env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def command(line: str) -> list[str]:
    """Return the arguments of Python for a command."""
    return ["-m", "candgen", *line.split()]


def measure_short(world: Path, repeats: int) -> list[dict[str, object]]:
    """Return a row for each short command and for the imports beside it, warm."""
    imports = {f"import {name}": ["-c", f"import {name}"] for name in ("numpy", "pyarrow", "numba")}
    every = {**imports, **{name: command(line) for name, line in SHORT.items()}}
    for arguments in every.values():
        cpu_seconds(arguments, world)  # compiles what is not compiled yet
    runs = in_turn(
        {name: lambda each=each: cpu_seconds(each, world) for name, each in every.items()}, repeats
    )
    medians = {name: statistics.median(seconds) for name, seconds in runs.items()}
    return [
        {"command": name, "CPU ms": 1e3 * each, f"of {BASE}": each / medians[BASE]}
        for name, each in medians.items()
    ]


def measure_compilation(world: Path, lines: Mapping[str, str]) -> list[dict[str, object]]:
    """Return a row for each command on a machine that has compiled nothing."""
    rows: list[dict[str, object]] = []
    for name, line in lines.items():
        cpu_seconds(command(line), world)  # compiles what is not compiled yet
        warm = cpu_seconds(command(line), world)
        with TemporaryDirectory() as folder:
            package = Path(folder) / "candgen"
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(Path(candgen.__file__).parent, package, ignore=ignored)
            places = {"PYTHONPATH": folder, CACHE_VARIABLE: str(Path(folder) / "cache")}
            cold = cpu_seconds(command(line), world, **places)
        rows.append({"command": name, "first use, CPU s": cold, "later, CPU s": warm})
        print(f"{name}: {cold:.1f} s", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Measure short commands, and first use if asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_repeats(parser, REPEATS)
    parser.add_argument(
        "--compile",
        nargs="+",
        default=[],
        choices=["all", *COMPILED],
        metavar="COMMAND",
        help=f"commands to measure on first use: {', '.join(COMPILED)}, or all",
    )
    options = parser.parse_args()
    report = Report("startup", question, [])
    with TemporaryDirectory() as folder:
        world = Path(folder)
        write_world(world)
        for line in PREPARED.values():
            cpu_seconds(command(line), world)
        report.add("Short commands", measure_short(world, options.repeats))
        wanted = list(COMPILED) if "all" in options.compile else options.compile
        if wanted:
            lines = {name: COMPILED[name] for name in wanted}
            report.add("First use", measure_compilation(world, lines))
    report.write()


if __name__ == "__main__":
    main()
