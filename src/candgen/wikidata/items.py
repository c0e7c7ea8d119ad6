"""A line of Wikidata's JSON dump to an item: a pure function, which never raises.

The dump is an array with one entity a line. Its writer turns empty maps into empty lists, omits
missing fields, and ends every line but the last with a comma.
"""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class SkipReason(StrEnum):
    """Why a line gives no item, or an item no names; reports count lines by reason."""

    LONG = "longer than a line may be"
    ENCODING = "not UTF-8"
    JSON = "not JSON"
    SHAPE = "not an entity"
    """JSON without the id of an entity, or with a text in place of a map."""
    REDIRECT = "redirect"
    PROPERTY = "property"
    LEXEME = "lexeme"
    OTHER = "entity of another type"
    SITELINK = "without a sitelink"
    CLASS = "instance of a class that was left out"
    NO_CLASS = "no instance of a class that was asked for"
    UNNAMED = "no name in these languages"


UNREADABLE = frozenset({SkipReason.LONG, SkipReason.ENCODING, SkipReason.JSON, SkipReason.SHAPE})
"""Reasons that are errors of the dump; the others are lines that were not requested."""

_ITEM = re.compile(r"Q[1-9][0-9]{0,17}")
_ENTITY = re.compile(r"[A-Z][1-9][0-9]*(-[A-Z][1-9][0-9]*)?")
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_TYPES = {"property": SkipReason.PROPERTY, "lexeme": SkipReason.LEXEME}
_TYPE_OF_LETTER = {"Q": "item", "P": "property", "L": "lexeme"}
_MAPS = ("labels", "descriptions", "aliases", "sitelinks", "claims")
_INSTANCE_OF = "P31"

Texts = Mapping[str, Any]
"""From the code of a language, or of a wiki, to values that are not checked yet."""


class Item(NamedTuple):
    """The fields of an item that are used."""

    entity: str
    labels: Texts
    descriptions: Texts
    aliases: Texts
    sitelinks: Texts
    instance_of: tuple[str, ...]
    """Each once, in the order of `entity_key`."""
    modified: str
    """The time of its last change, such as 2024-05-01T10:20:30Z; empty if unknown."""


def read_item(text: bytes) -> Item | SkipReason:
    """Read a line from which the brackets and commas of the array were removed.

    >>> read_item(b'{"type": "item", "id": "Q10704", "labels": []}').entity
    'Q10704'
    >>> read_item(b'{"type": "item", "id": "Q10')
    <SkipReason.JSON: 'not JSON'>
    """
    try:
        found = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        return SkipReason.ENCODING
    except (ValueError, RecursionError):
        return SkipReason.JSON
    if not isinstance(found, dict):
        return SkipReason.SHAPE
    return _parse_entity(found)


def _parse_entity(found: dict[str, Any]) -> Item | SkipReason:
    if "redirect" in found:
        return SkipReason.REDIRECT
    entity = found.get("id")
    if not isinstance(entity, str) or not _ENTITY.fullmatch(entity):
        return SkipReason.SHAPE
    kind = found.get("type", _TYPE_OF_LETTER.get(entity[0]))
    if kind != "item":
        return _TYPES.get(kind, SkipReason.OTHER) if isinstance(kind, str) else SkipReason.OTHER
    maps = [found.get(name) or {} for name in _MAPS]
    if not _ITEM.fullmatch(entity) or not all(isinstance(each, dict) for each in maps):
        return SkipReason.SHAPE
    labels, descriptions, aliases, sitelinks, claims = maps
    classes = tuple(sorted(set(_read_classes(claims.get(_INSTANCE_OF))), key=entity_key))
    modified = found.get("modified")
    stamp = modified if isinstance(modified, str) and _STAMP.fullmatch(modified) else ""
    return Item(entity, labels, descriptions, aliases, sitelinks, classes, stamp)


def entity_key(entity: str) -> str:
    """Return a key that sorts entities as candidates are: the shorter id first.

    >>> sorted(["Q100", "Q21"], key=entity_key)
    ['Q21', 'Q100']
    """
    return f"{len(entity):02}{entity}"


def _read_classes(statements: object) -> Iterator[str]:
    """Yield the items in statements that are not deprecated; "no value" is not an item."""
    for statement in statements if isinstance(statements, list) else ():
        match statement:
            case {"rank": "deprecated"}:
                continue
            case {"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": str(entity)}}}}:
                pass
            case {
                "mainsnak": {
                    "snaktype": "value",
                    "datavalue": {"value": {"numeric-id": int() | str() as n}},
                }
            }:
                entity = f"Q{n}"  # in older dumps
            case _:
                continue
        if _ITEM.fullmatch(entity):
            yield entity
