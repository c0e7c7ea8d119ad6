"""What a dump does not have about its wiki: conventions of languages, prefixes of other wikis.

``conventions.json`` has the facts by language, from MediaWiki's message files. A language takes
missing facts from the languages it falls back to.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import compress
from typing import Any

from candgen.dumps.wiki_codes import LANGUAGE_OF_WIKI

_PROJECTS = "wiki(?:books|news|quote|source|versity|voyage|media)?|wiktionary"
_DATABASE = re.compile(f"(?P<code>.+?)_?(?P<project>{_PROJECTS})")
_TURKIC = frozenset({"az", "kaa", "tr"})
_STAY_SMALL = re.compile("[\u0345ⅰ-ⅿⓐ-ⓩꞹ\U00016e60-\U00016e7f]")
"""Letters that Wikimedia's wikis do not capitalize, though Unicode has capitals for them."""

_MEMBER = re.compile(r"\\x\{[0-9A-Fa-f]{1,6}\}|\\x[0-9A-Fa-f]{2}|\\.|.", re.DOTALL)
_TRAIL = re.compile(r"/\^\((?:\(\?:(?P<choice>.+)\)\+|(?P<class>\[.+\])\+|)\)\(\.\*\)\$/[A-Za-z]*")
_ALTERNATIVES = re.compile(r"(?:\[(?:\\.|[^\]\\])+\]|\(\?!'\)|\\.|[^|\[\]()\\])+")
_APOSTROPHE = "'(?!')"
MAX_PATTERN = 4096
"""The most characters of a pattern of MediaWiki's API that is read; real ones have hundreds."""


@dataclass(frozen=True)
class Conventions:
    """The conventions of a language's wikis."""

    trail: str
    """Characters that become part of a link right after it; an apostrophe only if single."""
    prefix: str
    """Characters that become part of a link right before it."""
    redirect_words: tuple[str, ...]
    """The words that begin a redirect, besides ``#REDIRECT``."""
    namespace_aliases: tuple[tuple[str, int], ...]
    """Names of namespaces besides the English ones and those in a dump's header."""
    shortcuts: tuple[tuple[str, int], ...]
    """Names of namespaces that only the Wikipedia of this language has, such as ``WP``."""


@cache
def conventions_of(language: str) -> Conventions:
    """Return the conventions of a language; those of English for an unknown one.

    >>> conventions_of("de").trail, conventions_of("de").redirect_words
    ('abcdefghijklmnopqrstuvwxyzßäöü', ('#WEITERLEITUNG',))
    """
    languages = _facts()["languages"]
    chain = [languages[each] for each in _chain(language) if each in languages]
    trail = next((each["trail"] for each in chain if "trail" in each), "a-z")
    prefix = next((each["prefix"] for each in chain if "prefix" in each), "")
    words = tuple(word for each in chain for word in each.get("redirect", ()))
    aliases = tuple(name for each in chain for name in _numbered(each.get("aliases", {})))
    own = languages.get(_language(language), {})
    return Conventions(
        trail=characters_of(trail),
        prefix=characters_of(prefix),
        redirect_words=words,
        namespace_aliases=aliases,
        shortcuts=tuple(_numbered(own.get("shortcuts", {}))),
    )


def _numbered(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yield each name with the number of the namespace under whose English name it is."""
    numbers = {name: number for number, name in canonical_namespaces()}
    return ((alias, numbers[name]) for name, aliases in names.items() for alias in aliases)


def characters_of(ranges: str) -> str:
    r"""Return the characters of a character class of a regular expression.

    >>> characters_of(r"a-cø\x{e6}-")
    '-abcæø'
    """
    spans: list[range] = []
    members = _MEMBER.findall(ranges)
    position = 0
    while position < len(members):
        first = last = _member(members[position])
        if members[position + 1 : position + 2] == ["-"] and position + 2 < len(members):
            position += 2
            last = _member(members[position])
        spans.append(range(ord(first), ord(last) + 1))
        position += 1
    found = bytearray(max((span.stop for span in spans), default=0))
    for span in spans:
        found[span.start : span.stop] = b"\1" * len(span)
    return "".join(compress(map(chr, range(len(found))), found))


def _member(text: str) -> str:
    if text.startswith("\\x") and (digits := text[2:].strip("{}")):
        return chr(min(int(digits, 16), sys.maxunicode))
    return text[-1]


def parse_trail_pattern(pattern: str) -> str | None:
    """Return the characters of the link trail in a pattern of MediaWiki's API.

    Sequences, such as Breton's ``c'h``, are left out; None for a pattern that is not a choice of
    characters, or longer than any.

    >>> parse_trail_pattern("/^((?:[a-cç]|'(?!'))+)(.*)$/sDu"), parse_trail_pattern("/^()(.*)$/sD")
    ("'abcç", '')
    """
    match = _TRAIL.fullmatch(pattern) if len(pattern) <= MAX_PATTERN else None
    if match is None:
        return None
    choice = match["choice"] or match["class"] or ""
    alternatives = _ALTERNATIVES.findall(choice)
    if "|".join(alternatives) != choice:
        return None
    found = ""
    for each in alternatives:
        if each.startswith("["):
            if "\\p" in each or each.startswith("[^") or each.index("]") != len(each) - 1:
                return None
            found += characters_of(each[1:-1])
        elif each == _APOSTROPHE or _MEMBER.fullmatch(each):
            found += _member(each) if each != _APOSTROPHE else "'"
    return "".join(sorted(set(found)))


@cache
def prefixes() -> frozenset[str]:
    """Return the prefixes of links to other wikis, in lower case: languages and projects."""
    return frozenset(_facts()["languages of Wikipedia"]) | frozenset(_facts()["projects"])


def language_of(wiki: str) -> str:
    """Return the language's code in a database's name.

    >>> language_of("fowiki"), language_of("zh_min_nanwiki"), language_of("alswiktionary")
    ('fo', 'zh-min-nan', 'als')
    """
    match = _DATABASE.fullmatch(wiki)
    return (match["code"] if match else wiki).replace("_", "-")


def own_prefixes(wiki: str) -> frozenset[str]:
    """Return the interwiki prefixes that lead to the wiki itself, given its database's name.

    >>> sorted(own_prefixes("alswiki")), sorted(own_prefixes("simplewiki"))
    (['als', 'gsw'], ['simple'])
    """
    code = language_of(wiki)
    language = _language(code)
    return frozenset({code, language}) if language != "en" else frozenset({code})


def project_names(wiki: str) -> tuple[tuple[str, int], ...]:
    """Return the English names of a project's own namespaces, given its database's name.

    >>> project_names("fowiki")
    (('Wikipedia', 4), ('Wikipedia talk', 5))
    """
    match = _DATABASE.fullmatch(wiki)
    if match is None or language_of(wiki) not in _facts()["languages of Wikipedia"]:
        return ()
    name = "Wikipedia" if match["project"] == "wiki" else match["project"].capitalize()
    return (name, 4), (f"{name} talk", 5)


@cache
def canonical_namespaces() -> tuple[tuple[int, str], ...]:
    """Return the numbers and English names of namespaces, which every wiki understands."""
    return tuple((number, name) for number, name in _facts()["namespaces"])


def has_variants(language: str) -> bool:
    """Return whether a wiki has several scripts or spellings, ``-{zh-hans:x;zh-hant:y}-``."""
    return language in _facts()["variants"]


def capitalizer_of(language: str) -> Callable[[str], str]:
    """Return the function that makes the first letter of a title a capital in a language.

    >>> [capitalizer_of(language)("ibn") for language in ("en", "tr", "gag")]
    ['Ibn', 'İbn', 'İbn']
    """
    return _capitalize_turkic if _TURKIC & set(_chain(language)) else capitalize


def capitalize(text: str) -> str:
    """Make the first letter a capital as MediaWiki does, not for all letters that could be.

    >>> capitalize("føroyar"), capitalize("ßx"), capitalize("ǆx"), capitalize("ⅳ")
    ('Føroyar', 'ßx', 'ǅx', 'ⅳ')
    """
    first = text[:1]
    if first < "a":  # these never change
        return text
    large = _CAPITALS[first]
    if large == first:
        return text
    text = large + text[1:]
    return text if text.isascii() else unicodedata.normalize("NFC", text)


class _Capitals(dict[str, str]):
    def __missing__(self, first: str) -> str:
        large = first.title()
        keeps = len(large) != 1 or first.isupper() or _STAY_SMALL.match(first)
        self[first] = first if keeps else large
        return self[first]


_CAPITALS = _Capitals()


def _capitalize_turkic(text: str) -> str:
    return "İ" + text[1:] if text[:1] == "i" else capitalize(text)


def _language(code: str) -> str:
    """Return the language of a code of a wiki, or of one of a language's scripts."""
    return LANGUAGE_OF_WIKI.get(code) or str(_facts()["languages of codes"].get(code, code))


@cache
def _chain(code: str) -> tuple[str, ...]:
    """Return a language and those it falls back to, in order."""
    language = _language(code)
    return (language, *_facts()["fallbacks"].get(language, ()))


@cache
def _facts() -> Mapping[str, Any]:
    file = files("candgen.wikipedia.markup").joinpath("conventions.json")
    facts: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return facts
