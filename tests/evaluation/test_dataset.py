"""Dataset folders: they read back, notice every change, and are never there in part."""

import errno
import gzip
import json
import os
import shutil
from dataclasses import replace

import pytest

from candgen import MentionTable
from candgen.errors import ParameterError, StorageError
from candgen.evaluation.dataset import FILES, MANIFEST, read_dataset, write_dataset
from candgen.evaluation.split import split
from candgen.storage.manifest import render
from candgen.tables.released import read_released, write_released

TABLE = MentionTable.from_pairs(
    [(f"{name} {n}", f"Q{n}", n + 1) for n in range(30) for name in ("Vík", "Vágur")]
)
OTHER = MentionTable.from_pairs([(f"Høvn {n}", f"Q{n}") for n in range(30)])


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "fo.dataset"
    write_dataset(path, split(TABLE, per_type=3, seed=5, language="fo", normalizer="default"))
    return path


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refusal(function, *arguments):
    with pytest.raises(StorageError) as caught:
        function(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("setting", ["joint", "zero-shot", "high-resource"])
@pytest.mark.parametrize("language", ["fo", None])
def test_a_dataset_reads_back(tmp_path, setting, language):
    made = split(TABLE, per_type=3, seed=5, setting=setting, language=language)
    write_dataset(tmp_path / "x", made)
    kept = read_dataset(tmp_path / "x")
    assert (kept.train, kept.dev, kept.test) == (made.train, made.dev, made.test)
    assert (kept.setting, kept.normalizer, kept.language) == (setting, "none", language)
    assert kept.sizes == made.sizes
    assert list(kept.sizes["dev"]) == list(made.types)


def test_the_manifest_says_how_it_was_made(folder):
    manifest = read_dataset(folder).manifest
    assert manifest["format"] == "candgen dataset"
    assert (manifest["seed"], manifest["per_type"]) == (5, 3)
    assert (manifest["setting"], manifest["normalizer"]) == ("joint", "default")
    assert manifest["language"] == "fo"
    assert manifest["input"] == {"pairs": 60, "entities": 30, "sha256": TABLE.digest}
    assert manifest["counts"] == {
        "train": {"pairs": 60 - 12 - 6, "entities": 24},
        "dev": {"easy": 3, "medium": 3, "hard": 3},
        "test": {"easy": 3, "medium": 3, "hard": 3},
    }
    assert set(snapshot(folder)) == {*FILES, MANIFEST} == {*manifest["files"], MANIFEST}


def test_the_files_are_what_anybody_can_read(folder):
    train = gzip.decompress((folder / "train.tsv.gz").read_bytes()).decode()
    assert train.startswith("mention\tentity\tcount\n")
    assert MentionTable.read(folder / "train.tsv.gz") == read_dataset(folder).train
    assert (folder / "test.tsv").read_text(encoding="utf-8").startswith("mention\tentity\ttype\n")


def test_the_same_split_gives_the_same_bytes(folder, tmp_path):
    rows = sorted(TABLE, key=lambda row: row[2])
    again = split(
        MentionTable.from_pairs(rows), per_type=3, seed=5, language="fo", normalizer="default"
    )
    write_dataset(tmp_path / "again", again)
    assert snapshot(tmp_path / "again") == snapshot(folder)
    write_dataset(tmp_path / "again", replace(again, seed=6))
    assert snapshot(tmp_path / "again") != snapshot(folder)


def test_train_and_dev_are_read_without_test(folder):
    whole = read_dataset(folder)
    (folder / "test.tsv").unlink()
    kept = read_dataset(folder)
    assert (kept.train, kept.dev) == (whole.train, whole.dev)
    assert kept.sizes["test"] == {"easy": 3, "medium": 3, "hard": 3}
    said = refusal(lambda: kept.test)
    assert said == f"{folder / 'test.tsv'} is missing: restore it, or split again"


def test_each_file_is_read_once(folder):
    kept = read_dataset(folder)
    first = (kept.train, kept.dev, kept.test)
    shutil.rmtree(folder)
    assert all(a is b for a, b in zip(first, (kept.train, kept.dev, kept.test), strict=True))


def test_a_split_and_a_dataset_are_written_alike(folder, tmp_path):
    write_released(tmp_path / "fo", read_dataset(folder))
    made = split(TABLE, per_type=3, seed=5, language="fo", normalizer="default")
    write_released(tmp_path / "too", made)
    assert snapshot(tmp_path / "fo") == snapshot(tmp_path / "too")
    assert read_released(tmp_path / "fo").test == made.test


# ---------------------------------------------------------------- damage


def edited(data):
    return data.replace(b"Q", b"P", 1)


DAMAGES = {
    "edited": edited,
    "longer": lambda data: data + b"Vik 1\tQ1\teasy\n",
    "cut": lambda data: data[:-1],
    "empty": lambda data: b"",
    "other line ends": lambda data: data.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["dev.tsv", "test.tsv"])
def test_a_changed_file_is_noticed(folder, name, damage):
    path = folder / name
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    said = refusal(getattr, read_dataset(folder), name.removesuffix(".tsv"))
    assert said == (
        f"{path} has changed since it was written: restore the original, or split again"
    )


def test_changed_training_data_is_noticed(folder):
    OTHER.write(folder / "train.tsv.gz")
    assert "train.tsv.gz has changed since it was written" in refusal(
        getattr, read_dataset(folder), "train"
    )
    (folder / "train.tsv.gz").unlink()
    (folder / "train.tsv.gz").mkdir()
    assert "train.tsv.gz cannot be read" in refusal(getattr, read_dataset(folder), "train")


def test_a_dataset_that_is_replaced_meanwhile_is_not_mixed(folder):
    kept = read_dataset(folder)
    assert kept.train
    write_dataset(folder, split(OTHER))
    assert "dev.tsv has changed since it was written" in refusal(lambda: kept.dev)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: data.replace(b'"seed": 5', b'"seed": 6'), "has changed since it was written"),
        (
            lambda data: data.replace(b'"seed": 5', b'"seed": NaN'),
            "has changed since it was written",
        ),
        (lambda data: data + b" ", "has changed since it was written"),
        (lambda data: data.replace(b"checksum", b"checksun"), "has changed since it was written"),
        (lambda data: b"{}", "is not the manifest of a dataset"),
        (lambda data: b"[]", "is not the manifest of a dataset"),
        (lambda data: data[:50], "is not the manifest of a dataset"),
        (lambda data: b"\xff\xfe", "is not the manifest of a dataset"),
        (lambda data: b"[" * 100_000, "is not the manifest of a dataset"),
        (lambda data: data.replace(b"candgen dataset", b"candgen"), "is not the manifest of a"),
        (
            lambda data: data.replace(b'"format_version": 1', b'"format_version": 2'),
            "was written by a newer candgen",
        ),
        (
            lambda data: data.replace(b'"format_version": 1', b'"format_version": "1"'),
            "has changed since it was written",
        ),
        (
            lambda data: render(
                {k: v for k, v in json.loads(data).items() if k not in ("checksum", "seed")}
            ),
            "has changed since it was written",
        ),
    ],
)
def test_a_changed_manifest_is_noticed(folder, change, sentence):
    path = folder / MANIFEST
    path.write_bytes(change(path.read_bytes()))
    assert f"{path} {sentence}" in refusal(read_dataset, folder)


def test_what_is_no_dataset(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for name in ("missing", "file", "empty"):
        assert "is not a dataset: expected a folder with" in refusal(read_dataset, tmp_path / name)
    (tmp_path / "empty" / MANIFEST).mkdir()
    assert "cannot be read: Is a directory" in refusal(read_dataset, tmp_path / "empty")


# ---------------------------------------------------------------- writing


def test_a_dataset_is_replaced_as_a_whole(folder):
    (folder / "test.tsv").unlink()
    (folder / "dev.tsv").write_bytes(b"edited")
    made = split(OTHER, seed=1)
    write_dataset(folder, made)
    kept = read_dataset(folder)
    assert (kept.train, kept.dev, kept.test) == (made.train, made.dev, made.test)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "x").mkdir()
    write_dataset(tmp_path / "x", split(TABLE))
    assert read_dataset(tmp_path / "x").dev == split(TABLE).dev
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_link_to_a_dataset_stays_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    write_dataset(tmp_path / "link", split(OTHER))
    assert (tmp_path / "link").is_symlink()
    assert read_dataset(folder).test == split(OTHER).test


@pytest.mark.parametrize(
    ("name", "text"), [("notes.txt", b"mine"), (MANIFEST, b"{}"), ("dev.tsv", b""), (MANIFEST, b"")]
)
def test_what_is_not_a_dataset_is_left_alone(tmp_path, name, text):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / name).write_bytes(text)
    said = refusal(write_dataset, tmp_path / "x", split(TABLE))
    assert said == (
        f"{tmp_path / 'x'} is a folder with something else in it: "
        "remove it, or choose another folder"
    )
    assert snapshot(tmp_path / "x") == {name: text}
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_what_somebody_put_into_a_dataset_is_not_lost(folder):
    (folder / "notes.txt").write_bytes(b"mine")
    good = snapshot(folder)
    assert "with something else in it" in refusal(write_dataset, folder, split(OTHER))
    assert snapshot(folder) == good


def test_places_where_no_folder_can_be(tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    made = split(TABLE)
    assert "is a file: remove it" in refusal(write_dataset, tmp_path / "file", made)
    assert (tmp_path / "file").read_bytes() == b"mine"
    said = refusal(write_dataset, tmp_path / "no" / "x", made)
    assert f"there is no folder {tmp_path / 'no'}, make it first" in said
    with pytest.raises(ParameterError, match=r"split is .*, expected what candgen\.split"):
        write_dataset(tmp_path / "x", TABLE)


def failing(monkeypatch, name, error, *, at):
    """Makes one call of os.<name> fail: the one after `at` that worked."""
    real, calls = getattr(os, name), []

    def fail(*arguments, **options):
        calls.append(1)
        if len(calls) == at + 1:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, fail)
    return calls


# Four files are written, synced and renamed; the old folder is moved away, the new one moved in.
STEPS = [("replace", n) for n in range(4)] + [("rename", n) for n in range(2)] + [("mkdir", 0)]
FULL = (errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("error", [OSError(*FULL), KeyboardInterrupt()], ids=["full", "control-c"])
@pytest.mark.parametrize(("name", "at"), STEPS)
def test_a_failure_leaves_the_old_dataset(folder, monkeypatch, name, at, error):
    good = snapshot(folder)
    failing(monkeypatch, name, error, at=at)
    with pytest.raises((StorageError, KeyboardInterrupt)) as caught:
        write_dataset(folder, split(OTHER))
    if isinstance(error, OSError):
        assert str(caught.value) == f"{folder} cannot be written: No space left on device"
    assert snapshot(folder) == good
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("error", [OSError(*FULL), KeyboardInterrupt()], ids=["full", "control-c"])
@pytest.mark.parametrize(("name", "at"), [step for step in STEPS if step != ("rename", 1)])
def test_a_failure_leaves_no_new_dataset(tmp_path, monkeypatch, name, at, error):
    failing(monkeypatch, name, error, at=at)
    with pytest.raises((StorageError, KeyboardInterrupt)):
        write_dataset(tmp_path / "x", split(OTHER))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", range(4))
def test_every_file_is_synced(tmp_path, monkeypatch, at):
    # Each file is synced, and then its folder, where a failure is of no importance.
    calls = failing(monkeypatch, "fsync", OSError(*FULL), at=2 * at)
    assert "No space left on device" in refusal(write_dataset, tmp_path / "x", split(OTHER))
    assert len(calls) == 2 * at + 1
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_that_cannot_be_put_back_is_named(folder, monkeypatch):
    good = snapshot(folder)
    real, calls = os.rename, []

    def fail(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(*FULL)
        real(*arguments)

    monkeypatch.setattr(os, "rename", fail)
    said = refusal(write_dataset, folder, split(OTHER))
    (left,) = folder.parent.iterdir()
    assert said == f"{folder} could not be replaced, nor put back: it is now {left}, rename it"
    assert snapshot(left) == good


def test_real_names(shared_data, tmp_path):
    table = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    made = split(table, language="fo", normalizer="default")
    write_dataset(tmp_path / "fo", made)
    kept = read_dataset(tmp_path / "fo")
    assert (kept.train, kept.dev, kept.test) == (made.train, made.dev, made.test)
    assert kept.manifest["input"]["sha256"] == table.digest
