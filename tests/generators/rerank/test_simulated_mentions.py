"""Mentions that are made from names, to learn weights from."""

from candgen import Query
from candgen.generators.rerank.simulated_mentions import simulate_mentions


def test_of_every_query_another_mention_is_made():
    queries = [Query(f"Nomn{n} Lund", f"Q{n}", "hard") for n in range(40)]
    made = simulate_mentions(queries)
    assert [each.entity for each in made] == [each.entity for each in queries]
    assert not {each.mention for each in made} & {each.mention for each in queries}
    assert made[0].mention == "Nomn0"  # which is rarer than Lund
    assert made[1].mention == "Lund Nomn1"
    assert made[2].mention.startswith("Nomn2 Lund")
    assert made[3].mention == "Nomn3 Lund Lund"
    assert simulate_mentions(queries) == made


def test_one_word_and_nothing():
    assert simulate_mentions([]) == []
    made = simulate_mentions([Query("Vín", "Q1741"), Query("Rín", "Q584")])
    assert [each.mention for each in made] == ["VínRín", "RínVín"]
