"""The paper's pairs of languages, and every number of its tables.

The numbers are in ``published.json`` beside this file, laid out like the paper's tables.
"""

import functools
import json
from importlib import resources
from typing import Any, NamedTuple

from candgen.errors import ParameterError

NO_NUMBER = "no number was published"
"""The cell in the paper's column where the paper has only a plot."""


class Pair(NamedTuple):
    """A target and its pivot; how rich the pivot is: high, medium or low.

    A target that is ``zero_shot_only`` has no training data: joint is the same as zero-shot, and
    every query is hard.
    """

    target: str
    pivot: str
    resources: str
    zero_shot_only: bool

    @property
    def key(self) -> str:
        """The pair as it is written in the tables, such as ``co-it``."""
        return f"{self.target}-{self.pivot}"

    @property
    def pivots(self) -> tuple[str, ...]:
        """The pivot, or several that are joined by ``+``."""
        return tuple(self.pivot.split("+")) if self.pivot else ()


def published(exhibit: str, *keys: str) -> float | str | None:
    """Return a number of the paper, or None if it has none.

    The keys are, for each exhibit:

    ============== ==================== ============================================================
    main-results   setting method pair  settings are zero-shot and joint
    query-types    method pair type     types are easy, medium and hard
    high-resource  method language type
    data           language quantity    size, pairs; size-printed and pairs-printed are strings
    thresholding   pair threshold       thresholds are 0, 0.01 and 0.1;
                   quantity             recall, and the percentage of entries removed
    complexity     pair quantity method parameters, training-minutes, inference-seconds;
                                        parameters-printed is a string
    ============== ==================== ============================================================

    Methods are wikipriors, charagram and pti. A string is what the paper printed: "<1" minute.

    >>> published("main-results", "joint", "pti", "fo-is")
    79
    >>> published("complexity", "fo-is", "training-minutes", "pti")
    '<1'
    >>> published("main-results", "joint", "pti", "sc-it") is None
    True
    """
    shown = _exhibit(exhibit)
    if shown.get("only_a_plot"):
        return None
    if len(keys) != len(shown["keys"]):
        raise ParameterError(
            f"the keys for {exhibit} are {' '.join(keys) or 'missing'}: "
            f"expected {', '.join(shown['keys'])}"
        )
    found = shown["values"]
    for key in keys:
        found = found.get(key, {})
    return None if isinstance(found, dict) else found


def place_in_paper(exhibit: str) -> str:
    """Return the number of the table or figure in the paper.

    >>> place_in_paper("ceilings")
    'Figure 2'
    """
    return str(_exhibit(exhibit)["where"])


@functools.cache
def _file() -> dict[str, Any]:
    text = resources.files("candgen.paper").joinpath("published.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _exhibit(name: str) -> dict[str, Any]:
    exhibits: dict[str, dict[str, Any]] = _file()["exhibits"]
    if name not in exhibits:
        raise ParameterError(f"unknown exhibit {name!r}: choose one of {', '.join(exhibits)}")
    return exhibits[name]


PAIRS: tuple[Pair, ...] = tuple(Pair(**pair) for pair in _file()["pairs"])
"""The nine pairs, in the paper's order."""

METHODS: tuple[str, ...] = tuple(_exhibit("main-results")["values"]["joint"])
"""The methods that the paper compares."""

RATIOS = {"parameters": 20, "build_seconds": 300, "query_seconds": 7}
"""How many times as much as PTI Charagram needs on average, as the paper's text states."""

HIGH_RESOURCE: tuple[str, ...] = tuple(pair.pivot for pair in PAIRS if pair.resources == "high")
"""The languages that the paper also evaluates with their own data alone."""

EXHIBITS: tuple[str, ...] = tuple(_file()["exhibits"])
"""The names of the paper's tables, and of its figures that show results."""
