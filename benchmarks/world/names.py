"""Names of persons, places, works and so on, from templates and lexicons."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from world.chance import draw, draw_weighted, some, sometimes
from world.elements import (
    ADJECTIVE_ENDINGS,
    EPITHET_ENDINGS,
    EVENT_KINDS,
    FIELDS,
    OCCUPATIONS,
    ORGANISATION_KINDS,
    PLACE_PREFIXES,
    REGIONS,
    RIVERS,
    WORK_KINDS,
)
from world.lexicon import Lexicons
from world.text import TEXT, initial, join


@dataclass(frozen=True)
class Names:
    """The ways to name a number of entities."""

    full: pa.Array
    short: pa.Array
    qualified: pa.Array
    abbreviated: pa.Array


def persons(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Given names and surname, as in "johanna von kellberg (maler)"."""
    given = draw(lexicons.given_names, size, rng)
    middle = sometimes(0.1, join(" ", draw(lexicons.given_names, size, rng)), "", rng)
    surname = draw(lexicons.surnames, size, rng, shift=60)
    double = sometimes(0.04, join("-", draw(lexicons.surnames, size, rng, shift=200)), "", rng)
    particle = sometimes(0.06, some([" von ", " van ", " de ", " zu "], size, rng), " ", rng)
    surname = join(surname, double)
    full = join(given, middle, particle, surname)
    return Names(
        full=full,
        short=surname,
        qualified=join(full, " (", some(OCCUPATIONS, size, rng), ")"),
        abbreviated=join(initial(given), ".", particle, surname),
    )


def places(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Villages, many of the same name, as in "bad lindheim an der orla, hessen"."""
    village = draw(lexicons.places, size, rng, shift=1_000)
    prefix = sometimes(0.12, join(some(PLACE_PREFIXES, size, rng), " "), "", rng)
    river = join(" ", some(RIVERS, size, rng), " ", draw(lexicons.stems, size, rng))
    short = join(prefix, village)
    full = join(short, sometimes(0.12, river, "", rng))
    region = sometimes(0.7, some(REGIONS, size, rng), draw(lexicons.places, size, rng), rng)
    parentheses, comma = join(full, " (", region, ")"), join(full, ", ", region)
    return Names(
        full=full,
        short=short,
        qualified=sometimes(0.7, parentheses, comma, rng),
        abbreviated=join(initial(prefix), sometimes(0.5, village, full, rng)),
    )


def works(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Titles, as in "die landische kunde der maren (film)"."""
    article = sometimes(0.5, some(["der ", "die ", "das ", "the ", "la "], size, rng), "", rng)
    adjective = join(draw(lexicons.stems, size, rng), some(ADJECTIVE_ENDINGS, size, rng), " ")
    noun = draw(lexicons.words, size, rng)
    link = some([" der ", " und ", " of ", " des ", " in ", " im ", " - "], size, rng)
    addition = join(link, draw(lexicons.words, size, rng))
    short = join(sometimes(0.4, adjective, "", rng), noun)
    full = join(article, short, sometimes(0.35, addition, "", rng))
    return Names(
        full=full,
        short=short,
        qualified=join(full, " (", some(WORK_KINDS, size, rng), ")"),
        abbreviated=join(initial(article), initial(adjective), initial(noun), initial(addition)),
    )


def organisations(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Clubs, offices and firms, as in "institut fur landkunde kellberg"."""
    sort = some(ORGANISATION_KINDS, size, rng)
    subject = draw(lexicons.words, size, rng)
    seat = join(" ", draw(lexicons.places, size, rng, shift=100))
    short = join(sort, " ", subject)
    full = join(short, sometimes(0.3, seat, "", rng))
    letters = join(initial(sort), initial(subject), initial(draw(lexicons.words, size, rng)))
    return Names(
        full=full,
        short=sometimes(0.5, short, subject, rng),
        qualified=join(full, " (", draw(lexicons.places, size, rng, shift=100), ")"),
        abbreviated=sometimes(0.6, letters, join(letters, seat), rng),
    )


def species(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """A genus and an epithet, as in "marella tubensis"."""
    # A genus has many species: few genera, and the ending belongs to the genus.
    genera = join(
        lexicons.stems.slice(0, 30_000),
        some(EPITHET_ENDINGS, min(30_000, len(lexicons.stems)), rng),
    )
    genus = draw(genera, size, rng, shift=200)
    epithet = join(draw(lexicons.stems, size, rng, shift=100), some(EPITHET_ENDINGS, size, rng))
    vernacular = join(draw(lexicons.words, size, rng, shift=200), draw(lexicons.stems, size, rng))
    full = join(genus, " ", epithet)
    return Names(
        full=full,
        short=sometimes(0.5, vernacular, genus, rng),
        qualified=join(full, " (", vernacular, ")"),
        abbreviated=join(initial(genus), ". ", epithet),
    )


def concepts(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Compounds, as in "landkundewesen (technik)"."""
    head = draw(lexicons.words, size, rng)
    modifier = draw(lexicons.stems, size, rng, shift=100)
    link = some(["", "s", "-", "en", " "], size, rng)
    full = join(modifier, link, head)
    return Names(
        full=sometimes(0.85, full, head, rng),
        short=head,
        qualified=join(full, " (", some(FIELDS, size, rng), ")"),
        abbreviated=join(initial(modifier), initial(head)),
    )


def events(lexicons: Lexicons, size: int, rng: np.random.Generator) -> Names:
    """Battles, elections, lists and buildings, as in "landtagswahl in lindheim 1987"."""
    place = draw(lexicons.places, size, rng, shift=100)
    year = pa.array(2025 - draw_weighted(1.0 / np.arange(20, 900), size, rng)).cast(TEXT)
    short = join(some(EVENT_KINDS, size, rng), " ", place)
    full = join(short, sometimes(0.4, join(" ", year), "", rng))
    return Names(
        full=full,
        short=sometimes(0.5, short, place, rng),
        qualified=join(full, " (", some(REGIONS, size, rng), ")"),
        abbreviated=sometimes(0.5, join(place, " ", year), place, rng),
    )


KINDS: dict[Callable[[Lexicons, int, np.random.Generator], Names], float] = {
    persons: 0.32,
    places: 0.27,
    works: 0.12,
    organisations: 0.10,
    species: 0.07,
    concepts: 0.07,
    events: 0.05,
}
