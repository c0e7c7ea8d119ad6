"""The codes of languages, of Wikipedias and of their databases.

Thirteen Wikipedias keep an old code in their address, where Wikidata, MediaWiki and ISO 639 have
another one for the language: labels in Norwegian Bokmål are ``nb``, their Wikipedia is ``nowiki``.
"""

import re

from candgen.errors import ParameterError, shown

LANGUAGE_OF_WIKI = {
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
"""From the code in a Wikipedia's address to the present code of its language."""
WIKI_OF_LANGUAGE = {language: wiki for wiki, language in LANGUAGE_OF_WIKI.items()}

_PROJECTS = "wiki|wiktionary|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage"
_DATABASE = re.compile(rf"[a-z][a-z0-9_]*(?:{_PROJECTS})")
_LANGUAGE = re.compile(r"[a-z]{2,}(?:[-_][a-z0-9]+)*")


def database_name(language: str) -> str:
    """Return the name of a Wikipedia's database; the name of a database is returned as it is.

    >>> database_name("fo"), database_name("zh-min-nan"), database_name("be-tarask")
    ('fowiki', 'zh_min_nanwiki', 'be_x_oldwiki')
    >>> database_name("fowiktionary")
    'fowiktionary'
    """
    code = language.strip().lower()
    if _DATABASE.fullmatch(code):
        return code
    if not _LANGUAGE.fullmatch(code):
        raise ParameterError(
            f"the language is {shown(language)}, expected a code such as fo or zh-min-nan, "
            "or the name of a wiki such as fowiki"
        )
    code = code.replace("_", "-")
    return f"{WIKI_OF_LANGUAGE.get(code, code).replace('-', '_')}wiki"
