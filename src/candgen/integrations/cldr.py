"""Names in about two hundred languages, from the CLDR data in the package Babel.

Countries, languages, scripts, currencies, cities and time zones, in the language itself: enough to
try candgen without a download.
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

MIN_NAMES = 300
"""Names that a language needs to be listed; one with fewer has only a few countries."""

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
    """Return every name in CLDR's own data of a language, without inherited names.

    Entities are ``territory:FO``, ``language:fo``, ``script:Latn``, ``variant:1901``,
    ``currency:DKK``, ``city:Europe/Copenhagen`` and ``zone:Europe_Central``.

    >>> [row for row in names("fo") if row[1] in ("territory:FO", "currency:DKK")]
    [('Føroyar', 'territory:FO', 1), ('danskar krónur', 'currency:DKK', 1), ('donsk króna', 'currency:DKK', 1)]
    """  # noqa: E501
    return MentionTable.from_pairs(set(_pairs(locale(language))))


def label(entity: str) -> str:
    """Return an English name of an entity.

    >>> label("currency:DKK"), label("city:Europe/Copenhagen")
    ('Danish Krone', 'Copenhagen')
    """
    # English has no entry for a city whose name is in the id of its time zone.
    return _labels().get(entity) or entity.rpartition("/")[2].rpartition(":")[2].replace("_", " ")


def locale(language: str) -> str:
    """Return the code of a language in CLDR; raise ParameterError if it has no names there.

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
            f"{language!r} has no names of its own in CLDR, only inherited ones: use the code that "
            "it inherits from, as no for nb, or en for en_US"
        )
    return code


def languages() -> list[str]:
    """Return the codes of the languages with at least 300 names of their own, sorted."""
    return list(_languages())


def language_name(language: str) -> str:
    """Return the English name of a language, or its code if it has none."""
    code = locale(language)
    return str(_own("en")["languages"].get(code, code))


@cache
def _languages() -> tuple[str, ...]:
    codes = sorted(localedata.locale_identifiers())
    return tuple(code for code in codes if len(set(_pairs(code))) >= MIN_NAMES)


@cache
def _labels() -> dict[str, str]:
    # The first name of an entity is its usual one: reversed, it replaces the others.
    return {entity: name for name, entity in reversed(list(_pairs("en")))}


@cache
def _unmerged() -> ModuleType:
    """Return a second instance of Babel's reader of locales.

    The first one has the same cache key for data with and without inherited names, so that its
    result depends on the first call.
    """
    spec = find_spec("babel.localedata")
    if spec is None or spec.loader is None:
        raise MissingExtraError("Babel has no module babel.localedata: upgrade Babel")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _own(code: str) -> dict[str, Any]:
    """Return the data of a locale without inherited data."""
    data: dict[str, Any] = _unmerged().load(code, merge_inherited=False)
    return data


def _pairs(code: str) -> Iterator[tuple[str, str]]:
    """Yield (name, entity), some twice, the usual name of an entity first."""
    for name, entity in _all_pairs(_own(code)):
        identifier = entity.partition(":")[2]
        if entity not in _UNKNOWN and name.casefold() != identifier.casefold() and _is_name(name):
            yield name, entity


def _all_pairs(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
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
    """Return whether a text is neither a pattern ("{0} krónur") nor a placeholder ("∅∅∅")."""
    return "{" not in text and "%" not in text and any(character.isalpha() for character in text)
