"""Inference in NumPy gives the vectors of training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candgen.generators.neural.inference import ENCODERS

torch = pytest.importorskip("torch", reason="PyTorch is not installed: candgen[neural]")

from candgen.generators.neural import encoders  # noqa: E402
from tests.generators.neural.test_encoders import NAMES, batch, trained  # noqa: E402


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
