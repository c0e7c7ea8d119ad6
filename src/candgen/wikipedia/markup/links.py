"""Wikitext to links: the title that each leads to, and the text that a reader sees."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from candgen.kernels.wikitext import LINK_PREFIX, LINK_TRAIL, find_links
from candgen.wikipedia.markup import anchors
from candgen.wikipedia.markup.conventions import has_variants
from candgen.wikipedia.markup.fast_links import PlainLinkReader
from candgen.wikipedia.markup.link_counter import Slices
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Title, Titles

_MEDIA, _MAIN = -2, 0
_SPECIAL_LINKS = {6: Reason.IMAGE, 14: Reason.CATEGORY}
"""Namespaces whose pages are linked only with a colon before their name."""

_PROTOCOL = re.compile(
    r"\s*(?:(?:https?|ftps?|sftp|git|gopher|ircs?|mms|nntp|redis|ssh|svn|telnet|wikipedia"
    r"|worldwind)://|//|(?:bitcoin|geo|magnet|mailto|matrix|news|sips?|sms|tel|urn|xmpp):)",
    re.I,
)
_RENDERED_TAG = re.compile(
    r"<(?:math|chem|ce|score|gallery|timeline|graph|hiero|mapframe|maplink|syntaxhighlight|source)"
    r"(?=[\s/>])",
    re.I,
)
_PIPE_OR_EQUALS = re.compile(r"\{\{\s*([!=])\s*\}\}")
_NO_PLACES = np.empty(0, dtype=np.int64)
_MAX_REDIRECT_WORD = 256
_MAX_TARGET = 4096
"""Titles have 255 bytes; even with each byte encoded and a long section, this is enough."""


class Link(NamedTuple):
    """A link of a page: the title it leads to, and the mention that a reader sees."""

    title: str
    mention: str


class ReadLinks(NamedTuple):
    """Titles and mentions of the links at ``places``, and why the others were dropped."""

    places: npt.NDArray[np.int64]
    titles: pa.LargeStringArray
    mentions: pa.LargeStringArray
    dropped: list[tuple[int, Reason]]


class LinkReader:
    """Reads the links of the pages of one wiki.

    Finding links needs the page, reading one needs only the link: a link that occurs a thousand
    times is counted as bytes and read once.

    >>> header = '<mediawiki xml:lang="fo"><siteinfo><dbname>fowiki</dbname></siteinfo>'
    >>> reader = LinkReader(Site.from_xml(header.encode()))
    >>> page = "Á [[Hovuðssíða|''síðuni'']] um [[Føroyar]]nar".encode()
    >>> [raw.decode() for raw in reader.raw_links(page)]
    ["[[Hovuðssíða|''síðuni'']]", '[[Føroyar]]nar']
    >>> reader.links(page)
    [Link(title='Hovuðssíða', mention='síðuni'), Link(title='Føroyar', mention='Føroyarnar')]
    """

    def __init__(
        self,
        site: Site,
        *,
        namespaces: Collection[int] = (0,),
        templates: bool = True,
        refs: bool = True,
        tables: bool = True,
    ) -> None:
        self._titles = Titles(site)
        self._letters = _classify_letters(site)
        self._has_variants = has_variants(site.language)
        self._namespaces = frozenset(namespaces)
        self._reads_articles = _MAIN in self._namespaces
        self._plain = PlainLinkReader(self._titles.capitalize)
        self._switches = (bool(templates), bool(refs), bool(tables))
        self._redirect_words = frozenset(site.redirect_words) | {"#redirect"}

    def raw_links(self, text: bytes) -> list[bytes]:
        """Return every link of a page, as the bytes ``prefix[[target|anchor]]trail``.

        Of an image whose caption has links it is only the head, ``[[File:x.jpg|``, and of a link
        with links in a template only the start, ``[[x|y {{``. Other links around links are text
        in MediaWiki, and are left out. Never raises.
        """
        first, last = self.find_spans(text)
        spans = zip(first.tolist(), last.tolist(), strict=True)
        return [text[start:end] for start, end in spans]

    def find_spans(self, text: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the `raw_links` of a page begin and end."""
        if b"[[" not in text:
            return _NO_PLACES, _NO_PLACES
        page = np.frombuffer(text, dtype=np.uint8)
        first, last, heads = find_links(page, self._letters, *self._switches)
        if heads:
            kept = np.ones(len(first), dtype=np.bool_)
            images: dict[bytes, bool] = {}  # a page may repeat one head a hundred thousand times
            for head in np.flatnonzero(page[last - 1] == ord("|")).tolist():
                raw = text[first[head] : last[head]]
                if raw not in images:
                    images[raw] = self.read(raw) is Reason.IMAGE
                kept[head] = images[raw]
            first, last = first[kept], last[kept]
        return first, last

    def read(self, raw: bytes) -> Link | Reason:
        """Read one of the `raw_links`, or return why it is dropped. Never raises."""
        text = raw.decode("utf-8", "replace")
        if "<" in text:
            text = anchors.prepare(text)
        prefix, _, inside = text.partition("[[")
        trail = ""
        if not inside.endswith(("|", "{{")):  # else it is the start of a link with links inside
            inside, _, trail = inside.rpartition("]]")
        if "{{" in inside:
            inside = _PIPE_OR_EQUALS.sub(lambda found: "|="[found[1] == "="], inside)
        target, pipe, anchor = inside.partition("|")
        title = self._find_title(target)
        if isinstance(title, Reason):
            return title
        if not pipe:
            anchor = anchors.display_target(target)
        elif not anchor:
            anchor = anchors.apply_pipe_trick(target)
        elif "{{" in anchor or ("<" in anchor and _RENDERED_TAG.search(anchor)):
            return Reason.TEMPLATE
        else:
            anchor = anchors.strip_markup(
                anchors.choose_first_variants(anchor) if self._has_variants else anchor
            )
        mention = anchors.normalize_space(prefix + anchor + trail)
        if not mention or ((prefix or trail) and not anchors.normalize_space(anchor)):
            return Reason.EMPTY
        return Link(title, mention)

    def read_many(self, raws: Slices) -> ReadLinks:
        """Read many links as `read` does, most of them without a Python object for each."""
        if not self._reads_articles:
            return self._read_slowly(raws, range(len(raws.ends)))
        quick = self._plain.read(raws)
        slow = self._read_slowly(raws, np.flatnonzero(~quick.plain).tolist())
        return ReadLinks(
            np.concatenate([np.flatnonzero(quick.plain), slow.places]),
            pa.concat_arrays([quick.titles, slow.titles]),
            pa.concat_arrays([quick.mentions, slow.mentions]),
            slow.dropped,
        )

    def _read_slowly(self, raws: Slices, places: Iterable[int]) -> ReadLinks:
        kept: list[int] = []
        links: list[Link] = []
        dropped: list[tuple[int, Reason]] = []
        for place in places:
            link = self.read(raws.at(place))
            if isinstance(link, Link):
                kept.append(place)
                links.append(link)
            else:
                dropped.append((place, link))
        titles = pa.array([link.title for link in links], pa.large_string())
        mentions = pa.array([link.mention for link in links], pa.large_string())
        return ReadLinks(np.array(kept, dtype=np.int64), titles, mentions, dropped)

    def links(self, text: bytes) -> list[Link | Reason]:
        """Return every link of a page, or why it is dropped, in the order of the page."""
        return [self.read(raw) for raw in self.raw_links(text)]

    def redirect_target(self, text: bytes) -> Title | Reason | None:
        """Return the page that a redirect leads to; None for a page that is not a redirect.

        A redirect begins with ``#REDIRECT`` or the wiki's own word for it, after white space only.
        """
        brackets = text.find(b"[[", 0, _MAX_REDIRECT_WORD)
        if brackets < 0:
            return None
        word = text[:brackets].decode("utf-8", "replace").strip().removesuffix(":").rstrip()
        if unicodedata.normalize("NFC", word).casefold() not in self._redirect_words:
            return None
        end = text.find(b"]]", brackets)
        inside = text[brackets + 2 : end].decode("utf-8", "replace")
        return None if end < 0 or "\n" in inside else self._parse(inside.partition("|")[0])

    def _parse(self, target: str) -> Title | Reason:
        return self._titles.parse(target) if len(target) <= _MAX_TARGET else Reason.INVALID

    def _find_title(self, target: str) -> str | Reason:
        """Return the title of a link's target if its namespace is a requested one."""
        if "{{" in target:
            return Reason.TEMPLATE
        title = self._parse(target)
        if isinstance(title, Reason):
            return title
        namespace, text = title
        if namespace == _MAIN:
            if (":" in target or "//" in target) and _PROTOCOL.match(target):
                return Reason.INVALID
        elif namespace == _MEDIA:
            return Reason.IMAGE
        elif namespace in _SPECIAL_LINKS and not target.lstrip().startswith(":"):
            return _SPECIAL_LINKS[namespace]
        return text if namespace in self._namespaces else Reason.NAMESPACE


def _classify_letters(site: Site) -> npt.NDArray[np.uint8]:
    """Return the kernel's table of characters that belong to a link before or after it."""
    letters = np.zeros(max(map(ord, site.trail + site.prefix + "\x7f")) + 1, dtype=np.uint8)
    for characters, which in ((site.trail, LINK_TRAIL), (site.prefix, LINK_PREFIX)):
        letters[np.array([ord(each) for each in characters], dtype=np.int64)] |= which
    letters[0] = LINK_PREFIX if site.prefix else 0
    return letters
