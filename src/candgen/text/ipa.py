"""Transcription into the International Phonetic Alphabet, by epitran, which is optional.

Spelling rules differ by language, so a language that epitran does not support is an error: in an
index that mixes transcriptions with letters, neither would be found.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from candgen.errors import MissingExtraError, ParameterError
from candgen.text.language_code import base_language

_CODES = (
    "af=afr-Latn am=amh-Ethi ar=ara-Arab az=aze-Latn bho=bho-Deva bn=ben-Beng ca=cat-Latn "
    "ceb=ceb-Latn ckb=ckb-Arab cs=ces-Latn csb=csb-Latn cy=cym-Latn de=deu-Latn eo=epo-Latn "
    "es=spa-Latn et=est-Latn fa=fas-Arab fi=fin-Latn fr=fra-Latn fy=fry-Latn ga=gle-Latn "
    "gl=glg-Latn ha=hau-Latn hi=hin-Deva hr=hrv-Latn hu=hun-Latn id=ind-Latn ilo=ilo-Latn "
    "it=ita-Latn jv=jav-Latn ka=kat-Geor kk=kaz-Cyrl kn=kan-Knda ku=kmr-Latn ky=kir-Cyrl "
    "lij=lij-Latn lo=lao-Laoo lt=lit-Latn lv=lav-Latn mi=mri-Latn ml=mal-Mlym mr=mar-Deva "
    "ms=msa-Latn mt=mlt-Latn my=mya-Mymr ne=npi-Deva nl=nld-Latn nn=nno-Latn ny=nya-Latn "
    "oc=oci-Latn om=orm-Latn or=ori-Orya pa=pan-Guru pl=pol-Latn pt=por-Latn rn=run-Latn "
    "ro=ron-Latn ru=rus-Cyrl rw=kin-Latn si=sin-Sinh sl=slv-Latn sn=sna-Latn so=som-Latn "
    "sq=sqi-Latn sr=srp-Cyrl sv=swe-Latn sw=swa-Latn ta=tam-Taml te=tel-Telu tg=tgk-Cyrl "
    "th=tha-Thai ti=tir-Ethi tk=tuk-Latn tl=tgl-Latn tr=tur-Latn ug=uig-Arab uk=ukr-Cyrl "
    "ur=urd-Arab uz=uzb-Latn vi=vie-Latn xh=xho-Latn yo=yor-Latn zu=zul-Latn"
)
LANGUAGES = dict(pair.split("=") for pair in _CODES.split(" "))
"""The wiki codes of the languages that can be transcribed, and epitran's codes for them."""

_CACHED_WORDS = 1 << 18
# Tie bars, length, stress, tones, aspiration: transcriptions of one sound differ in them.
_DIACRITICS = re.compile("[\u02b0-\u036f\u1dc0-\u1dff.]+")
_SCRIPT_G = {0x261: "g"}


def make_transcriber(language: str | None) -> Callable[[str], str]:
    """Return a function that transcribes lines of lower-case text of this language.

    Words in another script than the language's own stay as they are. Raise ParameterError for a
    language that is not supported.
    """
    code = base_language(language)
    if code not in LANGUAGES:
        raise ParameterError(
            f"language is {language!r}, which has no IPA transcription: choose the normalizer "
            f"'latin', or one of the languages {', '.join(LANGUAGES)}"
        )
    transcribe = _word_transcriber(LANGUAGES[code])
    return lambda lines: _WORD.sub(lambda word: transcribe(word[0]), lines)


_WORD = re.compile(r"\S{1,100}")
"""At most 100 characters, because epitran's time grows with the square of the length."""


@cache
def _word_transcriber(code: str) -> Callable[[str], str]:
    """Return a function that transcribes one word, with a cache: words of names recur."""
    epitran = _epitran(code)

    @lru_cache(_CACHED_WORDS)
    def transcribe(word: str) -> str:
        sounds = "".join(epitran.transliterate(word).split())  # some of its tables have spaces
        return _DIACRITICS.sub("", unicodedata.normalize("NFD", sounds)).translate(_SCRIPT_G)

    return transcribe


def _epitran(code: str) -> Any:  # noqa: ANN401
    try:
        # Optional, and slow to import; Epitran itself would read the same tables three times.
        from epitran.simple import SimpleEpitran  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(
            "the normalizer 'ipa' needs epitran: pip install 'candgen[ipa]'"
        ) from None
    return SimpleEpitran(code)
