"""Options that several commands share, and what their texts mean: tables, weights, parameters."""

import inspect
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import candgen
from candgen.errors import ParameterError, StorageError
from candgen.tables.limits import ROW_OPTION, TABLE_OPTION, parse_size, set_limits

if TYPE_CHECKING:
    from candgen import CharNgrams, MentionTable
    from candgen.protocols import Method, Progress

ALPHA = 0.4
LAM = 0.4
NGRAMS = "2-5"
"""The defaults of the method pti; written here too so that --help does not import NumPy."""


class Unit(StrEnum):
    """What a character is."""

    CODEPOINT = "codepoint"
    GRAPHEME = "grapheme"


class Normalizer(StrEnum):
    """The text normalizers."""

    DEFAULT = "default"
    LATIN = "latin"
    SOUND = "sound"
    IPA = "ipa"
    PAPER = "paper"
    NONE = "none"


class Format(StrEnum):
    """Output for people or for programs."""

    TABLE = "table"
    JSON = "json"


def complete_index(incomplete: str) -> list[str]:
    """Return the indexes whose paths begin so; if there are none, the shell completes file names.

    A dataset has a manifest, too, and is left out.
    """
    folder, name = os.path.split(incomplete)
    found = (manifest.parent for manifest in Path(folder).glob("*/manifest.json"))
    return sorted(
        str(each)
        for each in found
        if each.name.startswith(name) and not (each / "dev.tsv").exists()
    )


def check_seed(seed: int) -> int:
    """Return a random seed of at most 63 bits; raise ParameterError for a larger one."""
    if seed >= 2**63:
        raise ParameterError(f"--seed {seed}: expected a whole number below 2**63")
    return seed


def option(metavar: str, text: str, *names: str, **settings: Any) -> Any:  # noqa: ANN401
    """Return an option with its metavar and help text; the settings are those of Typer."""
    return typer.Option(*names, metavar=metavar, help=text, **settings)


IndexFolder = Annotated[
    Path,
    typer.Argument(
        metavar="INDEX", help="Index, made by candgen build.", autocompletion=complete_index
    ),
]
NamedIndexes = Annotated[
    list[str],
    typer.Argument(
        metavar="[NAME=]INDEX...",
        help="Indexes, made by candgen build.",
        autocompletion=complete_index,
    ),
]
Pivots = Annotated[
    list[str] | None, option("[LANG=]FILE", "Mention table of a pivot; may be repeated.", "--pivot")
]
English = Annotated[
    str | None,
    option("[LANG=]FILE", "Mention table of English names, for neural methods and translation."),
]
Entities = Annotated[
    Path | None,
    option("FILE", "Table of entities: entity, language, name, description, type, sitelinks."),
]
Settings = Annotated[
    list[str] | None,
    option(
        "NAME=VALUE",
        "Another parameter of the method, such as epochs=20; may be repeated.",
        "--set",
    ),
]
Lam = Annotated[
    float | None,
    option("NUMBER", "Weight of the posterior.", min=0, show_default="that of the index"),
]
OutputFolder = Annotated[Path, option("FOLDER", "Output folder.", "--output", "-o")]
OutputFormat = Annotated[Format, typer.Option("--format", help="Output format.")]
PerType = Annotated[int, option("N", "Maximum number of queries of each type.", min=1)]
Seed = Annotated[int, option("N", "Random seed.", min=0, callback=check_seed)]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Skip invalid rows of tables; print how many.")
]
Workers = Annotated[
    int | None, option("N", "Number of processes.", min=1, show_default="one per core")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")]
AllowTruncated = Annotated[
    bool, typer.Option("--allow-truncated", help="Exit with status 0 if the dump is truncated.")
]


MaxRowSize = Annotated[
    str | None, option("SIZE", "Maximum size of a row, such as 10MB.", show_default="1MiB")
]
MaxTableSize = Annotated[
    str | None,
    option(
        "SIZE",
        "Maximum size of a table, unpacked.",
        show_default="4GiB; 50 times a file's size, if that is less",
    ),
]


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with two more options: how large rows and tables may be."""

    @wraps(command)
    def run(
        *arguments: Any,  # noqa: ANN401
        max_row_size: str | None = None,
        max_table_size: str | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        set_limits(parse_size(ROW_OPTION, max_row_size), parse_size(TABLE_OPTION, max_table_size))
        command(*arguments, **options)

    added = {"max_row_size": MaxRowSize, "max_table_size": MaxTableSize}
    signature = inspect.signature(command)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in added.items()
    ]
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), *more]
    )
    run.__annotations__ = {**command.__annotations__, **added}
    return run


class Named(NamedTuple):
    """A table's language and file; ``explicit`` where the user named the language."""

    language: str
    path: Path
    explicit: bool


def parse_table(option: str, text: str, *, expected: str = "[LANG=]FILE") -> Named:
    """Return the language and the path that [LANG=]FILE means.

    >>> parse_table("--pivot", "is=names/all.parquet").language
    'is'
    >>> parse_table("--pivot", "names/is.tsv.gz").language
    'is'
    """
    before, equals, after = text.partition("=")
    explicit = bool(equals) and not re.search(r"[./\\]", before)
    file = after if explicit else text
    language = before if explicit else Path(file).name.split(".")[0]
    if not file:
        raise ParameterError(f"{option} {text!r} does not name a file: expected {expected}")
    if not language:
        raise ParameterError(f"{option} {text!r} has no name: expected {expected}")
    return Named(language, Path(file), explicit)


def check_output(output: Path) -> None:
    """Raise StorageError before the long work if saving would raise it afterwards."""
    from candgen.storage import index_folder  # noqa: PLC0415

    there = os.access(output, os.F_OK)
    if there:
        index_folder.check_is_index_or_empty(output)
    place = output if there else output.absolute().parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise StorageError(f"{output} cannot be written: {place} is not a writable folder")


def parse_tables(option: str, texts: Sequence[str] | None) -> list[Named]:
    """Return the language and the path of each [LANG=]FILE, with every language once."""
    named = [parse_table(option, text) for text in texts or ()]
    reject_repeated([each.language for each in named])
    return named


def read_table(table: Named, progress: "Progress", *, skip_bad_rows: bool) -> "MentionTable":
    """Read a mention table that an option names."""
    progress(f"reading {table.path}", 0.0)
    return candgen.MentionTable.read(table.path, skip_bad_rows=skip_bad_rows)


def reject_repeated(names: Sequence[str]) -> None:
    """Raise ParameterError if one language names two tables."""
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(
            f"{repeated[0]!r} names more than one table: give each its own language, LANG=FILE"
        )


def check_training_inputs(name: str, method: "Method", *, english: bool, dev: bool) -> None:
    """Raise ParameterError if the method needs other inputs, or cannot use one of these."""
    if method.neural and not english:
        raise ParameterError(
            f"{name} compares mentions with English names: give --english FILE, a table of them"
        )
    useful = {"--english": method.neural or method.english, "--dev": method.neural or method.dev}
    for option, given in (("--english", english), ("--dev", dev)):
        if given and not useful[option]:
            raise ParameterError(f"{option} is not used by the method {name}: drop it")


def parse_alphas(texts: Sequence[str], pivots: Sequence[str]) -> dict[str, float]:
    """Return the weight of each pivot, from [LANG=]NUMBER each.

    >>> parse_alphas(["0.2", "da=0.1"], ["is", "da"])
    {'is': 0.2, 'da': 0.1}
    """
    given: dict[str, float] = {}
    for text in texts:
        language, _, number = text.rpartition("=")
        if "=" in text and language not in pivots:
            known = f"the pivots are {', '.join(pivots)}" if pivots else "there are no pivots"
            raise ParameterError(f"--alpha {text}: {language!r} is not a pivot; {known}")
        if language in given:
            whose = f"of {language!r}" if language else "of all pivots"
            raise ParameterError(f"--alpha gives the weight {whose} twice: drop one")
        try:
            given[language] = float(number)
        except ValueError:
            raise ParameterError(f"--alpha {text}: {number!r} is not a number") from None
        if not 0 <= given[language] < float("inf"):
            raise ParameterError(f"--alpha {text}: expected a finite number of at least 0")
    return {pivot: given.get(pivot, given.get("", ALPHA)) for pivot in pivots}


def parse_ngrams(text: str, unit: Unit) -> "CharNgrams":
    """Return the tokenizer that LOW-HIGH, or one number for both, means."""
    low, _, high = text.partition("-")
    try:
        return candgen.CharNgrams(int(low), int(high or low), unit.value)
    except ValueError:
        raise ParameterError(
            f"--ngrams is {text!r}: expected LOW-HIGH with 1 <= LOW <= HIGH <= 32, such as 2-5"
        ) from None


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Return parameters of a method, from NAME=VALUE each: booleans, numbers, else strings.

    A value with commas is a list; a comma at the end makes a list of one.

    >>> parse_settings(["epochs=20", "mu=0.1", "released=true", "fusion=counts", "space=fo,is"])
    {'epochs': 20, 'mu': 0.1, 'released': True, 'fusion': 'counts', 'space': ['fo', 'is']}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise ParameterError(f"--set {text}: expected NAME=VALUE, such as epochs=20")
        if name in settings:
            raise ParameterError(f"--set gives {name} twice: drop one")
        listed = value.removesuffix(",").split(",")
        settings[name] = (
            [parse_value(each) for each in listed] if "," in value else parse_value(value)
        )
    return settings


def parse_value(text: str) -> bool | int | float | str:
    """Return the value that a text means; nan and inf, which JSON cannot hold, stay strings."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def known_method(name: str) -> "Method":
    """Return the method of this name; raise ParameterError if there is none."""
    from candgen.generators.registry import METHODS  # noqa: PLC0415

    if name not in METHODS:
        raise ParameterError(f"there is no method {name!r}: choose {', '.join(METHODS)}")
    return METHODS[name]


def reject_unknown_options(name: str, method: "Method", options: Mapping[str, str]) -> None:
    """Raise ParameterError for an option whose parameter the method does not have."""
    known = [*method.grid, *sorted(method.options)]
    if unknown := [option for parameter, option in options.items() if parameter not in known]:
        listed = f"whose parameters are {', '.join(known)}" if known else "which has no parameters"
        raise ParameterError(f"{unknown[0]} is not for the method {name}, {listed}")
