"""The methods of recall.py: how each is tuned on dev and built, and how large it is."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from measure import cpu_time
from recall_cases import JOINT, Case
from recall_results import path_of, read_json

from candgen.auto import choose_normalizer
from candgen.evaluation.tune import tune
from candgen.generators import METHODS
from candgen.generators.rerank.rerank import Rerank
from candgen.protocols import Generator, Training
from candgen.tables.queries import Query

K = 30
LONGEST = 600.0
"""CPU seconds that training Charagram may take; if an epoch is too slow, there are fewer."""
NEEDS = {"charagram": ("torch",), "tfidf": ("sklearn",), "tfidf-several": ("sklearn",)}
"""The optional packages of methods."""

MU = {"jv-id": 0.01}
USUAL_MU = 0.2
"""Chosen on dev in ``candgen reproduce`` (docs/results.md) among 0.01, 0.1 and 0.2."""


class Made(NamedTuple):
    """A generator, the parameters chosen on dev, and the CPU seconds of tuning and building."""

    generator: Generator
    parameters: dict[str, Any]
    tuning: float
    building: float
    note: str = ""


Make = Callable[[Case, str, list[str]], Made]


@dataclass(frozen=True)
class Row:
    """A method: its label in the tables, and whether it has several pivots or one."""

    label: str
    make: Make
    several: bool = False


def tuned(case: Case, setting: str, pivots: list[str], *, method: str, **fixed: object) -> Made:
    """Tune a method on dev, then build it from all training data."""
    training = case.training(setting, pivots)
    way = METHODS[method]
    dev = case.dev if len(pivots) == 1 else case.some_dev
    tuning, found = cpu_time(lambda: tune(way, training, dev, fixed=fixed, k=K))
    parameters = {**fixed, **found.best.parameters}
    whole = case.training(setting, pivots, whole=True)
    building, generator = cpu_time(lambda: way(replace(whole, dev=()), parameters))
    return Made(generator, parameters, tuning, building, "" if len(pivots) == 1 else _by(dev))


def reranked(case: Case, setting: str, pivots: list[str]) -> Made:
    """Both stages: alphas chosen on a sample of dev, weights of the second learned on all of it."""
    training = case.training(setting, pivots)
    dev = case.some_dev
    tuning, parameters = cpu_time(lambda: _chosen(training, dev))
    building, generator = cpu_time(lambda: METHODS["rerank"](training, parameters))
    weights = generator.weights  # type: ignore[attr-defined]
    if case.whole is not case.train:  # weights must not be learned with dev in the index
        whole = case.training(setting, pivots, whole=True)
        generator = _with_weights(whole, parameters, weights)
    chosen = {**parameters, "weights": weights._asdict()}
    return Made(generator, chosen, tuning, building, _by(dev))


def first_stage(case: Case, setting: str, pivots: list[str]) -> Made:
    """The first stage of rerank, with the parameters chosen for rerank."""
    known = read_json(path_of(case.name, setting, "rerank"))
    tuning, parameters = 0.0, {}
    if known is None:
        training, dev = case.training(setting, pivots), case.some_dev
        tuning, parameters = cpu_time(lambda: _chosen(training, dev))
    else:
        parameters = {name: each for name, each in known["parameters"].items() if name != "weights"}
    whole = replace(case.training(setting, pivots, whole=True), dev=())
    building, generator = cpu_time(lambda: METHODS["pti"](whole, parameters))
    return Made(generator, parameters, tuning, building)


def _chosen(training: Training, dev: Sequence[Query]) -> dict[str, Any]:
    """Choose the normalizer, the alphas and lam of both stages as ``candgen tune`` does."""
    normalizer, _ = choose_normalizer(training, dev)
    fixed = {"normalizer": normalizer}
    return {**fixed, **tune(METHODS["rerank"], training, dev, fixed=fixed, k=K).best.parameters}


def _by(dev: Sequence[Query]) -> str:
    return f"alphas by {len(dev)} dev queries"


def _with_weights(training: Training, parameters: dict[str, Any], weights: Any) -> Rerank:  # noqa: ANN401
    index = METHODS["pti"](training, {"normalizer": "latin", **parameters})
    return Rerank(
        index,
        pivots=training.pivots,
        target=training.target,
        language=training.language,
        weights=weights,
    )


def plain(case: Case, setting: str, pivots: list[str], *, method: str) -> Made:
    """Build a method without hyperparameters."""
    training = case.training(setting, pivots, whole=True)
    seconds, generator = cpu_time(lambda: METHODS[method](training, {}))
    return Made(generator, {}, 0.0, seconds)


def tfidf(case: Case, setting: str, pivots: list[str], *, normalizer: str) -> Made:
    """Build TF-IDF from the same names."""
    from tfidf import Tfidf  # noqa: PLC0415

    training = case.training(setting, pivots, whole=True)
    own = {} if training.target is None else {case.language: training.target}
    seconds, generator = cpu_time(
        lambda: Tfidf.build(
            {**training.pivots, **own}, normalizer=normalizer, language=case.language
        )
    )
    return Made(generator, {"normalizer": normalizer}, 0.0, seconds)  # type: ignore[arg-type]


class TooSlowError(Exception):
    """Training would take too long; ``epochs`` says how many fit."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs


def charagram(case: Case, setting: str, pivots: list[str]) -> Made:
    """Train Charagram with the English names, for as many epochs as fit into LONGEST."""
    training = case.training(setting, pivots, whole=True)
    if case.whole is not case.train:
        training = replace(training, dev=())  # dev is part of the training data
    parameters: dict[str, Any] = {"epochs": case.epochs}
    if setting == JOINT:
        parameters["mu"] = MU.get(case.name, USUAL_MU)
    try:
        watched = replace(training, progress=_stop_if_slow(case.epochs))
        seconds, generator = cpu_time(lambda: METHODS["charagram"](watched, parameters))
        note = ""
    except TooSlowError as slow:
        parameters["epochs"] = slow.epochs
        note = f"{slow.epochs} epochs"
        seconds, generator = cpu_time(lambda: METHODS["charagram"](training, parameters))
    return Made(generator, parameters, 0.0, seconds, note)


def _stop_if_slow(epochs: int) -> Callable[[str, float], None]:
    """Return a progress function that raises TooSlowError after the first epoch if it was slow."""
    began = time.process_time()
    decided = False

    def check(doing: str, fraction: float) -> None:
        nonlocal decided
        if not decided and fraction >= 1 / epochs and doing != "done":
            decided = True
            possible = int(LONGEST * fraction * epochs / (time.process_time() - began))
            if possible < epochs:
                raise TooSlowError(max(possible, 1))

    return check


ROWS: dict[str, Row] = {
    "wikipriors": Row("WikiPriors", partial(plain, method="wikipriors")),
    "translation": Row("Translation", partial(plain, method="translation")),
    "pti": Row("PTI, one pivot", partial(tuned, method="pti")),
    "tfidf": Row("TF-IDF cosine, one pivot", partial(tfidf, normalizer="default")),
    "charagram": Row("Charagram", charagram),
    "tfidf-several": Row(
        "TF-IDF cosine, several pivots", partial(tfidf, normalizer="latin"), several=True
    ),
    "pti-several": Row("PTI, several pivots", first_stage, several=True),
    "rerank": Row("PTI, several pivots, second stage", reranked, several=True),
}
"""In the order of the tables; the last one is compared with all others."""


def bytes_of(generator: Any) -> int:  # noqa: ANN401
    """Return the stored bytes, or those of the arrays of a generator that cannot be stored."""
    if not hasattr(generator, "save"):
        return int(generator.nbytes)
    with TemporaryDirectory() as folder:
        generator.save(Path(folder) / "generator")
        files = (Path(folder) / "generator").rglob("*")
        return sum(file.stat().st_size for file in files if file.is_file())
