"""What a dump does not say of its wiki: customs of languages, and prefixes of other wikis.

``conventions.json`` holds the facts, by language; MediaWiki has them in its message files. A
language takes what it does not have from the ones it falls back to.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

CANONICAL_NAMESPACES: tuple[tuple[int, str], ...] = (
    (-2, "Media"),
    (-1, "Special"),
    (0, ""),
    (1, "Talk"),
    (2, "User"),
    (3, "User talk"),
    (4, "Project"),
    (5, "Project talk"),
    (6, "File"),
    (6, "Image"),
    (7, "File talk"),
    (7, "Image talk"),
    (8, "MediaWiki"),
    (9, "MediaWiki talk"),
    (10, "Template"),
    (11, "Template talk"),
    (12, "Help"),
    (13, "Help talk"),
    (14, "Category"),
    (15, "Category talk"),
    (710, "TimedText"),
    (711, "TimedText talk"),
    (828, "Module"),
    (829, "Module talk"),
    (2300, "Gadget"),
    (2301, "Gadget talk"),
    (2302, "Gadget definition"),
    (2303, "Gadget definition talk"),
    (2600, "Topic"),
)
"""The English names, which every wiki understands."""

_PROJECTS = "wiki(?:books|news|quote|source|versity|voyage|media)?|wiktionary"
_DATABASE = re.compile(f"(?P<code>.+?)_?(?P<project>{_PROJECTS})")
_TURKIC = frozenset({"az", "kaa", "tr"})
_STAY_SMALL = re.compile("[\u0345ⅰ-ⅿⓐ-ⓩꞹ\U00016e60-\U00016e7f]")
"""Letters that Wikimedia's wikis leave alone, though Unicode has capitals for them."""

_MEMBER = re.compile(r"\\x\{[0-9A-Fa-f]{1,6}\}|\\x[0-9A-Fa-f]{2}|\\.|.", re.DOTALL)
_TRAIL = re.compile(r"/\^\((?:\(\?:(?P<choice>.+)\)\+|(?P<class>\[.+\])\+|)\)\(\.\*\)\$/[A-Za-z]*")
_ALTERNATIVES = re.compile(r"(?:\[(?:\\.|[^\]\\])+\]|\(\?!'\)|\\.|[^|\[\]()\\])+")
_APOSTROPHE = "'(?!')"


@dataclass(frozen=True)
class Conventions:
    """The customs of a language's wikis."""

    trail: str
    """What becomes part of a link right after it; an apostrophe only if none follows it."""
    prefix: str
    """What becomes part of a link right before it."""
    redirect_words: tuple[str, ...]
    """What a redirect begins with, besides ``#REDIRECT``."""
    namespace_aliases: tuple[tuple[str, int], ...]
    """Names of namespaces besides the English ones and the one that a dump's header has."""
    shortcuts: tuple[tuple[str, int], ...]
    """Names of namespaces that only the Wikipedia of this language has, as ``WP``."""


@cache
def conventions(language: str) -> Conventions:
    """Give the customs of a language, those of English for one that is not known.

    >>> conventions("de").trail, conventions("de").redirect_words
    ('abcdefghijklmnopqrstuvwxyzßäöü', ('#WEITERLEITUNG',))
    """
    chain = [_languages()[each] for each in _chain(language) if each in _languages()]
    trail = next((each["trail"] for each in chain if "trail" in each), "a-z")
    prefix = next((each["prefix"] for each in chain if "prefix" in each), "")
    words = tuple(word for each in chain for word in each.get("redirect", ()))
    aliases = tuple(name for each in chain for name in _numbered(each.get("aliases", {})))
    own = _languages().get(_language(language), {})
    return Conventions(
        trail=characters_of(trail),
        prefix=characters_of(prefix),
        redirect_words=words,
        namespace_aliases=aliases,
        shortcuts=tuple(_numbered(own.get("shortcuts", {}))),
    )


def _numbered(names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Give each name with the number of the namespace whose English name it stands under."""
    numbers = {name: number for number, name in CANONICAL_NAMESPACES}
    return ((alias, numbers[name]) for name, aliases in names.items() for alias in aliases)


def characters_of(ranges: str) -> str:
    r"""Expand what stands in the brackets of a regular expression.

    >>> characters_of(r"a-cø\x{e6}-")
    '-abcæø'
    """
    found: set[str] = set()
    members = _MEMBER.findall(ranges)
    position = 0
    while position < len(members):
        first = last = _member(members[position])
        if members[position + 1 : position + 2] == ["-"] and position + 2 < len(members):
            position += 2
            last = _member(members[position])
        found.update(map(chr, range(ord(first), ord(last) + 1)))
        position += 1
    return "".join(sorted(found))


def _member(text: str) -> str:
    if text.startswith("\\x") and (digits := text[2:].strip("{}")):
        return chr(min(int(digits, 16), sys.maxunicode))
    return text[-1]


def trail_of_pattern(pattern: str) -> str | None:
    """Give the characters of a link trail of the pattern that MediaWiki's API gives.

    What must stand together, as Breton's ``c'h``, is left out; None is for a pattern that is
    more than a choice of characters.

    >>> trail_of_pattern("/^((?:[a-cç]|'(?!'))+)(.*)$/sDu"), trail_of_pattern("/^()(.*)$/sD")
    ("'abcç", '')
    """
    match = _TRAIL.fullmatch(pattern)
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
    """Give the prefixes of links to other wikis, in lower case: languages and projects."""
    return frozenset(_facts()["languages of Wikipedia"]) | frozenset(_facts()["projects"])


def language_of(wiki: str) -> str:
    """Give the language's code in a database's name.

    >>> language_of("fowiki"), language_of("zh_min_nanwiki"), language_of("alswiktionary")
    ('fo', 'zh-min-nan', 'als')
    """
    match = _DATABASE.fullmatch(wiki)
    return (match["code"] if match else wiki).replace("_", "-")


def own_prefixes(wiki: str) -> frozenset[str]:
    """Give the interwiki prefixes that lead to the wiki itself, of its database's name.

    >>> sorted(own_prefixes("alswiki")), sorted(own_prefixes("simplewiki"))
    (['als', 'gsw'], ['simple'])
    """
    code = language_of(wiki)
    language = _language(code)
    return frozenset({code, language}) if language != "en" else frozenset({code})


def project_names(wiki: str) -> tuple[tuple[str, int], ...]:
    """Give the English names of the project's own namespaces, of a database's name.

    >>> project_names("fowiki")
    (('Wikipedia', 4), ('Wikipedia talk', 5))
    """
    match = _DATABASE.fullmatch(wiki)
    if match is None or language_of(wiki) not in _facts()["languages of Wikipedia"]:
        return ()
    name = "Wikipedia" if match["project"] == "wiki" else match["project"].capitalize()
    return (name, 4), (f"{name} talk", 5)


VARIANTS = frozenset(
    [
        "ban",
        "crh",
        "gan",
        "iu",
        "kk",
        "ku",
        "mni",
        "sh",
        "shi",
        "sr",
        "tg",
        "tly",
        "uz",
        "wuu",
        "zh",
    ]
)
"""Languages whose wikis are shown in several scripts or spellings, ``-{zh-hans:x;zh-hant:y}-``."""


def first_letters(language: str) -> Callable[[str], str]:
    """Give what makes the first letter of a title a capital, for a language.

    >>> [first_letters(language)("ibn") for language in ("en", "tr", "gag")]
    ['Ibn', 'İbn', 'İbn']
    """
    return _turkic_capital if _TURKIC & set(_chain(language)) else capital


def capital(text: str) -> str:
    """Make the first letter a capital, as MediaWiki does; most have one, some only in Unicode.

    >>> capital("føroyar"), capital("ßx"), capital("ǆx"), capital("ⅳ")
    ('Føroyar', 'ßx', 'ǅx', 'ⅳ')
    """
    first = text[:1]
    if first < "a":  # all of these are in their final form
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


def _turkic_capital(text: str) -> str:
    return "İ" + text[1:] if text[:1] == "i" else capital(text)


def _language(code: str) -> str:
    """Give the language of a code that names a wiki, or one of a language's scripts."""
    return str(_facts()["languages of codes"].get(code, code))


@cache
def _chain(code: str) -> tuple[str, ...]:
    """Give a language and those that MediaWiki asks next."""
    language = _language(code)
    return (language, *_facts()["fallbacks"].get(language, ()))


@cache
def _facts() -> Mapping[str, Any]:
    text = (
        files("candgen.wikipedia.markup").joinpath("conventions.json").read_text(encoding="utf-8")
    )
    facts: Mapping[str, Any] = json.loads(text)
    return facts


def _languages() -> Mapping[str, Mapping[str, Any]]:
    languages: Mapping[str, Mapping[str, Any]] = _facts()["languages"]
    return languages
