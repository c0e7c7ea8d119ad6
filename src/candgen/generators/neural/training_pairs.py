"""The pairs of mention and English name that an encoder learns from."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.errors import ParameterError
from candgen.generators.neural.english_names import Names
from candgen.tables.mention_table import MentionTable
from candgen.text.normalize import normalize_many

Integers = npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Distinct pairs: normalized mentions, the places of their entities' names, their languages."""

    mention: list[str]
    place: Integers
    language: Integers  # numbers of the tables they were gathered from

    def take(self, chosen: Integers) -> "Pairs":
        """Return some of the pairs."""
        mention = [self.mention[at] for at in chosen.tolist()]
        return Pairs(mention, self.place[chosen], self.language[chosen])


class WeightedPairs(NamedTuple):
    """What is learned from: how much each pair weighs, and how many there are by language."""

    pairs: Pairs
    weight: npt.NDArray[np.float32]
    used: dict[str, int]


def draw_pairs(
    tables: Mapping[str, MentionTable],
    names: Names,
    *,
    target: str | None,
    mu: float,
    pairs: int,
    normalizer: str,
    seed: int,
) -> WeightedPairs:
    """Draw the pairs of the pivots, and take all of the target's; the loss is L_target + mu L.

    What is drawn depends on the set of pairs and the seed alone. Without pivots, the target's are
    drawn; without both, mu means nothing.
    """
    number = {each: at for at, each in enumerate(tables)}
    limited = [each for each in tables if each != target] or list(tables)
    drawn = _gather({each: tables[each] for each in limited}, names, number, normalizer)
    if len(drawn.mention) > pairs:
        rng = np.random.default_rng(seed)
        drawn = drawn.take(np.sort(rng.choice(len(drawn.mention), pairs, replace=False)))
    parts = [(drawn, 1.0)]
    if target is not None and target not in limited:
        own = _gather({target: tables[target]}, names, number, normalizer)
        parts = [(own, 1.0), (drawn, mu)] if own.mention else parts
    return _together(parts, list(tables), names)


def _gather(
    tables: Mapping[str, MentionTable], names: Names, number: Mapping[str, int], normalizer: str
) -> Pairs:
    """Return the pairs of all tables whose entity has a name, each pair once."""
    texts: list[str] = []
    places, languages = [], []
    for each, table in tables.items():
        found = names.places(table.arrow["entity"])
        rows = np.flatnonzero(found >= 0)
        mentions = table.arrow["mention"].take(pa.array(rows)).to_pylist()
        texts += normalize_many(mentions, normalizer, language=each)
        places.append(found[rows])
        languages.append(np.full(len(rows), number[each], np.int64))
    every = Pairs(texts, np.concatenate(places), np.concatenate(languages))
    coded = pa.array(texts, pa.large_string()).dictionary_encode()
    key = coded.indices.to_numpy().astype(np.int64) * len(names) + every.place
    _, first = np.unique(key, return_index=True)
    first.sort()
    return every.take(np.array([at for at in first.tolist() if texts[at]], np.int64))


def _together(
    parts: list[tuple[Pairs, float]], languages: list[str], names: Names
) -> WeightedPairs:
    """Concatenate all pairs; raise ParameterError if there are not two distinct names."""
    pairs = Pairs(
        [mention for some, _ in parts for mention in some.mention],
        np.concatenate([some.place for some, _ in parts]),
        np.concatenate([some.language for some, _ in parts]),
    )
    if len({names.text[place] for place in pairs.place.tolist()}) < 2:
        raise ParameterError(
            f"{len(pairs.mention)} pairs can be learned from, and fewer than two of their names "
            "are different: give tables whose mentions do not vanish when they are normalized, "
            "and English mentions of more of their entities"
        )
    weight = [np.full(len(some.mention), value, np.float32) for some, value in parts]
    used = np.bincount(pairs.language, minlength=len(languages)).tolist()
    return WeightedPairs(pairs, np.concatenate(weight), dict(zip(languages, used, strict=True)))


class NumberedNames(NamedTuple):
    """Distinct names, those of the candidate space first, the short ones before the long ones.

    ``of`` is the number of each entity's name, or -1 if it is not needed, and ``entities`` says how
    many entities of the space have each of the space's names.
    """

    text: list[str]
    of: Integers
    entities: Integers


def number_names(names: Names, space: Integers, used: Integers) -> NumberedNames:
    """Number the names of the space's entities, then those of other entities in pairs."""
    inside = {names.text[place] for place in space.tolist()}
    outside = {names.text[place] for place in used.tolist()} - inside
    text = [*sorted(inside, key=_by_length), *sorted(outside, key=_by_length)]
    number = {name: at for at, name in enumerate(text)}
    of = np.array([number.get(name, -1) for name in names.text], np.int64)
    return NumberedNames(text, of, np.bincount(of[space], minlength=len(inside)))


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text


def find_golds(
    golds: Sequence[str], names: Names, numbered: NumberedNames, space: Integers
) -> tuple[Integers, Integers]:
    """Return the number of each gold's name, -1 outside the space, and how many precede it.

    Before it, among equals, are entities of the space that have the same name and a smaller id.
    """
    number = np.full(len(names) + 1, -1, np.int64)  # the last one is for golds without a name
    number[space] = numbered.of[space]
    order = space[np.argsort(number[space], kind="stable")]
    starts = np.cumsum(numbered.entities) - numbered.entities
    before = np.zeros(len(names) + 1, np.int64)
    before[order] = np.arange(len(order)) - starts[number[order]]
    places = names.places(pa.array(golds, pa.large_string()))
    return number[places], before[places]
