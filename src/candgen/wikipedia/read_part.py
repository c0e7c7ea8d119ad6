"""What a part of a dump holds: its links, counted, and its pages.

`harvest` knows nothing of where its tables go: the embedded engine writes them to the disk, and
Spark's workers hand them to Spark.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from candgen.dumps.compressed_streams import Fault, Part
from candgen.wikipedia.markup.link_counter import SliceCounter
from candgen.wikipedia.markup.links import LinkReader
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Title, Titles
from candgen.wikipedia.options import FOLDS, Options
from candgen.wikipedia.page_xml import WIKITEXT, Page
from candgen.wikipedia.pages import BAD_PAGE, not_a_dump, pages
from candgen.wikipedia.statistics import Tally

LINKS = pa.schema(
    [
        ("mention", pa.large_string()),
        ("title", pa.large_string()),
        ("fold", pa.int8()),
        ("count", pa.int64()),
    ]
)
"""What links show, and what they lead to; several rows may be alike."""
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
"""All pages; those that redirect have a target, or lead to another wiki."""

_NO_TITLE = re.compile(r"[\t\n\r]|\A\Z")  # no field of a table can hold these
_DISTINCT = 1 << 18  # links that are held in memory
_HELD = 1 << 15  # pages


class Links(NamedTuple):
    """Some of the links, in the columns of LINKS."""

    table: pa.Table


class Pages(NamedTuple):
    """Some of the pages, in the columns of PAGES."""

    table: pa.Table


def harvest(
    part: Part,
    options: Options,
    *,
    site: Site | None = None,
    details: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda _at, _pages: None,
) -> Iterator[Links | Pages | Tally | Site]:
    """Give tables of the links and pages of a part, and last the tally of it.

    Without a site, the header of the part tells it, and it is given first: a pipe is read once.
    ``progress`` is called with the place in the file, and the pages that were read.
    """
    basket: _Basket | None = None

    def tell(at: int) -> None:
        progress(at, basket.tally.pages["read"] if basket else 0)

    found = pages(part, progress=tell)
    if site is None:
        header = next(found, None)
        if not isinstance(header, bytes):
            raise not_a_dump(part.name, header)
        site = Site.from_xml(header, details=details)
        yield site
    basket = _Basket(site, options)
    for item in found:
        if not isinstance(item, bytes):
            basket.put(item)
        if basket.full:
            yield from basket.tables()
        if basket.tally.pages["read"] == options.pages:
            break
    yield from basket.tables()
    yield basket.tally


class _Basket:
    """What has been harvested and not yet been given away."""

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
        self.tally = Tally()

    def put(self, item: Page | Fault) -> None:
        if isinstance(item, Page) and _NO_TITLE.search(item.title):
            item = Fault(BAD_PAGE, f"page {item.id}", f"{item.title!r} is no title")
        if isinstance(item, Fault):
            self.tally.note(item)
            return
        counts = self.tally.pages
        counts["read"] += 1
        counts["mended"] += item.mended
        self.tally.newest = max(self.tally.newest, item.timestamp)
        namespace = self._namespace(item)
        target = self._redirect(item)
        outside = target is Reason.INTERWIKI
        redirect = target if isinstance(target, Title) else Title(0, "") if outside else None
        self._pages.append(
            (
                item.title,
                namespace,
                item.id,
                redirect and redirect.text,
                redirect and redirect.namespace,
                outside,
            )
        )
        if redirect:
            counts["redirects"] += 1
        elif namespace not in self._options.namespaces:
            counts["other namespaces"] += 1
        elif item.model != WIKITEXT:
            counts["not wikitext"] += 1
        else:
            counts["articles"] += 1
            first, last = self._reader.spans(item.text)
            self.tally.seen["links"] += len(first)
            self._links[self._options.fold(item.title)].add(item.text, first, last)

    def _namespace(self, page: Page) -> int:
        if page.namespace is not None:
            return page.namespace
        title = self._titles.parse(page.title)
        return title.namespace if isinstance(title, Title) else 0

    def _redirect(self, page: Page) -> Title | Reason | None:
        """Tell what the page redirects to; the dump's own word counts more than the text's."""
        if page.redirect:
            return self._titles.parse(page.redirect)
        return self._reader.redirect_target(page.text) if page.model == WIKITEXT else None

    @property
    def full(self) -> bool:
        return sum(map(len, self._links)) > _DISTINCT or len(self._pages) > _HELD

    def tables(self) -> Iterator[Links | Pages]:
        """Give away everything."""
        yield Links(pa.concat_tables([self._counted(fold) for fold in range(len(FOLDS))]))
        yield Pages(pa.table(_columns(self._pages, len(PAGES)), schema=PAGES))
        self._pages.clear()

    def _counted(self, fold: int) -> pa.Table:
        """Read the links of a fold, each distinct one once, and forget them."""
        raws, counts = self._links[fold].take()
        read = self._reader.read_many(raws)
        for place, reason in read.dropped:
            self.tally.dropped[reason] += int(counts[place])
        folds = np.full(len(read.places), fold, dtype=np.int8)
        return pa.table([read.mentions, read.titles, folds, counts[read.places]], schema=LINKS)


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[Any]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * width
