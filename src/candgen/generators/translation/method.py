"""Translation as a method: nothing has to be chosen on dev."""

from candgen.generators.translation.translation import Translation
from candgen.protocols import Method, Parameters, Size, Training

OPTIONS = frozenset({"normalizer"})


def build(training: Training, parameters: Parameters) -> Translation:
    """Return the translation baseline of these tables; parameters are those of its ``build``."""
    return Translation.build(
        training.pivots,
        training.target,
        english=training.english,
        language=training.language,
        progress=training.progress,
        **parameters,
    )


def size(index: Translation) -> Size:
    """Return how many probabilities are kept, and how many names of words."""
    exact = (index.target, index.pivots, index.searched)
    shares = sum(len(names.share) for names in exact)
    return Size(shares + len(index.words.name) + len(index.lexicon.probability))


TRANSLATION = Method(build=build, size=size, options=OPTIONS, english=True)
