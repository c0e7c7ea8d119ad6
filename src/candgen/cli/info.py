"""``candgen info``: what an index, a mention table or a dataset is made of."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

import candgen
from candgen.cli.describe import describe_dataset, describe_entities, describe_index, describe_table
from candgen.cli.humanize import facts_of, in_words
from candgen.cli.options import Format, OutputFormat
from candgen.cli.output import show, table, visible, write_json
from candgen.cli.progress import progress_bar

if TYPE_CHECKING:
    from rich.table import Table

MANIFEST = "manifest.json"
DATASET_FILE = "dev.tsv"
TABLE_SUFFIXES = (".tsv", ".jsonl", ".ndjson", ".parquet")
FILES_SHOWN = 40
INPUT_COLUMNS = ("role", "alpha", "pairs", "occurrences", "entities")
ENTITY_COLUMNS = ("entity", "language", "name", "description")
FOLD_COLUMNS = ("pairs", "entities", "easy", "medium", "hard")
CHECKED = "sizes and checksums are right"
UNCHANGED = "unchanged since it was verified (--verify reads it again)"

Facts = list[tuple[str, Any]]


def info(
    path: Annotated[
        Path, typer.Argument(metavar="INDEX", help="Index, dataset, or file with a table.")
    ],
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file and compare its checksum.")
    ] = False,
    form: OutputFormat = Format.TABLE,
) -> None:
    """Describe an index, a mention table or a dataset.

    \b
    Examples:
      candgen info fo.candgen --verify
      candgen info fo.parquet
      candgen info fo.dataset
    """
    with progress_bar() as progress:
        progress(f"reading {path}", 0.0)
        if path.suffix == ".parquet" and (entities := describe_entities(path)) is not None:
            described, sections = entities, _entity_sections
        elif _is_table(path):
            described, sections = describe_table(candgen.MentionTable.read(path)), _table_sections
        elif (path / DATASET_FILE).exists():
            from candgen.evaluation.dataset import read_dataset  # noqa: PLC0415

            described = describe_dataset(read_dataset(path), verify=verify)
            sections = _dataset_sections
        else:
            from candgen.storage import index_folder  # noqa: PLC0415

            stored = index_folder.load(
                path, verify=verify, on_progress=partial(progress, "verifying the index")
            )
            if not stored.is_verified:
                from candgen.generators.registry import LOADERS, open_stored  # noqa: PLC0415

                if stored.kind in LOADERS:
                    open_stored(stored)  # which validates it
            verified = not stored.is_verified
            described, sections = describe_index(stored, verified=verified), _index_sections
    if form is Format.JSON:
        write_json({"path": str(path), **described})
        return
    facts, *tables = sections(described)
    made = _rows(("", ""), ((name, str(value)) for name, value in facts))
    made.show_header = False
    show(visible(str(path)), made, *(piece for each in tables if each.rows for piece in ("", each)))


def _is_table(path: Path) -> bool:
    """Return whether this is a file, a folder of Parquet, or the name of a table."""
    try:
        if (path / MANIFEST).exists():
            return False
        has_name = path.name.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES)
        return has_name or path.is_file() or any(path.glob("*.parquet"))
    except OSError:
        return False


def _index_sections(described: dict[str, Any]) -> Iterator[Any]:
    checks = CHECKED if described["verified"] else UNCHANGED
    facts: Facts = [
        ("kind", described["kind"]),
        ("written by", f"candgen {described['candgen_version']}"),
        ("format", described["format_version"]),
        ("checks", checks),
    ]
    if "languages" in described:
        facts += _pti_facts(described)
    else:
        facts += _facts(described["parameters"], sorted(described["parameters"]))
        facts += _facts(described, ("entities", "postings"))
    if "calibrated_on" in described:
        facts.append(("probabilities by", f"{described['calibrated_on']:,} dev queries"))
    facts += _promise_facts(described.get("promise"))
    facts += _facts(described, ("described_entities", "types"))
    yield [*facts, ("size", decimal(described["bytes"]))]
    yield _input_table(described.get("languages", described["inputs"]))
    yield _rows(("file", "bytes"), _grouped(described["files"]).items())


def _promise_facts(promise: Mapping[str, Any] | None) -> Facts:
    """Return what the index promises on new names."""
    if promise is None:
        return []
    recalls = ", ".join(f"{promise[f'recall_at_{k}']:.1f}" for k in (1, 10, 30))
    return [
        ("measured on", f"{promise['queries']:,} names: {promise['kind']}"),
        ("recall@1, @10, @30", recalls),
        (
            "first candidate",
            f"{promise['mean_probability']:.1f}% probable, {promise['right']:.1f}% right",
        ),
    ]


def _pti_facts(described: dict[str, Any]) -> Facts:
    tokenizer = dict(described["tokenizer"])
    kind = tokenizer.pop("kind")
    facts: Facts = [
        ("language of queries", described["language"] or "not given"),
        ("tokenizer", f"{kind} {in_words(tokenizer) if tokenizer else ''}".strip()),
        *((name, described[name]) for name in ("normalizer", "lam", "fusion", "smoothing")),
        ("threshold", described["threshold"]),
    ]
    for what, part in described["dropped"].items():
        facts.append((f"dropped {what}", f"{part['number']:,} ({part['share']:.1%})"))
    facts += _facts(described, ("entities", "tokens", "postings"))
    size = f"{described['bytes_per_posting']:.1f}, without the source mentions"
    facts.append(("bytes per posting", size))
    if described["without"]:
        facts.append(("without (alpha 0)", ", ".join(described["without"])))
    return facts


def _grouped(files: dict[str, int]) -> dict[str, int]:
    """Return the bytes of each file; if there are many, of those that belong together."""
    if len(files) <= FILES_SHOWN:
        return files
    grouped: dict[str, int] = {}
    for name, number in files.items():
        group = re.sub(r"^([^.]+\.[^.]+)\..*", r"\1.*", name)
        grouped[group] = grouped.get(group, 0) + number
    return grouped


def _input_table(inputs: dict[str, Any]) -> "Table":
    """Return the tables that the index was built from, also those of nested generators, once."""
    tables = list(_inputs(inputs))
    known = [name for name in INPUT_COLUMNS if any(name in part for _, part in tables)]
    rows = dict.fromkeys(
        (language, *(part.get(name, "") for name in known), part["sha256"][:16])
        for language, part in tables
    )
    return _rows(("language", *known, "sha256"), rows)


def _inputs(inputs: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, part in inputs.items():
        if isinstance(part, dict) and isinstance(part.get("sha256"), str):
            yield name, part
        elif isinstance(part, dict):
            yield from _inputs(part)


def _table_sections(described: dict[str, Any]) -> Iterator[Any]:
    numbers = _facts(described, ("pairs", "mentions", "entities", "occurrences"))
    facts = [("kind", described["kind"]), *numbers, ("sha256", described["sha256"])]
    yield facts + _metadata_facts(described)
    columns = ("mention", "entity", "count")
    yield _rows(columns, ([pair[name] for name in columns] for pair in described["most_frequent"]))


def _entity_sections(described: dict[str, Any]) -> Iterator[Any]:
    facts = [("kind", described["kind"]), *_facts(described, ("rows", "languages"))]
    yield facts + _metadata_facts(described)
    rows = ([str(row.get(name) or "") for name in ENTITY_COLUMNS] for row in described["first"])
    yield _rows(ENTITY_COLUMNS, rows)


def _dataset_sections(described: dict[str, Any]) -> Iterator[Any]:
    source = described["input"]
    yield [
        ("kind", described["kind"]),
        ("written by", f"candgen {described['candgen_version']}"),
        ("checks", CHECKED if described["verified"] else "none (--verify compares checksums)"),
        *((name, described[name]) for name in ("setting", "seed", "per_type", "normalizer")),
        ("language", described["language"] or "not given"),
        ("made from", f"{source['pairs']:,} pairs, {source['entities']:,} entities"),
        ("sha256 of that", source["sha256"]),
    ]
    folds = described["counts"]
    yield _rows(
        ("", *FOLD_COLUMNS),
        (
            (name, *(folds[name].get(each, "") for each in FOLD_COLUMNS))
            for name in ("train", "dev", "test")
        ),
    )


def _facts(values: Mapping[str, Any], names: Iterable[str]) -> Facts:
    return [fact for name in names if name in values for fact in facts_of(name, values[name])]


def _metadata_facts(described: dict[str, Any]) -> Facts:
    metadata = {name: _parse_metadata(text) for name, text in described["metadata"].items()}
    return _facts(metadata, metadata)


def _parse_metadata(text: str) -> Any:  # noqa: ANN401
    """Return the JSON value of a text that holds a list, an object or a word; else the text."""
    try:
        is_json = text.startswith(("{", "[")) or text in ("true", "false", "null")
        return json.loads(text) if is_json else text
    except (ValueError, RecursionError):
        return text


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "Table":
    """Return a table; columns with numbers are aligned to the right."""
    cells = list(rows)
    numbers = {
        name
        for at, name in enumerate(columns)
        if any(isinstance(row[at], int | float) for row in cells)
    }
    made = table(*columns, right=numbers)
    for row in cells:
        made.add_row(*map(_cell, row))
    return made


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else visible(str(value))
