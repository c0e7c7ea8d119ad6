"""A naive version of what an extraction makes of pages and links: one row at a time."""

from collections import Counter
from typing import NamedTuple

MAX_HOPS = 8


class PageRow(NamedTuple):
    title: str
    namespace: int
    id: int
    redirect: str | None = None
    redirect_namespace: int | None = None
    outside: bool = False


def redirects_of(pages):
    """Where each title redirects to; of pages with one title the lowest id counts."""
    first = {}
    for page in sorted(pages, key=lambda page: (page.title, page.id)):
        first.setdefault(page.title, page)
    return {title: page for title, page in first.items() if page.redirect is not None}


def resolve(links, pages, entities, *, language, namespaces):
    """The (mention, entity, fold) counts, and what was dropped by reason.

    ``links`` are (mention, title, fold, count), ``entities`` a mapping from titles or None.
    """
    redirects = redirects_of(pages)
    kept, dropped = Counter(), Counter()
    for mention, linked, fold, count in links:
        title, reason = linked, None
        for hop in range(MAX_HOPS + 1):
            page = redirects.get(title)
            if page is None:
                break
            if hop == MAX_HOPS:
                reason = "redirect loop"
            elif page.outside:
                reason = "redirect to another wiki"
                break
            else:
                title = page.redirect
                reason = None if page.redirect_namespace in namespaces else "other namespace"
        entity = f"{language}:{title}" if entities is None else entities.get(title)
        if reason is None and entity is None:
            reason = "no entity"
        if reason is None:
            kept[mention, entity, fold] += count
        else:
            dropped[reason] += count
    return kept, dropped
