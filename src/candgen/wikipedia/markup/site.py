"""What a dump's header has about its wiki: namespaces, language, case of first letters."""

import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from candgen.errors import CandgenError, shown
from candgen.wikipedia.markup import conventions
from candgen.wikipedia.markup.conventions import Conventions

_LOG = logging.getLogger("candgen")

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_PIECE = 1 << 16
_MAX_NAME = 1024  # characters
_ALWAYS_CAPITAL = frozenset({-1, 2, 3, 8, 9})
"""Special pages, users and messages begin with a capital in every wiki."""
_ADDRESS = re.compile(
    r"(?:https?:)?//(?P<code>[a-z0-9-]+)\."
    r"(?P<project>wikipedia|wiktionary|wiki(?:books|news|quote|source|versity|voyage))\.org/"
)


class Namespace(NamedTuple):
    """A namespace of a wiki; its name is localized, with spaces, and "" for articles."""

    number: int
    name: str
    case_sensitive: bool


@dataclass(frozen=True)
class Site:
    """The properties of a wiki that decide how its links are read.

    >>> header = b'<mediawiki xml:lang="fo"><siteinfo><dbname>fowiki</dbname></siteinfo>'
    >>> site = Site.from_xml(header)
    >>> site.language, site.aliases["image"], "is" in site.interwiki, "ð" in site.trail
    ('fo', 6, True, True)
    """

    wiki: str
    """The name of its database, ``fowiki``."""
    language: str
    """The language of its pages, ``fo``."""
    name: str
    """Its own name, such as ``Wikipedia``."""
    case_sensitive: bool
    """Whether ``[[dog]]`` and ``[[Dog]]`` are two articles."""
    namespaces: Mapping[int, Namespace]
    aliases: Mapping[str, int]
    """Every name of a namespace, normalized: localized, English, and others."""
    interwiki: frozenset[str]
    """Prefixes that, before a colon, lead to other wikis; in lower case."""
    redirect_words: tuple[str, ...]
    """The words that begin a redirect, such as ``#redirect``; casefolded."""
    trail: str
    """Characters that become part of a link right after it; an apostrophe only if single."""
    prefix: str
    """Characters that become part of a link right before it; empty for most wikis."""

    @classmethod
    def from_xml(cls, header: bytes, *, details: Mapping[str, Any] | None = None) -> "Site":
        """Read the start of a dump, at least up to ``</siteinfo>``.

        The details are the parsed JSON of a ``siteinfo-namespaces.json`` file, or another answer
        of the API to ``meta=siteinfo``; they override the conventions of the language.
        """
        root, siteinfo = _parse_siteinfo(header)
        texts = {_tag(child): (child.text or "").strip() for child in siteinfo}
        wiki = texts.get("dbname") or _parse_address(texts.get("base", ""))
        language = root.get(_LANGUAGE, "").lower() or conventions.language_of(wiki)
        wiki = wiki or language.replace("-", "_") + "wiki"
        query = _query(details)
        case_sensitive = texts.get("case") == "case-sensitive"
        namespaces = _read_namespaces(siteinfo, case_sensitive=case_sensitive)
        customs = conventions.conventions_of(language)
        return cls(
            wiki=wiki,
            language=language,
            name=texts.get("sitename", ""),
            case_sensitive=case_sensitive,
            namespaces=namespaces,
            aliases=_collect_aliases(namespaces, wiki, customs, query),
            interwiki=_interwiki(query),
            redirect_words=_redirect_words(customs, query),
            trail=_trail(customs, query),
            prefix=_prefix(customs, query),
        )

    @property
    def own_prefixes(self) -> frozenset[str]:
        """Interwiki prefixes that lead to this wiki itself, such as ``fo:`` in Faroese."""
        return conventions.own_prefixes(self.wiki)


@lru_cache(1 << 10)  # few prefixes make up most links that have one
def normalize_name(name: str) -> str:
    """Return the form in which names of namespaces are compared.

    >>> normalize_name("User_Talk "), normalize_name("İstifadəçi")
    ('user talk', 'istifadəçi')
    """
    # Each of these letters would otherwise differ from its own capital or small letter.
    if not name.isascii():
        name = _compose(name).replace("İ", "i").replace("ı", "i")
    return " ".join(name.casefold().replace("_", " ").split())


def _compose(name: str) -> str:
    """Return a name in NFC; a text longer than any name stays as it is, as it may take hours."""
    return unicodedata.normalize("NFC", name) if len(name) <= _MAX_NAME else name


def _parse_siteinfo(header: bytes) -> tuple[Element, Element]:
    """Return the elements mediawiki and siteinfo; the rest need not be XML."""
    root: Element | None = None
    try:
        for event, element in _parse_elements(header):
            root = element if root is None else root
            if event == "end" and _tag(element) == "siteinfo" and _tag(root) == "mediawiki":
                return root, element
    except ParseError as error:
        problem = f"the XML is not well-formed: {error}"
    else:
        problem = "the end of <siteinfo> is missing"
        if root is None or _tag(root) != "mediawiki":
            problem = f"it begins with {header[:40]!r}"
    raise CandgenError(
        f"this is not the start of a MediaWiki dump, {problem}; "
        "expected <mediawiki> with <siteinfo>, as in a pages-articles file"
    )


def _parse_elements(header: bytes) -> Iterator[tuple[str, Element]]:
    parser: XMLPullParser[Element] = XMLPullParser(["start", "end"])
    for start in range(0, len(header), _PIECE):
        parser.feed(header[start : start + _PIECE])
        yield from cast("Iterator[tuple[str, Element]]", parser.read_events())
        if hasattr(parser, "flush"):  # since Expat 2.6, events of a long token may come late
            problem = None
            try:
                parser.flush()
            except ParseError as error:  # which read_events raises only after feed
                problem = error
            yield from cast("Iterator[tuple[str, Element]]", parser.read_events())
            if problem is not None:
                raise problem


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _parse_address(address: str) -> str:
    """Return a database's name, given a page's address; old dumps have only that."""
    match = _ADDRESS.match(address)
    if match is None:
        return ""
    project = "wiki" if match["project"] == "wikipedia" else match["project"]
    return match["code"].replace("-", "_") + project


def _read_namespaces(siteinfo: Element, *, case_sensitive: bool) -> dict[int, Namespace]:
    def usual(number: int) -> bool:
        return case_sensitive and number not in _ALWAYS_CAPITAL

    names = {
        number: name for number, name in reversed(conventions.canonical_namespaces()) if number < 16
    }
    namespaces = {number: Namespace(number, names[number], usual(number)) for number in names}
    for element in siteinfo.iter():
        key = element.get("key", "")
        if _tag(element) == "namespace" and re.fullmatch(r"-?[0-9]{1,9}", key):
            number, case = int(key), element.get("case")
            name = _compose(" ".join((element.text or "").split()))
            # Before version 0.4 of the format, namespaces do not have it.
            sensitive = case == "case-sensitive" if case else usual(number)
            namespaces[number] = Namespace(number, name, sensitive)
    return namespaces


def _collect_aliases(
    namespaces: Mapping[int, Namespace], wiki: str, customs: Conventions, query: Mapping[str, Any]
) -> dict[str, int]:
    """Return every name of a namespace; an earlier source wins where two differ."""
    names = chain(
        ((each.name, each.number) for each in namespaces.values()),
        _names_in_details(query),
        ((name, number) for number, name in conventions.canonical_namespaces()),
        conventions.project_names(wiki),
        customs.namespace_aliases,
        customs.shortcuts if wiki.endswith("wiki") else (),
    )
    aliases: dict[str, int] = {}
    for name, number in names:
        if normalize_name(name) and number in namespaces:
            aliases.setdefault(normalize_name(name), number)
    return aliases


def _names_in_details(query: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    fields = {"namespaces": ("*", "name", "canonical"), "namespacealiases": ("*", "alias")}
    for listed, keys in fields.items():
        for each in _entries(query.get(listed)):
            for key in keys:
                if isinstance(each.get(key), str) and isinstance(each.get("id"), int):
                    yield each[key], each["id"]


def _interwiki(query: Mapping[str, Any]) -> frozenset[str]:
    listed = (each.get("prefix") for each in _entries(query.get("interwikimap")))
    return (
        frozenset(each.lower() for each in listed if isinstance(each, str))
        or conventions.prefixes()
    )


def _redirect_words(customs: Conventions, query: Mapping[str, Any]) -> tuple[str, ...]:
    listed = (
        each.get("aliases")
        for each in _entries(query.get("magicwords"))
        if each.get("name") == "redirect"
    )
    words = next((each for each in listed if isinstance(each, list)), customs.redirect_words)
    words = ["#REDIRECT", *(word for word in words if isinstance(word, str))]
    # Casefolding makes two characters of a dotted capital; editors type one.
    words += [word.replace("İ", "i") for word in words]
    return tuple(dict.fromkeys(_compose(word).casefold() for word in words))


def _trail(customs: Conventions, query: Mapping[str, Any]) -> str:
    pattern = _general(query).get("linktrail")
    if not isinstance(pattern, str):
        return customs.trail
    trail = conventions.parse_trail_pattern(pattern)
    if trail is None:
        message = "the link trail %s is not supported; that of the language is used"
        _LOG.warning(message, shown(pattern))
        return customs.trail
    return trail


def _prefix(customs: Conventions, query: Mapping[str, Any]) -> str:
    """Return the characters of the link prefix, from the API if it has them."""
    characters = _general(query).get("linkprefixcharset")
    if not isinstance(characters, str) or len(characters) > conventions.MAX_PATTERN:
        return customs.prefix
    return conventions.characters_of(characters)


def _query(details: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the answer of the API, with or without its envelope."""
    query = (details or {}).get("query", details or {})
    return query if isinstance(query, Mapping) else {}


def _general(query: Mapping[str, Any]) -> Mapping[str, Any]:
    general = query.get("general")
    return general if isinstance(general, Mapping) else {}


def _entries(found: object) -> list[Mapping[str, Any]]:
    """Return the members of a list or of an object; the API's versions differ in that."""
    if isinstance(found, Mapping):
        found = list(found.values())
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
