"""Which names of a Wikidata item belong to a language.

Wikidata names languages in one way for labels and in another for the Wikipedias that an item has
pages in: labels in Norwegian Bokmål are ``nb``, their Wikipedia is ``nowiki``.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from candgen.errors import ParameterError

DEFAULT = "mul"
"""The code of names that hold in every language that has none of its own, on Wikidata since 2024"""

_CODE = re.compile(r"[a-z]{2,6}(-[a-z0-9]{1,8})*")
# Wikipedias that keep an old code, and the code that labels have.
_LABELS_OF_WIKI = {
    "als": "gsw",
    "bat-smg": "sgs",
    "be-x-old": "be-tarask",
    "bh": "bho",
    "cbk-zam": "cbk",
    "eml": "egl",
    "fiu-vro": "vro",
    "no": "nb",
    "nrm": "nrf",
    "roa-rup": "rup",
    "zh-classical": "lzh",
    "zh-min-nan": "nan",
    "zh-yue": "yue",
}
_WIKI_OF_LABELS = {label: wiki for wiki, label in _LABELS_OF_WIKI.items()}


class Language(NamedTuple):
    """A language that was asked for, and where an item keeps what belongs to it."""

    code: str
    labels: tuple[str, ...]
    """The keys of labels, aliases and descriptions; of several, the first that is there counts."""
    site: str
    """The key of the page in its Wikipedia."""


def language(code: str) -> Language:
    """Tell where an item keeps the names of a language, given by either of its codes.

    Variants of a language, such as ``zh-hant``, are languages of their own. There are no labels in
    Simple English, so ``simple`` has those of ``en``.

    >>> language("fo")
    Language(code='fo', labels=('fo',), site='fowiki')
    >>> language("no")
    Language(code='no', labels=('nb', 'no'), site='nowiki')
    >>> language("be-tarask")
    Language(code='be-tarask', labels=('be-tarask', 'be-x-old'), site='be_x_oldwiki')
    """
    wiki = _WIKI_OF_LABELS.get(code, code)
    label = _LABELS_OF_WIKI.get(wiki, wiki)
    labels = ("en",) if code == "simple" else tuple(dict.fromkeys((label, wiki)))
    return Language(code, labels, f"{wiki.replace('-', '_')}wiki")


def parse_languages(codes: Sequence[str]) -> tuple[Language, ...]:
    """Check the codes of languages, and tell where an item keeps their names.

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
        known[code.lower()] = language(code.lower())
    if not known:
        raise ParameterError("no language was named: name at least one, such as fo")
    if len(known) < len(codes):
        raise ParameterError(f"a language is named twice in {', '.join(codes)}: drop one")
    return tuple(known.values())
