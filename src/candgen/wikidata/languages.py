"""Which names of a Wikidata item belong to a language.

Wikidata has one code of a language for labels, and another for its Wikipedia in some cases.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from candgen.dumps.wiki_codes import LANGUAGE_OF_WIKI, WIKI_OF_LANGUAGE
from candgen.errors import ParameterError

DEFAULT = "mul"
"""The code, since 2024, of names for all languages in which an item has no name of its own."""

_CODE = re.compile(r"[a-z]{2,6}(-[a-z0-9]{1,8})*")


class Language(NamedTuple):
    """A requested language, and the keys under which an item has its names."""

    code: str
    labels: tuple[str, ...]
    """The keys of labels, aliases and descriptions; the first that an item has is used."""
    site: str
    """The key of the page in its Wikipedia."""


def find_keys(code: str) -> Language:
    """Return the keys of a language, given by either of its codes.

    Variants of a language, such as ``zh-hant``, are languages of their own. There are no labels in
    Simple English, so ``simple`` has those of ``en``.

    >>> find_keys("fo")
    Language(code='fo', labels=('fo',), site='fowiki')
    >>> find_keys("no")
    Language(code='no', labels=('nb', 'no'), site='nowiki')
    >>> find_keys("be-tarask")
    Language(code='be-tarask', labels=('be-tarask', 'be-x-old'), site='be_x_oldwiki')
    """
    wiki = WIKI_OF_LANGUAGE.get(code, code)
    label = LANGUAGE_OF_WIKI.get(wiki, wiki)
    labels = ("en",) if code == "simple" else tuple(dict.fromkeys((label, wiki)))
    return Language(code, labels, f"{wiki.replace('-', '_')}wiki")


def parse_languages(codes: Sequence[str]) -> tuple[Language, ...]:
    """Check the codes of languages, and return the keys of each.

    >>> [each.site for each in parse_languages(["fo", "zh-yue"])]
    ['fowiki', 'zh_yuewiki']
    """
    if isinstance(codes, str):
        raise ParameterError(f"languages is {codes!r}, expected a list such as ['fo', 'is']")
    known: dict[str, Language] = {}
    for code in codes:
        if not isinstance(code, str) or not _CODE.fullmatch(code.lower()):
            raise ParameterError(
                f"{code!r} is not the code of a language, expected one such as fo or zh-yue"
            )
        known[code.lower()] = find_keys(code.lower())
    if not known:
        raise ParameterError("no language was named: name at least one, such as fo")
    if len(known) < len(codes):
        raise ParameterError(f"a language is named twice in {', '.join(codes)}: drop one")
    return tuple(known.values())
