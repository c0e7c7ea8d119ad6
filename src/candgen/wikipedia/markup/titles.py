"""Titles of pages, as MediaWiki makes them of what an editor typed."""

import re
import unicodedata
from html.entities import html5
from typing import NamedTuple

from candgen.wikipedia.markup.conventions import first_letters
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site, comparable

_LONGEST = 255
"""Bytes of UTF-8 that a title may have without its namespace."""
_LONGEST_SPECIAL = 512
FEW = _LONGEST // 4
"""So many characters are never too many bytes."""

_MAIN, _TALK, _SPECIAL = 0, 1, -1

_BIDIRECTIONAL_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]+")
_SPACES = " _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WHITE_SPACE = re.compile(f"[{_SPACES}]+")
_NEVER = r"\x00-\x1f\x7f<>\[\]{}|\ufffd\ud800-\udfff"
_ILLEGAL = re.compile(f"[{_NEVER}]")
_LOOKS_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|&[0-9A-Za-z\x80-\U0010ffff]+;")
_RELATIVE_PATH = re.compile(r"(?:^|/)\.\.?(?:/|$)")
_CHARACTER_REFERENCE = re.compile(
    r"&(?:\#(?P<decimal>[0-9]+)|\#[xX](?P<hexadecimal>[0-9A-Fa-f]+)|(?P<name>[0-9A-Za-z]+));"
)
_PERCENT_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
PLAIN = f"[^{_NEVER}{_SPACES}\\s\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff&%:#/~]"
"""A character that means itself in a target and needs no folding, as a regular expression."""
# Most targets are plain: only their first letter may have to change.
_is_plain = re.compile(rf"(?!\.)(?=.{{1,{FEW}}}\Z){PLAIN}+(?: {PLAIN}+)*").fullmatch
_is_normalized = unicodedata.is_normalized


class Title(NamedTuple):
    """A page's namespace and its title as it is shown, with the namespace's name before it."""

    namespace: int
    text: str


_new = tuple.__new__


class Titles:
    """Makes titles of what stands in links, by the rules of one wiki.

    >>> from candgen.wikipedia.markup.site import Site
    >>> header = '<mediawiki xml:lang="fo"><siteinfo><dbname>fowiki</dbname></siteinfo>'
    >>> titles = Titles(Site.from_xml(header.encode()))
    >>> titles.parse("føroyar#Søga")
    Title(namespace=0, text='Føroyar')
    >>> titles.parse("2001: A Space_Odyssey")
    Title(namespace=0, text='2001: A Space Odyssey')
    >>> titles.parse("image: x.jpg"), titles.parse("is:Ísland")
    (Title(namespace=6, text='File:X.jpg'), <Reason.INTERWIKI: 'interwiki'>)
    """

    def __init__(self, site: Site) -> None:
        self._aliases = site.aliases
        self._own_prefixes = site.own_prefixes
        self._interwiki = site.interwiki - self._own_prefixes
        self._names = {each.number: each.name for each in site.namespaces.values()}
        self._capital = first_letters(site.language)
        self._kept = {n for n, each in site.namespaces.items() if each.case_sensitive}
        if site.case_sensitive and _MAIN not in site.namespaces:
            self._kept.add(_MAIN)
        self._main_kept = _MAIN in self._kept

    def parse(self, text: str) -> Title | Reason:
        """Make the title that a link leads to, of the text before its pipe.

        The text is wikitext without comments. A link elsewhere is INTERWIKI, one to a heading
        only is SECTION, and what MediaWiki would not make a link is INVALID.
        """
        if _means_itself(text):
            return _new(Title, (_MAIN, self.capital(text)))  # in half the time of Title(...)
        prefix, _, rest = text.partition(":")
        rest = rest.lstrip(" ")
        if _is_plain(prefix) and _means_itself(rest):  # as in most links to images
            namespace = self._aliases.get(comparable(prefix))
            if namespace is not None:
                return Title(namespace, self._shown(namespace, self._cased(namespace, rest)))
        return self._parse_any(text)

    def capital(self, text: str) -> str:
        """Make the first letter of an article's title what the wiki would make it."""
        return text if self._main_kept else self._capital(text)

    def from_database(self, namespace: int, key: str) -> str:
        """Give the title of a namespace's number and a key, as tables of the database have them.

        The key is taken as it is: the database holds no other than legal ones.
        """
        return self._shown(namespace, key.replace("_", " "))

    def _parse_any(self, text: str) -> Title | Reason:
        if _ILLEGAL.search(text):
            return Reason.INVALID
        text = _WHITE_SPACE.sub(" ", _decoded(text)).strip(" ")
        if text.startswith(":"):
            text = text[1:].lstrip(" ")
        if not text:
            return Reason.INVALID
        namespace = _MAIN
        while (colon := text.find(":", 1)) > 0:
            prefix, rest = comparable(text[:colon]), text[colon + 1 :].lstrip(" ")
            if (found := self._aliases.get(prefix)) is not None:
                namespace, text = found, rest
                break
            if prefix in self._interwiki:
                return Reason.INTERWIKI
            if prefix not in self._own_prefixes:
                break
            text = rest
        if namespace == _TALK and self._has_prefix(text):
            return Reason.INVALID
        return self._finished(namespace, text)

    def _has_prefix(self, text: str) -> bool:
        """Whether a page of the namespace Talk seems to be one of another: it may not."""
        colon = text.find(":", 1)
        prefix = comparable(text[: max(colon, 0)])
        return prefix in self._interwiki or bool(
            prefix in self._own_prefixes or self._aliases.get(prefix)
        )

    def _finished(self, namespace: int, text: str) -> Title | Reason:
        text, fragment, _ = text.partition("#")
        text = text.rstrip(" ")
        if not text:
            return Reason.SECTION if fragment and namespace == _MAIN else Reason.INVALID
        text = self._cased(namespace, text)
        if text[0] == ":" or not _is_legal(text, namespace):
            return Reason.INVALID
        return Title(namespace, self._shown(namespace, text))

    def _cased(self, namespace: int, text: str) -> str:
        return text if namespace in self._kept else self._capital(text)

    def _shown(self, namespace: int, text: str) -> str:
        if namespace == _MAIN:
            return text
        name = self._names.get(namespace)
        return f"Special:Badtitle/NS{namespace}:{text}" if name is None else f"{name}:{text}"


def _means_itself(text: str) -> bool:
    return bool(_is_plain(text)) and (text.isascii() or _is_normalized("NFC", text))


def _is_legal(text: str, namespace: int) -> bool:
    longest = _LONGEST_SPECIAL if namespace == _SPECIAL else _LONGEST
    return not (
        _ILLEGAL.search(text)
        or _LOOKS_ENCODED.search(text)
        or ("." in text and _RELATIVE_PATH.search(text))
        or "~~~" in text
        or (len(text) > FEW and len(text.encode()) > longest)
    )


def _decoded(text: str) -> str:
    """Decode what a browser or an editor encoded, as far as MediaWiki does."""
    if "%" in text:
        text = _PERCENT_ENCODED.sub(_percent_decoded, text)
    if "&" in text:
        # Twice, since tools that write wikitext often escape what was escaped before.
        text = _CHARACTER_REFERENCE.sub(_character, _CHARACTER_REFERENCE.sub(_character, text))
    if text.isascii():
        return text
    # After the marks have gone, because they may stand between a letter and its accent.
    return unicodedata.normalize("NFC", _BIDIRECTIONAL_MARKS.sub("", text))


def _percent_decoded(encoded: re.Match[str]) -> str:
    return bytes.fromhex(encoded[0].replace("%", "")).decode("utf-8", "replace")


def _character(reference: re.Match[str]) -> str:
    if name := reference["name"]:
        return html5.get(f"{name};", reference[0])
    decimal = reference["decimal"]
    digits = (decimal or reference["hexadecimal"]).lstrip("0")
    # No character has a longer number, and Python refuses to read numbers that are very long.
    if not digits or len(digits) > 7:
        return "\ufffd"
    number = int(digits, 10 if decimal else 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
