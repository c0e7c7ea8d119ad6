"""The command line: each command parses, calls one function of the library, and prints.

Nothing here, nor in the modules of the commands, imports NumPy, Numba, PyArrow or regex when it is
imported itself, so that ``candgen --help`` answers at once.
"""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from candgen.cli.build import METHODS_SHOWN, build
from candgen.cli.demo import demo
from candgen.cli.download import download
from candgen.cli.evaluate import evaluate
from candgen.cli.explain import explain
from candgen.cli.extract import extract
from candgen.cli.extract_wikidata import extract_wikidata
from candgen.cli.info import info
from candgen.cli.interrupts import interruptible
from candgen.cli.pivots import pivots
from candgen.cli.query import query
from candgen.cli.reproduce import reproduce
from candgen.cli.serve import serve
from candgen.cli.split import split
from candgen.cli.tune import tune
from candgen.errors import CandgenError
from candgen.storage.versions import version as installed_version

MISTAKE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""Exit statuses: the user's mistake, and those that a shell gives for SIGINT and SIGPIPE."""

# Newer releases of Typer have a copy of click inside, so its class is taken from what they share.
_UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="candgen",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(demo)
app.command()(download)
app.command()(extract)
app.command()(extract_wikidata)
app.command(epilog=METHODS_SHOWN)(build)
app.command()(query)
app.command()(explain)
app.command()(info)
app.command()(serve)
app.command()(pivots)
app.command()(split)
app.command()(tune)
app.command()(evaluate)
app.command()(reproduce)


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
    """Find the entities that a name may mean, in languages with almost no data of their own.

    \b
    Examples:
      candgen build --pivot is=is.parquet --target fo=fo.parquet -o fo.candgen
      candgen query fo.candgen "Tórshavn" -k 5
      candgen explain fo.candgen "Tórshavn" Q10704
    """
    del version
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(MISTAKE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status. A user's mistake is one sentence on stderr."""
    with _warnings_on_stderr():
        try:
            with interruptible():
                status = _run(sys.argv[1:] if arguments is None else arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            _discard_output()
            return PIPE_CLOSED
        except (CandgenError, _UsageError) as error:
            _say(_sentence(error))
            _discard_output()
            return MISTAKE
    return status


def _run(arguments: Sequence[str]) -> int:
    """Do what click's own main does, but leave every exception to ours."""
    command = typer.main.get_command(app)
    try:
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


def _say(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"candgen: {' '.join(sentence.splitlines())}\n")


def _discard_output() -> None:
    """Keep the interpreter from flushing, at its end, what nobody can take."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _Warnings(logging.Handler):
    """Shows what the library warns of, on the stderr of the moment: a progress bar replaces it.

    Each warning once: a table that is counted for many methods has the same bad rows every time.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if (message := record.getMessage()) not in self._said:
            self._said.add(message)
            _say(f"warning: {message}")


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    handler = _Warnings()
    logger = logging.getLogger("candgen")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
