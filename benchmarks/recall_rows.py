"""The methods that are compared: how each is chosen on dev, built, and how large it is."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from measure import cpu_time
from recall_cases import JOINT, Case
from recall_cells import path_of, read_json

from candgen.auto import choose_normalizer
from candgen.evaluation.tune import tune
from candgen.generators import METHODS
from candgen.generators.rerank.rerank import Rerank
from candgen.protocols import Generator, Training
from candgen.tables.queries import Query

K = 30
EPOCHS = 5
LONGEST = 600.0
"""CPU seconds that training Charagram may take; where an epoch is too slow, there are fewer."""

MU = {"jv-id": 0.01}
USUAL_MU = 0.2
"""What dev chose in ``candgen reproduce`` (docs/results.md) among 0.01, 0.1 and 0.2."""


class Made(NamedTuple):
    """A generator, what dev chose for it, and the CPU seconds that took."""

    generator: Generator
    parameters: dict[str, Any]
    tuning: float
    building: float
    note: str = ""


Make = Callable[[Case, str, list[str]], Made]


@dataclass(frozen=True)
class Row:
    """A method: what the table calls it, and whether it learns from several pivots or from one."""

    label: str
    make: Make
    several: bool = False


def tuned(case: Case, setting: str, pivots: list[str], *, method: str, **fixed: object) -> Made:
    """What dev says is best, built with everything there is."""
    training = case.training(setting, pivots)
    way = METHODS[method]
    dev = case.dev if len(pivots) == 1 else case.some_dev
    tuning, found = cpu_time(lambda: tune(way, training, dev, fixed=fixed, k=K))
    parameters = {**fixed, **found.best.parameters}
    whole = case.training(setting, pivots, whole=True)
    building, generator = cpu_time(lambda: way(replace(whole, dev=()), parameters))
    return Made(generator, parameters, tuning, building, "" if len(pivots) == 1 else _by(dev))


def reranked(case: Case, setting: str, pivots: list[str]) -> Made:
    """Both stages: the alphas by some dev queries, the weights of the second by all of them."""
    training = case.training(setting, pivots)
    dev = case.some_dev
    tuning, parameters = cpu_time(lambda: _chosen(training, dev))
    building, generator = cpu_time(lambda: METHODS["rerank"](training, parameters))
    weights = generator.weights  # type: ignore[attr-defined]
    if case.whole is not case.train:  # dev may not be part of what weights are learned with
        whole = case.training(setting, pivots, whole=True)
        generator = _with_weights(whole, parameters, weights)
    chosen = {**parameters, "weights": weights._asdict()}
    return Made(generator, chosen, tuning, building, _by(dev))


def first_stage(case: Case, setting: str, pivots: list[str]) -> Made:
    """The first stage of the row below, with what was chosen for that."""
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
    """The normalizer, alphas and lam of both stages, as ``candgen tune`` chooses them."""
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
    """A method that has nothing to choose."""
    training = case.training(setting, pivots, whole=True)
    seconds, generator = cpu_time(lambda: METHODS[method](training, {}))
    return Made(generator, {}, 0.0, seconds)


def tfidf(case: Case, setting: str, pivots: list[str], *, normalizer: str) -> Made:
    """TF-IDF on the same names."""
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
    """So many epochs would take too long."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs


def charagram(case: Case, setting: str, pivots: list[str]) -> Made:
    """Charagram with the English names, for five epochs, or as many as there is time for."""
    training = case.training(setting, pivots, whole=True)
    if case.whole is not case.train:
        training = replace(training, dev=())  # dev is part of what it learns from
    parameters: dict[str, Any] = {"epochs": EPOCHS}
    if setting == JOINT:
        parameters["mu"] = MU.get(case.name, USUAL_MU)
    try:
        watched = replace(training, progress=_watch())
        seconds, generator = cpu_time(lambda: METHODS["charagram"](watched, parameters))
        note = ""
    except TooSlowError as slow:
        parameters["epochs"] = slow.epochs
        note = f"{slow.epochs} epochs"
        seconds, generator = cpu_time(lambda: METHODS["charagram"](training, parameters))
    return Made(generator, parameters, 0.0, seconds, note)


def _watch() -> Callable[[str, float], None]:
    """Look at the clock after the first epoch."""
    began = time.process_time()
    decided = False

    def tell(doing: str, share: float) -> None:
        nonlocal decided
        if not decided and share >= 1 / EPOCHS and doing != "done":
            decided = True
            epochs = int(LONGEST * share * EPOCHS / (time.process_time() - began))
            if epochs < EPOCHS:
                raise TooSlowError(max(epochs, 1))

    return tell


ROWS: dict[str, Row] = {
    "wikipriors": Row("WikiPriors", partial(plain, method="wikipriors")),
    "pti": Row("PTI, one pivot", partial(tuned, method="pti")),
    "tfidf": Row("TF-IDF cosine, one pivot", partial(tfidf, normalizer="default")),
    "charagram": Row("Charagram", charagram),
    "tfidf-several": Row(
        "TF-IDF cosine, several pivots", partial(tfidf, normalizer="latin"), several=True
    ),
    "pti-several": Row("PTI, several pivots", first_stage, several=True),
    "rerank": Row("PTI, several pivots, second stage", reranked, several=True),
}
"""In the order of the tables: the last is ours, and is compared with all others."""


def bytes_of(generator: Any) -> int:  # noqa: ANN401
    """What is stored, or what arrays take of one that cannot be stored."""
    if not hasattr(generator, "save"):
        return int(generator.nbytes)
    with TemporaryDirectory() as folder:
        generator.save(Path(folder) / "generator")
        files = (Path(folder) / "generator").rglob("*")
        return sum(file.stat().st_size for file in files if file.is_file())
