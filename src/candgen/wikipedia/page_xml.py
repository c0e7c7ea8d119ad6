"""One page of a dump, from its XML.

A page as MediaWiki writes it is read by searching for a few tags. Other XML (CDATA, comments, other
references) is read by an XML parser, and invalid XML by a lenient reader.
"""

import re
from html import unescape as html_unescape
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from candgen.kernels.xml import unescape
from candgen.wikipedia.markup.character_references import decode_references


class Page(NamedTuple):
    """The newest revision of a page."""

    id: int
    namespace: int | None
    """None in old dumps, which do not have it."""
    title: str
    redirect: str | None
    """The target of a redirect, as the dump has it."""
    text: bytes
    """Wikitext in UTF-8, which may have invalid bytes."""
    model: str
    """The format of the text: wikitext, JSON, CSS and others."""
    timestamp: str
    mended: bool = False
    """Whether its XML was invalid, and was read by the lenient reader."""


WIKITEXT = "wikitext"

_HEAD = re.compile(
    rb"<page>\s*<title>([^<]+)</title>\s*<ns>(-?[0-9]{1,9})</ns>\s*<id>([0-9]{1,18})</id>\s*"
    rb'(?:<redirect title="([^"<\t\n]*)"\s*/>\s*)?'
    rb"(?:<restrictions>[^<]*</restrictions>\s*)?<revision>"
)
_TEXT_TAG = re.compile(rb"""<text(?:\s+[\w:]+=(?:"[^"<]*"|'[^'<]*'))*\s*>""")
_ANY_TEXT_TAG = re.compile(rb"<text(?:\s[^<>]*)?/?>")
_HIDING = re.compile(rb"<(?:[!?]|page>|content>)")  # these may contain the other tags
_ANOTHER = re.compile(rb"<(?:[!?]|page>|revision>|text[\s/>])")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TIMESTAMP = re.compile(rb"<timestamp>([^<]*)</timestamp>")
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NAMESPACE = re.compile(rb"<ns>\s*(-?[0-9]{1,9})\s*</ns>")
_ID = re.compile(rb"<id>\s*([0-9]{1,18})\s*</id>")
_REDIRECT = re.compile(rb"<redirect\s+title=\"([^\"]*)\"")
_MAX_SHOWN = 80  # characters of a title in a message
_DEPTH = 3  # of page, revision and text


def parse_page(raw: bytes) -> Page | None:
    """Read the bytes from ``<page>`` to ``</page>``; None if they cannot be read."""
    return _read_plain(raw) or _read_xml(raw) or _read_lenient(raw)


def title_of(raw: bytes) -> str:
    """Return the title of a page that could not be read, for a message."""
    found = _TITLE.search(raw[:4096])
    return repr(_decode(found[1])[:_MAX_SHOWN]) if found else "a page without a title"


def _read_plain(raw: bytes) -> Page | None:
    """Read a page in the form in which MediaWiki writes it.

    There ``<`` always begins a tag, so the last ``<`` before ``</text>`` must begin ``<text>``.
    """
    head = _HEAD.match(raw)
    end = raw.rfind(b"</text>")
    start = raw.rfind(b"<", 0, end) if head and end >= 0 else -1
    tag = _TEXT_TAG.match(raw, start) if start >= 0 else None
    if head is None or tag is None or b"\r" in raw:  # for which XML has its own rules
        return None
    if _HIDING.search(raw, head.end(), start) or _ANOTHER.search(raw, end):
        return None
    newest = raw[raw.rfind(b"<revision>", 0, start) : start] + raw[end:]
    model, timestamp = _MODEL.search(newest), _TIMESTAMP.search(newest)
    title = _unescape(head[1])
    redirect = _unescape(head[4] or b"")
    text = _unescape(raw[tag.end() : end])
    if title is None or redirect is None or text is None:
        return None
    try:
        return Page(
            id=int(head[3]),
            namespace=int(head[2]),
            title=title.decode("utf-8"),
            redirect=redirect.decode("utf-8") if head[4] is not None else None,
            text=text,
            model=(model[1].decode("utf-8") if model else "") or WIKITEXT,
            timestamp=timestamp[1].decode("utf-8") if timestamp else "",
        )
    except UnicodeDecodeError:
        return None


def _unescape(raw: bytes) -> bytes | None:
    """Decode the references that XML itself defines; None if there are others."""
    if b"&" not in raw:
        return raw
    made = np.empty(len(raw), dtype=np.uint8)
    length = unescape(np.frombuffer(raw, dtype=np.uint8), made)
    return None if length < 0 else made[:length].tobytes()


def _read_xml(raw: bytes) -> Page | None:
    """Read any valid XML."""
    collector = _Collector()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.characters
    try:
        parser.Parse(raw, True)  # noqa: FBT003
        return collector.page()
    except (expat.ExpatError, ValueError):
        return None


class _Collector:
    """Collects the contents of elements by their path below the page; the last one counts."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._pieces: list[str] = []
        self._found: dict[str, str] = {}
        self._redirect: str | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._path == ["page", "revision", "text"]:
            raise ValueError("the markup of a text was not escaped")
        self._path.append(name)
        self._pieces = []
        if self._path == ["page", "redirect"]:
            self._redirect = attributes.get("title")
        if self._path == ["page", "revision"]:
            self._found = {k: v for k, v in self._found.items() if not k.startswith("revision/")}

    def end(self, _name: str) -> None:
        if len(self._path) <= _DEPTH:
            self._found["/".join(self._path[1:])] = "".join(self._pieces)
        self._path.pop()
        self._pieces = []

    def characters(self, text: str) -> None:
        self._pieces.append(text)

    def page(self) -> Page | None:
        found = self._found
        if not found.get("title"):
            return None
        namespace = found.get("ns")
        return Page(
            id=_parse_number(found.get("id", "0"), digits=18),
            namespace=_parse_number(namespace, digits=9) if namespace else None,
            title=found["title"],
            redirect=self._redirect,
            text=found.get("revision/text", "").encode("utf-8"),
            model=found.get("revision/model") or WIKITEXT,
            timestamp=found.get("revision/timestamp", ""),
        )


def _parse_number(text: str, *, digits: int) -> int:
    """Return a number that a column of integers can hold."""
    number = int(text)
    if abs(number) >= 10**digits:
        raise ValueError(f"{number} has more than {digits} digits")
    return number


def _read_lenient(raw: bytes) -> Page | None:
    """Read any page with a title and a text, whatever else is wrong with it."""
    head = raw.partition(b"<revision>")[0]
    newest = raw[max(0, raw.rfind(b"<revision>")) :]
    title = _TITLE.search(raw)
    tag = _ANY_TEXT_TAG.search(newest)
    if title is None or not title[1].strip() or tag is None:
        return None
    end = tag.end() if tag[0].endswith(b"/>") else newest.rfind(b"</text>")
    if end < tag.end():
        return None
    beside = newest[: tag.start()] + newest[end:]
    namespace = _find_first(_NAMESPACE, head)
    return Page(
        id=int(_find_first(_ID, head) or 0),
        namespace=int(namespace) if namespace else None,
        title=_decode(title[1]),
        redirect=_find_first(_REDIRECT, head) or None,
        text=_decode(newest[tag.end() : end]).encode("utf-8"),
        model=_find_first(_MODEL, beside) or WIKITEXT,
        timestamp=_find_first(_TIMESTAMP, beside),
        mended=True,
    )


def _find_first(pattern: re.Pattern[bytes], raw: bytes) -> str:
    found = pattern.search(raw)
    return _decode(found[1]) if found else ""


def _decode(raw: bytes) -> str:
    """Decode references, also those that HTML has and XML does not."""
    return decode_references(raw.decode("utf-8", "replace"), _decode_number)


def _decode_number(number: int) -> str | None:
    return html_unescape(f"&#{number};") if number >= 0 else None
