"""The reference of the command line as Markdown, made from the commands."""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from typer.main import get_command

from candgen.cli import app

_BLOCK = "\b\n"
"""What click and Typer put before a paragraph whose line breaks are kept."""


def command_reference() -> str:
    """Return a table of the commands, grouped as in ``candgen --help``, then their sections."""
    group: Any = get_command(app)
    context = group.make_context("candgen", [], resilient_parsing=True)
    lines = ["| to | command | what it does |", "|---|---|---|"]
    named = ""
    sections = ""
    for name, command in group.commands.items():
        summary, *rest = command.help.split("\n\n")
        title = "" if command.rich_help_panel == named else command.rich_help_panel.lower()
        named = command.rich_help_panel
        lines.append(f"| {title} | [`{name}`](#candgen-{name}) | {_prose(summary)} |")
        inner = type(context)(command, info_name=name, parent=context)
        parts = [
            f"## candgen {name}",
            _prose(summary),
            _fenced("text", command.get_usage(inner).removeprefix("Usage: ")),
            *map(_paragraph, rest),
            f"```{{program}} candgen {name}\n```",
            *_parameters(command, inner),
            *map(_paragraph, (command.epilog or "").split("\n\n")),
        ]
        sections += "\n\n".join(part for part in parts if part) + "\n\n"
    return "\n".join(lines) + "\n\n" + sections


def _parameters(command: Any, context: Any) -> Iterator[str]:  # noqa: ANN401 (click's or Typer's)
    """Yield the arguments, then the options that are not hidden: spelling, meaning, default."""
    for parameter in command.get_params(context):
        if (record := parameter.get_help_record(context)) is None:
            continue
        written, meaning = record
        text, _, facts = meaning.removesuffix("]").partition("  [")
        facts = re.sub(r"default: \((.*)\)", r"default: \1", facts)
        shown = _prose(text) + (f" *{_prose(facts)}*" if facts else "")
        if parameter.param_type_name == "argument":
            written = re.sub(r" <.*>$", "", written)
        yield f"````{{option}} {written}\n{shown}\n````"


def _paragraph(text: str) -> str:
    """Return a paragraph of help: prose, or a title with a block of lines."""
    if not text.startswith(_BLOCK):
        return _prose(text)
    title, _, lines = text.removeprefix(_BLOCK).partition("\n")
    language = "sh" if title.startswith("Example") else "text"
    return f"{_prose(title)}\n\n{_fenced(language, dedent(lines))}"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _prose(text: str) -> str:
    """Return text that Markdown shows unchanged, with options as code."""
    escaped = re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", text)
    return re.sub(r"(?<![\w-])--?[a-z][a-z-]*", r"`\g<0>`", escaped)
