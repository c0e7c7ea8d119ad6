"""Titles of pages, as MediaWiki makes them of the text that an editor typed."""

import re
import unicodedata
from typing import NamedTuple

from candgen.wikipedia.markup.character_references import decode_references
from candgen.wikipedia.markup.conventions import capitalizer_of
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site, normalize_name

_MAX_BYTES = 255
"""The most bytes of UTF-8 of a title without its namespace."""
_MAX_SPECIAL_BYTES = 512
_MAX_LENGTH = 1024
"""So many characters have more bytes than any title, also with prefixes and with accents apart.

Longer text takes very long to normalize: Unicode sorts the accents of a letter.
"""
SAFE_LENGTH = _MAX_BYTES // 4
"""So many characters never have too many bytes."""

_MAIN, _TALK, _SPECIAL = 0, 1, -1

_BIDIRECTIONAL_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]+")
_SPACES = " _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WHITE_SPACE = re.compile(f"[{_SPACES}]+")
_NEVER = r"\x00-\x1f\x7f<>\[\]{}|\ufffd\ud800-\udfff"
_ILLEGAL = re.compile(f"[{_NEVER}]")
_LOOKS_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|&[0-9A-Za-z\x80-\U0010ffff]+;")
_RELATIVE_PATH = re.compile(r"(?:^|/)\.\.?(?:/|$)")
_PERCENT_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
PLAIN = f"[^{_NEVER}{_SPACES}\\s\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff&%:#/~]"
"""A character that stays as it is in a target, as a regular expression."""
# Most targets are plain: only their first letter may have to change.
_is_plain = re.compile(rf"(?!\.)(?=.{{1,{SAFE_LENGTH}}}\Z){PLAIN}+(?: {PLAIN}+)*").fullmatch
_is_normalized = unicodedata.is_normalized


class Title(NamedTuple):
    """A page's namespace and its full title, with the namespace's name before it."""

    namespace: int
    text: str


_new = tuple.__new__


class Titles:
    """Makes titles of the targets of links, by the rules of one wiki.

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
        self._capitalize = capitalizer_of(site.language)
        self._kept = {n for n, each in site.namespaces.items() if each.case_sensitive}
        if site.case_sensitive and _MAIN not in site.namespaces:
            self._kept.add(_MAIN)
        self._main_kept = _MAIN in self._kept

    def parse(self, text: str) -> Title | Reason:
        """Return the title that a link leads to, given the text before its pipe.

        The text is wikitext without comments. A link to another wiki is INTERWIKI, one to a
        heading is SECTION, and a target of which MediaWiki makes no link is INVALID.
        """
        if _is_plain_target(text):
            return _new(Title, (_MAIN, self.capitalize(text)))  # in half the time of Title(...)
        prefix, _, rest = text.partition(":")
        rest = rest.lstrip(" ")
        if _is_plain(prefix) and _is_plain_target(rest):  # as in most links to images
            namespace = self._aliases.get(normalize_name(prefix))
            if namespace is not None:
                return Title(
                    namespace, self._add_namespace(namespace, self._fix_case(namespace, rest))
                )
        return self._parse_any(text)

    def capitalize(self, text: str) -> str:
        """Return an article's title with the first letter that the wiki gives it."""
        return text if self._main_kept else self._capitalize(text)

    def from_database(self, namespace: int, key: str) -> str:
        """Return the title of a namespace's number and a key of the wiki's database.

        The key is not checked: all keys of the database are valid.
        """
        return self._add_namespace(namespace, key.replace("_", " "))

    def _parse_any(self, text: str) -> Title | Reason:
        if _ILLEGAL.search(text):
            return Reason.INVALID
        text = _WHITE_SPACE.sub(" ", _decode(text)).strip(" ")
        if text.startswith(":"):
            text = text[1:].lstrip(" ")
        text, fragment, _ = text.partition("#")
        if not (text or fragment) or len(text) > _MAX_LENGTH:
            return Reason.INVALID
        text = unicodedata.normalize("NFC", text)
        namespace = _MAIN
        while (colon := text.find(":", 1)) > 0:
            prefix, rest = normalize_name(text[:colon]), text[colon + 1 :].lstrip(" ")
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
        return self._finish(namespace, text, fragment)

    def _has_prefix(self, text: str) -> bool:
        """Return whether a title begins with a prefix, which no page of Talk may."""
        colon = text.find(":", 1)
        prefix = normalize_name(text[: max(colon, 0)])
        return prefix in self._interwiki or bool(
            prefix in self._own_prefixes or self._aliases.get(prefix)
        )

    def _finish(self, namespace: int, text: str, fragment: str) -> Title | Reason:
        text = text.rstrip(" ")
        if not text:
            return Reason.SECTION if fragment and namespace == _MAIN else Reason.INVALID
        text = self._fix_case(namespace, text)
        if text[0] == ":" or not _is_legal(text, namespace):
            return Reason.INVALID
        return Title(namespace, self._add_namespace(namespace, text))

    def _fix_case(self, namespace: int, text: str) -> str:
        return text if namespace in self._kept else self._capitalize(text)

    def _add_namespace(self, namespace: int, text: str) -> str:
        if namespace == _MAIN:
            return text
        name = self._names.get(namespace)
        return f"Special:Badtitle/NS{namespace}:{text}" if name is None else f"{name}:{text}"


def _is_plain_target(text: str) -> bool:
    return bool(_is_plain(text)) and (text.isascii() or _is_normalized("NFC", text))


def _is_legal(text: str, namespace: int) -> bool:
    longest = _MAX_SPECIAL_BYTES if namespace == _SPECIAL else _MAX_BYTES
    return not (
        _ILLEGAL.search(text)
        or _LOOKS_ENCODED.search(text)
        or ("." in text and _RELATIVE_PATH.search(text))
        or "~~~" in text
        or (len(text) > SAFE_LENGTH and len(text.encode()) > longest)
    )


def _decode(text: str) -> str:
    """Decode percent-encoding and character references as MediaWiki does."""
    if "%" in text:
        text = _PERCENT_ENCODED.sub(_decode_percent, text)
    if "&" in text:
        # Twice, since tools that write wikitext often escape what was escaped before.
        text = decode_references(decode_references(text, _decode_number), _decode_number)
    # Marks are removed before it is normalized: they may be between a letter and its accent.
    return text if text.isascii() else _BIDIRECTIONAL_MARKS.sub("", text)


def _decode_percent(encoded: re.Match[str]) -> str:
    return bytes.fromhex(encoded[0].replace("%", "")).decode("utf-8", "replace")


def _decode_number(number: int) -> str:
    return chr(number) if 0 < number <= 0x10FFFF else "\ufffd"  # which no title may have
