"""The text of a link that a reader sees: without markup for bold, small or notes.

Every function takes time in proportion to the length of any text.
"""

import re
from functools import cache
from urllib.parse import unquote

from candgen.wikipedia.markup.character_references import decode_references

_REGIONS = ("nowiki", "ref", "includeonly")
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _REGIONS}
_CONVERTED = re.compile(r"-\{(?:[^{}|]*\|)?([^{}|]*)\}-")
_VARIANT = re.compile(r"\s*[a-z]{2,}(?:-[a-z]+)*\s*:([^;]*)")
_ESCAPES = str.maketrans({character: f"&#{ord(character)};" for character in "<>[]{}|'"})
_BREAK = re.compile(r"</?(?:br|p|div|hr|li|dd|dt|center|blockquote)(?:[\s/][^<>]*)?>", re.I)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.I)
_EXTERNAL_LINK = re.compile(r"\[(?=[a-z]{2,12}://|//|mailto:|news:)([^\[\]]*)\]", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s<>\"]*\s*")
_QUOTES = re.compile("''+")
_INVISIBLE = " \u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Stripped from both ends: spaces and the marks of writing direction."""

_NAMESPACE = r"(?::?[ _0-9A-Za-z\x80-\U0010ffff-]+:|:|)"
_PIPE_TRICKS = tuple(
    re.compile(_NAMESPACE + rest, re.DOTALL)
    for rest in (
        r"(.+?) ?\(.+\)",  # Vágar (oyggj)
        r"(.+?) ?（.+）",
        r"(.+?)(?: ?\(.+\))?(?:(?:, |，|، ).+)?",  # Miðvágur, Vágar
    )
)


def prepare(text: str) -> str:
    """Remove comments, notes and text for other pages, and escape the text in ``nowiki``.

    Regions that are not closed stay, except for comments, as in MediaWiki.

    >>> prepare("[[Vágar<!-- an island -->|the <nowiki>''island''</nowiki><ref>[[x]]</ref>]]")
    '[[Vágar|the &#39;&#39;island&#39;&#39;]]'
    """
    pieces: list[str] = []
    names: tuple[str, ...] = _REGIONS
    done = at = 0
    while opening := _opening_tags(names).search(text, at):
        at, name = opening.end(), (opening[1] or "").lower()
        if region := _find_region(text, at, name):
            inside, end, at = region
            pieces.append(text[done : opening.start()])
            if name == "nowiki":
                pieces.append(text[inside:end].translate(_ESCAPES))
            done = at
        else:  # it is not closed, and later ones of this name are not either
            names = tuple(each for each in names if each != name)
    return "".join(pieces) + text[done:]


@cache
def _opening_tags(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?:!--|({'|'.join(names) or '(?!)'})(?=[\s/>]))", re.IGNORECASE)


def _find_region(text: str, start: int, name: str) -> tuple[int, int, int] | None:
    """Return the start and the end of the content of a region, and the end of the region."""
    if not name:
        end = text.find("-->", start)
        return (start, end, end + 3) if end >= 0 else (start, len(text), len(text))
    inside = text.find(">", start) + 1
    if inside and text[inside - 2] == "/":
        return inside, inside, inside
    closing = _CLOSING[name].search(text, inside) if inside else None
    return (inside, closing.start(), closing.end()) if closing else None


def decode_characters(text: str) -> str:
    """Decode character references once; invalid ones stay.

    >>> decode_characters("AT&amp;T &amp;amp; R&D &#9786; &#1;")
    'AT&T &amp; R&D ☺ &#1;'
    """
    return decode_references(text, _decode_visible)


def _decode_visible(point: int) -> str | None:
    surrogate = 0xD800 <= point < 0xE000
    return chr(point) if 32 <= point <= 0x10FFFF and not surrogate else None


def normalize_space(text: str) -> str:
    """Make white space of any kind and length one space, and strip it, with invisible marks.

    >>> normalize_space(" Tórs\\n\\u00a0havn\\u200e ")
    'Tórs havn'
    """
    return " ".join(text.split()).strip(_INVISIBLE)


def strip_markup(anchor: str) -> str:
    """Return the text that a reader sees of prepared wikitext without templates.

    >>> strip_markup("''Den'' <small>'''gamle'''</small>&nbsp;by")
    'Den gamle\\xa0by'
    """
    if "<" in anchor:
        anchor = _TAG.sub("", _BREAK.sub(" ", anchor))
    if "[" in anchor:
        anchor = _EXTERNAL_LINK.sub(_strip_address, anchor)
    if "''" in anchor:
        anchor = "\n".join(map(strip_quotes, anchor.split("\n")))
    return decode_characters(anchor) if "&" in anchor else anchor


def _strip_address(link: re.Match[str]) -> str:
    """Return the text after the address of an external link."""
    return _ADDRESS.sub("", link[1], count=1)


def choose_first_variants(anchor: str) -> str:
    """Return the text in the first of the several scripts or spellings of a wiki.

    >>> choose_first_variants("-{zh-hans:计算机; zh-hant:電腦}- -{IBM}-")
    '计算机 IBM'
    """
    return _CONVERTED.sub(_choose_first_variant, anchor)


def _choose_first_variant(converted: re.Match[str]) -> str:
    """Return the text between ``-{`` and ``}-``, or the first of several variants in it."""
    variant = _VARIANT.match(converted[1])
    return variant[1] if variant else converted[1]


def strip_quotes(line: str) -> str:
    """Remove the quotes that make a line bold or italic, and keep apostrophes.

    >>> strip_quotes("'''La''' ''Marseillaise''"), strip_quotes("l'''Eneide''")
    ('La Marseillaise', "l'Eneide")
    """
    texts, runs = _QUOTES.split(line), [len(run) for run in _QUOTES.findall(line)]
    # Four are an apostrophe and bold; more than five are apostrophes and both.
    kept = [1 if length == 4 else max(0, length - 5) for length in runs]
    bold = sum(length >= 3 for length in runs)
    italic = sum(length == 2 or length >= 5 for length in runs)
    if bold % 2 and italic % 2:
        _keep_apostrophe(texts, runs, kept)
    return texts[0] + "".join("'" * n + text for n, text in zip(kept, texts[1:], strict=True))


def _keep_apostrophe(texts: list[str], runs: list[int], kept: list[int]) -> None:
    """Keep one apostrophe where neither bold nor italic ends: one bold is then an italic.

    MediaWiki prefers the one after a single letter, then after a longer word, then after a space.
    """
    ranks = []
    for number, length in enumerate(runs):
        if length in (3, 4):
            before = texts[number] + "'" * kept[number]
            rank = 2 if before[-1:] == " " else 0 if before[-2:-1] == " " else 1
            ranks.append((rank, number))
    if ranks:
        kept[min(ranks)[1]] += 1


def display_target(target: str) -> str:
    """Return what MediaWiki shows of a link without a pipe: the target as it was typed.

    >>> display_target(":Bólkur:Oyggjar"), display_target("R%C3%B3m#S&oslash;ga")
    ('Bólkur:Oyggjar', 'Róm#Søga')
    """
    target = target.lstrip().removeprefix(":")
    if "%" in target:
        target = unquote(target, errors="replace")
    return decode_characters(target) if "&" in target else target


def apply_pipe_trick(target: str) -> str:
    """Return the anchor that MediaWiki makes of ``[[target|]]`` when a page is saved.

    >>> [apply_pipe_trick(link) for link in ("Hjálp:Vágar (oy)", "Miðvágur, Vágar", "Vágar#Søga")]
    ['Vágar', 'Miðvágur', '']
    """
    if "#" in target:
        return ""
    tried = (trick.fullmatch(target) for trick in _PIPE_TRICKS)
    return next((display_target(found[1]) for found in tried if found), "")
