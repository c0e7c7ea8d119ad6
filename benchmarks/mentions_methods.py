"""What mentions.py measures in a case: ranks, probabilities, matching, and features left out."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from measure import cpu_time, missing_packages
from mentions_cases import Case
from mentions_results import BASELINES, BOTH, FIRST, Ablation, Outcome, Result
from synthetic_index import source_hash

from candgen.auto import build_auto
from candgen.auto.normalizer import DEFAULTS_WITHOUT_DEV
from candgen.evaluation.ceilings import candidate_space
from candgen.evaluation.split import split
from candgen.generators.calibration import Calibration
from candgen.generators.rerank.rerank import Rerank
from candgen.generators.rerank.weights import DEFAULT_WEIGHTS, Weights, learn_weights
from candgen.protocols import first_stage_of
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

K = 30
FIRST_STAGE_DEPTH = 300
"""To this rank the golds are looked for in the first stage: what the second one puts in order."""
ABSENT = 0.3
"""The fraction of the queries of a mix whose entity is taken out of all tables."""
MATCH = 0.9
ABLATION_DEV = 200
"""Queries of each type on which the weights of the remaining features are learned."""

Answers = Sequence[Sequence[tuple[str, float]]]


class Built(NamedTuple):
    """Both stages, what turns their scores into probabilities, and why they are as they are."""

    generator: Rerank
    calibration: Calibration
    reasons: list[str]


def build(case: Case, *, absent: Collection[str] = (), train: MentionTable | None = None) -> Built:
    """Build both stages for a case as a user would, without the rows of ``absent`` entities.

    ``train`` replaces the table of the target.
    """
    pivots = without_entities(case.pivots, absent)
    if case.language is None:  # no language, no names of a target: nothing can be chosen
        generator = Rerank.build(pivots, **DEFAULTS_WITHOUT_DEV)
        return Built(generator, generator.calibration, [])
    known: MentionTable | Sequence[str] = case.known if train is None else train
    if isinstance(known, MentionTable):
        known = without_entities({"": known}, absent).get("", case.names)
    auto = build_auto(known, pivots, language=case.language, seed=case.place.seed)
    calibration = auto.calibration or auto.generator.calibration
    return Built(auto.generator, calibration, list(auto.reasons))


def without_entities(
    tables: Mapping[str, MentionTable], absent: Collection[str]
) -> dict[str, MentionTable]:
    """Return the tables without the rows of some entities; one that has no row left is dropped."""
    if not absent:
        return dict(tables)
    gone = pa.array(sorted(absent), pa.large_string())
    kept = {
        code: table.arrow.filter(pc.invert(pc.is_in(table.arrow["entity"], value_set=gone)))
        for code, table in tables.items()
    }
    return {code: MentionTable.from_arrow(rows) for code, rows in kept.items() if len(rows)}


def measure(case: Case) -> Result:
    """Ask all methods the queries of a case."""
    mentions = [query.mention for query in case.queries]
    seconds = {}
    seconds["building"], built = cpu_time(lambda: build(case))
    seconds["asking"], both = cpu_time(lambda: built.generator.candidates(mentions, K))
    first = first_stage_of(built.generator).candidates(mentions, FIRST_STAGE_DEPTH)
    ranks = {name: ranks_of(case, found) for name, found in baselines(case, mentions).items()}
    ranks |= {FIRST: ranks_of(case, first), BOTH: ranks_of(case, both)}
    return Result(
        case.place,
        case.digest,
        source_hash(),
        [tuple(query) for query in case.queries],
        dict(case.subsets),
        case.unlike,
        ranks,
        [answer[0][0] if answer else None for answer in both],
        [first_probability(built, *each) for each in zip(mentions, both, strict=True)],
        match(case),
        list(case.pivots),
        seconds,
        built.reasons,
    )


def baselines(case: Case, mentions: Sequence[str]) -> dict[str, Answers]:
    """Return the answers of TF-IDF with each normalizer; none without scikit-learn."""
    if missing_packages("sklearn"):
        return {}
    tables = tuple(case.tables.items())
    return {
        name: vectors(normalizer, case.language, tables).candidates(mentions, K)
        for name, normalizer in BASELINES.items()
    }


@lru_cache(maxsize=len(BASELINES))
def vectors(
    normalizer: str, language: str | None, tables: tuple[tuple[str, MentionTable], ...]
) -> Any:  # noqa: ANN401 (scikit-learn is optional)
    """Return TF-IDF of the tables; that of the last ones is kept for other kinds of mention.

    It takes longer to build than all else where the tables have hundreds of thousands of names.
    """
    from tfidf import Tfidf  # noqa: PLC0415

    return Tfidf.build(dict(tables), normalizer=normalizer, language=language)


def ranks_of(case: Case, answers: Answers) -> list[int]:
    """Return the rank of the first right entity in each answer, 0 where there is none."""
    return [
        next((at for at, (entity, _) in enumerate(answer, 1) if entity in golds), 0)
        for golds, answer in zip(map(case.golds, case.queries), answers, strict=True)
    ]


def first_probability(
    built: Built, mention: str, answer: Sequence[tuple[str, float]]
) -> float | None:
    """Return the probability of the first candidate; None if there is no candidate."""
    return float(built.calibration.probabilities(mention, answer)[0]) if answer else None


def match(case: Case) -> list[Outcome]:
    """Match the queries of a mix: some of their entities are taken out of all tables first.

    Only queries whose entity some table has are in the mix. A query is matched if its first
    candidate has a probability of at least MATCH.
    """
    golds = {gold for query in case.queries for gold in case.golds(query)}
    space = candidate_space(*case.tables.values(), named=golds)
    mix = [query for query in case.queries if case.golds(query) & space]
    absent = absent_entities(case, mix)
    built = build(case, absent=absent)
    outcomes = []
    for query, answer in zip(
        mix, built.generator.candidates([query.mention for query in mix], K), strict=True
    ):
        known = not case.golds(query) <= absent
        probability = first_probability(built, query.mention, answer)
        matched = probability is not None and probability >= MATCH
        right = matched and known and answer[0].entity in case.golds(query)
        outcomes.append(Outcome(known, matched, right))
    return outcomes


def absent_entities(case: Case, mix: Sequence[Query]) -> frozenset[str]:
    """Draw entities of queries until ABSENT of the queries have none that is left."""
    shuffled = list(mix)
    Random(case.place.seed).shuffle(shuffled)
    gone: set[str] = set()
    wanted = round(ABSENT * len(mix))
    for query in shuffled:
        if sum(case.golds(each) <= gone for each in mix) >= wanted:
            break
        gone |= case.golds(query)
    return frozenset(gone)


def ablate(case: Case, features: Iterable[str]) -> Ablation:
    """Ask both stages with the weight of one feature after the other set to 0.

    If the target is labelled, dev queries are held out of its table, and the weights of the other
    features are learned anew on them; else the other weights stay.
    """
    weighted, learned = weigh(case)
    mentions = [query.mention for query in case.queries]
    ranks = {}
    for feature in ("", *features):
        generator = weighted(feature)
        ranks[feature] = ranks_of(case, generator.candidates(mentions, K))
    return Ablation(case.place, case.digest, source_hash(), ranks, learned)


def weigh(case: Case) -> tuple[Any, int]:
    """Return a function from a feature to the generator without it, and the number of dev queries.

    The empty feature stands for the generator with all features.
    """
    dev: list[Query] = []
    train = None
    if case.target is not None:
        folds = split(
            case.target,
            per_type=ABLATION_DEV,
            seed=case.place.seed,
            normalizer="default",
            language=case.language,
        )
        if len(folds.train):
            train, dev = folds.train, folds.dev
    generator = build(case, train=train).generator
    if not dev:
        return lambda feature: generator.with_weights(without(generator.weights, feature)), 0
    # The properties of candidates have no public way out: only the generator itself learns.
    pool = generator._pool([query.mention for query in dev], generator.depth)  # noqa: SLF001
    rows = [pool.row_of(number, query.entity) for number, query in enumerate(dev)]
    golds = np.array([-1 if row is None else row for row in rows], np.int64)

    def weighted(feature: str) -> Rerank:
        values: npt.NDArray[np.float64] = pool.values.copy()
        if feature:
            values[:, Weights._fields.index(feature)] = 0.0
        fixed = without(DEFAULT_WEIGHTS, feature)
        return generator.with_weights(learn_weights(values, pool.starts, golds, fixed=fixed))

    return weighted, len(dev)


def without(weights: Weights, feature: str) -> Weights:
    """Return the weights with that of a feature set to 0."""
    return weights._replace(**{feature: 0.0}) if feature else weights
