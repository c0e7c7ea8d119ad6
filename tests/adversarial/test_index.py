"""Indexes that are damaged, and indexes that were forged with right checksums."""

import os
import random
import shutil

import numpy as np
import pytest

import candgen
from candgen.errors import StorageError
from candgen.storage import index_folder
from tests.adversarial.index_fuzzer import fuzz, make_indexes
from tests.support.commands import is_refusal

FORGED = 300
DAMAGED = 120
LARGE = 16 << 20
"""Bytes; larger indexes were once opened without reading them."""
PAGE = 4096


def test_no_forged_index_does_harm(tried):
    tried("index", FORGED)
    found = fuzz(FORGED)
    assert found.failures == []
    assert found.answered > FORGED / 10  # otherwise nothing but refusals would be tested


def test_the_fuzzer_finds_harm_where_nothing_is_validated():
    assert len(fuzz(40, trusting=True).failures) > 0


@pytest.fixture(scope="module")
def valid():
    return make_indexes(neural=False)


def value(at, new):
    """Return a change of one value, by its place in the flattened array."""

    def change(array):
        changed = np.array(array)
        changed.flat[at] = new
        return changed

    return change


def zeros(array):
    return np.zeros_like(array)


def last_doubled(array):
    return np.concatenate([array, array[-1:]])


CHANGES = [
    ("pti", "blocks.child", value(3, 2**32 - 1)),
    ("pti", "blocks.child", value(0, 0)),  # the root as a child of itself
    ("pti", "blocks.child", zeros),
    ("pti", "blocks.symbol", zeros),
    ("pti", "blocks.block_start", value(1, 2**40)),
    ("pti", "blocks.block_start", value(1, -1)),
    ("pti", "blocks.key", value(0, 2**32 - 1)),  # a token that does not exist
    ("pti", "blocks.key", zeros),
    ("pti", "blocks.code", value(5, 255)),  # an escape that is not listed
    ("pti", "blocks.escape_at", value(0, 2**62)),
    ("pti", "blocks.value", value(3, np.nan)),
    ("pti", "blocks.value", lambda array: array[:10]),
    ("pti", "blocks.token_total", zeros),  # which a count is divided by
    ("pti", "blocks.entity_total", value(0, 0.0)),
    ("pti", "blocks.list_start", value(-1, 2**31)),
    ("pti", "blocks.listed", value(0, 2**32 - 1)),  # far beyond the last block
    ("pti", "blocks.dense_token", value(-1, 2**32 - 1)),
    ("pti", "blocks.dense", lambda array: array[:, :4]),
    ("pti", "blocks.group", lambda array: np.zeros((len(array), 1), np.uint8)),
    ("pti", "blocks.rank", value(0, 2**32 - 1)),
    ("pti", "blocks.rank", zeros),
    ("pti", "blocks.scale", value(0, np.inf)),
    ("pti", "blocks.bound_lam", value(0, np.nan)),
    ("pti", "sums", last_doubled),
    ("pti", "entities.offsets", value(1, 2**62)),
    ("pti", "entities.bytes", value(0, 0xFF)),  # not UTF-8
    ("pti", "sources.start", value(1, 10**9)),
    ("pti", "sources.language", value(0, 9)),
    ("pti", "sources.count", value(0, -5)),
    ("pti", "descriptions.language", value(0, 9)),
    ("pti", "descriptions.type", value(0, 9)),
    ("pti", "descriptions.start", value(1, 50)),
    ("pti", "calibration.weights", value(0, np.nan)),
    ("pti", "calibration.queries", value(0, -1)),
    ("pti", "promise.json", value(0, 0xFF)),  # not UTF-8
    ("pti-threshold", "symbols.bytes", value(0, 0xFF)),
    ("pti-fusion", "blocks.background", lambda array: array[:-1]),
    ("pti-fusion", "blocks.token_background", value(0, -1.0)),
    ("pti-fusion", "blocks.background_level", lambda array: array[:1]),
    ("wikipriors", "tiers.pivot_words.blocks.key", value(0, 2**32 - 1)),
    ("translation", "target.names.bytes", value(0, 0xFF)),  # not in order, and not UTF-8
    ("translation", "pivots.start", value(1, 2**40)),
    ("translation", "searched.entity", value(0, 2**32 - 1)),
    ("translation", "searched.share", value(0, np.nan)),
    ("translation", "searched.start", last_doubled),
    ("translation", "words.name", value(0, 2**32 - 1)),  # a name that does not exist
    ("translation", "words.start", value(1, -1)),
    ("translation", "words.length", zeros),  # which a product is divided by
    ("translation", "words.length", last_doubled),
    ("translation", "lexicon.start", value(-1, 2**31)),
    ("translation", "lexicon.probability", value(0, np.inf)),
    ("rerank", "stage.spellings.symbols", value(0, 255)),
    ("rerank", "stage.spellings.start", value(1, 2**31)),
    ("rerank", "stage.spellings.first", value(1, 2**31)),
    ("rerank", "stage.spellings.entity.bytes", value(0, ord("Z"))),  # not in order
    ("rerank", "stage.edits.change", zeros),  # logarithms of 0 would lead outside a table
    ("rerank", "stage.edits.common", zeros),
    ("rerank", "stage.lexicon.probability", last_doubled),
    ("rerank", "stage.rarity.table", lambda array: array[:-1]),  # no power of two
    ("rerank", "stage.rarity.table", lambda array: array[:512]),  # too few
    ("rerank", "stage.rarity.table", lambda array: array[:0]),
    ("rerank", "stage.rarity.table", lambda array: np.zeros(1 << 25, np.uint8)),  # too many
    ("rerank", "stage.rarity.table", lambda array: array.astype(np.uint32)),  # no codes
    ("rerank", "stage.rarity.table", lambda array: array.reshape(-1, 1)),
    ("rerank", "stage.endings.code", lambda array: array[::-1]),
    ("rerank", "stage.endings.code", lambda array: array[:-1]),
    ("rerank", "stage.endings.ratio", value(0, np.nan)),
    ("rerank", "stage.rarity.length", value(0, np.nan)),
    ("rerank", "stage.rarity.length", value(0, np.inf)),
    ("rerank", "stage.rarity.length", value(1, -1.0)),
    ("rerank", "stage.rarity.length", last_doubled),
    ("rerank", "stage.rarity.length", lambda array: array[:-1]),
    ("rerank", "stage.rarity.length", lambda array: array.astype(np.float64)),
    ("rerank", "part0.blocks.listed", value(0, 2**32 - 1)),
    ("cascade", "part1.blocks.child", zeros),
]


@pytest.mark.parametrize(
    ("kind", "array", "change"), CHANGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_forged_array_is_refused(valid, tmp_path, monkeypatch, tried, kind, array, change):
    tried("index")
    monkeypatch.setenv("CANDGEN_CACHE_DIR", os.devnull)
    contents = valid[kind]
    arrays = {**contents.arrays, array: change(contents.arrays[array])}
    index_folder.save(tmp_path / "x", **contents._replace(arrays=arrays)._asdict())
    with pytest.raises(StorageError, match=r"build it again|store them again|tune the index again"):
        candgen.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("kind", "name", "new"),
    [
        ("pti", "lam", "x"),
        ("pti", "lam", -1.0),
        ("pti", "lam", 10**400),
        ("pti", "threshold", None),
        ("pti", "languages", ["is"]),
        ("pti", "languages", {"is": 1}),
        ("pti", "language", 5),
        ("pti", "alpha", {}),
        ("pti", "normalizer", ["latin"]),
        ("pti", "tokenizer", {"kind": "char_ngrams", "low": 1, "high": 10**9}),
        ("pti", "fusion", "probabilities"),
        ("pti", "smoothing", 0.5),
        ("pti", "dropped", {}),
        ("pti", "dropped", {"priors": 10**400, "posteriors": 0, "postings": 0}),
        ("wikipriors", "tiers", []),
        ("wikipriors", "released", 1),
        ("translation", "normalizer", "nfc"),
        ("translation", "sources", "en"),
        ("translation", "searched", None),
        ("rerank", "depth", 0),
        ("rerank", "alphabet", "aa"),
        ("rerank", "weights", {"score": 1.0}),
        ("rerank", "learned", {"pairs": "many"}),
        ("cascade", "fill", None),
        ("cascade", "parts", [{"kind": "cascade", "parameters": {}}]),
    ],
)
def test_a_forged_parameter_is_refused(valid, tmp_path, monkeypatch, tried, kind, name, new):
    tried("index")
    monkeypatch.setenv("CANDGEN_CACHE_DIR", os.devnull)
    contents = valid[kind]
    changed = contents._replace(parameters={**contents.parameters, name: new})
    index_folder.save(tmp_path / "x", **changed._asdict())
    with pytest.raises(StorageError):
        candgen.load(tmp_path / "x")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An index of more than 16 MiB, saved by another user as far as this one knows."""
    letters, made = random.Random(5), "aábdeéfgðhiíjklmnoóprstuúvyýæø"
    names = ["".join(letters.choices(made, k=letters.randint(5, 14))) for _ in range(45_000)]
    table = candgen.MentionTable.from_pairs((name, f"Q{n}") for n, name in enumerate(names, 1))
    folder = tmp_path_factory.mktemp("large")
    candgen.PivotTokenIndex.build({"is": table}, language="fo").save(folder / "x.candgen")
    shutil.copytree(folder / "x.candgen", folder / "copy.candgen")
    size = sum(file.stat().st_size for file in (folder / "copy.candgen").iterdir())
    assert size > LARGE
    return folder / "copy.candgen"


def damage(path, random_):
    """Overwrite a page of a file by other bytes; return where, and what was there."""
    size = path.stat().st_size
    at = random_.randrange(size)
    with path.open("r+b") as file:
        file.seek(at)
        old = file.read(PAGE)
        file.seek(at)
        file.write(bytes(byte ^ random_.randint(1, 255) for byte in old))
    return at, old


def test_a_page_that_changed_in_a_large_index_is_found(large, tried):
    candgen.load(large)  # from now on only what has changed is read again
    random_ = random.Random(6)
    files = sorted(large.glob("*.npy"))
    sizes = [file.stat().st_size for file in files]
    tried("index", DAMAGED)
    for _ in range(DAMAGED):
        (path,) = random_.choices(files, sizes)
        at, old = damage(path, random_)
        with pytest.raises(StorageError, match="build the index again") as refused:
            candgen.load(large)
        assert path.name in str(refused.value)
        with path.open("r+b") as file:
            file.seek(at)
            file.write(old)
    assert candgen.load(large).candidates(["Vøll"], 1)


@pytest.mark.parametrize("command", ["query", "explain", "evaluate", "info", "serve"])
def test_commands_refuse_a_damaged_index(cli, large, tmp_path, tried, command):
    tried("index")
    folder = tmp_path / "x.candgen"
    shutil.copytree(large, folder)
    candgen.load(folder)
    (key,) = folder.glob("blocks.key.*")
    damage(key, random.Random(7))
    (tmp_path / "queries.tsv").write_text("mention\tentity\nVøll\tQ1\n", encoding="utf-8")
    arguments = {
        "query": [folder, "Vøll"],
        "explain": [folder, "Vøll", "Q1"],
        "evaluate": [tmp_path / "queries.tsv", folder],
        "info": [folder],
        "serve": [folder, "--port", "0"],
    }
    done = cli(command, *arguments[command])
    assert is_refusal(done), done.err
    assert key.name in done.err
