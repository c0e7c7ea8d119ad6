"""What all generators share: probabilities, a one-line repr, saving, and their summary."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from candgen.generators.calibration import DEFAULT as DEFAULT_CALIBRATION
from candgen.generators.calibration import Calibration
from candgen.protocols import Summary
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class IndexBase(ABC):
    """A generator that can be saved and that turns its scores into probabilities."""

    calibration: Calibration = DEFAULT_CALIBRATION

    @abstractmethod
    def contents(self) -> Contents:
        """Return what `save` writes."""

    @abstractmethod
    def validate(self) -> None:
        """Raise ValueError unless everything that was stored is valid: a stranger may have made it.

        Nested generators are validated when they are opened.
        """

    @abstractmethod
    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one, in their order.

        They were learned on dev queries if the index was tuned, and are fixed otherwise: see
        ``candgen.generators.calibration``.

        Args:
            mention: The mention that the candidates are for.
            candidates: What ``candidates`` returned for it. Ask for at least 30: a shorter list
                gives probabilities that are too high.
        """
        return self.calibration.probabilities(mention, candidates)

    def with_calibration(self, calibration: Calibration) -> Self:
        """Return the same generator with other probabilities.

        Args:
            calibration: What turns its scores into probabilities.
        """
        made = object.__new__(type(self))
        made.__dict__.update({**vars(self), "calibration": calibration})
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the generator to a folder that ``candgen.load`` opens.

        The write is atomic: an index that was there before stays until the new one is complete.

        Args:
            path: The folder. If it exists, it must be an index, which is replaced, or empty.
        """
        index_folder.save(path, **self.contents()._asdict())

    def __repr__(self) -> str:
        return str(self.summary())


def summarize(
    method: str,
    parameters: Mapping[str, Any],
    entities: int,
    *,
    tokens: int | None = None,
    postings: int | None = None,
) -> Summary:
    """Return the summary of an index from the parameters that it stores."""
    target = parameters.get("target")
    pivots = tuple(each for each in parameters["languages"] if each != target)
    return Summary(method, parameters["language"], pivots, entities, tokens, postings)
