"""The toy world in both layouts."""

import pytest

from candgen import split
from candgen.tables.released import write_released, write_training
from tests.support.paper_world import TABLES, TOY_PAIRS


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("names")
    for language, table in TABLES.items():
        table.write(path / f"{language}.tsv.gz")
    (path / "README.md").write_text("not a table", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    path = tmp_path_factory.mktemp("released")
    for pair in TOY_PAIRS:
        setting = "zero-shot" if pair.zero_shot_only else "joint"
        write_released(path / pair.target, split(TABLES[pair.target], per_type=5, setting=setting))
    for language in ("is", "fi", "en", "de"):
        (path / language).mkdir()
        write_training(path / language / "mentions_tr.txt", TABLES[language])
    return path
