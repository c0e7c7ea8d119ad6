"""JSON Lines: what is read, and what is refused by line."""

import pytest

from candgen.tables import jsonl
from candgen.tables.mention_table import MentionTable
from tests.support.mention_tables import MAX, refusal, toy, write


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"])
def test_json_lines(suffix, tmp_path):
    content = (
        '\ufeff{"mention": "T\\u00f3rshavn", "entity": "Q10704"}\r\n'
        '{"count": 12, "entity": "Q10704", "x": [1], "mention": "Havnin"}\n'
        ' {"mention":"Tórshavn","entity":"Q2","count":3} \n\n'
    )
    assert MentionTable.read(write(tmp_path / f"fo{suffix}", content)) == toy()


def test_an_empty_json_lines_file_is_an_empty_table(tmp_path):
    assert len(MentionTable.read(write(tmp_path / "fo.jsonl", ""))) == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "found '', expected a JSON object with mention and entity"),
        ("{", "found '{', expected a JSON object"),
        ('["a", "Q1"]', 'found \'["a", "Q1"]\', expected a JSON object'),
        ("[" * 100_000, "found '[[[["),
        ('{"mention": "a", "entity": "Q1", "count": ' + "9" * 5000 + "}", "found '{"),
        ('{"entity": "Q1"}', "mention is missing, expected a string"),
        ('{"mention": "a"}', "entity is missing, expected a string"),
        ('{"mention": 1, "entity": "Q1"}', "mention is 1, expected a string"),
        ('{"mention": "", "entity": "Q1"}', "mention is empty"),
        (r'{"mention": "a\tb", "entity": "Q1"}', r"mention is 'a\tb', expected text without a tab"),
        (
            r'{"mention": "a", "entity": "\ud800"}',
            r"entity is '\ud800', expected text without a lone",
        ),
        ('{"mention": "a", "entity": "Q1", "count": "1"}', "count is '1', expected a whole number"),
        ('{"mention": "a", "entity": "Q1", "count": 1.0}', "count is 1.0, expected a whole number"),
        (
            '{"mention": "a", "entity": "Q1", "count": true}',
            "count is True, expected a whole number",
        ),
        (
            '{"mention": "a", "entity": "Q1", "count": null}',
            "count is None, expected a whole number",
        ),
        (
            '{"mention": "a", "entity": "Q1", "count": 1e400}',
            "count is inf, expected a whole number",
        ),
        (f'{{"mention": "a", "entity": "Q1", "count": {2**63}}}', f"count is {2**63}, expected at"),
        (
            f'{{"mention": "a", "entity": "Q1", "count": {MAX + 1}}}',
            f"count is {MAX + 1}, expected at most {MAX}",
        ),
    ],
)
def test_bad_json_lines(line, expected, tmp_path):
    good = '{"mention": "b", "entity": "Q2"}'
    path = write(tmp_path / "fo.jsonl", f"{good}\n{line}\n{good}\n")
    message = refusal(MentionTable.read, path)
    assert message.startswith(f"{path} line 2: {expected}")
    assert "--skip-bad-rows" in message
    table = MentionTable.read(path, skip_bad_rows=True)
    assert (list(table), table.skipped) == ([("b", "Q2", 2)], 1)


def test_json_lines_that_are_not_utf_8(tmp_path):
    path = write(tmp_path / "fo.jsonl", b'{"mention": "\xe9", "entity": "Q1"}\n')
    assert "line 1: byte 0xe9 is not UTF-8" in refusal(MentionTable.read, path)


def test_objects_and_their_lines(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", '\ufeff{"a": "x", "b": ["y"]}\r\n\n{"a": "z"}\n')
    assert list(jsonl.read_objects(path)) == [(1, {"a": "x", "b": ["y"]}), (3, {"a": "z"})]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}\n{"a": \n', """ line 2: found '{"a": ', expected a JSON object"""),
        ('{"a": 1}\n\n[1]\n', " line 3: found '[1]', expected a JSON object"),
        ('{"a": ' + "[" * 100_000, """ line 1: found '{"a": [[["""),
    ],
)
def test_lines_that_are_not_objects(tmp_path, content, expected):
    path = write(tmp_path / "a.jsonl", content)
    assert refusal(list, jsonl.read_objects(path)).startswith(f"{path}{expected}")
