"""A part of a dump to tables: its links, counted, and its pages.

The engine on one machine writes these tables to the disk, and Spark's workers hand them to Spark.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from candgen.dumps.compressed_streams import Fault, Part
from candgen.errors import shown
from candgen.wikipedia.markup.link_counter import SliceCounter
from candgen.wikipedia.markup.links import LinkReader
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Title, Titles
from candgen.wikipedia.options import FOLDS, Options
from candgen.wikipedia.page_xml import WIKITEXT, Page
from candgen.wikipedia.pages import BAD_PAGE, describe_invalid_dump, read_pages
from candgen.wikipedia.statistics import PageStatistics

LINKS = pa.schema(
    [
        ("mention", pa.large_string()),
        ("title", pa.large_string()),
        ("fold", pa.int8()),
        ("count", pa.int64()),
    ]
)
"""Mentions and the titles that they link to; rows may be equal."""
PAGES = pa.schema(
    [
        ("title", pa.large_string()),
        ("namespace", pa.int32()),
        ("id", pa.int64()),
        ("redirect", pa.large_string()),
        ("redirect_namespace", pa.int32()),
        ("outside", pa.bool_()),
    ]
)
"""All pages; a redirect has a target, or leads to another wiki."""

Table = tuple[Literal["links", "pages"], pa.Table]
"""Some of the links or pages, in their columns."""

_NO_TITLE = re.compile(r"[\t\n\r]|\A\Z")  # a field of a table cannot hold these
_MAX_TITLE = 1024  # characters; MediaWiki allows 255 bytes and a namespace
_MAX_LINK = 1 << 16  # bytes
_MAX_LINKS = 1 << 18  # distinct links in memory
_MAX_LINK_BYTES = 1 << 26  # of them
_MAX_PAGES = 1 << 15  # in memory


def read_part(
    part: Part,
    options: Options,
    *,
    site: Site | None = None,
    details: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda _at, _pages: None,
) -> Iterator[Table | PageStatistics | Site]:
    """Yield tables of the links and pages of a part, and last its statistics.

    Without a site, it is read from the header of the part and yielded first: a pipe can be read
    only once. ``progress`` is called with the place in the file and the number of pages read.
    """
    tables: _Tables | None = None

    def show(at: int) -> None:
        progress(at, tables.statistics.pages["read"] if tables else 0)

    found = read_pages(part, progress=show)
    if site is None:
        header = next(found, None)
        if not isinstance(header, bytes):
            raise describe_invalid_dump(part.name, header)
        site = Site.from_xml(header, details=details)
        yield site
    tables = _Tables(site, options)
    for item in found:
        if not isinstance(item, bytes):
            tables.add(item)
        if tables.are_full:
            yield from tables.take()
        if tables.statistics.pages["read"] == options.pages:
            break
    yield from tables.take()
    yield tables.statistics


class _Tables:
    """The links and pages that were read and not yet yielded."""

    def __init__(self, site: Site, options: Options) -> None:
        self._options = options
        self._titles = Titles(site)
        self._reader = LinkReader(
            site,
            namespaces=options.namespaces,
            templates=options.templates,
            refs=options.refs,
            tables=options.tables,
        )
        self._links = tuple(SliceCounter() for _ in FOLDS)
        self._pages: list[tuple[str, int, int, str | None, int | None, bool]] = []
        self.statistics = PageStatistics()

    def add(self, item: Page | Fault) -> None:
        if isinstance(item, Page) and (
            len(item.title) > _MAX_TITLE or _NO_TITLE.search(item.title)
        ):
            detail = f"{shown(item.title)} is not a valid title"
            item = Fault(BAD_PAGE, f"page {item.id}", detail)
        if isinstance(item, Fault):
            self.statistics.count_fault(item)
            return
        counts = self.statistics.pages
        counts["read"] += 1
        counts["mended"] += item.mended
        self.statistics.newest = max(self.statistics.newest, item.timestamp)
        namespace = self._namespace_of(item)
        target = self._redirect_of(item)
        outside = target is Reason.INTERWIKI
        redirect = target if isinstance(target, Title) else Title(0, "") if outside else None
        to, to_namespace = (redirect.text, redirect.namespace) if redirect else (None, None)
        self._pages.append((item.title, namespace, item.id, to, to_namespace, outside))
        if redirect:
            counts["redirects"] += 1
        elif namespace not in self._options.namespaces:
            counts["other namespaces"] += 1
        elif item.model != WIKITEXT:
            counts["not wikitext"] += 1
        else:
            counts["articles"] += 1
            first, last = self._reader.find_spans(item.text)
            self.statistics.seen["links"] += len(first)
            short = last - first <= _MAX_LINK
            if not short.all():
                self.statistics.dropped[Reason.LONG] += int((~short).sum())
                first, last = first[short], last[short]
            self._links[self._options.fold_of(item.title)].add(item.text, first, last)

    def _namespace_of(self, page: Page) -> int:
        if page.namespace is not None:
            return page.namespace
        title = self._titles.parse(page.title)
        return title.namespace if isinstance(title, Title) else 0

    def _redirect_of(self, page: Page) -> Title | Reason | None:
        """Return the target of a redirect: that in the dump, or else that in the text."""
        if page.redirect:
            return self._titles.parse(page.redirect)
        return self._reader.redirect_target(page.text) if page.model == WIKITEXT else None

    @property
    def are_full(self) -> bool:
        return (
            sum(map(len, self._links)) > _MAX_LINKS
            or sum(links.nbytes for links in self._links) > _MAX_LINK_BYTES
            or len(self._pages) > _MAX_PAGES
        )

    def take(self) -> Iterator[Table]:
        """Yield all rows as tables, and start over."""
        yield "links", pa.concat_tables([self._read_links(fold) for fold in range(len(FOLDS))])
        columns = [list(column) for column in zip(*self._pages, strict=True)]
        yield "pages", pa.table(columns or [[]] * len(PAGES), schema=PAGES)
        self._pages.clear()

    def _read_links(self, fold: int) -> pa.Table:
        """Read the links of a fold, each distinct one once, and start over."""
        raws, counts = self._links[fold].take()
        read = self._reader.read_many(raws)
        for place, reason in read.dropped:
            self.statistics.dropped[reason] += int(counts[place])
        folds = np.full(len(read.places), fold, dtype=np.int8)
        return pa.table([read.mentions, read.titles, folds, counts[read.places]], schema=LINKS)
