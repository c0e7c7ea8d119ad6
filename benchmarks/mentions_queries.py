"""Other kinds of mention, made of the names of a table: what mentions.py asks beside names.

Words are what stands between spaces.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.text.normalize import normalize_many

MIN_LETTERS = 3
"""Shorter words are left out: initials, and most function words."""
MIN_GENERIC_LETTERS = 4
GENERIC_WORDS = 20
PERSON_WORDS = range(2, 5)
NOT_IN_A_PERSON = frozenset("(),;:/")


def persons(tables: Mapping[str, MentionTable], name_words: Iterable[str]) -> frozenset[str]:
    """Return the entities that have a name of 2 to 4 words, all of them given or family names.

    Most of these are persons; some are places whose name looks like a person's, as San Diego.
    """
    known = set(normalize_many(list(name_words), "latin"))
    found = set[str]()
    for code, table in tables.items():
        mentions = normalize_many(table.arrow["mention"].to_pylist(), "latin", language=code)
        for mention, entity in zip(mentions, table.arrow["entity"].to_pylist(), strict=True):
            words = mention.split()
            if len(words) in PERSON_WORDS and known.issuperset(words):
                found.add(entity)
    return frozenset(found)


def reorder(queries: Iterable[Query], among: frozenset[str]) -> list[Query]:
    """Return the queries for persons ``among`` the entities, the last word moved to the front.

    >>> reorder([Query("Eivør Pálsdóttir", "Q1"), Query("Havn", "Q2")], frozenset({"Q1", "Q2"}))
    [Query(mention='Pálsdóttir Eivør', entity='Q1', type=None)]
    """
    made = []
    for query in queries:
        *others, last = query.mention.split()
        if query.entity in among and is_full_name(query.mention) and last not in others:
            made.append(query._replace(mention=" ".join([last, *others])))
    return made


def is_full_name(mention: str) -> bool:
    """Return whether a mention has 2 to 4 words and no punctuation that a person's name lacks."""
    return len(mention.split()) in PERSON_WORDS and NOT_IN_A_PERSON.isdisjoint(mention)


def shorten(queries: Iterable[Query], among: frozenset[str], names: MentionTable) -> list[Query]:
    """Return one word of each name of several: a person's last one, or else its rarest.

    The rarest word is the one that fewest mentions of ``names`` have, the longest among equals. It
    is also taken of a person if the last word is a generic one.

    >>> names = MentionTable.from_pairs([("Nes kommuna", "Q1"), ("Vágs kommuna", "Q2")])
    >>> [query.mention for query in shorten([Query("Vágs kommuna", "Q2")], frozenset(), names)]
    ['Vágs']
    """
    frequency = word_frequencies(names)
    generic = generic_words(frequency)
    made = []
    for query in queries:
        words = query.mention.split()
        if len(words) < 2:
            continue
        is_person = query.entity in among and is_full_name(query.mention)
        if is_person and words[-1] not in generic:
            word = words[-1]
        else:
            word = min(words, key=lambda each: (frequency[each], -len(each)))
        if len(word) >= MIN_LETTERS:
            made.append(query._replace(mention=word))
    return made


def add_generic_words(queries: Iterable[Query], names: MentionTable, random: Random) -> list[Query]:
    """Return each query with a frequent word of the table ``names`` before or after it.

    A word is drawn as often as it occurs in names. Queries that have it already are left out.
    """
    frequency = word_frequencies(names)
    words = generic_words(frequency)
    if not words:
        return []
    made = []
    for query in queries:
        (word,) = random.choices(words, [frequency[each] for each in words])
        if word not in query.mention.split():
            pair = [query.mention, word] if random.random() < 0.5 else [word, query.mention]
            made.append(query._replace(mention=" ".join(pair)))
    return made


def generic_words(frequency: Counter[str]) -> list[str]:
    """Return the most frequent words that are long enough, the most frequent first."""
    return sorted(
        (word for word in frequency if len(word) >= MIN_GENERIC_LETTERS and is_word(word)),
        key=lambda word: (-frequency[word], word),
    )[:GENERIC_WORDS]


def is_word(text: str) -> bool:
    """Return whether a text has only letters and the marks that belong to them."""
    return all(unicodedata.category(character)[0] in "LM" for character in text)


def word_frequencies(names: MentionTable) -> Counter[str]:
    """Return how many mentions of a table have each word."""
    return Counter(word for mention in names.mentions for word in set(mention.split()))
