"""What an index, a mention table or a dataset is made of, as JSON values."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from candgen import MentionTable
    from candgen.evaluation.dataset import Dataset
    from candgen.storage.index_folder import StoredIndex

PAIRS_SHOWN = 10
NOT_SEARCHED = ("sources.", "descriptions.", "calibration.")
"""How the names of arrays begin that no search reads."""


def describe_index(stored: "StoredIndex", *, verified: bool) -> dict[str, Any]:
    """All that the manifest and the shapes of the arrays tell."""
    described: dict[str, Any] = {
        "kind": stored.kind,
        "candgen_version": stored.version,
        "format_version": stored.format_version,
        "verified": verified,
    }
    if stored.kind == "pti" and "blocks.key" in stored.arrays:
        described.update(_describe_pti(stored))
    else:
        described.update(_describe_parts(stored))
    described.update(_describe_companions(stored))
    described.update(parameters=stored.parameters, inputs=stored.inputs)
    described["bytes"] = sum(stored.sizes.values())
    described["files"] = dict(sorted(stored.sizes.items()))
    return described


def _describe_pti(stored: "StoredIndex") -> dict[str, Any]:
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
    # As `TokenIndex.known` counts them, which would need Numba.
    totals = stored.arrays["blocks.token_total"]
    known = ((totals > 0) & (totals < float("inf"))).reshape(-1, totals.shape[-1]).any(axis=0)
    before = postings + parameters["dropped"]["postings"]
    searched = sum(n for name, n in stored.sizes.items() if not name.startswith(NOT_SEARCHED))
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
        "fusion": parameters.get("fusion", "counts"),
        "smoothing": parameters.get("smoothing", 0.0),
        "tokenizer": parameters["tokenizer"],
        "normalizer": parameters["normalizer"],
        "entities": len(stored.arrays["entities.offsets"]) - 1,
        "tokens": int(known.sum()),
        "postings": postings,
        "bytes_per_posting": searched / postings if postings else 0.0,
    }


def _describe_companions(stored: "StoredIndex") -> dict[str, Any]:
    """What was stored with a generator: what its scores are worth, and names to show."""
    described: dict[str, Any] = {}
    if "calibration.queries" in stored.arrays:
        described["calibrated_on"] = int(stored.arrays["calibration.queries"][0])
    if "descriptions.ids.offsets" in stored.arrays:
        described["described_entities"] = len(stored.arrays["descriptions.ids.offsets"]) - 1
        described["types"] = len(stored.arrays["descriptions.types.offsets"]) - 1
    return described


def _describe_parts(stored: "StoredIndex") -> dict[str, Any]:
    """How large the indexes are that a generator of another kind has inside."""
    described: dict[str, Any] = {}
    # Strings are kept with the offsets of their ends, and one more for the first's beginning.
    for what, end, extra in (("entities", ".entities.offsets", 1), ("postings", ".blocks.key", 0)):
        sizes = {
            f".{name}".removesuffix(end).removeprefix("."): len(array) - extra
            for name, array in stored.arrays.items()
            if f".{name}".endswith(end)
        }
        if sizes:
            described[what] = sizes.get("", sizes)
    return described


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


def describe_entities(path: "Path") -> dict[str, Any] | None:
    """What a table of entities holds, as candgen extract-wikidata writes one; None of others."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            if not {"entity", "language", "name"} <= set(file.schema_arrow.names):
                return None
            languages = pc.value_counts(file.read(["language"])["language"]).to_pylist()
            first = next(file.iter_batches(PAIRS_SHOWN), None)
            metadata = file.metadata.metadata or {}
    except (OSError, pa.ArrowException):
        return None  # whoever reads it as a table of mentions tells what is wrong
    return {
        "kind": "table of entities",
        "rows": sum(each["counts"] for each in languages),
        "languages": {each["values"]: each["counts"] for each in languages},
        "metadata": {
            key.decode(): text.decode("utf-8", "replace")
            for key, text in sorted(metadata.items())
            if not key.startswith(b"ARROW:")
        },
        "first": first.to_pylist() if first is not None else [],
    }
