"""Compiling kernels takes seconds, once on a machine: it is announced before it begins."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from candgen.cache_folder import CACHE_VARIABLE
from candgen.cli.output import note
from candgen.cli.progress import is_terminal
from candgen.kernels import compile_listeners

SECONDS = {
    "build": 8,
    "build --auto": 30,
    "demo": 25,
    "evaluate": 20,
    "explain": 20,
    "extract": 15,
    "extract-wikidata": 8,
    "info": 3,
    "pivots": 3,
    "query": 20,
    "reproduce": 30,
    "tune": 30,
}
"""About how long each command compiles at most: ``benchmarks/startup.py --compile all``."""


@contextmanager
def compilation_announced(arguments: Sequence[str]) -> Iterator[None]:
    """Print a line to stderr before the first kernel is compiled; do nothing if all are loaded.

    Like progress, this is for terminals. A log has a line only if every process will compile: that
    is not progress, but something to change.
    """
    listeners = [*compile_listeners]

    def announce(_kernel: str) -> None:
        from candgen.kernels.kernel_cache import writable_folder  # noqa: PLC0415

        compile_listeners.remove(announce)  # once
        command = " ".join(each for each in arguments if each in (arguments[0], "--auto"))
        about = SECONDS.get(command)
        seconds = f": up to about {about} s" if about else ""
        if writable_folder() is None:
            note(f"candgen: compiling kernels, in every process{seconds}")
            note(f"candgen: let {CACHE_VARIABLE} name a writable folder to compile only once")
        elif is_terminal(sys.stderr):
            note(f"candgen: compiling kernels, once on this machine{seconds}")

    compile_listeners.append(announce)
    try:
        yield
    finally:
        compile_listeners[:] = listeners
