"""Normalizers: two spellings of one name become the same string, by rules for each script.

    >>> normalize("  Tórshavn, FØROYAR "), normalize("मुंबई"), normalize("Straße", "paper")
    ('torshavn, føroyar', 'मुंबई', 'straße')
    >>> normalize("Tórshavn, FØROYAR", "latin"), normalize("मुंबई", "latin")
    ('torshavn, foroyar', 'mumbai')

Many texts are normalized at once, one a line: a line break neither composes with its neighbours nor
changes their case, so the result for each text is the same as alone.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from candgen.errors import ParameterError
from candgen.text import consonants, ipa, romanize
from candgen.text.language_code import base_language

NORMALIZERS: tuple[str, ...] = ("default", "latin", "sound", "ipa", "paper", "none")

_DOTLESS_I_LANGUAGES = frozenset({"az", "crh", "tr"})
_SPACES = "\t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_IGNORABLE = r"\p{Default_Ignorable_Code_Point}+"
_BARE_I = r"I(?!\p{Mn})"  # İ is the capital of i, and Î that of î: both lose their mark
# The pattern starts with the mark and looks back at the letter: marks are rare, and quick to find.
_LETTER = r"[[\p{Latin}\p{Greek}\p{Cyrillic}]&&\p{L}]"
_ACCENTS = rf"(?V1)\p{{Mn}}(?<={_LETTER}\p{{Mn}})\p{{Mn}}*"
_MARKS = r"\p{Mn}+"
_CHUNK = 1 << 14  # characters: small enough for the cache, and for whole chunks to be ASCII


def check_normalizer(name: str) -> None:
    """Raise ParameterError unless `name` is one of NORMALIZERS."""
    if name not in NORMALIZERS:
        raise ParameterError(f"unknown normalizer {name!r}: choose one of {', '.join(NORMALIZERS)}")


def normalize(text: str, normalizer: str = "default", *, language: str | None = None) -> str:
    """Return `text` as the index sees it.

    - `"default"`: NFKC and case folding; invisible characters (zero-width, bidi controls, soft
      hyphens) go; combining marks go after Latin, Greek and Cyrillic letters and stay in every
      other script; white space becomes single spaces. In Turkish, Azeri and Crimean Tatar
      (`language` "tr", "az-Latn", ...) I is ı, and İ is i.
    - `"latin"`: the same, and letters of every script are transliterated to a-z, so that names in
      different scripts can be similar. The rules depend on `language`: ъ is a in Bulgarian, nothing
      elsewhere. A text that cannot be transliterated at all is the same as with `"default"`.
    - `"sound"`: the same, followed by the skeleton of its consonants (see
      `candgen.text.consonants`), which finds names with quite different spellings, with a larger
      index.
    - `"ipa"`: the pronunciation in `language`, which must be one of `ipa.LANGUAGES`, in the
      International Phonetic Alphabet without diacritics; needs the extra `ipa`.
    - `"paper"`: lower case, every combining mark of every script dropped, single spaces.
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
    """Return `[normalize(text) for text in texts]`, faster.

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
    normalize_lines = _make_normalizer(normalizer, language)
    return "\n".join(normalize_lines(chunk) for chunk in _chunks(joined))


def _make_normalizer(normalizer: str, language: str | None) -> Callable[[str], str]:
    """Return the function that normalizes a chunk of lines."""
    dotless = base_language(language) in _DOTLESS_I_LANGUAGES
    if normalizer == "default":
        return lambda lines: _collapse_spaces(_normalize_default(lines, dotless=dotless))
    if normalizer == "paper":
        return lambda lines: _collapse_spaces(_normalize_paper(lines))
    if normalizer == "ipa":
        transcribe = ipa.make_transcriber(language)
        return lambda lines: _respell(lines, transcribe, dotless=dotless)

    def romanize_lines(lines: str) -> str:
        return _respell(lines, lambda text: romanize.romanize(text, language))

    if normalizer == "latin":
        return romanize_lines
    return lambda lines: consonants.add_skeletons(romanize_lines(lines))


def _chunks(joined: str) -> Iterator[str]:
    """Cut at line breaks: memory stays small, and chunks of plain ASCII are fast."""
    start = 0
    while (end := joined.find("\n", start + _CHUNK)) >= 0:
        yield joined[start:end]
        start = end + 1
    yield joined[start:]


def _normalize_default(lines: str, *, dotless: bool = False) -> str:
    if lines.isascii():
        return (lines.replace("I", "ı") if dotless else lines).lower()
    # Invisible characters go first: they may stand between a letter and its mark.
    decomposed = unicodedata.normalize("NFKD", _compile(_IGNORABLE).sub("", lines))
    if dotless:
        decomposed = _compile(_BARE_I).sub("ı", decomposed)
    # The same as NFKC, case folding and NFD, in half the time; they differ only for a Greek iota
    # subscript beside a spacing mark of another script, which does not occur in practice.
    return unicodedata.normalize("NFC", _compile(_ACCENTS).sub("", decomposed.casefold()))


def _normalize_paper(lines: str) -> str:
    if lines.isascii():
        return lines.lower()
    decomposed = unicodedata.normalize("NFD", lines.lower())
    return unicodedata.normalize("NFC", _compile(_MARKS).sub("", decomposed))


def _respell(lines: str, spell: Callable[[str], str], *, dotless: bool = False) -> str:
    """Return lines in another spelling; lines that it would leave empty as by default.

    ``spell`` is given lines with their accents, which may distinguish two letters: и and й.
    """
    if not lines.isascii():
        lines = unicodedata.normalize("NFKC", _compile(_IGNORABLE).sub("", lines))
    if dotless:
        lines = _compile(_BARE_I).sub("ı", unicodedata.normalize("NFD", lines))
    spelled = _collapse_spaces(spell(unicodedata.normalize("NFC", lines.casefold())))
    if "\n\n" not in f"\n{spelled}\n":  # no line is empty
        return spelled
    default = _collapse_spaces(_normalize_default(lines))
    pairs = zip(spelled.split("\n"), default.split("\n"), strict=True)
    return "\n".join(line or instead for line, instead in pairs)


def _collapse_spaces(lines: str) -> str:
    """Replace white space; one kind after the other is faster than one regular expression."""
    for space in _SPACES:
        lines = lines.replace(space, " ")
    while "  " in lines:
        lines = lines.replace("  ", " ")
    return lines.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


@functools.cache
def _compile(pattern: str) -> re.Pattern[str]:
    import regex  # noqa: PLC0415

    compiled: re.Pattern[str] = regex.compile(pattern)
    return compiled
