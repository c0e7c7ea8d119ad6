"""What an index, a mention table or a dataset is made of, as JSON values."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from candgen import MentionTable
    from candgen.evaluation.dataset import Dataset
    from candgen.storage.index_folder import StoredIndex

PAIRS_SHOWN = 10
NOT_SEARCHED = ("sources.", "descriptions.", "calibration.", "promise.")
"""Prefixes of the arrays that a search does not read."""


def describe_index(stored: "StoredIndex", *, verified: bool) -> dict[str, Any]:
    """Return what the manifest and the shapes of the arrays say."""
    described: dict[str, Any] = {
        "kind": stored.kind,
        "candgen_version": stored.version,
        "format_version": stored.format_version,
        "verified": verified,
    }
    if stored.kind == "pti" and "blocks.key" in stored.arrays:
        described.update(_describe_pti(stored))
    else:
        described.update(_describe_nested(stored))
    described.update(_describe_extras(stored))
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
    # Counted as `TokenIndex.known` does, but without Numba.
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


def _describe_extras(stored: "StoredIndex") -> dict[str, Any]:
    """Return what was stored with a generator: its calibration, and names to show."""
    described: dict[str, Any] = {}
    # A kind that this version does not know may have other arrays of these names.
    if (queries := stored.arrays.get("calibration.queries")) is not None and queries.size == 1:
        described["calibrated_on"] = int(queries.item())
    if any(name.startswith("promise.") for name in stored.arrays):
        from candgen.generators.promise import Promise  # noqa: PLC0415

        promise = Promise.from_stored(stored)
        described["promise"] = None if promise is None else promise.as_json()
    if {"descriptions.ids.offsets", "descriptions.types.offsets"} <= set(stored.arrays):
        described["described_entities"] = stored.arrays["descriptions.ids.offsets"].size - 1
        described["types"] = stored.arrays["descriptions.types.offsets"].size - 1
    return described


def _describe_nested(stored: "StoredIndex") -> dict[str, Any]:
    """Return the sizes of the indexes nested in a generator of another kind."""
    described: dict[str, Any] = {}
    # A string table has the offset of each end, and one more for the first beginning.
    for what, end, extra in (("entities", ".entities.offsets", 1), ("postings", ".blocks.key", 0)):
        sizes = {
            f".{name}".removesuffix(end).removeprefix("."): array.size - extra
            for name, array in stored.arrays.items()
            if f".{name}".endswith(end)
        }
        if sizes:
            described[what] = sizes.get("", sizes)
    return described


def describe_table(read: "MentionTable") -> dict[str, Any]:
    """Return the size of a mention table, and its most frequent pairs."""
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
    """Return what the manifest says; with ``verify``, read every file and compare checksums."""
    if verify:
        _ = dataset.train, dataset.dev, dataset.test
    return {"kind": "dataset", "verified": verify, **dataset.manifest}


def describe_entities(path: "Path") -> dict[str, Any] | None:
    """Return what a table of entities, made by candgen extract-wikidata, holds; None of others."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    from candgen.tables.parquet_file import open_parquet  # noqa: PLC0415

    if path.is_dir():
        return None
    with open_parquet(path) as file:
        if not {"entity", "language", "name"} <= set(file.schema.names):
            return None
        try:
            languages = pc.value_counts(file.read(["language"])["language"]).to_pylist()
        except pa.ArrowException:
            return None  # reading it as a mention table raises the error
        first = next(file.batches(file.schema.names), None)
        metadata = file.metadata
    return {
        "kind": "table of entities",
        "rows": sum(each["counts"] for each in languages),
        "languages": {each["values"]: each["counts"] for each in languages},
        "metadata": {
            key.decode("utf-8", "replace"): text.decode("utf-8", "replace")
            for key, text in sorted(metadata.items())
            if not key.startswith(b"ARROW:")
        },
        "first": first.slice(0, PAIRS_SHOWN).to_pylist() if first is not None else [],
    }
