"""Surface forms: the mentions that link to an entity, with their counts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from world.chance import Integers, draw, some, sometimes
from world.elements import CONTEXTS, SPELLINGS, SUFFIXES
from world.lexicon import Lexicons
from world.names import Names
from world.text import join


@dataclass(frozen=True)
class Form:
    """One surface form of some of the entities: row, name, count."""

    rows: Integers
    names: pa.Array
    counts: Integers


def surface_forms(
    made: Names, popularity: Integers, lexicons: Lexicons, rng: np.random.Generator
) -> list[Form]:
    """Distribute the occurrences of each entity among its names.

    The more popular an entity, the more ways to name it: the chance of a form grows with the
    number of binary digits of the popularity, and an entity seen once has one name.
    """
    size = len(popularity)
    digits = np.frexp(popularity.astype(np.float64))[1]
    left = popularity.copy()
    title = sometimes(0.08, made.qualified, made.full, rng)
    forms = []

    def add(chance: float, share: float, write: Callable[[pa.Array, int], pa.Array]) -> None:
        rows = np.flatnonzero((rng.random(size) < chance * digits) & (left > 1))
        wanted = (left[rows] * share * rng.random(len(rows))).astype(np.int64)
        counts = np.clip(wanted, 1, left[rows] - 1)
        left[rows] -= counts
        forms.append(Form(rows, write(pa.array(rows), len(rows)), counts))

    add(0.34, 0.8, lambda rows, _: made.short.take(rows))
    add(0.1, 0.6, lambda rows, _: made.full.take(rows))
    add(0.05, 0.2, lambda rows, _: made.qualified.take(rows))
    add(0.22, 0.1, lambda rows, _: join(made.short.take(rows), "s"))
    add(0.16, 0.1, lambda rows, _: join(made.full.take(rows), "s"))
    add(0.1, 0.1, lambda rows, _: join(made.short.take(rows), "es"))
    add(0.1, 0.2, lambda rows, _: made.abbreviated.take(rows))
    add(0.16, 0.1, lambda rows, n: join(made.short.take(rows), some(SUFFIXES, n, rng)))
    add(0.05, 0.1, lambda rows, n: join(some(CONTEXTS, n, rng), " ", made.short.take(rows)))
    for change in SPELLINGS:
        old, new = change.split(":")
        add(0.006, 0.05, respelled(made.full, old, new))
    # What else authors linked, once each: the popular ones have many such names.
    described = (0.4 * rng.random(size) * np.sqrt(left.astype(np.float64))).astype(np.int64)
    left -= described
    rows = np.repeat(np.arange(size), described)
    words = draw(lexicons.words, len(rows), rng)
    short = made.short.take(pa.array(rows))
    phrase = sometimes(0.6, join(short, " ", words), join(words, " ", short), rng)
    forms.append(Form(rows, sometimes(0.7, phrase, words, rng), np.ones(len(rows), np.int64)))
    forms.append(Form(np.arange(size), title, left))
    return forms


def respelled(names: pa.Array, old: str, new: str) -> Callable[[pa.Array, int], pa.Array]:
    """Replace the first occurrence; a name without one stays, and merges with its equal."""

    def write(rows: pa.Array, _: int) -> pa.Array:
        return pc.replace_substring(names.take(rows), old, new, max_replacements=1)

    return write
