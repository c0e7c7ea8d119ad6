"""Small indexes to save, load and damage."""

import os
from pathlib import Path

import numpy as np
import pytest

from candgen.errors import StorageError
from candgen.storage import index_folder

NAMES = ["first.postings.keys", "matrix", "nothing", "one"]


def content(n=1):
    """Return the arguments of a save; every value depends on n, so that a mixture is detected."""
    return {
        "kind": f"kind-{n}",
        "parameters": {"n": n, "alpha": {"is": 0.4, "da": 0.1}, "language": "føroyskt"},
        "arrays": {
            "first.postings.keys": np.arange(n, n + 50, dtype=np.int64),
            "matrix": np.full((3, 4), n, dtype=np.float32),
            "nothing": np.zeros((0, 3), dtype=np.uint16),
            "one": np.array(n, dtype=np.uint8),
        },
        "inputs": {"is.tsv": {"sha256": "00" * 32}},
    }


def large(n):
    """The same with a megabyte, so that most of a save is spent in writing."""
    arrays = content(n)["arrays"] | {"large": np.full(1 << 17, n, dtype=np.int64)}
    return content(n) | {"arrays": arrays}


def assert_holds(folder, *allowed, verify=True):
    """The folder holds one of these contents, whole; which."""
    stored = index_folder.load(folder, verify=verify)
    (expected,) = [one for one in allowed if one["kind"] == stored.kind]
    assert stored.parameters == expected["parameters"]
    assert stored.inputs == expected["inputs"]
    assert list(stored.arrays) == sorted(expected["arrays"])
    for name, array in expected["arrays"].items():
        np.testing.assert_array_equal(stored.arrays[name], array, strict=True)
    return expected


def snapshot(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def file_of(folder, name):
    """The path of the manifest, or of the array of this name."""
    if name == index_folder.MANIFEST:
        return folder / name
    (path,) = folder.glob(f"{name}.????????????????.npy")
    return path


def refusal(call, *arguments, **options):
    """The one sentence with which this is refused."""
    with pytest.raises(StorageError) as caught:
        call(*arguments, **options)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


def failing(monkeypatch, name, error, *, after):
    """Makes os.<name> fail for good, after so many calls that work."""
    real, calls = getattr(os, name), []

    def fail(*arguments, **options):
        calls.append(1)
        if len(calls) > after:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, fail)
