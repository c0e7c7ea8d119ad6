"""The tables that are merged from sorted runs."""

import json

import pyarrow.parquet as pq

import candgen
from candgen.wikidata import run_writer
from tests.support import wikidata_world as world
from tests.support.wikidata_files import (
    LANGUAGES,
    contents,
    extract,
    many_items,
    tables,
    write_dump,
)


def test_tables_are_those_that_a_mention_table_writes(tmp_path):
    extract(write_dump(tmp_path, many_items(300)), tmp_path / "made", part_size=5000)
    path = tmp_path / "made" / "fo.parquet"
    again = candgen.MentionTable.read(path)
    again.write(tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()
    assert again.metadata["language"] == "fo"
    assert again.metadata["source"] == "Wikidata"
    assert json.loads(again.metadata["options"])["languages"] == list(LANGUAGES)
    assert json.loads(again.metadata["counts"])["items"] == 300
    entities = pq.read_table(tmp_path / "made" / "entities.parquet")
    keys = [(len(row["entity"]), row["entity"], row["language"]) for row in entities.to_pylist()]
    assert keys == sorted(keys)


def test_an_entity_that_comes_twice_is_one(tmp_path):
    first = world.item(1, labels=world.texts(fo="a"), sitelinks=world.pages(fowiki="b"))
    second = world.item(1, labels=world.texts(fo="b"), aliases=world.several(fo=["c"]))
    found = []
    for at, entities in enumerate(([first, second], [second, first])):
        dump = write_dump(tmp_path, world.dump_of(entities))
        extract(dump, tmp_path / f"{at}", languages=("fo",), part_size=60)
        found.append(tables(tmp_path / f"{at}", ("fo",)))
    names = {("fo", "a", "Q1"): 1, ("fo", "b", "Q1"): 2, ("fo", "c", "Q1"): 1}
    assert found[0] == found[1] == (names, {("Q1", "fo"): ("a", None, set(), 1)})


def test_many_rows_are_merged_from_many_runs(tmp_path, long_text, monkeypatch):
    dump = write_dump(tmp_path, long_text)
    extract(dump, tmp_path / "one")
    monkeypatch.setattr(run_writer, "MAX_RUN", 1)
    monkeypatch.setattr("candgen.wikidata.tables.merge_runs.__kwdefaults__", {"rows": 5000})
    extract(dump, tmp_path / "many", part_size=20_000)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")
