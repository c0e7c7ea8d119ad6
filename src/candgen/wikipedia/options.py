"""What is extracted from a dump, and how its articles are divided among tables."""

import hashlib
from dataclasses import dataclass
from itertools import accumulate

from candgen.errors import ParameterError, check_whole_number

FOLDS = ("train", "dev", "test")
"""The tables among which articles may be divided."""


@dataclass(frozen=True)
class Options:
    """What is extracted from a dump."""

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
    """Pairs with a smaller count are left out."""
    pages: int | None = None
    """The number of pages to read, the first ones; None for all."""
    split: tuple[float, ...] | None = None
    """The proportions of three tables among which articles are divided."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("minimum", self.minimum)
        if self.pages is not None:
            check_whole_number("pages", self.pages)
        if not self.namespaces:
            raise ParameterError("namespaces is empty: expected numbers such as 0")
        if self.split is not None:
            valid = len(self.split) == len(FOLDS) and all(0 <= share < 1e9 for share in self.split)
            if not valid or sum(self.split) <= 0:
                raise ParameterError(
                    f"split is {self.split}: expected three numbers that are not negative, such as "
                    "70,15,15"
                )

    def fold_of(self, title: str) -> int:
        """Return the number of the fold into which the links of an article go.

        It depends only on the title and the seed, so every engine divides a dump alike.

        >>> Options(split=(70, 15, 15), seed=1).fold_of("Tórshavn")
        0
        """
        if self.split is None:
            return 0
        digest = hashlib.blake2b(f"{self.seed} {title}".encode("utf-8", "replace"), digest_size=8)
        place = int.from_bytes(digest.digest(), "big") / 2**64 * sum(self.split)
        ends = enumerate(accumulate(self.split))
        last = max(fold for fold, share in enumerate(self.split) if share)  # if place is rounded up
        return next((fold for fold, end in ends if place < end), last)
