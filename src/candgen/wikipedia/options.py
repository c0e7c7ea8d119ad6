"""What is taken from a dump, and how its articles are divided among tables."""

import hashlib
from dataclasses import dataclass
from itertools import accumulate

from candgen.errors import ParameterError

FOLDS = ("train", "dev", "test")
"""The tables among which articles may be divided."""


@dataclass(frozen=True)
class Options:
    """What is taken from a dump."""

    namespaces: tuple[int, ...] = (0,)
    """Pages of these are read, and links to pages of these are kept."""
    templates: bool = True
    refs: bool = True
    tables: bool = True
    """Whether links inside these are kept."""
    titles: bool = False
    redirect_titles: bool = False
    """Whether each page, and each redirect, adds its own name as a mention."""
    minimum: int = 1
    """Pairs that were seen less often are left out."""
    pages: int | None = None
    """Only so many pages are read, the first ones."""
    split: tuple[float, ...] | None = None
    """The shares of three tables among which articles are divided."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.minimum < 1:
            raise ParameterError(f"the minimum count is {self.minimum}, expected at least 1")
        if self.pages is not None and self.pages < 1:
            raise ParameterError(f"{self.pages} pages were asked for, expected at least 1")
        if not self.namespaces:
            raise ParameterError("no namespace was asked for, expected numbers such as 0")
        if self.split is not None:
            good = len(self.split) == len(FOLDS) and all(0 <= share < 1e9 for share in self.split)
            if not good or sum(self.split) <= 0:
                raise ParameterError(
                    f"the shares of the split are {self.split}, expected three numbers that are "
                    "not negative, such as 70,15,15"
                )

    def fold(self, title: str) -> int:
        """Tell into which of the three tables the links of an article go.

        Only the title and the seed decide, so every engine divides a dump alike.

        >>> Options(split=(70, 15, 15), seed=1).fold("Tórshavn")
        0
        """
        if self.split is None:
            return 0
        digest = hashlib.blake2b(f"{self.seed} {title}".encode("utf-8", "replace"), digest_size=8)
        place = int.from_bytes(digest.digest(), "big") / 2**64 * sum(self.split)
        ends = enumerate(accumulate(self.split))
        last = max(fold for fold, share in enumerate(self.split) if share)  # if place is rounded up
        return next((fold for fold, end in ends if place < end), last)
