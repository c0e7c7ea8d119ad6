"""Train, dev and test: the folds of a target's data, wherever they come from."""

from collections.abc import Sequence
from typing import Protocol

from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query


class Folds(Protocol):
    """Training data with dev and test queries, read from a dataset or made by a split."""

    @property
    def train(self) -> MentionTable:
        """The training data of the target."""

    @property
    def dev(self) -> Sequence[Query]:
        """The queries on which parameters are chosen."""

    @property
    def test(self) -> Sequence[Query]:
        """The held-out queries."""

    @property
    def language(self) -> str | None:
        """The language of the target, where it is known."""
