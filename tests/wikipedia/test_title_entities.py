"""Tables of (title, entity) that users bring along."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen.errors import TableError
from candgen.wikipedia.title_entities import read_ids

EXPECTED = [{"title": "Føroyar", "entity": "Q4628"}, {"title": "A b", "entity": "Q1"}]


def read(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_ids(path).to_pylist()


@pytest.mark.parametrize(
    "text",
    [
        "title\tentity\nFøroyar\tQ4628\nA_b\tQ1\n",
        "title\tentity\nFøroyar\tQ4628\nA b\tQ1",
        "\ufefftitle\tentity\r\nFøroyar\tQ4628\r\nA_b\tQ1\r\n",
        "qid\tid\ttitle\nQ4628\t1\tFøroyar\nQ1\t2\tA_b\n",
        "Title\twikidata\t\t\nFøroyar\tQ4628\t\t\nA_b\tQ1\t7\t\n",
        "item\ttitle\nQ4628\tFøroyar\nQ1\tA_b\n",
        "qid\ttitle\tentity\nx\tFøroyar\tQ4628\nx\tA_b\tQ1\n",
        "title\tentity\n\nFøroyar\tQ4628\n\nA_b\tQ1\n\n",
    ],
)
def test_tsv(tmp_path, text):
    assert read(tmp_path / "ids.tsv", text) == EXPECTED
    assert read(tmp_path / "ids.tsv.gz", gzip.compress(text.encode())) == EXPECTED


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet(tmp_path, kind):
    titles = pa.array(["Føroyar", "A_b", None], pa.string()).cast(kind)
    entities = pa.array(["Q4628", "Q1", "Q2"])
    path = tmp_path / "wiki=fo" / "ids.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"n": [1, 2, 3], "qid": entities, "title": titles}), path)
    table = read_ids(path)
    assert table.to_pylist() == EXPECTED
    assert table.schema == pa.schema(dict.fromkeys(["title", "entity"], pa.large_string()))


def test_quotes_and_null_are_text(tmp_path):
    text = 'title\tentity\n"Heroes"\tQ1\n"x\tQ2\nNULL\tQ3\n\\N\tNA\n'
    titles = [row["title"] for row in read(tmp_path / "ids.tsv", text)]
    assert titles == ['"Heroes"', '"x', "NULL", "\\N"]


def test_the_first_entity_of_a_title_counts(tmp_path, caplog):
    text = "title\tentity\nB\tQ2\nA b\tQ1\nA_b\tQ9\nB\tQ2\nC\tQ3\nA b\tQ8\n"
    assert read(tmp_path / "ids.tsv", text) == [
        {"title": "B", "entity": "Q2"},
        {"title": "A b", "entity": "Q1"},
        {"title": "C", "entity": "Q3"},
    ]
    expected = f"{tmp_path / 'ids.tsv'}: titles with more than one entity, of which the first was"
    assert caplog.messages == [f"{expected} taken: 1"]


def test_rows_without_a_title_or_an_entity(tmp_path, caplog):
    assert read(tmp_path / "ids.tsv", "title\tentity\nA\t\n\tQ1\nB\tQ2\n") == [
        {"title": "B", "entity": "Q2"}
    ]
    assert caplog.messages == [
        f"{tmp_path / 'ids.tsv'}: rows left out without a title or an entity: 2"
    ]


def test_a_header_alone_is_an_empty_table(tmp_path):
    assert read(tmp_path / "ids.tsv", "title\tentity\n") == []
    assert read(tmp_path / "ids.tsv", "title\tentity") == []


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0"), min_size=1)


@given(rows=st.lists(st.tuples(NAMES, NAMES)))
def test_like_a_dictionary(tmp_path_factory, rows):
    expected = {}
    for title, entity in rows:
        expected.setdefault(title.replace("_", " "), entity)
    path = tmp_path_factory.mktemp("ids") / "ids.tsv"
    found = read(path, "title\tentity\n" + "".join(f"{t}\t{e}\n" for t, e in rows))
    assert [(row["title"], row["entity"]) for row in found] == list(expected.items())


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("ids.csv", b"", r"unknown suffix, expected a name that ends in \.tsv"),
        ("ids.tsv", b"", "is empty, expected a header row with title and entity"),
        ("ids.tsv", b"\n", "is empty"),
        ("ids.tsv", b"page\tqid\n", "has no column title, only .*: name the columns title and"),
        ("ids.tsv", b"title\tid\n", r"no column entity, only .* \(or qid, wikidata, item\)"),
        ("ids.tsv", b"title\tqid\nA\tQ1\nB\nC\tQ2\n", "line 3: expected 2 columns, found 1$"),
        ("ids.tsv", b"title\tqid\nA\tQ1\nB\tQ2\tx\n", "line 3: expected 2 columns, found 3$"),
        ("ids.tsv", b"title\tqid\nA\tQ1\n\xff\tQ2\n", "line 3: byte 0xff is not UTF-8: save"),
        ("ids.tsv.gz", b"title\tqid\nA\tQ1\n", "is not a valid gzip file"),
        (
            "ids.tsv.gz",
            gzip.compress(b"title\tqid\nA\tQ1\n" * 99, mtime=0)[:-9],
            "is cut short or damaged",
        ),
        ("ids.parquet", b"PAR1", "is not a valid Parquet file"),
        ("missing/ids.tsv", None, "does not exist: check the name and the folder"),
        ("missing/ids.parquet", None, "does not exist: check the name and the folder"),
    ],
)
def test_mistakes(tmp_path, name, content, sentence):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TableError, match=sentence) as caught:
        read_ids(path)
    assert str(path) in str(caught.value)


def test_a_folder_cannot_be_read(tmp_path):
    for name in ("a.tsv", "a.parquet"):
        (tmp_path / name).mkdir()
        with pytest.raises(TableError, match=r"cannot be read|not a valid"):
            read_ids(tmp_path / name)


def test_numbers_are_no_entities(tmp_path):
    path = tmp_path / "ids.parquet"
    pq.write_table(pa.table({"title": ["A"], "qid": [42]}), path)
    with pytest.raises(TableError, match="column qid holds int64, expected strings: convert it"):
        read_ids(path)
