"""How far languages are apart, by the URIEL database inside the optional package lang2vec.

Only its data are read, which are CC BY-SA 4.0 and no part of candgen. Its own code is never
imported: it needs ``pkg_resources``, which setuptools no longer has, and it installs a program
``lang2vec.py`` that other programs beside it would import in its place.

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
"""ISO 639-3 for what Wikipedia, or URIEL, has under another code; nb and nn have no family there"""


def distances(target: str, languages: Iterable[str]) -> dict[str, float]:
    """The genetic distance of each language to the target; without those that URIEL has not.

        distance = 1 - cosine of the families, from the largest to the smallest, that each is in

    Two languages of the same smallest family are at 0, two that share none at 1. Codes are those
    of Wikipedia, ISO 639-1 or ISO 639-3.
    """
    families = _families([target, *(codes := list(languages))])
    ours = families[0]
    return {
        code: round(1 - float(ours @ theirs) / float(np.sqrt(ours.sum() * theirs.sum())), 6)
        for code, theirs in zip(codes, families[1:], strict=True)
        if ours.any() and theirs.any()
    }


def _families(languages: list[str]) -> npt.NDArray[np.float64]:
    """A row for each language: 1 for each family that it is in; zeros for one that is not known."""
    folder = _data()
    known = json.loads((folder / "letter_codes.json").read_text(encoding="utf-8"))
    codes = [_CODES.get(code) or known.get(code, code) for code in languages]
    with np.load(folder / "family_features.npz") as stored:
        rows = {code: row for row, code in enumerate(stored["langs"].tolist())}
        data = stored["data"][:, :, 0]
    here = np.array([rows.get(code, -1) for code in codes])
    return np.where(here[:, np.newaxis] >= 0, data[here], 0.0).astype(np.float64)


def _data() -> Path:
    """The folder with the data of lang2vec."""
    try:
        return Path(str(distribution("lang2vec").locate_file("lang2vec/data")))
    except PackageNotFoundError as error:
        raise MissingExtraError(
            "distances between languages need lang2vec: pip install 'candgen[uriel]'"
        ) from error
