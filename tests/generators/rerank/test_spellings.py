"""Spellings: what is kept of names, in which order, and in how many bytes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.generators.rerank.edit_model import EditModel
from candgen.generators.rerank.logarithms import decode_logarithm
from candgen.generators.rerank.spellings import Spellings, normalized_rows
from candgen.text.normalize import normalize
from tests.support.worlds import ENTITIES, mentions, tables


def spelled(named, normalizer="none", languages=None):
    """The spellings of tables, and the model whose symbols they are made of."""
    made = {name: MentionTable.from_pairs(rows) for name, rows in named.items()}
    rows = normalized_rows(made, normalizer, languages or {name: name for name in made})
    model = EditModel.plain(rows["text"].to_pylist())
    return Spellings.build(rows, model), model


def listed(spellings, model):
    """(spelling, stored count) of each entity."""
    found = {}
    for number, entity in enumerate(spellings.entities):
        first, last = spellings.first[number : number + 2].tolist()
        found[entity] = [
            (
                model.decode(spellings.symbols[spellings.start[at] : spellings.start[at + 1]]),
                int(spellings.count[at]),
            )
            for at in range(first, last)
        ]
    return found


def stored(count):
    """Eight steps for each doubling."""
    return min(255, round(8 * math.log2(1 + count)))


WORLDS = st.dictionaries(st.sampled_from(["is", "da", "fo"]), tables(), min_size=1)


@given(WORLDS)
def test_spellings_are_those_of_a_dictionary(world):
    spellings, model = spelled(world)
    counts, owners = {}, {}
    for name, rows in world.items():
        for mention, entity, count in rows:
            mine = counts.setdefault(entity, {})
            mine[mention] = mine.get(mention, 0) + count
            owners.setdefault(entity, set()).add(name)
    expected = {
        entity: [
            (mention, stored(count))
            for mention, count in sorted(mine.items(), key=lambda e: (-e[1], e[0].encode()))
        ]
        for entity, mine in counts.items()
    }
    found = listed(spellings, model)
    assert found == expected
    assert list(found) == sorted(expected, key=str.encode)
    for number, entity in enumerate(found):
        assert spellings.popularity[number] == stored(sum(counts[entity].values()))
        assert spellings.languages[number] == len(owners[entity])


def test_what_languages_spell_alike_is_kept_once():
    world = {
        "is": [("Rín", "Q584", 2), ("Vín", "Q1741", 3)],
        "fo": [("RIN", "Q584", 5), ("Wien", "Q1741", 1), ("vin", "Q1741", 1)],
    }
    spellings, model = spelled(world, "latin")
    assert listed(spellings, model) == {
        "Q1741": [("vin", stored(4)), ("wien", stored(1))],
        "Q584": [("rin", stored(7))],
    }
    assert spellings.languages.tolist() == [2, 2]


def test_the_normalizer_is_told_the_language_of_each_table():
    world = {"tr": [("ISI", "Q1")], "en": [("ISI", "Q2")], "": [("ISI", "Q3")]}
    spoken = {"tr": "tr", "en": "en", "": "az"}
    spellings, model = spelled(world, "default", spoken)
    found = {entity: names[0][0] for entity, names in listed(spellings, model).items()}
    assert found == {
        "Q1": normalize("ISI", language="tr"),
        "Q2": "isi",
        "Q3": normalize("ISI", language="az"),
    }
    assert found["Q1"] == found["Q3"] != "isi"


def test_names_of_which_nothing_is_left_are_left_out():
    rows = normalized_rows(
        {"is": MentionTable.from_pairs([("\u200b", "Q1"), ("a", "Q2")])}, "default", {"is": "is"}
    )
    assert rows["entity"].to_pylist() == ["Q2"]


@given(st.lists(ENTITIES, unique=True, min_size=1), st.lists(ENTITIES | mentions() | st.just("")))
def test_places(entities, asked):
    spellings, _ = spelled({"is": [("a", entity, 1) for entity in entities]})
    found = spellings.places(asked)
    assert [spellings.entities[at] if at >= 0 else None for at in found.tolist()] == [
        each if each in entities else None for each in asked
    ]


def test_places_of_nobody():
    spellings, _ = spelled({"is": [("a", "Q1")]})
    assert spellings.places([]).tolist() == []


@given(st.lists(st.integers(1, 10**13), min_size=1, max_size=20))
def test_decode_logarithms_are_near(counts):
    world = {"is": [("a", f"Q{number}", count) for number, count in enumerate(counts)]}
    spellings, _ = spelled(world)
    told = dict(
        zip(spellings.entities, np.expm1(decode_logarithm(spellings.count)).tolist(), strict=True)
    )
    for number, count in enumerate(counts):
        if count < 2**31:  # beyond that, everything is very much
            assert told[f"Q{number}"] + 1 == pytest.approx(count + 1, rel=0.05)


def test_arrays_describe_them():
    spellings, model = spelled({"is": [("Vín", "Q1741", 3), ("Rín", "Q584", 2)]})
    again = Spellings.from_arrays(spellings.arrays())
    assert listed(again, model) == listed(spellings, model)
    assert again.places(["Q584", "Q1"]).tolist() == [1, -1]
    with pytest.raises(KeyError, match="popularity"):
        Spellings.from_arrays({k: v for k, v in spellings.arrays().items() if k != "popularity"})


def bytes_a_mention(named, normalizer):
    spellings, _ = spelled(named, normalizer)
    size = sum(array.nbytes for array in spellings.arrays().values())
    return size / sum(map(len, named.values()))


def test_bytes_of_made_up_names():
    """Ids of ten letters, names of fifteen, and nothing that two tables have in common."""
    rows = [(f"some name {number:05}", f"Q{number:09}", 1) for number in range(2000)]
    assert bytes_a_mention({"is": rows[:1000], "da": rows[1000:]}, "latin") <= 55
    # Names of one entity share what an entity costs.
    rows = [(f"some name {number:05}", f"Q{number // 3:09}", 1) for number in range(3000)]
    assert bytes_a_mention({"is": rows}, "latin") <= 40


@pytest.mark.parametrize("languages", [("fo", "is", "da"), ("mk", "bg", "sr"), ("mr", "hi")])
def test_real_names_take_at_most_forty_bytes(shared_data, languages):
    named = {
        language: list(MentionTable.read(shared_data / "names" / f"{language}.tsv.gz"))
        for language in languages
    }
    assert bytes_a_mention(named, "latin") <= 40


def test_the_largest_counts_are_stored_as_equal_and_sums_do_not_overflow():
    tables = {f"l{number}": [("Vín", "Q1", 10**15)] for number in range(9)}
    spellings, _ = spelled({**tables, "is": [("Rín", "Q2", 3_800_000_000), ("Ey", "Q3", 10**9)]})
    assert spellings.count.tolist() == [255, 255, 239]
    assert spellings.popularity.tolist() == [255, 255, 239]
