"""What the words of a command line mean: tables, weights, tokenizers, parameters of methods."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import candgen
from candgen.errors import ParameterError, StorageError

if TYPE_CHECKING:
    from candgen import CharNgrams
    from candgen.protocols import Method

ALPHA = 0.4
LAM = 0.4
NGRAMS = "2-5"
"""What a method does where nothing is said; written here too so that --help can show it."""

SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave bad rows of tables out, and say how many.")
]


Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes to use.", show_default="one for each core"),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on from what an interrupted run has finished.")
]
AllowTruncated = Annotated[
    bool, typer.Option("--allow-truncated", help="Do not fail if the dump is cut off.")
]


class Unit(StrEnum):
    """What a character is."""

    CODEPOINT = "codepoint"
    GRAPHEME = "grapheme"


class Normalizer(StrEnum):
    """How text is folded."""

    DEFAULT = "default"
    LATIN = "latin"
    SOUND = "sound"
    IPA = "ipa"
    PAPER = "paper"
    NONE = "none"


class Named(NamedTuple):
    """A table's language and file; ``explicit`` where the user named the language."""

    language: str
    path: Path
    explicit: bool


def parse_table(option: str, text: str, *, expected: str = "[LANG=]FILE") -> Named:
    """What [LANG=]FILE means.

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
        raise ParameterError(f"{option} {text!r} names no file: expected {expected}")
    if not language:
        raise ParameterError(f"{option} {text!r} has no name: expected {expected}")
    return Named(language, Path(file), explicit)


def check_output(output: Path) -> None:
    """Refuse, before the long work, what saving would refuse after it."""
    from candgen.storage import index_folder  # noqa: PLC0415

    there = os.access(output, os.F_OK)
    if there:
        index_folder.check_is_index_or_empty(output)
    place = output if there else output.absolute().parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise StorageError(
            f"{output} cannot be written: {place} is not a folder that you may write into"
        )


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse a name that stands for two tables."""
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(
            f"{repeated[0]!r} names more than one table: give each a language of its own, LANG=FILE"
        )


def check_training_inputs(name: str, method: "Method", *, english: bool, dev: bool) -> None:
    """Refuse English names and dev queries that are of no use, and the lack of those that are."""
    if method.neural and not english:
        raise ParameterError(
            f"{name} compares mentions with English names: give --english FILE, a table of them"
        )
    useful = {"--english": method.neural, "--dev": method.neural or method.dev}
    for option, given in (("--english", english), ("--dev", dev)):
        if given and not useful[option]:
            raise ParameterError(f"{option} is of no use to {name}: drop it")


def parse_alphas(texts: Sequence[str], pivots: Sequence[str]) -> dict[str, float]:
    """The weight of each pivot, from [LANG=]NUMBER each.

    >>> parse_alphas(["0.2", "da=0.1"], ["is", "da"])
    {'is': 0.2, 'da': 0.1}
    """
    given: dict[str, float] = {}
    for text in texts:
        language, _, number = text.rpartition("=")
        if "=" in text and language not in pivots:
            known = f"the pivots are {', '.join(pivots)}" if pivots else "there are no pivots"
            raise ParameterError(f"--alpha {text}: {language!r} is no pivot; {known}")
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
    """The tokenizer that LOW-HIGH, or one number for both, means."""
    low, _, high = text.partition("-")
    try:
        return candgen.CharNgrams(int(low), int(high or low), unit.value)
    except ValueError:
        raise ParameterError(
            f"--ngrams is {text!r}: expected LOW-HIGH with 1 <= LOW <= HIGH <= 32, such as 2-5"
        ) from None


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of a method, from NAME=VALUE each: booleans, numbers, or else strings.

    What has commas is a list; a comma at the end makes a list of one.

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
    """The value that a text means; what JSON cannot hold, such as nan, stays a string."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def known_method(name: str) -> "Method":
    """The method of this name."""
    from candgen.generators.registry import METHODS  # noqa: PLC0415

    if name not in METHODS:
        raise ParameterError(f"there is no method {name!r}: choose {', '.join(METHODS)}")
    return METHODS[name]


def reject_unknown_options(name: str, method: "Method", options: Mapping[str, str]) -> None:
    """Refuse options, by the parameters they stand for, that a method does not have."""
    known = [*method.grid, *sorted(method.options)]
    if strangers := [option for parameter, option in options.items() if parameter not in known]:
        listed = f"whose parameters are {', '.join(known)}" if known else "which has no parameters"
        raise ParameterError(f"{strangers[0]} is not for the method {name}, {listed}")
