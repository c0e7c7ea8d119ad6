"""``candgen warm``: compile all kernels beforehand."""

import contextlib
import importlib.util
import io
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from candgen.cache_folder import CACHE_VARIABLE
from candgen.cli.output import note
from candgen.cli.progress import progress_bar
from candgen.cli.warm_world import write_world
from candgen.errors import CandgenError, StorageError
from candgen.kernels import compile_listeners

SECONDS = 45
"""About how long it takes to compile all kernels."""
METHODS = (
    "wikipriors",
    "wikipriors-released",
    "translation",
    "pti",
    "pti-wildcards",
    "pti-fusion",
    "pti-smoothing",
    "cascade",
    "cascade-fill",
    "rerank",
)
BUILDS = {
    **{method: f"--method {method} --pivot is.tsv --target fo.tsv" for method in METHODS},
    "target": "--target fo.tsv",
    "zero-shot": "--pivot is.tsv --language fo",
    "two": "--pivot is.tsv --pivot da.tsv --target fo.tsv",
    "threshold": "--pivot is.tsv --target fo.tsv --threshold 0.01",
    "graphemes": "--pivot is.tsv --target fo.tsv --ngram-unit grapheme --normalizer sound",
    "rerank-two": "--method rerank --pivot is.tsv --pivot da.tsv --target fo.tsv",
}
"""The options of ``candgen build``, for indexes by name."""
OTHERS = (
    "split fo.tsv --per-type 5 -o fo.dataset",
    "tune fo.dataset --method pti --pivot is.tsv -o tuned-pti",
    "tune fo.dataset --method pti --pivot is.tsv --zero-shot",
    "tune fo.dataset --method pti-fusion --pivot is.tsv",
    "tune fo.dataset --method pti-smoothing --pivot is.tsv",
    "tune fo.dataset --method wikipriors --pivot is.tsv",
    "tune fo.dataset --pivot is.tsv -o tuned",
    "tune fo.dataset --pivot is.tsv --pivot da.tsv -o tuned-two",
    "evaluate fo.dataset pti rerank cascade wikipriors --pivot is.tsv",
    "pivots --target fo.tsv --pivot-tables tables",
    "pivots --target fo.txt --pivot-tables tables",
    "build --auto --target fo=fo.tsv --pivot-tables tables -o auto",
    "build --auto --target fo=fo.txt --pivot-tables tables -o auto-zero-shot",
    "extract fo --dump wiki.xml.bz2 --page-props page_props.sql.gz -o fo.parquet --workers 1",
    "extract fo --dump wiki.xml --titles --redirect-titles -o titles.parquet --workers 1",
    "extract-wikidata wikidata.json.bz2 --languages fo,is -o wikidata --workers 1",
)
"""Commands that compile what ``candgen build`` and ``candgen query`` do not."""
NEURAL = "build --method charagram --pivot is.tsv --english en.tsv --language fo --set epochs=1"


def warm() -> None:
    """Compile all kernels before they are needed.

    \b
    Examples:
      candgen warm
      CANDGEN_CACHE_DIR=/var/cache/candgen candgen warm

    Kernels are compiled when they are first used, once on a machine. This does it beforehand, for
    images and services, by running the other commands on a few names. The compiled code is
    stored beside candgen, in the user's cache if that is read-only, or in the folder that the
    environment variable CANDGEN_CACHE_DIR names.
    """
    from candgen.kernels.kernel_cache import writable_folder  # noqa: PLC0415

    if (folder := writable_folder()) is None:
        raise StorageError(
            f"no folder for compiled kernels can be written: name one by {CACHE_VARIABLE}"
        )
    note(f"compiling all kernels into {folder}: about {SECONDS} s")
    start = time.perf_counter()
    compiled: list[str] = []
    compile_listeners.append(compiled.append)
    try:
        with progress_bar() as progress, TemporaryDirectory() as world, chdir(world):
            warm_up(progress)
    finally:
        compile_listeners.remove(compiled.append)
    done = f"{len(compiled):,} compiled" if compiled else "all were compiled before"
    note(f"kernels: {done}, {time.perf_counter() - start:.0f} s")


def warm_up(progress: Callable[[str, float], None]) -> None:
    """Run every command that uses kernels, on tables and indexes in the current folder."""
    write_world(Path())
    lines = list(_command_lines())
    for number, line in enumerate(lines):
        progress(f"compiling: candgen {line.split()[0]}", number / len(lines))
        _run_silently(line)
    progress("compiling: candgen serve", 1.0)
    with contextlib.suppress(ImportError):  # the extra is not installed
        from candgen.service.loaded_index import LoadedIndex  # noqa: PLC0415

        for name in BUILDS:
            LoadedIndex.load(name, name)


def _command_lines() -> Iterator[str]:
    """Yield the commands in the order in which they run."""
    for name, options in BUILDS.items():
        yield f"build {options} -o {name}"
        yield f"query {name} Havi Tórnes"
        yield f"info {name} --verify"
    for name in ("pti", "pti-fusion", "pti-smoothing", "rerank"):
        yield f"explain {name} Havi Q1"
    yield "query pti Havi --scores share"
    yield from OTHERS
    if importlib.util.find_spec("torch"):
        yield f"{NEURAL} -o neural"
        yield "query neural Havi"


def _run_silently(line: str) -> None:
    """Run a command in this process; its output is dropped. Raise CandgenError if it fails."""
    from candgen.cli import main  # noqa: PLC0415

    output, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main(line.split())
    if status:
        raise CandgenError(f"candgen {line}: {errors.getvalue().strip()}")
