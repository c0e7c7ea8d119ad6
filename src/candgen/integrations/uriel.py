"""Distances between languages, from the URIEL database in the optional package lang2vec.

Only its data are read; they are licensed CC BY-SA 4.0 and not part of candgen. Its code is never
imported: it needs ``pkg_resources``, which setuptools has removed, and it installs a script
``lang2vec.py`` that shadows the package for other scripts.

Littell et al.: URIEL and lang2vec, EACL 2017.
"""

import json
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import numpy.typing as npt

from candgen.dumps.wiki_codes import LANGUAGE_OF_WIKI
from candgen.errors import MissingExtraError

_CODES = {
    **LANGUAGE_OF_WIKI,
    "be-tarask": "bel",
    "be-x-old": "bel",
    "map-bms": "jav",
    "nb": "nor",
    "nds-nl": "nds",
    "nn": "nor",
    "no": "nor",
    "nrm": "nrm",  # also the code of Narom in ISO 639-3
    "roa-tara": "nap",
    "simple": "eng",
    "zh": "cmn",
}
"""ISO 639-3 codes for other codes of Wikipedia or URIEL, where nb and nn have no family."""


def distances(target: str, languages: Iterable[str]) -> dict[str, float]:
    """Return the genetic distance of each language to the target, without unknown languages.

        distance = 1 - cosine of the two languages' vectors of families

    It is 0 for two languages of the same smallest family, and 1 for two without a common family.
    Codes are those of Wikipedia, ISO 639-1 or ISO 639-3.
    """
    families = _families([target, *(codes := list(languages))])
    ours = families[0]
    return {
        code: round(1 - float(ours @ theirs) / float(np.sqrt(ours.sum() * theirs.sum())), 6)
        for code, theirs in zip(codes, families[1:], strict=True)
        if ours.any() and theirs.any()
    }


def _families(languages: list[str]) -> npt.NDArray[np.float64]:
    """Return a row for each language: 1 for each of its families; zeros if it is unknown."""
    folder = _data()
    known = json.loads((folder / "letter_codes.json").read_text(encoding="utf-8"))
    codes = [_CODES.get(code) or known.get(code, code) for code in languages]
    with np.load(folder / "family_features.npz") as stored:
        rows = {code: row for row, code in enumerate(stored["langs"].tolist())}
        data = stored["data"][:, :, 0]
    here = np.array([rows.get(code, -1) for code in codes])
    return np.where(here[:, np.newaxis] >= 0, data[here], 0.0).astype(np.float64)


def _data() -> Path:
    """Return the folder with the data of lang2vec."""
    try:
        return Path(str(distribution("lang2vec").locate_file("lang2vec/data")))
    except PackageNotFoundError as error:
        raise MissingExtraError(
            "distances between languages need lang2vec: pip install 'candgen[uriel]'"
        ) from error
