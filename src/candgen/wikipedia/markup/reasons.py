"""Why a link of a page does not become a row of the mention table."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a link is not kept; reports count links by these."""

    IMAGE = "image"
    """A file that is shown, ``[[File:x.jpg|thumb]]``, not one that is linked to."""
    CATEGORY = "category"
    """The page is put into a category."""
    INTERWIKI = "interwiki"
    """It leads to another language or another project."""
    NAMESPACE = "other namespace"
    """It leads to a page of a namespace that was not asked for."""
    SECTION = "section of the same page"
    """It leads to a heading of the page that it stands on, ``[[#History|below]]``."""
    TEMPLATE = "template or formula inside"
    """Only MediaWiki, which expands and draws them, can tell what it leads to or shows."""
    INVALID = "not a legal title"
    EMPTY = "empty anchor"
    LOOP = "redirect loop"
    OUTSIDE = "redirect to another wiki"
    UNMAPPED = "no entity"
    """The page has no entity, or there is no such page."""
    RARE = "below the minimum count"
