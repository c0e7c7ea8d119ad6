"""Encoders of mentions that have been trained, in NumPy: answering needs no PyTorch.

A mention is encoded by itself and in float64, so that its vector depends neither on the mentions
that it is asked with, nor on a number of threads. Matrix products are written as ``einsum``, which
adds up in one order, where others choose one by the shape and the machine.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from candgen.generators.neural.training_data import WIDTHS, EncoderName, Weights
from candgen.storage.validation import check_array, check_range

Doubles = npt.NDArray[np.float64]
Encode = Callable[[npt.NDArray[np.int32]], Doubles]
"""The tokens of a text -> its vector."""


def sums(weights: Weights) -> Encode:
    """Return an encoder: tanh(bias + the sum of the embeddings of the tokens, in their order)."""
    table, bias = weights["table"], weights["bias"].astype(np.float64)

    def encode(tokens: npt.NDArray[np.int32]) -> Doubles:
        total: Doubles = bias + table[tokens].sum(axis=0, dtype=np.float64)
        return np.tanh(total)

    return encode


def lstm(weights: Weights) -> Encode:
    """Return an encoder: the last states of an LSTM that reads forwards and of one backwards."""
    weights = _doubles(weights)

    def encode(tokens: npt.NDArray[np.int32]) -> Doubles:
        read = weights["characters.weight"][tokens]
        return np.concatenate(
            (_last_state(weights, read, ""), _last_state(weights, read[::-1], "_reverse"))
        )

    return encode


def _last_state(weights: Weights, read: Doubles, direction: str) -> Doubles:
    given, before, *biases = (
        weights[f"lstm.{name}_l0{direction}"]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    of_inputs = np.einsum("ti,gi->tg", read, given) + sum(biases)
    state = memory = np.zeros(before.shape[1])
    for of_input in of_inputs:
        gates = of_input + np.einsum("gi,i->g", before, state)
        enter, stay, new, leave = np.split(gates, 4)
        memory = _sigmoid(stay) * memory + _sigmoid(enter) * np.tanh(new)
        state = _sigmoid(leave) * np.tanh(memory)
    return state


def cnn(weights: Weights) -> Encode:
    """Return an encoder: the maximum of each convolution over the text, projected, and tanh."""
    weights = _doubles(weights)

    def encode(tokens: npt.NDArray[np.int32]) -> Doubles:
        read = weights["characters.weight"][tokens]
        short = np.zeros((max(0, max(WIDTHS) - len(read)), read.shape[1]))
        filled = np.concatenate((read, short))
        highest = []
        for width in WIDTHS:
            there = filled[: max(len(read), width)]
            windows = np.lib.stride_tricks.sliding_window_view(there, width, axis=0)
            values = np.einsum("pcw,ocw->po", windows, weights[f"width{width}.weight"])
            highest.append(values.max(axis=0) + weights[f"width{width}.bias"])
        seen = np.concatenate(highest)
        projected: Doubles = np.einsum("oi,i->o", weights["project.weight"], seen)
        return np.tanh(projected + weights["project.bias"])

    return encode


ENCODERS: Mapping[EncoderName, Callable[[Weights], Encode]] = {
    "ngrams": sums,
    "lstm": lstm,
    "cnn": cnn,
}


def validate_weights(encoder: EncoderName, weights: Weights, tokens: int, dimensions: int) -> None:
    """Raise ValueError unless an encoder of so many tokens makes vectors of so many dimensions."""
    shapes: dict[str, tuple[int, ...]]
    if encoder == "ngrams":
        shapes = {"table": (tokens, dimensions), "bias": (dimensions,)}
    else:
        read, half = weights["characters.weight"].shape[-1], dimensions // 2
        shapes = {"characters.weight": (tokens, read)}
        if encoder == "lstm":
            for end in ("", "_reverse"):
                shapes[f"lstm.weight_ih_l0{end}"] = (4 * half, read)
                shapes[f"lstm.weight_hh_l0{end}"] = (4 * half, half)
                shapes[f"lstm.bias_ih_l0{end}"] = shapes[f"lstm.bias_hh_l0{end}"] = (4 * half,)
        else:
            channels = -(-dimensions // len(WIDTHS))
            for width in WIDTHS:
                shapes[f"width{width}.weight"] = (channels, read, width)
                shapes[f"width{width}.bias"] = (channels,)
            shapes["project.weight"] = (dimensions, channels * len(WIDTHS))
            shapes["project.bias"] = (dimensions,)
    for name, shape in shapes.items():
        check_array(f"weights.{name}", weights[name], np.float32, *shape)
        check_range(f"weights.{name}", weights[name], -1e30, 1e30)


def _doubles(weights: Weights) -> Weights:
    return {name: weight.astype(np.float64) for name, weight in weights.items()}


def _sigmoid(values: Doubles) -> Doubles:
    return (1 + np.tanh(values / 2)) / 2  # never overflows
