"""One page of a dump, from its XML.

A page as MediaWiki writes it is cut out by looking for a few tags. Whatever looks different
(CDATA, comments, other references) goes through an XML parser, and what that refuses through a
lenient reader.
"""

import re
from html import unescape as html_unescape
from html.entities import html5
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from candgen.kernels.xml import unescape


class Page(NamedTuple):
    """The newest revision of a page."""

    id: int
    namespace: int | None
    """None in dumps so old that they do not say it."""
    title: str
    redirect: str | None
    """What the dump says that it redirects to."""
    text: bytes
    """Wikitext in UTF-8, as the dump has it: it may have bytes that are none."""
    model: str
    """What the text is: wikitext, or JSON, CSS and the like."""
    timestamp: str
    mended: bool = False
    """Its XML was not sound, and it was read nevertheless."""


WIKITEXT = "wikitext"

_HEAD = re.compile(
    rb"<page>\s*<title>([^<]+)</title>\s*<ns>(-?[0-9]{1,9})</ns>\s*<id>([0-9]{1,18})</id>\s*"
    rb'(?:<redirect title="([^"<\t\n]*)"\s*/>\s*)?'
    rb"(?:<restrictions>[^<]*</restrictions>\s*)?<revision>"
)
_TEXT_TAG = re.compile(rb"""<text(?:\s+[\w:]+=(?:"[^"<]*"|'[^'<]*'))*\s*>""")
_ANY_TEXT_TAG = re.compile(rb"<text(?:\s[^<>]*)?/?>")
_HIDING = re.compile(rb"<(?:[!?]|page>|content>)")  # other tags may stand inside these
_ANOTHER = re.compile(rb"<(?:[!?]|page>|revision>|text[\s/>])")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TIMESTAMP = re.compile(rb"<timestamp>([^<]*)</timestamp>")
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NAMESPACE = re.compile(rb"<ns>\s*(-?[0-9]{1,9})\s*</ns>")
_ID = re.compile(rb"<id>\s*([0-9]{1,18})\s*</id>")
_REDIRECT = re.compile(rb"<redirect\s+title=\"([^\"]*)\"")
_REFERENCE = re.compile(r"&(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});")
_SHOWN = 80
_DEPTH = 3  # of page, revision and text


def parse_page(raw: bytes) -> Page | None:
    """Read the bytes from ``<page>`` to ``</page>``; None if they cannot be read."""
    return _plain(raw) or _parsed(raw) or _lenient(raw)


def title_of(raw: bytes) -> str:
    """Name a page that could not be read, as well as possible."""
    found = _TITLE.search(raw[:4096])
    return repr(_decoded(found[1])[:_SHOWN]) if found else "a page without a title"


def _plain(raw: bytes) -> Page | None:
    """Read a page that is written as MediaWiki writes it.

    There ``<`` stands for a tag only, so the last ``<`` before ``</text>`` must begin ``<text>``.
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
    title = _unescaped(head[1])
    redirect = _unescaped(head[4] or b"")
    text = _unescaped(raw[tag.end() : end])
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


def _unescaped(raw: bytes) -> bytes | None:
    """Replace the references that XML itself defines; None if there are others."""
    if b"&" not in raw:
        return raw
    made = np.empty(len(raw), dtype=np.uint8)
    length = unescape(np.frombuffer(raw, dtype=np.uint8), made)
    return None if length < 0 else made[:length].tobytes()


def _parsed(raw: bytes) -> Page | None:
    """Read any sound XML."""
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
    """The contents of elements, by their path below the page; the last one of a path counts."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._pieces: list[str] = []
        self._found: dict[str, str] = {}
        self._redirect: str | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._path == ["page", "revision", "text"]:
            raise ValueError("a text whose markup was not escaped")
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
            id=_number(found.get("id", "0"), digits=18),
            namespace=_number(namespace, digits=9) if namespace else None,
            title=found["title"],
            redirect=self._redirect,
            text=found.get("revision/text", "").encode("utf-8"),
            model=found.get("revision/model") or WIKITEXT,
            timestamp=found.get("revision/timestamp", ""),
        )


def _number(text: str, *, digits: int) -> int:
    """Read a number that a column of integers can hold."""
    number = int(text)
    if abs(number) >= 10**digits:
        raise ValueError(f"{number} has more than {digits} digits")
    return number


def _lenient(raw: bytes) -> Page | None:
    """Read what has a title and a text, whatever else is wrong with it."""
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
    namespace = _first(_NAMESPACE, head)
    return Page(
        id=int(_first(_ID, head) or 0),
        namespace=int(namespace) if namespace else None,
        title=_decoded(title[1]),
        redirect=_first(_REDIRECT, head) or None,
        text=_decoded(newest[tag.end() : end]).encode("utf-8"),
        model=_first(_MODEL, beside) or WIKITEXT,
        timestamp=_first(_TIMESTAMP, beside),
        mended=True,
    )


def _first(pattern: re.Pattern[bytes], raw: bytes) -> str:
    found = pattern.search(raw)
    return _decoded(found[1]) if found else ""


def _decoded(raw: bytes) -> str:
    """Replace references that are whole, also those that HTML knows and XML does not."""
    return _REFERENCE.sub(_character, raw.decode("utf-8", "replace"))


def _character(reference: re.Match[str]) -> str:
    name = reference[1]
    return html_unescape(reference[0]) if name[0] == "#" else html5.get(f"{name};", reference[0])
