"""The weights of the second stage, and how they are learned on dev."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from candgen.errors import ParameterError
from candgen.generators import conditional_logit
from candgen.generators.conditional_logit import Floats, Integers


class Weights(NamedTuple):
    """The weight of each property of a candidate; its value is the sum of weights x properties.

    - ``score``: log of its score in the first stage over the best one's;
    - ``likeness``: the similarity of the mention, or of its translation, and the most similar name,
      see ``EditModel.similarity`` (the name is that in stored indexes);
    - ``frequency``: log(1 + count) of that name;
    - ``popularity``: log(1 + count) of all its names together;
    - ``languages``: how many languages have it;
    - ``same``: 1 if the mention is one of its names;
    - ``cosine``: the cosine of the n-grams of the mention and of a name, rare ones counting more;
    - ``coverage``: how much of the mention the words of a name explain, rare words counting more;
    - ``words``: the cosine of the words of the mention and of a name, where words need not be
      equal, but similar;
    - ``skeleton``: how much of the mention the consonants of a name's words explain, rare words of
      the mention counting more: names in scripts that do not write vowels have little else;
    - ``sitelinks``: log(1 + number of its sitelinks), if they are known.

    From ``cosine`` to ``skeleton``, each is that of the name for which it is largest: see
    ``Rarity``. Names whose cosine is less than 0.4 of the entity's largest are compared by cosine
    only.
    """

    score: float
    likeness: float
    frequency: float
    popularity: float
    languages: float
    same: float
    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    skeleton: float = 0.0
    sitelinks: float = 0.0


DEFAULT_WEIGHTS = Weights(
    score=0.55,
    likeness=0.3,
    frequency=0.1,
    popularity=0.0,
    languages=1.5,
    same=2.0,
    cosine=0.9,
    coverage=5.0,
    words=3.5,
    skeleton=1.5,
    sitelinks=0.3,
)
"""Used without dev queries. Rounded from what was learned for several languages and kinds of
mention: labels, inflected forms, surnames alone, names with other words around them."""
LEAST_WEIGHTS = {name: getattr(DEFAULT_WEIGHTS, name) for name in ("same", "popularity")}
"""Weights that dev queries, which are names of lists, cannot make smaller."""
PRIOR_STRENGTH, ZERO_SHOT_PRIOR_STRENGTH = 20.0, 200.0
"""Strength of the default weights beside dev queries: as strong as so many of them. Dev queries are
of one kind of mention; what is asked later may be of another. Without a table of the target they
may even be of another language."""


def check_weights(weights: Weights | Mapping[str, float]) -> Weights:
    """Return weights that may be given as a mapping; raise ParameterError for anything else."""
    given = weights._asdict() if isinstance(weights, Weights) else weights
    if (
        not isinstance(given, Mapping)
        or set(given) != set(Weights._fields)
        or not all(isinstance(value, int | float) and abs(value) < 1e30 for value in given.values())
    ):
        raise ParameterError(
            f"weights is {weights!r}: expected a finite number for each of "
            f"{', '.join(Weights._fields)}"
        )
    return Weights(**{name: float(value) for name, value in given.items()})


def learn_weights(
    features: Floats,
    starts: Integers,
    gold: Integers,
    *,
    fixed: Weights = DEFAULT_WEIGHTS,
    strength: float = PRIOR_STRENGTH,
) -> Weights:
    """Return the weights under which the golds are likeliest, with a penalty for leaving ``fixed``.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` of ``features`` are the candidates of query q, and
    ``gold[q]`` the row of its gold, -1 if it is not among them: see ``conditional_logit``.
    """
    learned = conditional_logit.learn(features, starts, gold, np.array(fixed), strength=strength)
    return Weights(*learned.tolist())
