"""What an encoder is given to learn from, how, and what comes of it: numbers, no framework."""

import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.generators.neural.token_rows import Rows
from candgen.protocols import Progress

EncoderName = Literal["ngrams", "lstm", "cnn"]
Weights = dict[str, npt.NDArray[Any]]
Integers = npt.NDArray[np.int64]

WIDTHS = (2, 3, 4, 5)
"""How many characters each convolution of a CNN sees."""

RECALL_AT = 30
"""Recall of dev is that at 30, as in the paper."""


class Dev(NamedTuple):
    """Queries that say when to stop: ``name`` is that of the gold, -1 if it is not a candidate.

    ``before`` counts the entities of the same name that stand before the gold among equals.
    """

    mentions: Rows
    name: Integers
    before: Integers


class TrainingSet(NamedTuple):
    """Pair i is row i of the mentions and row ``name[i]`` of the names, which are all different.

    The first names are the candidate space: ``entities`` says how many have each. ``least`` is how
    many tokens a mention must have to say anything.
    """

    mentions: Rows
    names: Rows
    name: Integers
    weight: npt.NDArray[np.float32]
    entities: Integers
    least: int
    dev: Dev | None


class Plan(NamedTuple):
    """How to learn; ``tokens`` are how many different ones mentions have, and names."""

    encoder: EncoderName
    tokens: tuple[int, int]
    dimensions: int
    epochs: int
    patience: int
    seed: int
    device: str


class History(NamedTuple):
    """Losses and recalls on dev (none without dev) by epoch; ``best`` is the one kept, from 1."""

    losses: list[float]
    recalls: list[float]
    best: int


class TrainingResult(NamedTuple):
    """The vectors of the candidate space's names, of length 1, and what encodes mentions.

    ``numbers`` says how many were learned, on both sides.
    """

    vectors: npt.NDArray[np.float32]
    weights: Weights
    numbers: int
    history: History


class EpochProgress:
    """Shows how far an epoch is, once a second."""

    def __init__(self, progress: Progress, doing: str, epoch: int, epochs: int) -> None:
        self._progress, self._doing = progress, doing
        self._epoch, self._epochs = epoch, epochs
        self._next = 0.0

    def __call__(self, fraction: float) -> None:
        """Report that this fraction of the epoch is done."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + 1
            self._progress(self._doing, (self._epoch - 1 + fraction) / self._epochs)


def run_epochs(
    plan: Plan,
    *,
    learn: Callable[[EpochProgress], float],
    judge: Callable[[EpochProgress], float] | None,
    keep: Callable[[], None],
    progress: Progress,
) -> History:
    """Run the planned epochs, or stop early when recall no longer improves.

    ``learn`` gives the loss of an epoch, ``judge`` the recall after it, and ``keep`` is called
    whenever that is the best so far; without a judge the last epoch is the best.
    """
    history = History([], [], plan.epochs)
    for epoch in range(1, plan.epochs + 1):
        doing = f"epoch {epoch} of {plan.epochs}"
        if history.recalls:
            doing += f", dev recall@{RECALL_AT} {history.recalls[-1]:.1f}"
        show = EpochProgress(progress, doing, epoch, plan.epochs)
        history.losses.append(learn(show))
        if judge is None:
            continue
        recall = judge(show)
        if recall > max(history.recalls, default=-1.0):
            history = history._replace(best=epoch)
            keep()
        history.recalls.append(recall)
        if epoch - history.best >= plan.patience:
            break
    return history


def other_names(name: Integers, negatives: Integers, rng: np.random.Generator) -> Integers:
    """Draw a wrong name for each pair, each equally likely; ``negatives`` are sorted.

    >>> own, names = np.array([3, 5, 9]), np.array([3, 5, 9])
    >>> bool((other_names(own, names, np.random.default_rng(0)) == own).any())
    False
    """
    drawn = rng.integers(0, len(negatives) - 1, len(name))
    return negatives[drawn + (drawn >= np.searchsorted(negatives, name))]
