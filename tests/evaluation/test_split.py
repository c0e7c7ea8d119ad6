"""Splits: what every split must keep to, and a slow one in plain Python that draws the same."""

import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candgen import MentionTable
from candgen.errors import ParameterError
from candgen.evaluation.dataset import read_dataset, write_dataset
from candgen.evaluation.split import TYPES_OF, split
from candgen.tables.queries import Query
from candgen.tables.released import read_released, write_released
from candgen.text.normalize import normalize

MASK = 2**64 - 1


TYPES = ("easy", "medium", "hard")


# Normalised, the first four are one spelling and the last two nothing.
SPELLINGS = ["a", "A", "á", " a", "b", "B", "ab", "a b", "c", "ß", "ss", "\u200b", " "]


@st.composite
def tables(draw):
    """Some twenty entities, most with one mention or two: the bounds for small tables matter."""
    size = draw(st.integers(1, 40))
    of_entity = st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=5, unique=True)
    counts = st.integers(1, 4)
    return [
        (mention, f"Q{number}", draw(counts))
        for number in range(size)
        for mention in draw(of_entity)
    ]


SETTINGS = st.sampled_from(list(TYPES_OF))


NORMALIZERS = st.sampled_from(["none", "default", "paper"])


OPTIONS = st.fixed_dictionaries(
    {
        "per_type": st.sampled_from([1, 2, 3, 1000]),
        "seed": st.integers(0, 3) | st.integers(0, 2**63 - 1),
        "setting": SETTINGS,
        "normalizer": NORMALIZERS,
    }
)


# ---------------------------------------------------------------- the slow version
def mix(key):
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB & MASK
    return key ^ (key >> 31)


def key(number, seed, stream):
    state = mix((mix(seed) + stream) & MASK)
    return mix((state + (number + 1) * 0x9E3779B97F4A7C15) & MASK)


def numbered(things):
    """Each different thing, and its number in the order of first occurrence."""
    return {thing: number for number, thing in enumerate(dict.fromkeys(things))}


class Naive:
    """The rules of `split`, one after the other, on dictionaries."""

    def __init__(self, rows, *, per_type, seed, setting, normalizer):
        self.rows = sorted(rows)
        self.seed, self.per_type, self.setting = seed, per_type, setting
        self.group_of = [(normalize(m, normalizer), e) for m, e, _ in self.rows]
        self.number = numbered(self.group_of)
        self.entities = numbered(e for _, e, _ in self.rows)
        self.leaves, self.drawn = set(), {}
        if setting == "zero-shot":
            self.halve()
        else:
            self.draw()

    def shuffled(self, groups, stream):
        return sorted(groups, key=lambda group: key(self.number[group], self.seed, stream))

    def take(self, kind, ordered, most):
        n = min(most, len(ordered) // 2)
        self.drawn[kind] = ordered[: 2 * n : 2], ordered[1 : 2 * n : 2]
        return ordered[: 2 * n]

    def draw(self):
        present = [group for group in self.number if group[0]]
        several = {e for e, n in Counter(e for _, e in present).items() if n >= 2}
        if self.setting == "joint":
            first = {e: g for g in reversed(self.shuffled(present, 2)) for e in [g[1]]}
            taken = self.take(
                "hard",
                self.shuffled(first.values(), 2),
                min(self.per_type, len(self.entities) // 5 // 2),
            )
            hard = {e for _, e in taken}
            self.leaves |= {group for group in self.number if group[1] in hard}
        left = [g for g in present if g not in self.leaves and g[1] in several]
        first = {e: g for g in reversed(self.shuffled(left, 1)) for e in [g[1]]}
        most = min(self.per_type, len(several) // 2 // 2)
        self.leaves |= set(self.take("medium", self.shuffled(first.values(), 1), most))
        left = [group for group in present if group not in self.leaves]
        self.take("easy", self.shuffled(left, 0), self.per_type)

    def halve(self):
        self.leaves = set(self.number)
        of = {e: [g for g in self.number if g[1] == e] for e in self.entities}
        order = sorted(of, key=lambda e: (-len(of[e]), key(self.entities[e], self.seed, 2)))
        sides = [[], []]
        for entity in order:
            sides[len(sides[1]) < len(sides[0])] += of[entity]
        small, large = sorted(sides, key=len)
        if moved := (len(large) - len(small)) // 2:
            entity = next(e for e in order if of[e][0] in large)
            for group in self.shuffled(of[entity], 2)[:moved]:
                large.remove(group)
                small.append(group)
        self.drawn["hard"] = tuple(sides)

    def train(self):
        pairs = zip(self.rows, self.group_of, strict=True)
        return [row for row, group in pairs if group not in self.leaves]

    def queries(self, side):
        found = []
        for kind in TYPES:
            for group in self.drawn.get(kind, ([], []))[side]:
                same = [r for r, g in zip(self.rows, self.group_of, strict=True) if g == group]
                mention, entity, _ = min(same, key=lambda row: (-row[2], row[0]))
                found.append(Query(mention, entity, kind))
        return sorted(found, key=lambda query: (TYPES.index(query.type), query[:2]))


@given(tables(), OPTIONS)
def test_the_slow_version_draws_the_same(rows, options):
    made = split(MentionTable.from_pairs(rows), **options)
    naive = Naive(rows, **options)
    assert made.dev == naive.queries(0)
    assert made.test == naive.queries(1)
    assert list(made.train) == naive.train()


# ---------------------------------------------------------------- what must be true of a split
def type_of(query, train, normalizer):
    """The type by the words of section 5.1; a mention of which nothing is left is not observed."""
    pairs = {(normalize(m, normalizer), e) for m, e, _ in train}
    if (normalize(query.mention, normalizer), query.entity) in pairs:
        return "easy"
    return "medium" if query.entity in {e for m, e in pairs if m} else "hard"


@given(tables(), OPTIONS)
def test_types_are_true_of_the_written_training_data(rows, options):
    made = split(MentionTable.from_pairs(rows), **options)
    with tempfile.TemporaryDirectory() as folder:
        write_dataset(Path(folder) / "dataset", made)
        write_released(Path(folder) / "fo", made)
        for kept in (read_dataset(Path(folder) / "dataset"), read_released(Path(folder) / "fo")):
            assert kept.train == made.train
            assert (kept.dev, kept.test) == (made.dev, made.test)
            for query in kept.dev + kept.test:
                assert query.type == type_of(query, kept.train, options["normalizer"])
                # What the normalizer cannot tell apart is not there in another spelling either.
                assert query.type == type_of(query, kept.train, "none")


@given(tables(), OPTIONS)
def test_nothing_is_shared_or_duplicated(rows, options):
    made = split(MentionTable.from_pairs(rows), **options)
    queries = made.dev + made.test
    groups = [(normalize(q.mention, options["normalizer"]), q.entity) for q in queries]
    assert len(set(groups)) == len(groups)
    assert all(mention for mention, _ in groups) or options["setting"] == "zero-shot"
    assert {(q.mention, q.entity) for q in queries} <= {(m, e) for m, e, _ in rows}
    if options["setting"] != "zero-shot":
        for kind in ("hard", "medium"):
            entities = [query.entity for query in queries if query.type == kind]
            assert len(set(entities)) == len(entities)


@given(tables(), OPTIONS)
def test_only_what_must_leave_leaves(rows, options):
    made = split(MentionTable.from_pairs(rows), **options)
    staying = {(m, e): n for m, e, n in made.train}
    queries = made.dev + made.test
    hard = {q.entity for q in queries if q.type == "hard"}
    medium = {
        (normalize(q.mention, options["normalizer"]), q.entity)
        for q in queries
        if q.type == "medium"
    }
    for mention, entity, count in rows:
        left = entity in hard or (normalize(mention, options["normalizer"]), entity) in medium
        assert staying.get((mention, entity)) == (None if left else count)


@given(tables(), OPTIONS)
def test_sizes_are_the_largest_that_are_allowed(rows, options):
    made = split(MentionTable.from_pairs(rows), **options)
    assert made.types == TYPES_OF[options["setting"]]
    assert made.sizes == {
        name: {kind: [q.type for q in part].count(kind) for kind in made.types}
        for name, part in (("dev", made.dev), ("test", made.test))
    }
    if options["setting"] == "zero-shot":
        return
    groups = {(normalize(m, options["normalizer"]), e) for m, e, _ in rows}
    several = [n for n in Counter(e for m, e in groups if m).values() if n > 1]
    sizes = made.sizes["dev"]
    assert made.sizes["test"] == sizes
    assert max(sizes.values()) <= options["per_type"]
    assert 2 * sizes["medium"] <= len(several) / 2
    entities = len({e for _, e, _ in rows})
    if options["setting"] == "joint":
        usable = len({e for m, e in groups if m})
        assert sizes["hard"] == min(options["per_type"], entities // 10, usable // 2)
    staying = {(normalize(m, options["normalizer"]), e) for m, e, _ in made.train}
    easy = sum(bool(m) for m, _ in staying)
    assert sizes["easy"] == min(options["per_type"], easy // 2)


@given(tables(), st.integers(0, 2**63 - 1), NORMALIZERS)
def test_zero_shot_halves_all_pairs(rows, seed, normalizer):
    table = MentionTable.from_pairs(rows)
    made = split(table, seed=seed, setting="zero-shot", normalizer=normalizer, per_type=1)
    groups = {(normalize(m, normalizer), e) for m, e, _ in rows}
    assert len(made.train) == 0
    assert len(made.dev) + len(made.test) == len(groups)
    assert abs(len(made.dev) - len(made.test)) <= 1
    assert {q.type for q in made.dev + made.test} == {"hard"}
    both = {q.entity for q in made.dev} & {q.entity for q in made.test}
    sizes = Counter(e for _, e in groups)
    assert len(both) <= 1
    if max(sizes.values()) <= list(sizes.values()).count(1):
        assert not both


@given(tables(), OPTIONS, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, options, rng):
    shuffled = [(m, e, 1) for m, e, n in rows for _ in range(n)]
    rng.shuffle(shuffled)
    ours = split(MentionTable.from_pairs(rows), **options)
    assert split(MentionTable.from_pairs(shuffled), **options) == ours


# ---------------------------------------------------------------- examples
def test_a_zero_shot_target_by_hand():
    """Three mentions go to dev, two to test, and the one that is left evens it out."""
    pairs = [(m, "Q1") for m in "abc"] + [(m, "Q2") for m in "de"] + [("f", "Q3", 9)]
    made = split(MentionTable.from_pairs(pairs), setting="zero-shot")
    assert made.dev == [Query(m, "Q1", "hard") for m in "abc"]
    assert made.test == [
        Query("d", "Q2", "hard"),
        Query("e", "Q2", "hard"),
        Query("f", "Q3", "hard"),
    ]
    assert made.sizes == {"dev": {"hard": 3}, "test": {"hard": 3}}
    alone = split(MentionTable.from_pairs([(m, "Q1") for m in "abcdef"]), setting="zero-shot")
    assert len(alone.dev) == len(alone.test) == 3


def test_a_joint_target_by_hand():
    """Of 20 entities 4 may be hard, and the other 16 have one mention each: none is medium."""
    pairs = [(f"name {n}", f"Q{n}") for n in range(20)]
    made = split(MentionTable.from_pairs(pairs))
    assert made.sizes["dev"] == {"easy": 8, "medium": 0, "hard": 2}
    assert len(made.train) == 16
    # With a second mention for all, half of the entities may be medium; 16 are not hard.
    table = MentionTable.from_pairs([*pairs, *((f"alias {n}", f"Q{n}") for n in range(20))])
    made = split(table)
    assert made.sizes["dev"] == {"easy": 11, "medium": 5, "hard": 2}
    assert len(made.train) == 40 - 2 * 4 - 10
    assert made.input == (40, 20, table.digest)


def test_a_split_never_changes():
    """These are the queries of the first release: whoever has a seed has the split."""
    table = MentionTable.from_pairs([(f"{c}{n}", f"Q{n}") for n in range(10) for c in "ab"])
    made = split(table, per_type=1)
    assert made.dev == [("a4", "Q4", "easy"), ("b6", "Q6", "medium"), ("b2", "Q2", "hard")]
    assert made.test == [("a6", "Q6", "easy"), ("b4", "Q4", "medium"), ("b8", "Q8", "hard")]


def test_spellings_that_the_normalizer_joins_leave_together():
    """Havnin and HAVNIN are one mention; the commoner spelling is asked, with a tie the first."""
    pairs = [("Havnin", "Q1", 2), ("HAVNIN", "Q1", 3), ("Tórshavn", "Q1", 1), ("TÓRSHAVN", "Q1", 1)]
    others = [(f"{name}{n}", f"Q{n}") for n in range(2, 5) for name in ("vík", "vágur")]
    table = MentionTable.from_pairs(pairs + others)
    asked = set()
    for seed in range(20):
        made = split(table, seed=seed, setting="high-resource", normalizer="default")
        kept = {mention for mention, entity, _ in made.train if entity == "Q1"}
        medium = [q.mention for q in made.dev + made.test if q[1:] == ("Q1", "medium")]
        expected = {"HAVNIN": {"Tórshavn", "TÓRSHAVN"}, "TÓRSHAVN": {"Havnin", "HAVNIN"}}
        assert kept == (expected[medium[0]] if medium else {row[0] for row in pairs})
        asked.update(medium)
    assert asked == {"HAVNIN", "TÓRSHAVN"}


def test_the_language_decides_what_is_one_mention():
    """Isparta and ISPARTA are one mention, but not in Turkish."""
    pairs = [(m, f"Q{n}") for n in range(8) for m in (f"ISPARTA {n}", f"Isparta {n}")]
    pairs += [(f"isparta {n}", f"Q{n}") for n in range(8)]
    table = MentionTable.from_pairs(pairs)
    assert split(table, normalizer="default").sizes["dev"]["medium"] == 0
    turkish = split(table, normalizer="default", language="tr", setting="high-resource")
    assert turkish.sizes["dev"]["medium"] == 2
    assert turkish.language == "tr"


def test_a_mention_that_vanishes_neither_is_asked_nor_makes_a_query_medium():
    """The index has no token of it, so for the index the entity would be gone."""
    pairs = [(m, f"Q{n}") for n in range(8) for m in ("\u200b", f"name {n}")]
    made = split(MentionTable.from_pairs(pairs), normalizer="default", setting="high-resource")
    assert made.sizes["dev"] == {"easy": 4, "medium": 0}
    assert len(made.train) == 16
    assert (
        split(MentionTable.from_pairs(pairs), setting="high-resource").sizes["dev"]["medium"] == 2
    )


def test_seeds_differ():
    table = MentionTable.from_pairs([(f"{c}{n}", f"Q{n}") for n in range(100) for c in "ab"])
    made = [split(table, seed=seed, per_type=5) for seed in range(5)]
    assert len({tuple(one.test) for one in made}) == 5
    zero_shot = [split(table, seed=seed, setting="zero-shot") for seed in range(5)]
    assert len({tuple(one.test) for one in zero_shot}) == 5


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("side", ["dev", "test"])
def test_pairs_are_drawn_uniformly_whatever_their_counts(kind, side):
    """Chi-squared over 600 seeds, for 60 pairs; drawing by count would exceed it a thousandfold."""
    rows = [(f"{c}{n}", f"Q{n:02}", 1000 if n % 3 == 0 else 1) for n in range(30) for c in "ab"]
    table = MentionTable.from_pairs(rows)
    times = Counter()
    for seed in range(600):
        made = split(table, seed=seed, per_type=2)
        times.update(q.mention for q in getattr(made, side) if q.type == kind)
    assert sum(times.values()) == 600 * 2
    expected = 600 * 2 / len(rows)
    statistic = sum((times[m] - expected) ** 2 / expected for m, _, _ in rows)
    freedom = len(rows) - 1
    assert freedom - 4 * (2 * freedom) ** 0.5 < statistic < freedom + 4 * (2 * freedom) ** 0.5


def test_entities_with_many_mentions_are_drawn_more_often_as_hard():
    """Pairs are drawn, not entities."""
    rows = [(f"m{n}", f"Q{n % 40 if n < 40 else 0}") for n in range(100)]
    table = MentionTable.from_pairs(rows)
    made = [split(table, seed=seed, per_type=1) for seed in range(200)]
    of_first = sum(q.entity == "Q0" for one in made for q in one.dev + one.test if q.type == "hard")
    # 61 of 100 pairs are its own: it comes first or second with probability 0.61 + 0.39 * 0.6.
    assert 150 < of_first < 185


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"per_type": 0}, "per_type is 0: expected a whole number of at least 1"),
        ({"per_type": 2.5}, "per_type is 2.5: expected"),
        ({"per_type": True}, "per_type is True: expected"),
        ({"seed": -1}, "seed is -1: expected a whole number of at least 0"),
        ({"seed": 2**63}, "seed is 9223372036854775808: expected"),
        ({"seed": "0"}, "seed is '0': expected"),
        ({"setting": "both"}, "setting is 'both': expected joint, zero-shot, high-resource"),
        ({"normalizer": "lower"}, "unknown normalizer 'lower'"),
        ({"language": 5}, "language is 5: expected a code"),
    ],
)
def test_parameters_are_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        split(MentionTable.from_pairs([("a", "Q1")]), **options)


def test_tables_are_refused():
    with pytest.raises(ParameterError, match="the table is empty: there is nothing to split"):
        split(MentionTable.from_pairs([]))
    with pytest.raises(
        ParameterError, match=r"table is \[\('a', 'Q1'\)\]: expected a MentionTable"
    ):
        split([("a", "Q1")])


def test_numbers_of_numpy_are_numbers():
    table = MentionTable.from_pairs([(f"m{n}", f"Q{n}") for n in range(30)])
    made = split(table, per_type=np.int64(2), seed=np.uint64(7))
    assert made == split(table, per_type=2, seed=7)
    assert type(made.seed) is type(made.per_type) is int


def test_a_table_with_one_pair():
    table = MentionTable.from_pairs([("a", "Q1")])
    assert split(table).train == table
    assert split(table).dev == split(table).test == []
    assert split(table, setting="zero-shot").dev == [Query("a", "Q1", "hard")]


# ---------------------------------------------------------------- real names
@pytest.mark.parametrize(
    ("language", "easy", "medium", "hard"),
    [
        ("fo", (800, 1000), (20, 31), 229),
        ("mk", (1000, 1000), (150, 256), 1000),
        ("co", (1000, 1000), (5, 12), 713),
    ],
)
@pytest.mark.parametrize("normalizer", ["none", "default"])
def test_real_names(shared_data, language, easy, medium, hard, normalizer):
    table = MentionTable.read(shared_data / "names" / f"{language}.tsv.gz")
    made = split(table, normalizer=normalizer, language=language)
    assert made.sizes["dev"] == made.sizes["test"]
    assert easy[0] <= made.sizes["dev"]["easy"] <= easy[1]
    assert medium[0] <= made.sizes["dev"]["medium"] <= medium[1]
    assert made.sizes["dev"]["hard"] == hard
    # Nothing is destroyed: four fifths of the entities are still there.
    assert len(made.train.entities) >= 0.8 * len(table.entities)
    observed = {(normalize(m, normalizer, language=language), e) for m, e, _ in made.train}
    entities = {entity for mention, entity in observed if mention}
    for query in made.dev + made.test:
        pair = (normalize(query.mention, normalizer, language=language), query.entity)
        expected = "easy" if pair in observed else "medium" if pair[1] in entities else "hard"
        assert query.type == expected


def test_real_names_of_a_zero_shot_target(shared_data):
    table = MentionTable.read(shared_data / "names" / "co.tsv.gz")
    made = split(table, setting="zero-shot")
    assert {(q.mention, q.entity) for q in made.dev + made.test} == {row[:2] for row in table}
    assert len(made.dev) == len(made.test) == len(table) / 2
    assert not {q.entity for q in made.dev} & {q.entity for q in made.test}


def test_row_order_of_real_names(shared_data):
    table = MentionTable.read(shared_data / "names" / "fo.tsv.gz")
    rows = list(table)
    random.Random(0).shuffle(rows)
    assert split(MentionTable.from_pairs(rows), seed=3) == split(table, seed=3)
