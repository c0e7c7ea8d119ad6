"""Encoders and their training: against autograd, NumPy, and plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.errors import CandgenError
from candgen.generators.neural.inference import ENCODERS
from candgen.generators.neural.token_rows import Rows
from candgen.generators.neural.training_data import (
    Dev,
    EpochProgress,
    Plan,
    TrainingSet,
    other_names,
    run_epochs,
)

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


@pytest.mark.parametrize("name", NAMES)
@given(
    texts=st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=9), min_size=1, max_size=5),
    seed=st.integers(0, 100),
)
@settings(max_examples=30)
def test_answering_encodes_as_training_does(name, texts, seed):
    """Also in a batch of texts of other lengths, and shorter than the widest convolution."""
    torch.manual_seed(seed)
    encoder = encoders.make(name, 7, 10)
    with torch.no_grad():
        together = encoder.encode(*batch(*texts)).numpy()
    alone = ENCODERS[name](trained(encoder))
    for text, vector in zip(texts, together, strict=True):
        assert alone(np.array(text, np.int32)) == pytest.approx(vector, abs=2e-6)


def test_a_text_without_tokens_is_the_bias():
    encoder = encoders.Sums(4, 3)
    encoder.bias.copy_(torch.tensor([0.1, 0.2, 0.3]))
    with torch.no_grad():
        vectors = encoder.encode(*batch([], [1], []))
    assert torch.equal(vectors[0], torch.tanh(encoder.bias))
    assert torch.equal(vectors[2], vectors[0])
    assert not torch.equal(vectors[1], vectors[0])


@pytest.mark.parametrize("name", ["lstm", "cnn"])
def test_the_order_of_characters_matters(name):
    torch.manual_seed(0)
    encoder = encoders.make(name, 7, 10)
    with torch.no_grad():
        one, other = encoder.encode(*batch([1, 2, 3, 4], [4, 3, 2, 1]))
    assert not torch.allclose(one, other)


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


@given(st.lists(st.integers(0, 9), min_size=2).filter(lambda own: len(set(own)) > 1), st.integers())
def test_negatives_are_never_the_positive(own, seed):
    name = np.array(own)
    names = np.unique(name)
    rng = np.random.default_rng(abs(seed))
    drawn = np.array([other_names(name, names, rng) for _ in range(20)])
    assert not (drawn == name).any()
    assert set(drawn.ravel().tolist()) <= set(own)


def test_every_other_name_is_as_likely():
    name = np.full(30_000, 5)
    drawn = other_names(name, np.array([1, 5, 7, 20]), np.random.default_rng(0))
    found, times = np.unique(drawn, return_counts=True)
    assert found.tolist() == [1, 7, 20]
    assert times == pytest.approx(10_000, rel=0.05)


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


def plan(**changes):
    return Plan("ngrams", (4, 3), 8, 5, 9, 0, "cpu")._replace(**changes)


def nothing(_doing, _share):
    pass


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


def studied(recalls, **changes):
    kept, left = [], list(recalls)
    said = []

    def judge(show):
        show(1.0)
        return left.pop(0)

    history = run_epochs(
        plan(**changes),
        learn=lambda _: 1.0,
        judge=judge,
        keep=lambda: kept.append(len(recalls) - len(left)),
        progress=lambda doing, share: said.append((doing, share)),
    )
    return history, kept, said


@given(st.lists(st.integers(0, 5), min_size=12, max_size=12), st.integers(1, 5), st.integers(1, 12))
def test_study_stops_when_patience_ends(recalls, patience, epochs):
    history, kept, _ = studied(recalls, patience=patience, epochs=epochs)
    best, ran = 1, 0
    for epoch in range(1, epochs + 1):
        ran = epoch
        if recalls[epoch - 1] > max([-1, *recalls[: epoch - 1]]):
            best = epoch
        if epoch - best >= patience:
            break
    assert history.recalls == recalls[:ran]
    assert len(history.losses) == ran
    assert history.best == kept[-1] == best
    assert recalls[best - 1] == max(recalls[:ran])


def test_study_says_how_far_it_is():
    _, _, said = studied([61.24, 50.0], epochs=2)
    assert said == [("epoch 1 of 2", 0.5), ("epoch 2 of 2, dev recall@30 61.2", 1.0)]


def test_without_a_judge_the_last_epoch_is_the_best():
    history = run_epochs(
        plan(epochs=3, patience=1),
        learn=lambda _: 2.0,
        judge=None,
        keep=lambda: pytest.fail("nothing to keep"),
        progress=nothing,
    )
    assert history == ([2.0, 2.0, 2.0], [], 3)


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
