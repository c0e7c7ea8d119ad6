"""Encoders and their training: against autograd, NumPy, and plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.errors import CandgenError
from candgen.generators.neural.token_rows import Rows
from candgen.generators.neural.training_data import Dev, EpochProgress, TrainingSet, other_names
from tests.generators.neural.test_training_data import nothing, plan

torch = pytest.importorskip("torch", reason="PyTorch is not installed: candgen[neural]")

from candgen.generators.neural import encoders  # noqa: E402

NAMES = ("ngrams", "lstm", "cnn")


def rows(*texts):
    lengths = np.cumsum([0, *map(len, texts)])
    return Rows(np.array([token for text in texts for token in text], np.int32), lengths)


def batch(*texts):
    tokens = torch.tensor([token for text in texts for token in text], dtype=torch.int64)
    return tokens, torch.tensor([len(text) for text in texts])


def trained(encoder):
    return {name: weight.numpy() for name, weight in encoder.weights().items()}


# Encoding


# Learning


@given(
    texts=st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=2, max_size=5).filter(any),
    seed=st.integers(0, 100),
)
@settings(max_examples=30)
def test_a_step_of_sums_is_that_of_autograd(texts, seed):
    """Tokens that occur twice, in one text or in several, are moved by all their gradients."""
    torch.manual_seed(seed)
    encoder = encoders.Sums(6, 4)
    table, bias = (weight.clone().requires_grad_() for weight in encoder.weights().values())
    towards = torch.randn(len(texts), 4)
    plain = torch.stack([table[text].sum(0) if text else torch.zeros(4) for text in texts])
    (torch.tanh(plain + bias) * towards).sum().backward()
    (encoder.encode(*batch(*texts)) * towards).sum().backward()
    encoder.learn(0.1)
    assert torch.allclose(encoder.table, table - 0.1 * table.grad, atol=1e-6)
    assert torch.allclose(encoder.bias, bias - 0.1 * bias.grad, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_taken_once(name):
    torch.manual_seed(0)
    encoder = encoders.make(name, 7, 10)
    encoder.encode(*batch([1, 2, 3])).sum().backward()
    before = [weight.clone() for weight in encoder.weights().values()]
    encoder.learn(0.1)
    after = [weight.clone() for weight in encoder.weights().values()]
    assert any(not torch.equal(one, other) for one, other in zip(before, after, strict=True))
    encoder.learn(0.1)
    again = encoder.weights().values()
    assert all(torch.equal(one, other) for one, other in zip(after, again, strict=True))


def training_set(**changes):
    whole = TrainingSet(
        rows([0, 1], [2, 3], [0, 3], [1, 2]),
        rows([0], [1], [2], [0, 1]),
        np.array([0, 1, 2, 1]),
        np.ones(4, np.float32),
        np.array([1, 2, 1]),
        1,
        None,
    )
    return whole._replace(**changes)


def one_epoch(some):
    """The tables after one epoch, and its loss, pair after pair in plain NumPy and autograd."""
    made = encoders._begin(some, plan(), torch.device("cpu"))
    tables = [weight.clone().requires_grad_() for weight in made.weights()]
    rng = np.random.default_rng((0, 1))
    order = rng.permutation(len(some.name))
    wrong = other_names(some.name, np.unique(some.name), rng)

    def encoded(side, of, row):
        table, bias = tables[2 * side : 2 * side + 2]
        return torch.tanh(table[of.tokens[of.start[row] : of.start[row + 1]]].sum(0) + bias)

    def cosine(one, other):
        return (one @ other) / (one.norm() * other.norm())

    loss = torch.zeros(())
    for pair in order.tolist():
        m = encoded(0, some.mentions, pair)
        right, other = (encoded(1, some.names, row[pair]) for row in (some.name, wrong))
        loss = loss + some.weight[pair] * torch.relu(1 - cosine(m, right) + cosine(m, other))
    loss.backward()
    return [table - 0.1 * table.grad for table in tables], float(loss.detach())


@pytest.mark.parametrize("weight", [[1, 1, 1, 1], [1, 0.1, 0.1, 1], [0, 0, 1, 0]])
def test_an_epoch_is_that_of_the_formula(weight):
    """Four pairs are one batch: the loss is a weighted sum, and the step is 0.1 of its gradient."""
    some = training_set(weight=np.array(weight, np.float32))
    expected, loss = one_epoch(some)
    sides = encoders._begin(some, plan(), torch.device("cpu"))
    show = EpochProgress(nothing, "epoch 1", 1, 1)
    found = encoders._epoch(sides, some, np.random.default_rng((0, 1)), 0.1, show)
    assert found == pytest.approx(loss, rel=1e-5)
    for one, other in zip(sides.weights(), expected, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_training_brings_the_loss_down(name):
    made = encoders.train(training_set(), plan(encoder=name, epochs=40, tokens=(4, 3)), nothing)
    losses = made.history.losses
    assert len(losses) == 40
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert made.vectors.shape == (3, 8)
    assert np.sqrt((made.vectors.astype(np.float64) ** 2).sum(1)) == pytest.approx(1, abs=1e-6)


def test_the_number_of_numbers():
    assert encoders.train(training_set(), plan(epochs=1), nothing).numbers == (4 + 3) * 8 + 2 * 8
    of_cnn = encoders.train(training_set(), plan(encoder="cnn", epochs=1), nothing).numbers
    widths = sum(2 * (64 * width + 1) for width in (2, 3, 4, 5))
    assert of_cnn == (4 + 3) * 64 + 2 * (widths + 8 * 8 + 8)


def test_the_best_state_is_put_back(monkeypatch):
    recalls = iter([10.0, 30.0, 30.0, 20.0])
    monkeypatch.setattr(encoders, "_recall", lambda *_: next(recalls))
    some = training_set(dev=Dev(rows([0]), np.array([0]), np.array([0])))
    stopped = encoders.train(some, plan(epochs=9, patience=2), nothing)
    assert stopped.history.best == 2
    assert stopped.history.recalls == [10.0, 30.0, 30.0, 20.0]
    second = encoders.train(training_set(), plan(epochs=2), nothing)
    last = encoders.train(training_set(), plan(epochs=4), nothing)
    assert np.array_equal(stopped.weights["table"], second.weights["table"])
    assert np.array_equal(stopped.vectors, second.vectors)
    assert not np.array_equal(stopped.weights["table"], last.weights["table"])


def test_the_number_of_threads_is_put_back(monkeypatch):
    seen = []
    monkeypatch.setattr(encoders, "_epoch", lambda *_: seen.append(torch.get_num_threads()) or 1.0)
    before = torch.get_num_threads()
    encoders.train(training_set(), plan(epochs=1), nothing)
    assert seen == [1]
    assert torch.get_num_threads() == before


# Stopping, without any encoder


def test_devices():
    assert encoders._device("auto").type in ("cpu", "cuda")
    assert encoders._device("cpu") == torch.device("cpu")
    with pytest.raises(CandgenError, match="device is 'abacus'"):
        encoders._device("abacus")
    if not torch.cuda.is_available():
        with pytest.raises(CandgenError, match="device is 'cuda'"):
            encoders._device("cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_learns_the_same(name):
    dev = Dev(rows([0, 1], [2]), np.array([0, 1]), np.array([0, 0]))
    on_cpu, on_gpu = (
        encoders.train(training_set(dev=dev), plan(encoder=name, device=device), nothing)
        for device in ("cpu", "cuda")
    )
    assert on_gpu.vectors == pytest.approx(on_cpu.vectors, abs=1e-3)
    assert on_gpu.history.losses == pytest.approx(on_cpu.history.losses, rel=1e-3)


@pytest.mark.parametrize("with_dev", [False, True])
def test_training_that_overflows_is_refused(monkeypatch, with_dev):
    """And never taken for the best epoch."""
    monkeypatch.setitem(encoders.LEARNING_RATES, "ngrams", float("nan"))
    dev = Dev(rows([0, 1]), np.array([0]), np.array([0])) if with_dev else None
    with pytest.raises(CandgenError, match="training 'ngrams' went out of bounds: try another"):
        encoders.train(training_set(dev=dev), plan(epochs=2), nothing)


def test_a_dev_query_is_lost_where_numbers_overflow():
    dev = Dev(rows([0, 1]), np.array([0]), np.array([0]))
    some = training_set(dev=dev, entities=np.array([31, 40, 1]))
    sides = encoders._begin(some, plan(), torch.device("cpu"))
    show = EpochProgress(nothing, "epoch 1", 1, 1)
    sides.name.table[1] = -sides.name.table[0]
    sides.name.table[2] = -sides.name.table[0]
    sides.mention.table[0] = sides.name.table[0]
    sides.mention.table[1] = 0
    assert encoders._recall(sides, some, dev, show) == 100
    assert encoders._recall(sides, some, dev._replace(before=np.array([30])), show) == 0
    assert encoders._recall(sides, some, dev._replace(name=np.array([2])), show) == 0
    assert encoders._recall(sides, some, dev._replace(name=np.array([-1])), show) == 0
    sides.mention.table[1] = float("nan")
    assert encoders._recall(sides, some, dev, show) == 0


@pytest.mark.parametrize("name", ["ngrams", "lstm", "cnn"])
def test_long_names_are_encoded_a_few_at_a_time(monkeypatch, name):
    """And their vectors are the same."""
    long = rows(*([at % 3] * length for at, length in enumerate([1, 3, 5, 200])))
    some = training_set(names=long, entities=np.ones(4, np.int64))
    together = encoders.train(some, plan(encoder=name, epochs=1), nothing).vectors
    sizes = []
    encode = encoders._Ragged.take
    monkeypatch.setattr(
        encoders._Ragged, "take", lambda self, at: sizes.append(len(at)) or encode(self, at)
    )
    monkeypatch.setattr(encoders, "TOKENS_AT_ONCE", 100)
    apart = encoders.train(some, plan(encoder=name, epochs=1), nothing).vectors
    assert apart == pytest.approx(together, abs=1e-5)
    assert 1 in sizes[-3:]
