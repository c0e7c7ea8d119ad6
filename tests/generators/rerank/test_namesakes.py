"""Sitelinks: they decide among entities with the same name, however the index is built."""

import pytest

import candgen
from candgen import MentionTable, Rerank
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS

PARIS = [("Paris", "Q90"), ("Paris", "Q830149"), ("Parish", "Q102496"), ("Parias", "Q4")]
SITELINKS = {"Q90": 20, "Q830149": 300, "Q102496": 2**40}


def order(generator, mention="Paris"):
    return [entity for entity, _ in generator.candidates([mention])[0]]


def test_they_decide_among_namesakes_and_only_among_them():
    pivots = {"en": MentionTable.from_pairs(PARIS)}
    plain = Rerank.build(pivots, language="fo")
    linked = Rerank.build(pivots, language="fo", sitelinks=SITELINKS)
    assert order(plain)[:2] == ["Q90", "Q830149"]
    assert order(linked)[:2] == ["Q830149", "Q90"]
    assert set(order(linked)) == set(order(plain))


def test_they_are_stored_and_explained(tmp_path):
    pivots = {"en": MentionTable.from_pairs(PARIS)}
    linked = Rerank.build(pivots, language="fo", sitelinks=SITELINKS)
    linked.save(tmp_path / "fo.candgen")
    again = candgen.load(tmp_path / "fo.candgen")
    assert again.candidates(["Paris"]) == linked.candidates(["Paris"])
    found = {each.name: each for each in again.explain("Paris", "Q830149").properties}
    assert found["sitelinks"].value == pytest.approx(5.7, abs=0.05)
    assert found["sitelinks"].weight == DEFAULT_WEIGHTS.sitelinks


def test_entities_that_are_not_in_the_index_or_unknown_cost_nothing():
    pivots = {"en": MentionTable.from_pairs(PARIS)}
    plain = Rerank.build(pivots, language="fo").candidates(["Paris", "Parisar"])
    for sitelinks in ({}, None, {"Q1": 5}, {"Q90": 0}):
        linked = Rerank.build(pivots, language="fo", sitelinks=sitelinks)
        assert linked.candidates(["Paris", "Parisar"]) == plain


def test_the_command_line_takes_them_from_the_table_of_entities(cli, tmp_path):
    names, entities = tmp_path / "en.tsv", tmp_path / "entities.tsv"
    names.write_text("mention\tentity\n" + "".join("\t".join(row) + "\n" for row in PARIS))
    rows = "".join(f"{entity}\ta name\t{number}\n" for entity, number in SITELINKS.items())
    entities.write_text("entity\tname\tsitelinks\n" + rows)
    given = ("--method", "rerank", "--pivot", names, "--language", "fo", "-o", tmp_path / "x")
    assert cli("build", *given, "--entities", entities).status == 0
    assert order(candgen.load(tmp_path / "x"))[:2] == ["Q830149", "Q90"]
