"""WikiPriors as methods: nothing has to be chosen on dev."""

from functools import partial

from candgen.generators.wikipriors import WikiPriors
from candgen.protocols import Method, Parameters, Size, Training

OPTIONS = frozenset({"normalizer", "threads"})


def build(training: Training, parameters: Parameters, *, released: bool = False) -> WikiPriors:
    """Return the priors of these tables; parameters are those of ``WikiPriors.build``."""
    return WikiPriors.build(
        training.pivots,
        training.target,
        language=training.language,
        released=released,
        progress=training.progress,
        **parameters,
    )


def size(priors: WikiPriors) -> Size:
    """Return how many priors are kept."""
    return Size(priors.postings)


WIKIPRIORS = Method(build=build, size=size, options=OPTIONS)
WIKIPRIORS_RELEASED = Method(build=partial(build, released=True), size=size, options=OPTIONS)
