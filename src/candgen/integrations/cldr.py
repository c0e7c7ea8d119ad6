"""Real names in some two hundred languages: the CLDR data that ships inside Babel.

Countries, languages, scripts, currencies, cities and time zones, as people write them in the
language itself: enough to try candgen without downloading anything.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from candgen.errors import MissingExtraError, ParameterError
from candgen.tables.mention_table import MentionTable

try:
    from babel import localedata
except ImportError as error:
    raise MissingExtraError(
        "names from CLDR need the package Babel: pip install 'candgen[demo]'"
    ) from error

USEFUL = 300
"""How many names make a language worth trying: fewer than that are a few countries."""

_KINDS = {
    "territory": "territories",
    "language": "languages",
    "script": "scripts",
    "variant": "variants",
    "currency": "currency_names",
}
_UNKNOWN = frozenset(
    {"territory:ZZ", "language:und", "script:Zzzz", "currency:XXX", "city:Etc/Unknown"}
)


def names(language: str) -> MentionTable:
    """Every name in CLDR's own data of a language; nothing that it inherits from another.

    Entities are ``territory:FO``, ``language:fo``, ``script:Latn``, ``variant:1901``,
    ``currency:DKK``, ``city:Europe/Copenhagen`` and ``zone:Europe_Central``.

    >>> [row for row in names("fo") if row[1] in ("territory:FO", "currency:DKK")]
    [('Føroyar', 'territory:FO', 1), ('danskar krónur', 'currency:DKK', 1), ('donsk króna', 'currency:DKK', 1)]
    """  # noqa: E501
    return MentionTable.from_pairs(set(_pairs(locale(language))))


def label(entity: str) -> str:
    """An English name of an entity, to be shown to people.

    >>> label("currency:DKK"), label("city:Europe/Copenhagen")
    ('Danish Krone', 'Copenhagen')
    """
    # English leaves out the cities that can be read off the id of their time zone.
    return _labels().get(entity) or entity.rpartition("/")[2].rpartition(":")[2].replace("_", " ")


def locale(language: str) -> str:
    """The code of a language as CLDR spells it; refuses one that has no names there.

    >>> locale("pt-pt")
    'pt_PT'
    """
    code = localedata.normalize_locale(language.replace("-", "_"))
    if code is None:
        raise ParameterError(
            f"unknown language {language!r}: CLDR has names in {', '.join(languages())}"
        )
    if next(_pairs(code), None) is None:
        raise ParameterError(
            f"{language!r} has no names of its own in CLDR, only those of a wider code: "
            "give that one, as no for nb, or en for en_US"
        )
    return code


def languages() -> list[str]:
    """The codes of the languages with a useful number of names of their own, sorted."""
    return list(_useful())


def language_name(language: str) -> str:
    """The English name of a language, or its code where English has none."""
    code = locale(language)
    return str(_own("en")["languages"].get(code, code))


@cache
def _useful() -> tuple[str, ...]:
    codes = sorted(localedata.locale_identifiers())
    return tuple(code for code in codes if len(set(_pairs(code))) >= USEFUL)


@cache
def _labels() -> dict[str, str]:
    # The first of an entity's names is its usual one: in reverse, it is written last.
    return {entity: name for name, entity in reversed(list(_pairs("en")))}


@cache
def _unmerged() -> ModuleType:
    """Babel's reader of locales, with a cache of its own.

    The common one keeps merged and unmerged data under one key: what it returns depends on who
    came first.
    """
    spec = find_spec("babel.localedata")
    if spec is None or spec.loader is None:
        raise MissingExtraError("Babel has no module babel.localedata: upgrade Babel")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _own(code: str) -> dict[str, Any]:
    """What one locale says itself, nothing inherited."""
    data: dict[str, Any] = _unmerged().load(code, merge_inherited=False)
    return data


def _pairs(code: str) -> Iterator[tuple[str, str]]:
    """(name, entity), some of them twice, a thing's usual name first."""
    for name, entity in _written(_own(code)):
        identifier = entity.partition(":")[2]
        if entity not in _UNKNOWN and name.casefold() != identifier.casefold() and _is_name(name):
            yield name, entity


def _written(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, section in _KINDS.items():
        for identifier, name in data.get(section, {}).items():
            yield name, f"{kind}:{identifier}"
    for identifier, forms in data.get("currency_names_plural", {}).items():
        for name in forms.values():
            yield name, f"currency:{identifier}"
    for identifier, zone in data.get("time_zones", {}).items():
        if "city" in zone:
            yield zone["city"], f"city:{identifier}"
    for identifier, zone in data.get("meta_zones", {}).items():
        for name in zone.get("long", {}).values():
            yield name, f"zone:{identifier}"


def _is_name(text: str) -> bool:
    """Neither a pattern, such as "{0} krónur", nor a mark for "nothing here", such as "∅∅∅"."""
    return "{" not in text and "%" not in text and any(character.isalpha() for character in text)
