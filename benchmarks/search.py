"""How fast is exact search for the best 30 entities, in one thread and in two?

    python benchmarks/search.py --size 50000 500000 2500000

The peers are SciPy (a product of sparse matrices, or the sum of rows of the weight matrix as a
dense vector, each followed by argpartition) and bm25s (its Numba backend, with the weights of
candgen). The peers get the token ids for free and sum in single precision; candgen starts from the
string and returns entity ids. The script stops with an error unless all of them return the same
entities and scores.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import bm25s
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from measure import (
    Report,
    Timed,
    add_queries,
    add_repeats,
    add_size,
    in_turn,
    median_ratio,
    no_garbage_collection,
    wall_time,
)
from synthetic_index import LANGUAGE, index_path, table_path
from world import load_world, make_queries

import candgen
from candgen.index.counts import count
from candgen.index.pooling import pool
from candgen.kernels import search as kernels
from candgen.text.normalize import normalize_many

K = 30
LAM = 0.4
LAMS = (0.2, 0.4, 1.0)
QUERIES = 3000
PEER_QUERIES = 250
REPEATS = 5
OURS = "candgen"

Floats = npt.NDArray[np.float64]
Tokens = list[tuple[npt.NDArray[np.int64], Floats]]
Answer = tuple[npt.NDArray[Any], npt.NDArray[np.float32]]
"""What a peer returns for a query: columns of the weight matrix and their scores, best first."""


# -- ours -----------------------------------------------------------------------------------------


def single_calls(
    index: candgen.PivotTokenIndex, queries: Sequence[str], lam: float = LAM
) -> tuple[Floats, Floats, list[list[candgen.Candidate]]]:
    """CPU seconds of each call, of its part inside the kernel, and the candidates."""
    with patch.object(kernels, "search_rows", Timed(kernels.search_rows)) as kernel:
        call = Timed(index.candidates)
        found = [call([query], K, lam=lam, threads=1)[0] for query in queries]
    return np.array(call.seconds), np.array(kernel.seconds), found


def kernel_in_batch(index: candgen.PivotTokenIndex, texts: Sequence[str]) -> float:
    """CPU seconds of the kernel for all texts, without the cost of entering it for each."""
    with patch.object(kernels, "search_rows", Timed(kernels.search_rows)) as kernel:
        index.token_index.search(texts, K, lam=LAM, threads=1)
    return sum(kernel.seconds)


def percentiles(
    index: candgen.PivotTokenIndex, queries: Sequence[str], texts: Sequence[str], lam: float
) -> dict[str, Any]:
    """How the calls for single mentions are distributed: the best of three for each."""
    with no_garbage_collection():
        seconds = np.min([single_calls(index, queries, lam)[0] for _ in range(3)], axis=0)
    work = index.token_index.search(texts, K, lam=lam).work[:, 2]
    p50, p95, p99, worst = (1e3 * np.quantile(seconds, [0.5, 0.95, 0.99, 1])).tolist()
    return {
        "lam": lam,
        "mean ms": 1e3 * float(seconds.mean()),
        "p50 ms": p50,
        "p95 ms": p95,
        "p99 ms": p99,
        "worst ms": worst,
        "worst / p50": worst / p50,
        "postings p50": int(np.median(work)),
        "postings p99": int(np.quantile(work, 0.99)),
        "postings worst": int(work.max()),
        "worst query": queries[int(seconds.argmax())],
    }


# -- peers ----------------------------------------------------------------------------------------


def weight_matrix(size: int) -> tuple[sp.csr_array, list[str]]:
    """Return P(e|t) + lam * P(t|e) in single precision, tokens by entities, and the entity ids."""
    table = candgen.MentionTable.read(table_path(size))
    counts = count({LANGUAGE: table}, tokenizer=candgen.CharNgrams(), normalizer="default")
    pooled = pool(counts, {LANGUAGE: 1.0})
    (token_total,), (entity_total,), (n,) = (  # one language has one layer of counts
        pooled.token_total,
        pooled.entity_total,
        pooled.n(),
    )
    shape = (len(counts.entities), len(counts.vocabulary))
    ids = counts.entities.to_pylist()
    del counts
    entity = np.repeat(np.arange(shape[0], dtype=np.int32), np.diff(pooled.indptr))
    weights = 1 / token_total[pooled.tokens] + LAM / entity_total[entity]
    weights *= n
    by_entity = (weights.astype(np.float32), pooled.tokens.view(np.int32), pooled.indptr)
    return sp.csr_array(by_entity, shape).T.tocsr(), ids


def scipy_rows(weights: sp.csr_array, tokens: Tokens) -> tuple[Floats, list[Answer]]:
    """CPU seconds and answer of each query: the sum of its tokens' rows, as a dense vector."""
    seconds, found = [], []
    for numbers, times in tokens:
        before = time.thread_time()
        scores = times.astype(np.float32) @ weights[numbers]
        best = largest(scores)
        seconds.append(time.thread_time() - before)
        best = best[scores[best] > 0]
        found.append((best, scores[best]))
    return np.array(seconds), found


def scipy_product(weights: sp.csr_array, tokens: Tokens) -> tuple[Floats, list[Answer]]:
    """CPU seconds and answer of each query: a product of sparse matrices, no dense vector."""
    seconds, found = [], []
    for numbers, times in tokens:
        before = time.thread_time()
        values = times.astype(np.float32)
        query = sp.csr_array((values, numbers, [0, len(numbers)]), (1, weights.shape[0]))
        scores = query @ weights
        best = largest(scores.data)
        seconds.append(time.thread_time() - before)
        found.append((scores.indices[best], scores.data[best]))
    return np.array(seconds), found


def largest(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Return the places of the K largest scores, largest first."""
    best = np.argpartition(scores, -K)[-K:] if len(scores) > K else np.arange(len(scores))
    return best[np.argsort(-scores[best], kind="stable")]


def bm25s_retriever(weights: sp.csr_array) -> bm25s.BM25:
    """A retriever whose scores are our weights."""
    retriever = bm25s.BM25(backend="numba")
    retriever.scores = {
        "data": weights.data,
        "indices": weights.indices,
        "indptr": weights.indptr,
        "num_docs": weights.shape[1],
    }
    retriever.nonoccurrence_array = None
    retriever.vocab_dict = {"": 0}
    retriever.unique_token_ids_set = set(range(weights.shape[0]))
    return retriever


def bm25s_calls(retriever: bm25s.BM25, lists: list[list[list[int]]]) -> tuple[Floats, list[Answer]]:
    """CPU seconds and answer of each query, repeated tokens repeated."""
    seconds, found = [], []
    for query in lists:
        before = time.thread_time()
        columns, scores = retriever.retrieve(query, k=K, n_threads=1, show_progress=False)
        seconds.append(time.thread_time() - before)
        kept = scores[0] > 0
        found.append((columns[0][kept], scores[0][kept]))
    return np.array(seconds), found


def compare_answers(
    peer: str,
    ours: list[list[candgen.Candidate]],
    theirs: list[Answer],
    ids: Sequence[str],
    tolerance: float,
) -> None:
    """Raise AssertionError unless a peer has the same entities and scores, up to rounding.

    Equal scores have no order among the peers, so entities are compared where the score is above
    the last one of the answer.
    """
    for candidates, (columns, scores) in zip(ours, theirs, strict=True):
        expected = np.array([candidate.score for candidate in candidates])
        if len(expected) != len(scores):
            raise AssertionError(f"{peer}: {len(scores)} candidates, candgen has {len(expected)}")
        differs = float(np.max(np.abs(scores / expected - 1), initial=0.0))
        if differs > tolerance:
            raise AssertionError(
                f"{peer}: scores differ by {differs:.1e}, expected at most {tolerance:.0e}"
            )
        least = expected.min(initial=np.inf) * (1 + 2 * tolerance)
        mine = {candidate.entity: candidate.score for candidate in candidates}
        yours = {ids[at]: score for at, score in zip(columns, scores, strict=True)}
        alone = {
            entity
            for entity in mine.keys() ^ yours.keys()
            if (mine.get(entity) or yours[entity]) > least
        }
        if alone:
            raise AssertionError(f"{peer}: only one of the two answers has {sorted(alone)[:3]}")


def against_peers(
    size: int,
    index: candgen.PivotTokenIndex,
    queries: Sequence[str],
    texts: Sequence[str],
    repeats: int,
) -> list[dict[str, Any]]:
    """The same queries for all, in turn, after a round that is not counted but compared."""
    weights, ids = weight_matrix(size)
    tokens = [index.token_index.tokens(text) for text in texts]
    retriever = bm25s_retriever(weights)
    lists = [[np.repeat(numbers, times.astype(int)).tolist()] for numbers, times in tokens]
    runs: dict[str, Callable[[], tuple[Any, ...]]] = {
        OURS: partial(single_calls, index, queries),
        "SciPy, product": partial(scipy_product, weights, tokens),
        "SciPy, rows": partial(scipy_rows, weights, tokens),
        "bm25s, Numba": partial(bm25s_calls, retriever, lists),
    }
    answers = {name: run()[-1] for name, run in runs.items()}
    for name in runs:
        if name != OURS:
            tolerance = 1e-4 if name.startswith("bm25s") else 1e-5  # bm25s adds one by one
            compare_answers(name, answers[OURS], answers[name], ids, tolerance)
    rounds = in_turn(runs, repeats)
    means = {name: [float(run[0].mean()) for run in runs] for name, runs in rounds.items()}
    medians = {name: [float(np.median(run[0])) for run in runs] for name, runs in rounds.items()}
    return [
        {
            "what": name,
            "entities": size,
            "mean ms": 1e3 * statistics.median(means[name]),
            "median ms": 1e3 * statistics.median(medians[name]),
            "mean / candgen": median_ratio(means[name], means[OURS]),
            "median / candgen": median_ratio(medians[name], medians[OURS]),
        }
        for name in runs
    ]


# -- tables ---------------------------------------------------------------------------------------


def calls_and_kernel(
    size: int,
    index: candgen.PivotTokenIndex,
    queries: Sequence[str],
    texts: Sequence[str],
    repeats: int,
) -> dict[str, Any]:
    """What a single call costs beyond the kernel."""
    runs: dict[str, Callable[[], Any]] = {
        "single": partial(single_calls, index, queries),
        "batch": partial(kernel_in_batch, index, texts),
    }
    rounds = in_turn(runs, repeats)
    calls = [float(np.median(run[0])) for run in rounds["single"]]
    inside = [float(np.median(run[1])) for run in rounds["single"]]
    beyond = [float(np.median(run[0] - run[1])) for run in rounds["single"]]
    means = [float(run[0].mean()) for run in rounds["single"]]
    batch = [seconds / len(texts) for seconds in rounds["batch"]]
    return {
        "entities": size,
        "call, median ms": 1e3 * statistics.median(calls),
        "its kernel, median ms": 1e3 * statistics.median(inside),
        "beyond the kernel, us": 1e6 * statistics.median(beyond),
        "median / median": median_ratio(calls, inside),
        "call, mean ms": 1e3 * statistics.median(means),
        "kernel in a batch, mean ms": 1e3 * statistics.median(batch),
        "mean / mean": median_ratio(means, batch),
    }


def throughput(
    size: int, index: candgen.PivotTokenIndex, queries: Sequence[str], repeats: int
) -> dict[str, Any]:
    """Mentions a second of wall time in one batch, with one and two threads."""
    runs = {
        threads: partial(wall_time, partial(index.candidates, queries, K, threads=threads))
        for threads in (1, 2)
    }
    rounds = in_turn(runs, repeats)
    one, two = ([seconds for seconds, _ in rounds[threads]] for threads in (1, 2))
    return {
        "entities": size,
        "mentions": len(queries),
        "a second, 1 thread": len(queries) / statistics.median(one),
        "a second, 2 threads": len(queries) / statistics.median(two),
        "2 threads / 1": median_ratio(one, two),
    }


def measure(size: int, options: argparse.Namespace, report: Report) -> None:
    """All tables for a world of one size."""
    queries = make_queries(load_world(size), options.queries, seed=1)
    index = candgen.load(index_path(size))
    texts = normalize_many(queries, "default", language=index.language)
    for lam in LAMS:  # every page and every kernel that is needed, once
        index.candidates(queries, K, lam=lam)
    single_calls(index, queries[:100])
    repeats = options.repeats
    report.add(
        "Single calls, one thread (CPU time)",
        [{"entities": size, **percentiles(index, queries, texts, lam)} for lam in LAMS],
    )
    report.add(
        "A call and its kernel (CPU time)", [calls_and_kernel(size, index, queries, texts, repeats)]
    )
    report.add("Batches (wall time)", [throughput(size, index, queries, repeats)])
    few = slice(0, PEER_QUERIES)
    report.add(
        f"Against peers, {len(queries[few])} queries, lam {LAM} (CPU time)",
        against_peers(size, index, queries[few], texts[few], repeats),
    )


def main() -> None:
    """Measure every size asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser)
    add_queries(parser, QUERIES, f"queries, of which the peers get the first {PEER_QUERIES}")
    add_repeats(parser, REPEATS)
    options = parser.parse_args()
    report = Report("search", question, options.size)
    for size in options.size:
        measure(size, options, report)
    report.write()


if __name__ == "__main__":
    main()
