"""The weights of the second stage: what they weigh, and how dev chooses them."""

from typing import NamedTuple

import numpy as np

from candgen.generators import conditional_logit
from candgen.generators.conditional_logit import Floats, Integers


class Weights(NamedTuple):
    """What each property of a candidate weighs; a candidate's value is the sum of the products.

    - ``score``: log of its score in the first stage over the best one's;
    - ``likeness``: how likely the mention, or its translation, is a copy of its likeliest name, see
      ``EditModel``;
    - ``frequency``: log(1 + count) of that name;
    - ``popularity``: log(1 + count) of all its names together;
    - ``languages``: how many languages have it;
    - ``same``: 1 if the mention is one of its names.
    """

    score: float
    likeness: float
    frequency: float
    popularity: float
    languages: float
    same: float


FIXED = Weights(score=1.5, likeness=4.0, frequency=0.2, popularity=0.0, languages=3.0, same=1.5)
"""Where there is no dev data. Rounded from what dev chose for several languages."""


def learn_weights(
    features: Floats, starts: Integers, gold: Integers, *, fixed: Weights = FIXED
) -> Weights:
    """The weights under which the golds are likeliest, held to the fixed ones.

    Rows ``starts[q]`` to ``starts[q + 1] - 1`` of ``features`` are the candidates of query q, and
    ``gold[q]`` the row of its gold, -1 if it is not among them: see ``conditional_logit``.
    """
    return Weights(*conditional_logit.learn(features, starts, gold, np.array(fixed)).tolist())
