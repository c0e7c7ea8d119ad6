"""Charagram and its relatives as methods: what is chosen on dev, and how much they keep."""

from candgen.generators.neural.charagram import Charagram
from candgen.generators.neural.training_data import EncoderName
from candgen.protocols import Method, Parameters, Size, Training

OPTIONS = frozenset(
    {"device", "dimensions", "epochs", "normalizer", "pairs", "patience", "seed", "space"}
)


def size(generator: Charagram) -> Size:
    """Return how many numbers were learned: embeddings, weights and biases of both sides."""
    return Size(int(generator.parameters["numbers"]))


def _method(encoder: EncoderName) -> Method:
    def build(training: Training, parameters: Parameters) -> Charagram:
        return Charagram.build(
            training.pivots,
            training.target,
            english=training.english,
            language=training.language,
            dev=training.dev,
            encoder=encoder,
            progress=training.progress,
            **parameters,
        )

    return Method(
        build=build,
        size=size,
        grid={"mu": (0.01, 0.1, 0.2)},
        joint=frozenset({"mu"}),
        options=OPTIONS,
        neural=True,
    )


CHARAGRAM = _method("ngrams")
CHAR_LSTM = _method("lstm")
CHAR_CNN = _method("cnn")
