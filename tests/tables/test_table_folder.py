"""A folder of mention tables as a mapping."""

import pytest

from candgen.errors import TableError
from candgen.tables.mention_table import MentionTable
from candgen.tables.table_folder import LanguageFiles, TableFolder

ICELANDIC = MentionTable.from_pairs([("Vín", "Q1741"), ("Vín", "Q282")])
DANISH = MentionTable.from_pairs([("Wien", "Q1741"), ("Oslo", "Q585"), ("Rhinen", "Q584")])
ENGLISH = MentionTable.from_pairs([("Vienna", "Q1741"), ("wine", "Q282")])


def test_a_folder_is_a_mapping_that_reads_on_access(tmp_path, monkeypatch):
    ICELANDIC.write(tmp_path / "is.parquet")
    DANISH.write(tmp_path / "da.tsv.gz")
    ENGLISH.write(tmp_path / "en.jsonl")
    (tmp_path / "README.md").write_text("no table", encoding="utf-8")
    (tmp_path / "bad.tsv").write_text("no\theader\n", encoding="utf-8")
    folder = TableFolder(tmp_path, without="en")
    assert list(folder) == ["bad", "da", "is"]
    assert len(folder) == 3
    assert folder["is"] == ICELANDIC
    assert "en" not in folder
    assert folder.path("da") == tmp_path / "da.tsv.gz"
    with pytest.raises(KeyError):
        folder["en"]
    with pytest.raises(TableError, match=r"bad\.tsv"):
        folder["bad"]


def test_folders_without_tables(tmp_path):
    with pytest.raises(TableError, match="has no mention tables: expected files such as"):
        TableFolder(tmp_path)
    DANISH.write(tmp_path / "da.tsv")
    with pytest.raises(TableError, match="has no mention tables but that of da"):
        TableFolder(tmp_path, without="da")
    with pytest.raises(TableError, match="is not a folder"):
        TableFolder(tmp_path / "nowhere")


def test_a_table_is_read_again_only_if_its_file_has_changed(tmp_path):
    DANISH.write(tmp_path / "da.tsv")
    folder = TableFolder(tmp_path)
    assert folder["da"] is folder["da"]
    before = LanguageFiles(tmp_path).fingerprint("da")
    ENGLISH.write(tmp_path / "da.tsv")
    assert folder["da"] == ENGLISH
    assert LanguageFiles(tmp_path).fingerprint("da") != before


def test_two_tables_of_one_language(tmp_path):
    DANISH.write(tmp_path / "da.tsv")
    DANISH.write(tmp_path / "da.parquet")
    with pytest.raises(
        TableError, match=r"da\.tsv and da\.parquet are both tables of da: keep one"
    ):
        TableFolder(tmp_path)["da"]
