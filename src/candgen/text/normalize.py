"""Normalizers: text -> text, aware of scripts, so that two spellings of one name become one string.

    >>> normalize("  Tórshavn, FØROYAR "), normalize("मुंबई"), normalize("Straße", "paper")
    ('torshavn, føroyar', 'मुंबई', 'straße')
    >>> normalize("Tórshavn, FØROYAR", "latin"), normalize("मुंबई", "latin")
    ('torshavn, foroyar', 'mumbai')

All work is done on many texts at once, one a line: a line break neither composes with its
neighbours nor changes their case, so what is right for one text is right for a million.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from candgen.errors import ParameterError
from candgen.text import consonants, ipa, romanize

NORMALIZERS: tuple[str, ...] = ("default", "latin", "sound", "ipa", "paper", "none")

_DOTLESS_I_LANGUAGES = frozenset({"az", "crh", "tr"})
_SPACES = "\t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_CHUNK = 1 << 14  # characters: small enough for the cache, and for whole chunks to be ASCII


def check_normalizer(name: str) -> None:
    """Raise ParameterError unless `name` is one of NORMALIZERS."""
    if name not in NORMALIZERS:
        raise ParameterError(f"unknown normalizer {name!r}: choose one of {', '.join(NORMALIZERS)}")


def normalize(text: str, normalizer: str = "default", *, language: str | None = None) -> str:
    """Return `text` as the index sees it.

    - `"default"`: NFKC and case folding; invisible characters (zero-width, bidi controls, soft
      hyphens) go; combining marks go after Latin, Greek and Cyrillic letters and stay in every
      other script; white space folds. In Turkish, Azeri and Crimean Tatar (`language` "tr",
      "az-Latn", ...) I is ı, and İ is i.
    - `"latin"`: the same, and letters of every script become a to z, so that names in different
      scripts can be alike. `language` says how: ъ is a in Bulgarian, nothing elsewhere. A text
      that cannot be romanised at all stays as `"default"` leaves it.
    - `"sound"`: the same, followed by the skeleton of its consonants (see
      `candgen.text.consonants`), which finds names that are spelled quite differently, at the price
      of a larger index.
    - `"ipa"`: as the text is spoken in its `language`, which must be one of `ipa.LANGUAGES`, in the
      International Phonetic Alphabet without its finer marks; needs the extra `ipa`.
    - `"paper"`: lower case, every combining mark of every script dropped, white space folded.
    - `"none"`: the text itself.

    >>> normalize("ISPARTA"), normalize("ISPARTA", language="tr")
    ('isparta', 'ısparta')
    """
    check_normalizer(normalizer)
    if normalizer == "none":
        return text
    return normalize_joined(text.replace("\n", " "), normalizer, language=language)


def normalize_many(
    texts: Sequence[str], normalizer: str = "default", *, language: str | None = None
) -> list[str]:
    """Return `[normalize(text) for text in texts]`, sooner.

    >>> normalize_many(["Ísland", "Írland"])
    ['island', 'irland']
    """
    check_normalizer(normalizer)
    if normalizer == "none" or not texts:
        return list(texts)
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    return normalize_joined(joined, normalizer, language=language).split("\n")


def normalize_joined(
    joined: str, normalizer: str = "default", *, language: str | None = None
) -> str:
    r"""Normalize many texts, one a line, none of which contains a line break itself.

    There are as many lines after as before: a text of which nothing remains is an empty line.

    >>> normalize_joined("Ísland\n\u200b\nÍrland")
    'island\n\nirland'
    """
    check_normalizer(normalizer)
    if normalizer == "none":
        return joined
    fold = _folding(normalizer, language)
    return "\n".join(fold(chunk) for chunk in _chunks(joined))


def _folding(normalizer: str, language: str | None) -> Callable[[str], str]:
    """What is done to a chunk of lines."""
    default = _fold_dotless if _has_dotless_i(language) else _fold_default
    if normalizer in ("latin", "sound"):

        def latin(lines: str) -> str:
            return _respell(lines, lambda text: romanize.romanize(text, language))

        return (
            latin if normalizer == "latin" else lambda lines: consonants.add_skeletons(latin(lines))
        )
    if normalizer == "ipa":
        transcribe = ipa.transcriber(language)
        dotless = _has_dotless_i(language)
        return lambda lines: _respell(lines, transcribe, dotless=dotless)
    fold = default if normalizer == "default" else _fold_paper
    return lambda lines: _fold_white_space(fold(lines))


def _chunks(joined: str) -> Iterator[str]:
    """Cut at line breaks: memory stays small, and chunks of plain ASCII take the short way."""
    start = 0
    while (end := joined.find("\n", start + _CHUNK)) >= 0:
        yield joined[start:end]
        start = end + 1
    yield joined[start:]


def _has_dotless_i(language: str | None) -> bool:
    return language is not None and re.split("[-_]", language.lower())[0] in _DOTLESS_I_LANGUAGES


def _fold_default(lines: str) -> str:
    if lines.isascii():
        return lines.lower()
    return _fold_decomposed(_decompose(lines))


def _fold_dotless(lines: str) -> str:
    if lines.isascii():
        return lines.replace("I", "ı").lower()
    return _fold_decomposed(_bare_i().sub("ı", _decompose(lines)))


def _decompose(lines: str) -> str:
    # What is invisible goes first: it may stand between a letter and its mark.
    return unicodedata.normalize("NFKD", _ignorable().sub("", lines))


def _fold_decomposed(lines: str) -> str:
    # The same as NFKC, case folding and NFD, in half the time; only a Greek iota subscript beside a
    # spacing mark of another script would end up elsewhere, and nobody writes that.
    return unicodedata.normalize("NFC", _accents().sub("", lines.casefold()))


def _respell(lines: str, spell: Callable[[str], str], *, dotless: bool = False) -> str:
    """Lines in another spelling; those of which it leaves nothing are folded as by default.

    The spelling is given lines with their accents, which may tell two letters apart: и and й.
    """
    if not lines.isascii():
        lines = unicodedata.normalize("NFKC", _ignorable().sub("", lines))
    if dotless:
        lines = _bare_i().sub("ı", unicodedata.normalize("NFD", lines))
    spelled = _fold_white_space(spell(unicodedata.normalize("NFC", lines.casefold())))
    if "\n\n" not in f"\n{spelled}\n":  # no line is empty
        return spelled
    folded = _fold_white_space(_fold_default(lines))
    pairs = zip(spelled.split("\n"), folded.split("\n"), strict=True)
    return "\n".join(line or instead for line, instead in pairs)


def _fold_paper(lines: str) -> str:
    if lines.isascii():
        return lines.lower()
    decomposed = unicodedata.normalize("NFD", lines.lower())
    return unicodedata.normalize("NFC", _marks().sub("", decomposed))


def _fold_white_space(lines: str) -> str:
    """Replacing each kind of space in turn is several times faster than one regular expression."""
    for space in _SPACES:
        lines = lines.replace(space, " ")
    while "  " in lines:
        lines = lines.replace("  ", " ")
    return lines.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


@functools.cache
def _ignorable() -> re.Pattern[str]:
    return _compile(r"\p{Default_Ignorable_Code_Point}+")


@functools.cache
def _bare_i() -> re.Pattern[str]:
    return _compile(r"I(?!\p{Mn})")  # İ is the capital of i, and Î that of î: both lose their mark


@functools.cache
def _accents() -> re.Pattern[str]:
    # The mark comes before the look at its letter: marks are rare, and are quickly found.
    letter = r"[[\p{Latin}\p{Greek}\p{Cyrillic}]&&\p{L}]"
    return _compile(rf"(?V1)\p{{Mn}}(?<={letter}\p{{Mn}})\p{{Mn}}*")


@functools.cache
def _marks() -> re.Pattern[str]:
    return _compile(r"\p{Mn}+")


def _compile(pattern: str) -> re.Pattern[str]:
    import regex  # noqa: PLC0415

    compiled: re.Pattern[str] = regex.compile(pattern)
    return compiled
