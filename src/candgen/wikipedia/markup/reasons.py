"""Why a link of a page does not become a row of the mention table."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a link is dropped; reports count links by reason."""

    IMAGE = "image"
    """A file that is displayed, ``[[File:x.jpg|thumb]]``, not one that is linked."""
    CATEGORY = "category"
    """The page is put into a category."""
    INTERWIKI = "interwiki"
    """It leads to another language or another project."""
    NAMESPACE = "other namespace"
    """It leads to a page of a namespace that was not requested."""
    SECTION = "section of the same page"
    """It leads to a heading of its own page, ``[[#History|below]]``."""
    TEMPLATE = "template or formula inside"
    """Its target or text is known only after MediaWiki has expanded and rendered it."""
    INVALID = "not a legal title"
    EMPTY = "empty anchor"
    LONG = "longer than a link may be"
    """No page has a link of so many bytes but by mistake."""
    LOOP = "redirect loop"
    OUTSIDE = "redirect to another wiki"
    UNMAPPED = "no entity"
    """The page has no entity, or there is no such page."""
    RARE = "below the minimum count"
