"""What does the second stage cost, in time a query, in bytes a mention, and to build?

    python benchmarks/rerank.py --size 50000 500000
    python benchmarks/rerank.py --size --data FOLDER --pair fo-is+da+no+sv --all-pivots mk

FOLDER holds mention tables <language>.*. With --all-pivots, all other languages are the pivots of
one, and its own names are the queries. All times are CPU time in one thread. The peer is RapidFuzz,
on what the second stage compares: the indel similarity of the mention to the same names of the same
candidates. It gets the names as Python strings for free, and only finds the best name of each
candidate; candgen also reads the features, weights them and sorts the candidates.
"""

import argparse
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from measure import (
    Report,
    Timed,
    add_data,
    add_queries,
    add_repeats,
    add_size,
    cpu_time,
    in_turn,
    median_ratio,
)
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist
from synthetic_index import build_index, table_path, warm_up
from world import load_world, make_queries

import candgen
from candgen.generators.rerank.first_stage import Numbering
from candgen.generators.rerank.rerank import DEPTH, Rerank
from candgen.generators.rerank.stage import Stage
from candgen.kernels import rerank as kernels
from candgen.kernels import search as search_kernels
from candgen.paper.corpus import Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.text.normalize import normalize_many

K = 30
QUERIES = 1000
BATCH = 100
REPEATS = 5
FO = "fo-is+da+no+sv"

Answers = list[list[candgen.Candidate]]


class Replay:
    """A generator that replays stored answers, so that only the second stage takes time."""

    def __init__(self, generator: candgen.PivotTokenIndex, mentions: Sequence[str]) -> None:
        answers = generator.candidates(mentions, DEPTH, threads=1)
        self.known = dict(zip(mentions, answers, strict=True))
        self.calls = 0

    def candidates(self, mentions: Sequence[str], k: int = K) -> Answers:
        """Return the stored candidates."""
        self.calls += 1
        return [self.known[mention][:k] for mention in mentions]


def stored_size(generator: Any, folder: Path) -> int:  # noqa: ANN401
    """The bytes of a generator on disk."""
    generator.save(folder)
    return sum(each.stat().st_size for each in folder.iterdir())


def compared(both: Rerank, mentions: Sequence[str], answers: Answers) -> list[Any]:
    """Of each query its text, the names that it is compared with, and where each entity begins."""
    spellings = both.stage.spellings
    asked = []
    for text, answer in zip(both.stage.texts(mentions), answers, strict=True):
        places = spellings.places([entity for entity, _ in answer])
        first = [int(spellings.first[at]) for at in places]
        last = [int(spellings.first[at + 1]) for at in places]
        names = [
            both.stage.spelling(n) for a, b in zip(first, last, strict=True) for n in range(a, b)
        ]
        starts = np.concatenate(([0], np.cumsum(np.subtract(last, first))[:-1]))
        asked.append((text, names, starts))
    return asked


def by_cdist(asked: list[Any]) -> list[Any]:
    """The best similarity of each candidate, all names of a query at once."""
    return [
        np.maximum.reduceat(
            cdist([text], names, scorer=Indel.normalized_similarity, workers=1)[0], starts
        )
        for text, names, starts in asked
        if names
    ]


def by_loop(asked: list[Any]) -> list[Any]:
    """The same, a call for each name."""
    similarity = Indel.normalized_similarity
    return [
        np.maximum.reduceat([similarity(text, name) for name in names], starts)
        for text, names, starts in asked
        if names
    ]


def in_kernel(second: Rerank, mentions: Sequence[str]) -> tuple[float, None]:
    """CPU seconds of the kernel alone."""
    with patch.object(kernels, "fill_rows", Timed(kernels.fill_rows)) as timed:
        second.candidates(mentions, K)
    return sum(timed.seconds), None


def parts(both: Rerank, mentions: Sequence[str]) -> tuple[dict[str, float], None]:
    """CPU seconds of each part of a call for one name, and of all calls."""
    places: dict[str, tuple[Any, str]] = {
        "search kernel": (search_kernels, "search_rows"),
        "translation": (Stage, "translate"),
        "properties and merging": (kernels, "fill_rows"),
        "scores": (kernels, "score_rows"),
        "order": (kernels, "choose_rows"),
        "ids": (Numbering, "ids"),
    }
    with ExitStack() as stack:
        timed = {}
        for part, (owner, name) in places.items():
            timed[part] = Timed(getattr(owner, name))
            stack.enter_context(patch.object(owner, name, timed[part]))
        whole = sum(single_calls(both, mentions))
    seconds = {part: sum(each.seconds) for part, each in timed.items()}
    return {**seconds, "the rest": whole - sum(seconds.values()), "all": whole}, None


def single_calls(both: Rerank, mentions: Sequence[str]) -> list[float]:
    """CPU seconds of a call for each name."""
    call = Timed(both.candidates)
    for mention in mentions:
        call([mention], K)
    return call.seconds


def one_by_one(
    what: dict[str, Any], both: Rerank, mentions: Sequence[str], repeats: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How long names take one at a time and in batches, and what the parts of a call cost."""
    batches = [mentions[at : at + BATCH] for at in range(0, len(mentions), BATCH)]

    def in_batches() -> None:
        for batch in batches:
            both.candidates(batch, K)

    runs: dict[str, Callable[[], Any]] = {
        "single": lambda: np.array(single_calls(both, mentions)),
        "batches": lambda: cpu_time(in_batches)[0],
        "parts": lambda: parts(both, mentions)[0],
    }
    for run in runs.values():
        run()
    rounds = in_turn(runs, repeats)
    # Of each name the median of its calls: what else the machine does is not the name's.
    p50, p99, worst = np.quantile(np.median(rounds["single"], axis=0), [0.5, 0.99, 1]).tolist()
    row = {
        **what,
        "queries": len(mentions),
        "mean ms": 1e3 * statistics.median(float(each.mean()) for each in rounds["single"]),
        "p50 ms": 1e3 * p50,
        "p99 ms": 1e3 * p99,
        "worst ms": 1e3 * worst,
        f"batches of {BATCH}, mean ms": 1e3 * statistics.median(rounds["batches"]) / len(mentions),
    }
    of_parts = {
        part: statistics.median(each[part] for each in rounds["parts"])
        for part in rounds["parts"][0]
    }
    return row, [
        {
            **what,
            "part": part,
            "ms a name": 1e3 * seconds / len(mentions),
            "%": 100 * seconds / of_parts["all"],
        }
        for part, seconds in of_parts.items()
    ]


def speed(
    what: dict[str, Any],
    first: candgen.PivotTokenIndex,
    both: Rerank,
    mentions: Sequence[str],
    repeats: int,
) -> list[dict[str, Any]]:
    """Milliseconds a query of each stage and of the peers, in turn."""
    mentions = list(dict.fromkeys(mentions))
    answers = first.candidates(mentions, DEPTH, threads=1)
    translations = [text for text in both.stage.translate(mentions) if text is not None]
    replay = Replay(first, [*mentions, *translations])
    second = both.with_first_stage(replay)
    if second.candidates(mentions, K) != both.candidates(mentions, K) or not replay.calls:
        raise AssertionError("the second stage alone does not run on the stored candidates")
    asked = compared(both, mentions, answers)
    first_k, first_depth = f"first stage, k = {K}", f"first stage, k = {DEPTH}"
    alone = f"second stage alone, N = {DEPTH}"
    runs: dict[str, Callable[[], tuple[float, Any]]] = {
        first_k: partial(cpu_time, partial(first.candidates, mentions, K, threads=1)),
        first_depth: partial(cpu_time, partial(first.candidates, mentions, DEPTH, threads=1)),
        f"both stages, k = {K}": partial(cpu_time, partial(both.candidates, mentions, K)),
        alone: partial(cpu_time, partial(second.candidates, mentions, K)),
        "its kernel": partial(in_kernel, second, mentions),
        "RapidFuzz, cdist": partial(cpu_time, partial(by_cdist, asked)),
        "RapidFuzz, a call a name": partial(cpu_time, partial(by_loop, asked)),
    }
    for run in runs.values():
        run()
    seconds = {name: [each[0] for each in some] for name, some in in_turn(runs, repeats).items()}
    candidates, names = sum(map(len, answers)), sum(len(each[1]) for each in asked)
    return [
        {
            **what,
            "step": name,
            "ms a query": 1e3 * statistics.median(some) / len(mentions),
            "over the second stage": median_ratio(some, seconds[alone]),
            "translated %": 100 * len(translations) / len(mentions),
            "candidates a query": candidates / len(mentions),
            "names a query": names / len(mentions),
        }
        for name, some in seconds.items()
    ]


def measure(
    report: Report,
    what: dict[str, Any],
    rows: int,
    mentions: Sequence[str],
    repeats: int,
    build: Callable[[], candgen.PivotTokenIndex],
) -> None:
    """All tables for one set of names; ``rows`` is how many mentions its tables have."""
    seconds, index = cpu_time(build)
    more, both = cpu_time(partial(Rerank, index, depth=DEPTH))
    spellings = both.stage.spellings
    with TemporaryDirectory() as folder:
        without = stored_size(index, Path(folder) / "first")
        together = stored_size(both, Path(folder) / "both")
        del index, both
        opened = candgen.load(Path(folder) / "both")
        report.add("Time (CPU)", speed(what, opened.first_stage, opened, mentions, repeats))
        row, table = one_by_one(what, opened, mentions, repeats)
        report.add("Names one at a time, and in batches (CPU)", [row])
        report.add("What the parts of both stages cost, one name at a time (CPU)", table)
        del opened
    report.add(
        "Size",
        [
            {
                **what,
                "mentions": rows,
                "spellings": len(spellings.count),
                "spellings, bytes a mention": sum(
                    each.nbytes for each in spellings.arrays().values()
                )
                / rows,
                "index MB": without / 1e6,
                "with second stage MB": together / 1e6,
                "with / without": together / without,
            }
        ],
    )
    report.add(
        "Build (CPU)",
        [
            {
                **what,
                "first stage s": seconds,
                "second stage s": more,
                "second / first": more / seconds,
            }
        ],
    )


def measure_synthetic(report: Report, size: int, options: argparse.Namespace) -> None:
    """A synthetic world of one language."""
    table = candgen.MentionTable.read(table_path(size))
    queries = make_queries(load_world(size), options.queries, seed=1)
    what = {"names": f"synthetic, {size:,} entities"}
    build = partial(build_index, table)
    measure(report, what, len(table), queries, options.repeats, build)


def measure_real(report: Report, corpus: Corpus, key: str, options: argparse.Namespace) -> None:
    """Real names of several languages; the queries are those of dev."""
    case = corpus.case(parse_pair(key, PAIRS, corpus.languages))
    training = case.training(case.settings[-1])
    build = partial(
        candgen.PivotTokenIndex.build,
        training.pivots,
        training.target,
        language=training.language,
        normalizer="latin",
    )
    tables = [*training.pivots.values(), *([training.target] if training.target else [])]
    mentions = [query.mention for query in case.folds.dev][: options.queries]
    rows = sum(map(len, tables))
    measure(report, {"names": key}, rows, mentions, options.repeats, build)


def measure_all_pivots(
    report: Report, corpus: Corpus, language: str, options: argparse.Namespace
) -> None:
    """Names of one language, with the tables of all others and its own."""
    tables = {each: corpus.table(each) for each in corpus.languages}
    target = tables.pop(language)
    build = partial(
        candgen.PivotTokenIndex.build, tables, target, language=language, normalizer="latin"
    )
    names = sorted({mention for mention, _, _ in target})
    mentions = np.random.default_rng(1).permutation(names)[: options.queries].tolist()
    rows = len(target) + sum(map(len, tables.values()))
    what = {"names": f"{language}, {len(tables)} pivots"}
    measure(report, what, rows, mentions, options.repeats, build)


def main() -> None:
    """Measure every world and every pair asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser)
    add_data(parser, required=False)
    parser.add_argument(
        "--pair",
        nargs="*",
        default=[FO],
        metavar="TARGET-PIVOT+PIVOT",
        help="pairs of --data (default: %(default)s)",
    )
    parser.add_argument(
        "--all-pivots",
        nargs="*",
        default=[],
        metavar="LANGUAGE",
        help="languages of --data to measure with all others as pivots",
    )
    add_queries(parser, QUERIES, "queries")
    add_repeats(parser, REPEATS)
    given = parser.parse_args()
    report = Report("rerank", question, given.size)
    warm_up()
    warm = build_index(candgen.MentionTable.from_pairs([("Havnin", "Q10704", 12)]))
    with TemporaryDirectory() as folder:
        Rerank(warm).save(Path(folder) / "warm")
        candgen.load(Path(folder) / "warm").candidates(normalize_many(["Havn"]))
    for size in given.size:
        measure_synthetic(report, size, given)
    if given.data is not None:
        corpus = Corpus(given.data)
        for key in given.pair:
            measure_real(report, corpus, key, given)
        for language in given.all_pivots:
            measure_all_pivots(report, corpus, language, given)
    report.write()


if __name__ == "__main__":
    main()
