"""The command line: each command parses, calls one function of the library, and prints.

Neither this module nor the modules of the commands import NumPy, Numba, PyArrow or regex when they
are imported, so that ``candgen --help`` and shell completion answer at once.
"""

import atexit
import contextlib
import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from candgen.cli.build import METHODS_SHOWN, build
from candgen.cli.demo import demo
from candgen.cli.download import download
from candgen.cli.evaluate import evaluate
from candgen.cli.explain import explain
from candgen.cli.extract import extract
from candgen.cli.extract_wikidata import extract_wikidata
from candgen.cli.first_use import compilation_announced
from candgen.cli.info import info
from candgen.cli.interrupts import interruptible
from candgen.cli.options import reads_tables
from candgen.cli.output import visible
from candgen.cli.pivots import pivots
from candgen.cli.query import query
from candgen.cli.reproduce import reproduce
from candgen.cli.serve import serve
from candgen.cli.split import split
from candgen.cli.tune import tune
from candgen.cli.warm import warm
from candgen.errors import CandgenError
from candgen.storage.versions import version as installed_version
from candgen.tables.limits import use_limits

USAGE_ERROR = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""Exit statuses: a usage error, and those that a shell gives for SIGINT and SIGPIPE."""

OBJECTS_BEFORE_COLLECTION = 100_000
"""Python looks for garbage after so many new objects, not 700: imports make many, and none is."""

COMPLETE_VARIABLE = "_CANDGEN_COMPLETE"
"""The environment variable that a shell sets to ask for completions."""

COMMANDS: dict[str, Sequence[Callable[..., None]]] = {
    "Make an index": (demo, pivots, build, tune),
    "Ask it": (query, explain, info, serve),
    "Measure it": (split, evaluate, reproduce),
    "Get data": (download, extract, extract_wikidata),
    "Install it": (warm,),
}
"""The commands, in groups, in the order of --help."""

READ_NO_TABLES = (demo, explain, download, extract_wikidata, warm)
"""All others have options for how large tables may be."""

OLD_OPTIONS: dict[Callable[..., None], Mapping[str, str]] = {
    build: {"candidates": "pivot-tables", "unit": "ngram-unit"},
    pivots: {
        "candidates": "pivot-tables",
        "by": "objective",
        "most": "max-pivots",
        "least": "min-gain",
    },
    tune: {"candidates": "pivot-tables", "worth": "min-pivot-gain"},
    evaluate: {"part": "fold"},
    reproduce: {"pairs": "training-pairs"},
    serve: {
        "match": "match-threshold",
        "max-wait": "request-timeout",
        "max-seconds": "work-timeout",
    },
}
"""Former names of options. They still work, but neither --help nor completion shows them."""

# Newer releases of Typer have a copy of click inside, so its class is taken from what they share.
_UsageError: Any = typer.BadParameter.__base__


class GroupedCommands(TyperGroup):
    """The program, whose --help lists the commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Write a section for each group, with a line for each command."""
        column = max(map(len, self.commands))
        for title in COMMANDS:
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name.ljust(column), command.get_short_help_str(formatter.width))
                        for name, command in self.commands.items()
                        if command.rich_help_panel == title  # type: ignore[attr-defined]
                    ],
                    col_max=formatter.width,
                )


app = typer.Typer(
    name="candgen",
    cls=GroupedCommands,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _add_commands() -> None:
    for group, functions in COMMANDS.items():
        for function in functions:
            old = OLD_OPTIONS.get(function, {})
            app.command(
                rich_help_panel=group,
                epilog=METHODS_SHOWN if function is build else None,
                # click calls this with the name of each option before it looks the option up
                context_settings={
                    "token_normalize_func": lambda name, old=old: old.get(name, name)
                },
            )(function if function in READ_NO_TABLES else reads_tables(function))


_add_commands()


def _show_version(wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        typer.echo(f"candgen {installed_version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def candgen(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the entities that a name may mean, in low-resource languages.

    \b
    Examples:
      candgen build --pivot is=is.parquet --target fo=fo.parquet -o fo.candgen
      candgen query fo.candgen "Tórshavn" -k 5
      candgen explain fo.candgen "Tórshavn" Q10704
    """
    del version
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(USAGE_ERROR)


def run() -> NoReturn:
    """Run the command of this process, then end the process with its exit status.

    The interpreter's own end is left out: it waits for threads of libraries, and a thread of
    PyArrow that frees an object of Python at that moment waits for the interpreter.
    """
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    status = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or None
            stream.flush()
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; print a usage error as one line to stderr."""
    with _warnings_on_stderr():
        try:
            given = sys.argv[1:] if arguments is None else arguments
            with interruptible(), use_limits(), compilation_announced(given):
                status = _run(given)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            _discard_output()
            return PIPE_CLOSED
        except (CandgenError, _UsageError) as error:
            _print_error(_sentence(error))
            _discard_output()
            return USAGE_ERROR
        except (MemoryError, RecursionError) as error:
            nested = isinstance(error, RecursionError)
            why = "is nested too deep" if nested else "needs more memory than there is"
            _print_error(f"the input {why}: give a smaller one")
            _discard_output()
            return USAGE_ERROR
    return status


def _run(arguments: Sequence[str]) -> int:
    """Do what click's own main does, but leave every exception to ours."""
    command = typer.main.get_command(app)
    try:
        if COMPLETE_VARIABLE in os.environ:
            command.main(list(arguments), prog_name="candgen")  # prints completions and exits
        with command.make_context("candgen", list(arguments), obj=list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _sentence(error: Any) -> str:  # noqa: ANN401
    if isinstance(error, CandgenError):
        return str(error)
    text = error.format_message().strip().rstrip(".")
    command = error.ctx.command_path if error.ctx else "candgen"
    return f"{text[:1].lower()}{text[1:]} (see '{command} --help')"


def _print_error(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"candgen: {visible(' '.join(sentence.splitlines()))}\n")


def _discard_output() -> None:
    """Keep the interpreter from flushing output, at its end, to a pipe that is closed."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _WarningPrinter(logging.Handler):
    """Prints each warning of the library once, to the current stderr: a progress bar replaces it.

    A table that is counted for several methods has the same invalid rows every time.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if (message := record.getMessage()) not in self._printed:
            self._printed.add(message)
            _print_error(f"warning: {message}")


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    handler = _WarningPrinter()
    logger = logging.getLogger("candgen")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
