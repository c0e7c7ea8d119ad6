"""``candgen info``: what an index, a mention table or a dataset is made of."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal

import candgen
from candgen.cli.describe import describe_dataset, describe_entities, describe_index, describe_table
from candgen.cli.humanize import facts_of, in_words
from candgen.cli.output import show, table, visible, write_json
from candgen.cli.progress import progress_bar

MANIFEST = "manifest.json"
DATASET_FILE = "dev.tsv"
TABLE_SUFFIXES = (".tsv", ".jsonl", ".ndjson", ".parquet")
FILES_SHOWN = 40
TYPES = ("easy", "medium", "hard")
COLUMNS = ("role", "alpha", "pairs", "occurrences", "entities")
ENTITY_COLUMNS = ("entity", "language", "name", "description")
_WORDS = ("true", "false", "null")
COUNTED = ("pairs", "entities", *TYPES)


class Format(StrEnum):
    """How the description is written."""

    TABLE = "table"
    JSON = "json"


def info(
    path: Annotated[
        Path, typer.Argument(metavar="INDEX", help="An index, a dataset, or a file with a table.")
    ],
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every byte and compare it with its checksum.")
    ] = False,
    form: Annotated[
        Format, typer.Option("--format", help="For a person, or for a program.")
    ] = Format.TABLE,
) -> None:
    """Show what an index, a mention table or a dataset is made of.

    \b
    Examples:
      candgen info fo.candgen --verify
      candgen info fo.parquet
      candgen info fo.dataset
    """
    with progress_bar() as progress:
        progress(f"reading {path}", 0.0)
        if path.suffix == ".parquet" and (entities := describe_entities(path)) is not None:
            described, print_it = entities, _show_entities
        elif _is_table(path):
            described, print_it = describe_table(candgen.MentionTable.read(path)), _show_table
        elif (path / DATASET_FILE).exists():
            from candgen.evaluation.dataset import read_dataset  # noqa: PLC0415

            described, print_it = describe_dataset(read_dataset(path), verify=verify), _show_dataset
        else:
            from candgen.storage import index_folder  # noqa: PLC0415

            stored = index_folder.load(path, verify=verify)
            verified = verify or sum(stored.sizes.values()) <= index_folder.HASHED_ON_LOAD
            described = describe_index(stored, verified=verified)
            print_it = _show_index
    if form is Format.JSON:
        write_json({"path": str(path), **described})
    else:
        print_it(path, described)


def _is_table(path: Path) -> bool:
    """A file, or a folder of Parquet; also one that is not there but has the name of one."""
    try:
        if (path / MANIFEST).exists():
            return False
        has_name = path.name.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES)
        return has_name or path.is_file() or any(path.glob("*.parquet"))
    except OSError:
        return False


def _show_index(path: Path, described: dict[str, Any]) -> None:
    facts = [
        ("kind", described["kind"]),
        ("written by", f"candgen {described['candgen_version']}"),
        ("format", described["format_version"]),
        ("checks", _checks(verified=described["verified"])),
    ]
    if "languages" in described:
        facts += _pti_facts(described)
    else:
        for name, value in sorted(described["parameters"].items()):
            facts += facts_of(name, value)
        for what in ("entities", "postings"):
            facts += facts_of(what, described[what]) if what in described else []
    if "calibrated_on" in described:
        facts.append(("probabilities by", f"{described['calibrated_on']:,} dev queries"))
    for what in ("described_entities", "types"):
        facts += facts_of(what, described[what]) if what in described else []
    facts.append(("size", decimal(described["bytes"])))
    _show_facts(path, facts)
    _show_inputs(described.get("languages", described["inputs"]))
    files = table("file", "bytes", right=["bytes"])
    for name, number in _grouped(described["files"]).items():
        files.add_row(name, f"{number:,}")
    show("", files)


def _grouped(files: dict[str, int]) -> dict[str, int]:
    """The bytes of each file; of many, those that belong together."""
    if len(files) <= FILES_SHOWN:
        return files
    grouped: dict[str, int] = {}
    for name, number in files.items():
        group = re.sub(r"^([^.]+\.[^.]+)\..*", r"\1.*", name)
        grouped[group] = grouped.get(group, 0) + number
    return grouped


def _checks(*, verified: bool) -> str:
    if verified:
        return "sizes and checksums are right"
    return "sizes are right (--verify compares the checksums, too)"


def _pti_facts(described: dict[str, Any]) -> list[tuple[str, Any]]:
    dropped = (
        (f"dropped {what}", f"{part['number']:,} ({part['share']:.1%})")
        for what, part in described["dropped"].items()
    )
    tokenizer = dict(described["tokenizer"])
    kind = tokenizer.pop("kind")
    facts = [
        ("language of queries", described["language"] or "not named"),
        ("tokenizer", f"{kind} {in_words(tokenizer) if tokenizer else ''}".strip()),
        ("normalizer", described["normalizer"]),
        ("lam", described["lam"]),
        ("fusion", described["fusion"]),
        ("smoothing", described["smoothing"]),
        ("threshold", described["threshold"]),
        *dropped,
        *((what, f"{described[what]:,}") for what in ("entities", "tokens", "postings")),
        ("bytes a posting", f"{described['bytes_per_posting']:.1f}, without the source mentions"),
    ]
    if described["without"]:
        facts.append(("without (alpha 0)", ", ".join(described["without"])))
    return facts


def _show_inputs(inputs: dict[str, Any]) -> None:
    """The tables that it was built from; also those of generators inside it, but each once."""
    tables = list(_tables(inputs))
    known = [name for name in COLUMNS if any(name in part for _, part in tables)]
    rows = dict.fromkeys(
        (language, *(_cell(name, part.get(name, "")) for name in known), part["sha256"][:16])
        for language, part in tables
    )
    if rows:
        made = table("language", *known, "sha256", right=[name for name in known if name != "role"])
        for row in rows:
            made.add_row(*map(visible, row))
        show("", made)


def _tables(inputs: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, part in inputs.items():
        if isinstance(part, dict) and isinstance(part.get("sha256"), str):
            yield name, part
        elif isinstance(part, dict):
            yield from _tables(part)


def _cell(name: str, value: Any) -> str:  # noqa: ANN401
    if isinstance(value, int) and name != "alpha":
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _show_table(path: Path, described: dict[str, Any]) -> None:
    facts = [("kind", "mention table")]
    facts += [(w, f"{described[w]:,}") for w in ("pairs", "mentions", "entities", "occurrences")]
    facts.append(("sha256", described["sha256"]))
    for name, text in described["metadata"].items():
        facts += facts_of(name, _value(text))
    _show_facts(path, facts)
    pairs = table("mention", "entity", "count", right=["count"])
    for pair in described["most_frequent"]:
        pairs.add_row(visible(pair["mention"]), visible(pair["entity"]), f"{pair['count']:,}")
    show("", pairs)


def _show_entities(path: Path, described: dict[str, Any]) -> None:
    facts: list[tuple[str, Any]] = [("kind", described["kind"]), ("rows", f"{described['rows']:,}")]
    facts += facts_of("languages", described["languages"])
    for name, text in described["metadata"].items():
        facts += facts_of(name, _value(text))
    _show_facts(path, facts)
    rows = table(*ENTITY_COLUMNS)
    for row in described["first"]:
        rows.add_row(*(visible(str(row.get(each) or "")) for each in ENTITY_COLUMNS))
    show("", rows)


def _value(text: str) -> Any:  # noqa: ANN401
    """What a text of the metadata says: JSON where it has parts, otherwise itself."""
    try:
        found = json.loads(text) if text.startswith(("{", "[")) or text in _WORDS else text
    except (ValueError, RecursionError):
        return text
    return found


def _show_dataset(path: Path, described: dict[str, Any]) -> None:
    source = described["input"]
    facts = [
        ("kind", "dataset"),
        ("written by", f"candgen {described['candgen_version']}"),
        (
            "checks",
            _checks(verified=True) if described["verified"] else "--verify compares checksums",
        ),
        *((name, described[name]) for name in ("setting", "seed", "per_type", "normalizer")),
        ("language", described["language"] or "not named"),
        ("made from", f"{source['pairs']:,} pairs, {source['entities']:,} entities"),
        ("sha256 of that", source["sha256"]),
    ]
    _show_facts(path, facts)
    counts = table("", *COUNTED, right=COUNTED)
    for name in ("train", "dev", "test"):
        part = described["counts"][name]
        counts.add_row(name, *(f"{part[w]:,}" if w in part else "" for w in COUNTED))
    show("", counts)


def _show_facts(path: Path, facts: list[tuple[str, Any]]) -> None:
    made = table("", "")
    made.show_header = False
    for name, value in facts:
        made.add_row(visible(name), visible(str(value)))
    show(visible(str(path)), made)
