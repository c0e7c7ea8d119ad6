"""A line of Wikidata's JSON dump to an item: a pure function, which never raises.

The dump is an array with one entity a line. Its writer turns empty maps into empty lists, leaves
out what an entity does not have, and ends every line but the last with a comma.
"""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Skipped(StrEnum):
    """Why a line gives no item, or an item no names; reports count lines by these."""

    LONG = "longer than a line may be"
    ENCODING = "not UTF-8"
    JSON = "not JSON"
    SHAPE = "not an entity"
    """JSON, but without the id of an entity, or with a text where a map should be."""
    REDIRECT = "redirect"
    PROPERTY = "property"
    LEXEME = "lexeme"
    OTHER = "entity of another type"
    SITELINK = "without a sitelink"
    CLASS = "instance of a class that was left out"
    NO_CLASS = "no instance of a class that was asked for"
    UNNAMED = "no name in these languages"


BAD = frozenset({Skipped.LONG, Skipped.ENCODING, Skipped.JSON, Skipped.SHAPE})
"""What is wrong with the dump, where the others are only not wanted."""

_ITEM = re.compile(r"Q[1-9][0-9]{0,17}")
_ENTITY = re.compile(r"[A-Z][1-9][0-9]*(-[A-Z][1-9][0-9]*)?")
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_TYPES = {"property": Skipped.PROPERTY, "lexeme": Skipped.LEXEME}
_TYPE_OF_LETTER = {"Q": "item", "P": "property", "L": "lexeme"}
_MAPS = ("labels", "descriptions", "aliases", "sitelinks", "claims")
_INSTANCE_OF = "P31"

Names = Mapping[str, Any]
"""From the code of a language, or of a wiki, to what the dump says; not checked yet."""


class Item(NamedTuple):
    """What is used of an item."""

    entity: str
    labels: Names
    descriptions: Names
    aliases: Names
    sitelinks: Names
    instance_of: tuple[str, ...]
    """Each once, in the order of entities: the shorter first."""
    modified: str
    """When it was changed last, such as 2024-05-01T10:20:30Z; empty where nothing is said."""


def read_item(text: bytes) -> Item | Skipped:
    """Read a line, without what stands between the entities of the array.

    >>> read_item(b'{"type": "item", "id": "Q10704", "labels": []}').entity
    'Q10704'
    >>> read_item(b'{"type": "item", "id": "Q10')
    <Skipped.JSON: 'not JSON'>
    """
    try:
        found = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError:
        return Skipped.ENCODING
    except (ValueError, RecursionError):
        return Skipped.JSON
    if not isinstance(found, dict):
        return Skipped.SHAPE
    return _item(found)


def _item(found: dict[str, Any]) -> Item | Skipped:
    if "redirect" in found:
        return Skipped.REDIRECT
    entity = found.get("id")
    if not isinstance(entity, str) or not _ENTITY.fullmatch(entity):
        return Skipped.SHAPE
    kind = found.get("type", _TYPE_OF_LETTER.get(entity[0]))
    if kind != "item":
        return _TYPES.get(kind, Skipped.OTHER) if isinstance(kind, str) else Skipped.OTHER
    maps = [found.get(name) or {} for name in _MAPS]
    if not _ITEM.fullmatch(entity) or not all(isinstance(each, dict) for each in maps):
        return Skipped.SHAPE
    labels, descriptions, aliases, sitelinks, claims = maps
    classes = tuple(sorted(set(_classes(claims.get(_INSTANCE_OF))), key=in_order))
    modified = found.get("modified")
    stamp = modified if isinstance(modified, str) and _STAMP.fullmatch(modified) else ""
    return Item(entity, labels, descriptions, aliases, sitelinks, classes, stamp)


def in_order(entity: str) -> tuple[int, str]:
    """Sort entities as candidates are: the shorter id first, then by code point.

    >>> sorted(["Q100", "Q21"], key=in_order)
    ['Q21', 'Q100']
    """
    return len(entity), entity


def _classes(statements: object) -> Iterator[str]:
    """Give the values of statements that are not deprecated; no and unknown values are none."""
    for statement in statements if isinstance(statements, list) else ():
        match statement:
            case {"rank": "deprecated"}:
                continue
            case {"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": str(entity)}}}}:
                pass
            case {"mainsnak": {"snaktype": "value", "datavalue": {"value": {"numeric-id": n}}}}:
                entity = f"Q{n}"  # as older dumps have it
            case _:
                continue
        if _ITEM.fullmatch(entity):
            yield entity
