"""Manifests: forged, damaged, of another version."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from candgen.storage import index_folder
from candgen.storage.manifest import FORMAT_VERSION, render
from tests.support.stored_indexes import assert_holds, content, refusal


def rewrite(folder, change):
    """Alters the manifest and makes its checksum right again, as an attacker would."""
    path = folder / index_folder.MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    manifest.pop("checksum", None)
    path.write_bytes(render(manifest))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), np.float32(1), {1: 2}, (1, 2), {1, 2}, b"", Path()]
)
@pytest.mark.parametrize("where", ["parameters", "inputs"])
def test_what_json_would_change_is_refused(tmp_path, value, where):
    arguments = content() | {where: {"value": value}}
    assert where in refusal(index_folder.save, tmp_path / "x", **arguments)
    assert not (tmp_path / "x").exists()


def test_the_manifest_of_another_index(folder, tmp_path):
    index_folder.save(tmp_path / "other", **content(2))
    (tmp_path / "other" / index_folder.MANIFEST).replace(folder / index_folder.MANIFEST)
    said = refusal(index_folder.load, folder)
    assert "is missing" in said
    assert ".npy" in said


def test_a_newer_format_says_upgrade(folder):
    def newer(manifest):
        manifest.update(format_version=FORMAT_VERSION + 1, something_new=[])

    rewrite(folder, newer)
    said = refusal(index_folder.load, folder)
    assert f"format {FORMAT_VERSION + 1}, this one reads {FORMAT_VERSION}" in said
    assert "upgrade" in said
    # It is an index nevertheless, so it may be replaced.
    index_folder.save(folder, **content())
    assert_holds(folder, content())


@pytest.mark.parametrize("version", [1, FORMAT_VERSION - 1])
def test_an_older_format_says_build_again(folder, version):
    rewrite(folder, lambda manifest: manifest.update(format_version=version))
    said = refusal(index_folder.load, folder)
    assert f"format {version}, this one reads {FORMAT_VERSION}): build the index again" in said


def entry(manifest):
    return manifest["files"]["matrix"]


BAD_MANIFESTS = {
    "format": lambda m: m.update(format="numpy"),
    "older": lambda m: m.update(format_version=0),
    "version": lambda m: m.update(format_version="1"),
    "kind": lambda m: m.update(kind=3),
    "no kind": lambda m: m.pop("kind"),
    "more": lambda m: m.update(more=1),
    "parameters": lambda m: m.update(parameters=[]),
    "inputs": lambda m: m.update(inputs=None),
    "candgen": lambda m: m.update(candgen_version=1),
    "files": lambda m: m.update(files=[]),
    "entry": lambda m: m["files"].update(matrix=1),
    "no size": lambda m: entry(m).pop("bytes"),
    "size": lambda m: entry(m).update(bytes=1),
    "float size": lambda m: entry(m).update(bytes=float(entry(m)["bytes"])),
    "object": lambda m: entry(m).update(dtype="|O"),
    "list dtype": lambda m: entry(m).update(dtype=[["a", "<f4"]]),
    "shape": lambda m: entry(m).update(shape=[4, 3, 1.0]),
    "no list": lambda m: entry(m).update(shape=12),
    "negative": lambda m: entry(m).update(shape=[-3, -4]),
    "huge": lambda m: m["files"]["nothing"].update(shape=[0, 1 << 62]),
    "deep": lambda m: entry(m).update(shape=[1] * 33),
    "hash": lambda m: entry(m).update(sha256="0" * 63),
    "number": lambda m: entry(m).update(sha256=7),
    "other hash": lambda m: entry(m).update(sha256="0" * 64),
    "name": lambda m: m["files"].update({"../matrix": m["files"].pop("matrix")}),
    "absolute": lambda m: entry(m).update(file="/etc/passwd"),
    "parent": lambda m: entry(m).update(file="../" + entry(m)["file"]),
    "below": lambda m: entry(m).update(file="x/" + entry(m)["file"]),
    "dot": lambda m: entry(m).update(file="./" + entry(m)["file"]),
    "another": lambda m: entry(m).update(file=m["files"]["one"]["file"]),
}


@pytest.mark.parametrize("change", BAD_MANIFESTS.values(), ids=BAD_MANIFESTS)
def test_a_forged_manifest_is_refused_although_its_checksum_is_right(folder, change):
    # What it may want to lead to is there, so only the manifest can be the reason.
    for path in list(folder.iterdir()):
        os.link(path, folder.parent / path.name)
    rewrite(folder, change)
    assert str(folder / index_folder.MANIFEST) in refusal(index_folder.load, folder)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 5000,
        '{"format": "candgen", "format_version": 1, "x": NaN}',
        "\xff",
        "1",
    ],
    ids=["nested", "digits", "nan", "latin-1", "number"],
)
def test_strange_json_is_refused(folder, text):
    (folder / index_folder.MANIFEST).write_bytes(text.encode("latin-1"))
    assert "manifest.json" in refusal(index_folder.load, folder)


def test_an_unchanged_manifest_is_read_again(folder):
    rewrite(folder, lambda manifest: None)
    assert_holds(folder, content())
