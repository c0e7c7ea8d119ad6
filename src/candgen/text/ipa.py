"""Words as they are spoken, in the International Phonetic Alphabet: epitran, which is optional.

Rules of spelling differ by language, so a language that epitran does not know is refused rather
than guessed: an index of sounds and letters side by side would find neither.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from candgen.errors import MissingExtraError, ParameterError

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

_WORDS_KEPT = 1 << 18
# Tie bars, length, stress, tones, breath: what transcriptions of one sound differ in.
_FINER = re.compile("[\u02b0-\u036f\u1dc0-\u1dff.]+")
_SCRIPT_G = {0x261: "g"}


def transcriber(language: str | None) -> Callable[[str], str]:
    """What turns lines of lower-case text of this language into lines of sounds.

    Words in another script than the language's own stay as they are.
    """
    code = re.split("[-_]", language.lower())[0] if language else None
    if code not in LANGUAGES:
        raise ParameterError(
            f"the sounds of {language!r} are not known: choose the normalizer 'latin', or one of "
            f"the languages {', '.join(LANGUAGES)}"
        )
    transcribed = _transcribed(LANGUAGES[code])
    return lambda lines: _WORD.sub(lambda word: transcribed(word[0]), lines)


_WORD = re.compile(r"\S{1,100}")
"""No word is longer, and epitran's time grows with the square of the length."""


@cache
def _transcribed(code: str) -> Callable[[str], str]:
    """What transcribes one word; the words of names recur, and epitran takes its time."""
    epitran = _epitran(code)

    @lru_cache(_WORDS_KEPT)
    def transcribe(word: str) -> str:
        sounds = "".join(epitran.transliterate(word).split())  # some of its tables have spaces
        return _FINER.sub("", unicodedata.normalize("NFD", sounds)).translate(_SCRIPT_G)

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
