"""``candgen explain``: scores as sums of tokens."""

import json

import pytest

import candgen
from tests.support.commands import write_table


def test_explain_for_programs(cli, index):
    result = cli("explain", index, "Vínið", "Q282", "--format", "json")
    assert result.status == 0
    found = json.loads(result.out)
    expected = candgen.load(index).explain("Vínið", "Q282")
    assert found["score"] == expected.score == pytest.approx(1.375 + 0.75)
    total = sum(part["prior"] + part["posterior"] for part in found["tokens"])
    assert total == pytest.approx(found["score"])
    assert found["prior"] + found["posterior"] == pytest.approx(found["score"])
    assert found["unknown"] == expected.unknown
    assert sum(found["languages"].values()) == pytest.approx(1)
    assert found["sources"][0] == {"mention": "Vín", "language": "fo", "count": 1}


def test_explain_for_people(cli, index):
    shown = cli("explain", index, "Vínið", "Q282", "--lam", "0").out
    assert shown.startswith("Vínið -> Q282: score 1.375 = prior 1.375 + posterior 0 (lam 0)\n")
    rows = [line.split() for line in shown.splitlines()]
    assert ["^v", "1", "0.5000", "0.0000", "█" * 20] in rows
    assert ["sum", "3", "1.3750", "0.0000"] in rows
    assert ["fo", "66.7%", "█" * 13 + "▍"] in rows
    assert ["Vín", "fo", "1"] in rows
    assert "Not in the index: ni" in shown


def test_explain_where_nothing_matches(cli, index):
    result = cli("explain", index, "Oslo", "Q282")
    assert result.status == 0
    assert "No token" in result.out


def test_a_long_explanation_still_adds_up(cli, tmp_path):
    mention = "abcdefghijklmnopqrstuvwxyz"
    rows = [(mention, "Q1", 1)] + [(f"{mention[:5]}{i}", "Q1", 1) for i in range(12)]
    cli("build", "--pivot", write_table(tmp_path / "xx.tsv", rows), "-o", tmp_path / "x")
    shown = cli("explain", tmp_path / "x", mention, "Q1").out
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    tokens = len(candgen.CharNgrams().tokens(mention))
    assert f"{tokens - 20} more" in shown
    assert rows["sum"][1] == str(tokens)
    assert float(rows["sum"][2]) == tokens  # the only entity: every prior is 1
    assert "and 3 more" in shown
