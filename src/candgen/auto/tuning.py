"""Choose normalizer and weights on dev queries, and keep what a second stage learned from them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from candgen.auto.normalizer import DEFAULTS_WITHOUT_DEV, choose_normalizer
from candgen.evaluation.steps import Steps
from candgen.evaluation.tune import Tuning, describe, tune
from candgen.generators.pivot import method as pivot_method
from candgen.generators.rerank.method import RERANK
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.stage import Stage
from candgen.protocols import Training


class Chosen(NamedTuple):
    """What was tried on dev, all parameters, and why they were chosen."""

    tuning: Tuning
    parameters: dict[str, Any]
    reasons: list[str]


def choose_parameters(training: Training, steps: Steps, *, exhaustive: bool) -> Chosen:
    """Choose normalizer, alphas and lam on the training's dev queries; no pivot is left out."""
    training = replace(training, progress=steps.start("comparing normalizers", measured=True))
    normalizer, why = choose_normalizer(training, training.dev)
    training = replace(training, progress=steps.start("choosing weights"))
    fixed = {"normalizer": normalizer}
    tuning = tune(RERANK, training, training.dev, fixed=fixed, exhaustive=exhaustive)
    parameters = {**fixed, **tuning.best.parameters}
    return Chosen(tuning, parameters, [why, _explain_weights(tuning)])


def _explain_weights(tuning: Tuning) -> str:
    best = tuning.best
    chosen = (
        f"Weights, chosen on {tuning.queries:,} dev queries: {best.described}; recall@{tuning.k} "
        f"of the first stage on them is {best.recall:.1f}."
    )
    if not _is_plain(best.parameters):
        return chosen
    others = [each for each in tuning.trials if not _is_plain(each.parameters)]
    if not others:
        return f"{chosen} No other weights were better by more than chance."
    return (
        f"{chosen} The weights of the search ({describe(others[-1].parameters)}) are not used: on "
        "held-back names they are behind these."
    )


def _is_plain(parameters: Mapping[str, Any]) -> bool:
    alpha = parameters.get("alpha", 1.0)
    alphas = alpha.values() if isinstance(alpha, Mapping) else [alpha]
    return set(alphas) == {1.0} and parameters["lam"] == DEFAULTS_WITHOUT_DEV["lam"]


@dataclass(frozen=True)
class Learned:
    """What a second stage has learned: edits and translations, and the weights of dev."""

    stage: Stage
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, generator: Rerank) -> "Learned":
        """Return what a generator has learned, without its names."""
        return cls(generator.stage.without_names(), generator.learned)

    def build(self, training: Training, parameters: Mapping[str, Any]) -> Rerank:
        """Build both stages of other tables, from which nothing is learned."""
        index = pivot_method.build(training, parameters)
        training.progress("reading names", 0.0)
        stage = self.stage.with_names(
            training.pivots, training.target, index.knows, training.sitelinks
        )
        return Rerank.of_stage(index, stage, learned=self.numbers)

    def relearn(self, training: Training, parameters: Mapping[str, Any]) -> Rerank:
        """Build both stages, and learn all but the weights once more."""
        index: Any = RERANK(replace(training, dev=()), parameters)
        return index.with_weights(self.stage.weights, queries=self.numbers["queries"])  # type: ignore[no-any-return]
