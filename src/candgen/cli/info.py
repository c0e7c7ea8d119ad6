"""``candgen info``: what an index, a mention table or a dataset is made of."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

import candgen
from candgen.cli.output import show, table, visible, write_json
from candgen.cli.progress import progress_bar

if TYPE_CHECKING:
    from candgen import MentionTable
    from candgen.evaluation.dataset import Dataset
    from candgen.storage import Stored

MANIFEST = "manifest.json"
DATASET_FILE = "dev.tsv"
TABLE_SUFFIXES = (".tsv", ".jsonl", ".ndjson", ".parquet")
PAIRS_SHOWN = 10
TYPES = ("easy", "medium", "hard")
COUNTED = ("pairs", "entities", *TYPES)


class Format(StrEnum):
    """How the description is written."""

    TABLE = "table"
    JSON = "json"


def info(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="INDEX", help="An index, a dataset, or a file that holds a mention table."
        ),
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
        if _is_table(path):
            described, print_it = describe_table(candgen.MentionTable.read(path)), _show_table
        elif (path / DATASET_FILE).exists():
            from candgen.evaluation.dataset import read_dataset  # noqa: PLC0415

            described, print_it = describe_dataset(read_dataset(path), verify=verify), _show_dataset
        else:
            from candgen import manifest, storage  # noqa: PLC0415 (--help need not wait for NumPy)

            stored = storage.load(path, verify=verify)
            verified = verify or sum(stored.sizes.values()) <= storage.SMALL
            described = describe_index(stored, manifest.FORMAT_VERSION, verified=verified)
            print_it = _show_index
    if form is Format.JSON:
        write_json({"path": str(path), **described})
    else:
        print_it(path, described)


def describe_index(stored: "Stored", format_version: int, *, verified: bool) -> dict[str, Any]:
    """All that the manifest and the shapes of the arrays tell."""
    described: dict[str, Any] = {
        "kind": stored.kind,
        "candgen_version": stored.version,
        "format_version": format_version,
        "verified": verified,
    }
    if stored.kind == "pti":
        described.update(_describe_pti(stored))
    else:
        described.update(parameters=stored.parameters, inputs=stored.inputs)
    described["bytes"] = sum(stored.sizes.values())
    described["files"] = dict(sorted(stored.sizes.items()))
    return described


def _describe_pti(stored: "Stored") -> dict[str, Any]:
    parameters = stored.parameters
    target, alpha = parameters["target"], parameters["alpha"]
    languages = {
        language: {
            "role": "target" if language == target else "pivot",
            "alpha": 1.0 if language == target else alpha[language],
            **stored.inputs[language],
        }
        for language in parameters["languages"]
    }
    postings = len(stored.arrays["blocks.key"])
    before = postings + parameters["dropped"]["postings"]
    searched = sum(n for name, n in stored.sizes.items() if not name.startswith("sources."))
    return {
        "language": parameters["language"],
        "languages": languages,
        "without": sorted(set(alpha) - set(languages)),
        "lam": parameters["lam"],
        "threshold": parameters["threshold"],
        "dropped": {
            what: {"number": number, "share": number / before if before else 0.0}
            for what, number in parameters["dropped"].items()
        },
        "tokenizer": parameters["tokenizer"],
        "normalizer": parameters["normalizer"],
        "entities": len(stored.arrays["entities.offsets"]) - 1,
        "tokens": int((stored.arrays["blocks.token_total"] > 0).sum()),
        "postings": postings,
        "bytes_per_posting": searched / postings if postings else 0.0,
    }


def describe_table(read: "MentionTable") -> dict[str, Any]:
    """How much a mention table holds, and its most frequent pairs."""
    counts = read.arrow["count"].to_numpy()
    return {
        "kind": "mention table",
        "pairs": len(read),
        "mentions": len(read.mentions),
        "entities": len(read.entities),
        "occurrences": read.total,
        "sha256": read.digest,
        "metadata": read.metadata,
        "most_frequent": read.arrow.take(
            (-counts).argsort(kind="stable")[:PAIRS_SHOWN]
        ).to_pylist(),
    }


def describe_dataset(dataset: "Dataset", *, verify: bool) -> dict[str, Any]:
    """All that the manifest tells; with ``verify`` every file is read, and found to be so."""
    if verify:
        _ = dataset.train, dataset.dev, dataset.test
    return {"kind": "dataset", "verified": verify, **dataset.manifest}


def _is_table(path: Path) -> bool:
    """A file, or a folder of Parquet; also one that is not there but has the name of one."""
    try:
        if (path / MANIFEST).exists():
            return False
        has_name = path.name.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES)
        return has_name or path.is_file()
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
    facts.append(("size", decimal(described["bytes"])))
    _show_facts(path, facts)
    if "languages" in described:
        _show_languages(described["languages"])
    files = table("file", "bytes", right=["bytes"])
    for name, number in described["files"].items():
        files.add_row(name, f"{number:,}")
    show("", files)


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
    options = ", ".join(f"{name} {value}" for name, value in tokenizer.items() if name != "kind")
    facts = [
        ("language of queries", described["language"] or "not named"),
        ("tokenizer", f"{tokenizer['kind']} {options}".strip()),
        ("normalizer", described["normalizer"]),
        ("lam", described["lam"]),
        ("threshold", described["threshold"]),
        *dropped,
        *((what, f"{described[what]:,}") for what in ("entities", "tokens", "postings")),
        ("bytes a posting", f"{described['bytes_per_posting']:.1f}, without the source mentions"),
    ]
    if described["without"]:
        facts.append(("without (alpha 0)", ", ".join(described["without"])))
    return facts


def _show_languages(languages: dict[str, dict[str, Any]]) -> None:
    numbers = ("alpha", "pairs", "occurrences", "entities")
    made = table("language", "role", *numbers, "sha256", right=numbers)
    for language, part in languages.items():
        shown = [f"{part['alpha']:g}", *(f"{part[name]:,}" for name in numbers[1:])]
        made.add_row(visible(language), part["role"], *shown, part["sha256"][:16])
    show("", made)


def _show_table(path: Path, described: dict[str, Any]) -> None:
    facts = [("kind", "mention table")]
    facts += [(w, f"{described[w]:,}") for w in ("pairs", "mentions", "entities", "occurrences")]
    facts += [("sha256", described["sha256"]), *described["metadata"].items()]
    _show_facts(path, facts)
    pairs = table("mention", "entity", "count", right=["count"])
    for pair in described["most_frequent"]:
        pairs.add_row(visible(pair["mention"]), visible(pair["entity"]), f"{pair['count']:,}")
    show("", pairs)


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
