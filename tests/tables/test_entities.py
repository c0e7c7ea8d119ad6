"""Names, descriptions and types of entities: read from whatever file, stored with an index."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import candgen
from candgen.errors import StorageError, TableError
from candgen.protocols import entity_ids_of
from candgen.storage import index_folder
from candgen.tables.entities import (
    EntityTable,
    EntityText,
    read_entities,
    read_sitelinks,
    sitelinks_of,
)
from candgen.wikidata.tables import ENTITIES as WIKIDATA_SCHEMA
from tests.support.service_world import ENTITIES, save_toy, toy_index

HEADER = "entity\tlanguage\tname\tdescription\ttype"
TSV = "\n".join([HEADER, *("\t".join([*row[:4], "|".join(row[4])]) for row in ENTITIES)]) + "\n"
FIELDS = HEADER.split("\t")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
rows = st.lists(
    st.tuples(text.filter(bool), text, text, text, st.lists(text.filter(bool), max_size=3))
)


def written(folder, form):
    """The same five rows in a file of this form."""
    path = folder / f"entities.{form}"
    if form.startswith("tsv"):
        data = TSV.encode()
    elif form.startswith("jsonl"):
        data = "".join(
            json.dumps(dict(zip(FIELDS, r, strict=True))) + "\n" for r in ENTITIES
        ).encode()
    else:
        columns = [list(each) for each in zip(*ENTITIES, strict=True)]
        pq.write_table(pa.table(dict(zip(FIELDS, columns, strict=True))), path)
        return path
    path.write_bytes(gzip.compress(data) if form.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("form", ["tsv", "tsv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_every_form_says_the_same(tmp_path, form):
    found = EntityTable.from_arrow(read_entities(written(tmp_path, form)))
    assert found.of("Q1741") == [
        EntityText("da", "Wien", "Østrigs hovedstad"),
        EntityText("en", "Vienna", "capital of Austria"),
    ]
    assert found.types_of("Q1741") == ["Q1549591", "Q515"]
    assert found.types_of("Q515") == []
    assert found.of("Q584") == found.types_of("Q584") == []


SITELINKS = [("Q1", 3), ("Q1", 3), ("Q2", 0), ("Q3", None), ("", 5), ("Q4", 2**40)]
"""Rows that have the same number in every language."""


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet"])
def test_sitelinks_are_read_where_there_are_any(tmp_path, form):
    path = tmp_path / f"entities.{form}"
    if form == "tsv":
        lines = [f"{e}\t{'' if n is None else n}\ta\n" for e, n in SITELINKS]
        path.write_text("entity\tsitelinks\tname\n" + "".join(lines), encoding="utf-8")
    elif form == "jsonl":
        objects = [{"entity": e, "sitelinks": n, "name": "a"} for e, n in SITELINKS]
        path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")
    else:
        entities, numbers = zip(*SITELINKS, strict=True)
        names = ["a"] * len(entities)
        table = {"entity": entities, "sitelinks": pa.array(numbers, pa.uint64()), "name": names}
        pq.write_table(pa.table(table), path)
    assert read_sitelinks(path) == {"Q1": 3, "Q4": 2**40}
    assert sitelinks_of(read_entities(written(tmp_path, "tsv"))) == {}


@pytest.mark.parametrize("number", ["-1", "2.5", "many", str(2**64)])
def test_sitelinks_that_are_no_whole_numbers_are_one_sentence(tmp_path, number):
    path = tmp_path / "entities.tsv"
    path.write_text(f"entity\tsitelinks\tname\nQ1\t{number}\ta\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"entities\.tsv: column sitelinks (is not all|has a)"):
        read_entities(path)
    pq.write_table(pa.table({"entity": ["Q1"], "sitelinks": [0.5], "name": ["a"]}), path)
    with pytest.raises(TableError, match="sitelinks holds 'double', expected whole numbers"):
        read_entities(path.rename(tmp_path / "entities.parquet"))


@given(rows)
def test_it_is_what_a_dictionary_would_say(given_rows):
    found = EntityTable.from_rows(given_rows)
    for entity in {row[0] for row in given_rows} | {"Q"}:
        mine = [row for row in given_rows if row[0] == entity]
        assert found.of(entity) == sorted(EntityText(*row[1:4]) for row in mine)
        assert found.types_of(entity) == sorted(
            {each for row in mine for each in row[4]}, key=str.encode
        )


@given(rows)
def test_it_reads_back_as_it_was_stored(tmp_path_factory, given_rows):
    path = tmp_path_factory.mktemp("described") / "fo.candgen"
    toy_index().save(path)
    made = EntityTable.from_rows(given_rows)
    made.store(path)
    found = EntityTable.from_stored(index_folder.load(path))
    for entity in {row[0] for row in given_rows}:
        assert (found.of(entity), found.types_of(entity)) == (
            made.of(entity),
            made.types_of(entity),
        )


def test_what_extract_wikidata_writes_is_read(tmp_path):
    path = tmp_path / "entities.parquet"
    row = {
        "entity": "Q1741",
        "language": "fo",
        "name": "Wien",
        "description": None,
        "instance_of": ["Q515"],
        "sitelinks": 3,
    }
    pq.write_table(pa.Table.from_pylist([row], schema=WIKIDATA_SCHEMA), path)
    found = EntityTable.from_arrow(read_entities(path))
    assert found.of("Q1741") == [EntityText("fo", "Wien", "")]
    assert found.types_of("Q1741") == ["Q515"]


def test_only_what_the_index_has_is_kept_and_the_names_of_types(tmp_path):
    path = written(tmp_path, "tsv")
    path.write_text(TSV + "Q1\ten\tuniverse\t\tQ2\nQ2\ten\tEarth\t\t\n", encoding="utf-8")
    for generator in (toy_index(), candgen.Rerank(toy_index())):
        found = EntityTable.select(read_entities(path), entity_ids_of(generator), path)
        assert sorted(found.entities) == ["Q1741", "Q282", "Q515"]
        assert found.of("Q515")[1].name == "city"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty, expected a header row with entity, language, name"),
        ("mention\tcount\na\t1\n", r"has the columns \['mention', 'count'\]"),
        ("entity\tlanguage\nQ1\ten\n", "entity and one of the last three are needed"),
        ("entity\tname\nQ1\n", "line 2: expected 2 columns, found 1"),
        ("entity\tname\nQ1\tone\nQ2\n", "line 3: expected 2 columns, found 1"),
        ("entity\tname\tname\nQ1\tone\ttwo\n", "two columns with the same name"),
    ],
)
def test_a_bad_table_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "entities.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TableError, match=said) as caught:
        read_entities(path)
    assert "\n" not in str(caught.value)


def test_other_bad_files_are_one_sentence(tmp_path):
    with pytest.raises(TableError, match="does not exist"):
        read_entities(tmp_path / "none.tsv")
    for name, data in (
        ("a.parquet", b"no"),
        ("a.jsonl", b"{"),
        ("a.tsv", b"entity\tname\n\xff\t\n"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError) as caught:
            read_entities(tmp_path / name)
        assert name in str(caught.value)
    for column in ("name", "type"):
        bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
        pq.write_table(pa.table({"entity": ["Q1"], column: bad}), tmp_path / "a.parquet")
        with pytest.raises(TableError, match=r"UTF-?8"):
            read_entities(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="unknown suffix"):
        read_entities(tmp_path / "a.csv")
    (tmp_path / "other.tsv").write_text("entity\tname\nX1\tother\n", encoding="utf-8")
    with pytest.raises(TableError, match="none of the entities of the index"):
        EntityTable.select(
            read_entities(tmp_path / "other.tsv"), entity_ids_of(toy_index()), "other.tsv"
        )


def test_what_is_stored_in_another_way_is_one_sentence(tmp_path):
    save_toy(tmp_path / "fo.candgen")
    index_folder.amend(tmp_path / "fo.candgen", "descriptions", {"start": np.zeros(1, np.int64)})
    with pytest.raises(StorageError, match="store them again"):
        EntityTable.from_stored(index_folder.load(tmp_path / "fo.candgen"))


def test_candgen_build_stores_it_or_nothing(cli, tmp_path):
    candgen.MentionTable.from_pairs([("Wien", "Q1741"), ("Vín", "Q282")]).write(tmp_path / "fo.tsv")
    path, table = tmp_path / "fo.candgen", written(tmp_path, "parquet")
    build = ["build", "--target", tmp_path / "fo.tsv", "-o", path]
    assert cli(*build, "--entities", table).status == 0
    assert EntityTable.from_stored(index_folder.load(path)).of("Q282")[0].name == "wine"
    shown = cli("info", path).out
    assert "described entities" in shown
    described = json.loads(cli("info", path, "--format", "json").out)
    assert (described["described_entities"], described["types"]) == (3, 3)
    before = {each.name: each.read_bytes() for each in path.iterdir()}
    (tmp_path / "bad.tsv").write_text("entity\tname\nX1\tother\n", encoding="utf-8")
    result = cli(*build, "--entities", tmp_path / "bad.tsv")
    assert result.status == 2
    assert "none of the entities" in result.err
    assert {each.name: each.read_bytes() for each in path.iterdir()} == before


def test_info_counts_the_index_and_not_what_lies_beside_it(tmp_path, cli):
    bare, described = tmp_path / "bare.candgen", tmp_path / "described.candgen"
    for kind in (False, True):
        save_toy(bare, second_stage=kind)
        save_toy(described, second_stage=kind, described=True)
        one, other = (
            json.loads(cli("info", path, "--format", "json").out) for path in (bare, described)
        )
        assert one["entities"] == other["entities"]
        assert one.get("bytes_per_posting") == other.get("bytes_per_posting")
