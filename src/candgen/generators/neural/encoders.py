"""Encoders of mentions and names, and how they are trained.

Everything that needs PyTorch, which is optional, is in this file.

    L = sum over pairs (m, e) of  weight * max(0, 1 - cos(m, e+) + cos(m, e-))

The loss of a batch is a sum, as in the paper. With its learning rate of 0.1 a mean over 64 pairs
would take steps that are 64 times smaller, and learn as much more slowly.
"""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from candgen.errors import MissingExtraError, ParameterError
from candgen.generators.neural.token_rows import Rows
from candgen.generators.neural.training_data import (
    RECALL_AT,
    WIDTHS,
    Dev,
    EncoderName,
    EpochProgress,
    Plan,
    TrainingResult,
    TrainingSet,
    other_names,
    run_epochs,
)
from candgen.protocols import Progress

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
    from torch.nn.utils import rnn
except ImportError as error:
    raise MissingExtraError("neural methods need PyTorch: pip install 'candgen[neural]'") from error

LEARNING_RATES: dict[EncoderName, float] = {"ngrams": 0.1, "lstm": 0.1, "cnn": 0.01}
"""Learning rates. The paper has one, for Charagram; with it a CNN's tanh has no slope left soon."""
BATCH_SIZE = 64
CHARACTER_DIMENSIONS = 64
"""Dimensions of a character's embedding."""
INITIAL_SPREAD = 0.05
"""Embeddings of n-grams start between -INITIAL_SPREAD and INITIAL_SPREAD: many are summed, and
the tanh of larger sums would have no slope."""
ROWS_AT_ONCE = 4096
TOKENS_AT_ONCE = 1 << 17
"""What is encoded together, every row as long as the longest of them, has no more tokens."""

_TRAINING_LOCK = threading.Lock()


class Sums:
    """Charagram: tanh(bias + sum of the embeddings of the tokens)."""

    def __init__(self, size: int, dimensions: int) -> None:
        self.table = torch.empty(size, dimensions).uniform_(-INITIAL_SPREAD, INITIAL_SPREAD)
        self.bias = torch.zeros(dimensions)
        self._last: tuple[Tensor, Tensor, Tensor] | None = None

    def encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return a vector for each row; ``lengths`` cut the tokens into rows."""
        with torch.no_grad():
            sums = _sum_rows(self.table, tokens, lengths).add_(self.bias)
        if torch.is_grad_enabled():
            self._last = tokens, lengths, sums.requires_grad_()
        return torch.tanh(sums)

    def learn(self, rate: float) -> None:
        """Change the weights against the gradient of what was encoded last.

        A token's gradient is the sum of those of the rows it is in. Only the rows of the table that
        the batch has are touched, each once, so the sums have one order.
        """
        if self._last is None or (gradient := self._last[2].grad) is None:
            return
        tokens, lengths, _ = self._last
        order = torch.argsort(tokens, stable=True)
        rows, times = torch.unique_consecutive(tokens[order], return_counts=True)
        of = torch.repeat_interleave(torch.arange(len(lengths), device=tokens.device), lengths)
        self.table.index_add_(0, rows, _sum_rows(gradient, of[order], times), alpha=-rate)
        self.bias.sub_(gradient.sum(0), alpha=rate)
        self._last = None

    def weights(self) -> dict[str, Tensor]:
        """Return all that is learned."""
        return {"table": self.table, "bias": self.bias}

    def move(self, device: torch.device) -> None:
        """Put the weights on a device."""
        self.table, self.bias = self.table.to(device), self.bias.to(device)


def _sum_rows(table: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
    offsets = lengths.cumsum(0) - lengths
    return functional.embedding_bag(tokens, table, offsets, mode="sum")


class Network:
    """An encoder of PyTorch's own parts, over the embeddings of characters."""

    def __init__(
        self, parts: nn.ModuleDict, forward: Callable[[nn.ModuleDict, Tensor, Tensor], Tensor]
    ) -> None:
        self.parts = parts
        self._forward = forward

    def encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return a vector for each row; ``lengths`` cut the tokens into rows."""
        rows = rnn.pad_sequence(list(torch.split(tokens, lengths.tolist())), batch_first=True)
        inside = torch.arange(rows.shape[1], device=rows.device) < lengths[:, None]
        embedded = self.parts["characters"](rows) * inside[:, :, None]
        return self._forward(self.parts, embedded, lengths)

    def learn(self, rate: float) -> None:
        """Change the weights against the gradient of what was encoded last."""
        with torch.no_grad():
            for weight in self.parts.parameters():
                if weight.grad is not None:
                    weight.sub_(weight.grad, alpha=rate)
                    weight.grad = None

    def weights(self) -> dict[str, Tensor]:
        """Return all that is learned."""
        return {name: weight.detach() for name, weight in self.parts.named_parameters()}

    def move(self, device: torch.device) -> None:
        """Put the weights on a device."""
        self.parts.to(device)


Encoder = Sums | Network


def _lstm(parts: nn.ModuleDict, embedded: Tensor, lengths: Tensor) -> Tensor:
    packed = rnn.pack_padded_sequence(
        embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
    )
    _, (last, _) = parts["lstm"](packed)
    return torch.cat((last[0], last[1]), dim=1)


def _cnn(parts: nn.ModuleDict, embedded: Tensor, lengths: Tensor) -> Tensor:
    """Return the maximum of each convolution, projected; a short text is padded with zeros."""
    short = max(0, max(WIDTHS) - embedded.shape[1])
    across = functional.pad(embedded, (0, 0, 0, short)).transpose(1, 2)
    highest = []
    for width in WIDTHS:
        windows = parts[f"width{width}"](across)
        there = torch.arange(windows.shape[2], device=lengths.device)
        outside = there >= (lengths - width + 1).clamp(min=1)[:, None]
        highest.append(windows.masked_fill(outside[:, None, :], -math.inf).amax(2))
    return torch.tanh(parts["project"](torch.cat(highest, dim=1)))


def make(name: EncoderName, tokens: int, dimensions: int) -> Encoder:
    """Return an encoder that has learned nothing."""
    if name == "ngrams":
        return Sums(tokens, dimensions)
    parts = nn.ModuleDict({"characters": nn.Embedding(tokens, CHARACTER_DIMENSIONS)})
    if name == "lstm":
        half = dimensions // 2
        parts["lstm"] = nn.LSTM(CHARACTER_DIMENSIONS, half, bidirectional=True, batch_first=True)
        return Network(parts, _lstm)
    channels = math.ceil(dimensions / len(WIDTHS))
    for width in WIDTHS:
        parts[f"width{width}"] = nn.Conv1d(CHARACTER_DIMENSIONS, channels, width)
    parts["project"] = nn.Linear(channels * len(WIDTHS), dimensions)
    return Network(parts, _cnn)


@dataclass(frozen=True)
class _Ragged:
    """Rows on a device."""

    tokens: Tensor
    start: Tensor

    @classmethod
    def of(cls, rows: Rows, device: torch.device) -> "_Ragged":
        return cls(*(torch.from_numpy(part).to(device) for part in rows))

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the tokens of some rows, side by side, and how many each row has."""
        first = self.start[rows]
        lengths = self.start[rows + 1] - first
        shift = first - (lengths.cumsum(0) - lengths)
        places = torch.arange(int(lengths.sum()), device=rows.device)
        return self.tokens[places + shift.repeat_interleave(lengths)].long(), lengths


class _Sides(NamedTuple):
    """The encoders of mentions and of names, and the rows that they read."""

    mention: Encoder
    name: Encoder
    mentions: _Ragged
    names: _Ragged

    def weights(self) -> list[Tensor]:
        """Return all that is learned, on both sides."""
        return [*self.mention.weights().values(), *self.name.weights().values()]


def train(training_set: TrainingSet, plan: Plan, progress: Progress) -> TrainingResult:
    """Learn from all pairs, epoch after epoch, and keep the epoch with the best recall on dev.

    Without dev that is the last one. PyTorch's random numbers are left as they are.
    """
    device = _device(plan.device)
    with _one_thread():
        sides = _begin(training_set, plan, device)
        rng = np.random.default_rng((plan.seed, 1))
        kept = [] if training_set.dev is None else [weight.clone() for weight in sides.weights()]
        history = run_epochs(
            plan,
            learn=lambda show: _epoch(sides, training_set, rng, LEARNING_RATES[plan.encoder], show),
            judge=None
            if training_set.dev is None
            else partial(_recall, sides, training_set, training_set.dev),
            keep=lambda: _copy(sides.weights(), kept),
            progress=progress,
        )
        if kept:
            _copy(kept, sides.weights())
        vectors = _vectors(sides, training_set, plan)
    weights = {name: weight.cpu().numpy() for name, weight in sides.mention.weights().items()}
    return TrainingResult(vectors, weights, sum(some.numel() for some in sides.weights()), history)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Train with one thread, so that files do not depend on the number of cores.

    Where other programs use the cores too, threads that wait for each other after every small step
    make training ten times slower. PyTorch has one number of threads for all, so the trainings in
    a process take turns, and leave it as it was.
    """
    with _TRAINING_LOCK:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ParameterError(
            f"device is {name!r}, which PyTorch cannot use here: choose 'auto' or 'cpu'"
        ) from error
    return device


def _begin(training_set: TrainingSet, plan: Plan, device: torch.device) -> _Sides:
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(plan.seed)
        mention, name = (make(plan.encoder, size, plan.dimensions) for size in plan.tokens)
    for encoder in (mention, name):
        encoder.move(device)
    return _Sides(
        mention,
        name,
        _Ragged.of(training_set.mentions, device),
        _Ragged.of(training_set.names, device),
    )


def _copy(source: list[Tensor], target: list[Tensor]) -> None:
    for one, other in zip(source, target, strict=True):
        other.copy_(one)


def _vectors(sides: _Sides, training_set: TrainingSet, plan: Plan) -> npt.NDArray[np.float32]:
    """Return the names of the candidate space as they are stored."""
    vectors, first = np.empty((len(training_set.entities), plan.dimensions), np.float32), 0
    for block in _space(sides, training_set):
        vectors[first : first + len(block)] = block.cpu().numpy()
        first += len(block)
    if not np.isfinite(vectors).all():
        raise ParameterError(
            f"training {plan.encoder!r} went out of bounds: try another seed, or fewer epochs"
        )
    return vectors


def _epoch(
    sides: _Sides,
    training_set: TrainingSet,
    rng: np.random.Generator,
    rate: float,
    show: EpochProgress,
) -> float:
    """Learn from every pair once, in random order, against a wrong name; return the total loss."""
    number = len(training_set.name)
    order = rng.permutation(number)
    wrong = other_names(training_set.name, np.unique(training_set.name), rng)
    columns = (order, training_set.name[order], wrong[order], training_set.weight[order])
    device = sides.mentions.start.device
    pairs = [torch.from_numpy(column).to(device) for column in columns]
    total = torch.zeros((), dtype=torch.float64, device=device)
    for first in range(0, number, BATCH_SIZE):
        show(0.9 * first / number)
        mention, right, other, weight = (column[first : first + BATCH_SIZE] for column in pairs)
        m = sides.mention.encode(*sides.mentions.take(mention))
        e = sides.name.encode(*sides.names.take(torch.cat((right, other))))
        right_cos, other_cos = functional.cosine_similarity(torch.cat((m, m)), e).split(len(m))
        loss = (weight * torch.relu(1 - right_cos + other_cos)).sum()
        loss.backward()
        sides.mention.learn(rate)
        sides.name.learn(rate)
        total += loss.detach()
    return float(total)


@torch.no_grad()
def _units(encoder: Encoder, rows: _Ragged, chosen: Tensor) -> Iterator[Tensor]:
    """Return the vectors of some rows, of length 1, block by block."""
    while len(chosen):
        some = chosen[:ROWS_AT_ONCE]
        longest = int((rows.start[some + 1] - rows.start[some]).max())
        some = some[: max(1, TOKENS_AT_ONCE // max(longest, 1))]
        yield functional.normalize(encoder.encode(*rows.take(some)))
        chosen = chosen[len(some) :]


def _space(sides: _Sides, training_set: TrainingSet) -> Iterator[Tensor]:
    """Return the vectors of the names of the candidate space."""
    rows = torch.arange(len(training_set.entities), device=sides.names.start.device)
    return _units(sides.name, sides.names, rows)


@torch.no_grad()
def _recall(sides: _Sides, training_set: TrainingSet, dev: Dev, show: EpochProgress) -> float:
    """Return the share of dev queries, in percent, whose gold is among the first 30 candidates.

    In float32, and entities exactly as near as the gold rank after it: exact enough for stopping.
    """
    device = sides.names.start.device
    asked = np.flatnonzero((dev.name >= 0) & (np.diff(dev.mentions.start) >= training_set.least))
    if len(asked) == 0:
        return 0.0
    at, gold = torch.from_numpy(asked).to(device), torch.from_numpy(dev.name[asked]).to(device)
    ahead = torch.from_numpy(dev.before[asked]).to(device, torch.float32)
    entities = torch.from_numpy(training_set.entities).to(device, torch.float32)
    query = torch.cat(list(_units(sides.mention, _Ragged.of(dev.mentions, device), at)))
    own = (query * torch.cat(list(_units(sides.name, sides.names, gold)))).sum(1)
    first = 0
    for block in _space(sides, training_set):
        show(0.9 + 0.1 * first / len(entities))
        near = ahead < RECALL_AT  # the others are lost whatever comes
        gold, ahead, query, own = gold[near], ahead[near], query[near], own[near]
        # Where numbers have overflowed, nothing is nearer and nothing is not: the gold is lost.
        nearer = (~(query @ block.T <= own[:, None])).to(torch.float32)
        here = torch.nonzero((gold >= first) & (gold < first + len(block))).squeeze(1)
        nearer[here, gold[here] - first] = 0
        ahead += nearer @ entities[first : first + len(block)]
        first += len(block)
    return 100 * int((ahead < RECALL_AT).sum()) / len(dev.name)
