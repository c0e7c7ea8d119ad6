"""What the tests of several commands share: the toy world, and a dataset with its indexes."""

from dataclasses import replace

import pytest

import candgen
from candgen.generators import METHODS
from candgen.protocols import Method, Size
from tests.support import toy
from tests.support.commands import write_table
from tests.support.paper_world import TABLES


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The toy world as files, and its index."""
    folder = tmp_path_factory.mktemp("world")
    write_table(folder / "is.tsv", toy.ICELANDIC)
    write_table(folder / "fo.tsv.gz", toy.FAROESE)
    (folder / "latin1.tsv").write_bytes("mention\tentity\nVín\tQ1\n".encode("latin-1"))
    index = candgen.PivotTokenIndex.build(
        pivots={"is": candgen.MentionTable.from_pairs(toy.ICELANDIC)},
        target=candgen.MentionTable.from_pairs(toy.FAROESE),
        language="fo",
        alpha=toy.ALPHA,
        lam=1.0,
        tokenizer=candgen.CharNgrams(*toy.NGRAMS),
    )
    index.save(folder / "fo.candgen")
    return folder


@pytest.fixture
def index(world):
    return world / "fo.candgen"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for language, table in TABLES.items():
        table.write(folder / f"{language}.tsv.gz")
    return folder


@pytest.fixture
def dataset(cli, tables, tmp_path):
    folder = tmp_path / "fo.dataset"
    arguments = ("-o", folder, "--per-type", 5, "--normalizer", "default")
    assert cli("split", tables / "fo.tsv.gz", *arguments).status == 0
    return folder


@pytest.fixture
def indexes(cli, tables, dataset, tmp_path):
    for name, more in (("joint", ()), ("alone", ("--zero-shot",))):
        done = cli(
            "tune",
            dataset,
            "--method",
            "pti",
            "--pivot",
            tables / "is.tsv.gz",
            *more,
            "-o",
            tmp_path / name,
        )
        assert done.status == 0, done.err
    return tmp_path / "joint", tmp_path / "alone"


@pytest.fixture
def mine(monkeypatch):
    """A neural method among those that there are, and what it was given."""
    given = []

    def build(training, parameters):
        given.append((training, dict(parameters)))
        return METHODS["pti"](replace(training, english=None), {"lam": parameters["mu"]})

    method = Method(
        build=build,
        size=lambda _: Size(1),
        grid={"mu": (0.1, 1.0)},
        neural=True,
        options=frozenset({"epochs", "pairs"}),
    )
    monkeypatch.setitem(METHODS, "mine", method)
    return given
