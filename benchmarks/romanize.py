"""How does transliteration to Latin script change recall, size and time?

    python benchmarks/romanize.py --data FOLDER --pair mk-en+hr+bg+sr --ipa mr-hi

FOLDER holds mention tables <language>.*. The same index (alpha 0.4 for all pivots, lam 1) is built
with each text normalizer:

- default: normalized text in its own script.
- latin: transliterated to Latin script.
- both: the default text, a separator, and the Latin text where it differs, as one text. The two are
  tokenized as one, so a few tokens contain the separator.
- sound: the Latin text followed by its consonant skeleton.
- ipa: the pronunciation by epitran, for the pairs of --ipa.

Choices are made on dev; test is reported beside it and not used. Targets without training data in
the paper are zero-shot here too. Seconds are CPU time; queries run on one thread.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from measure import Report, add_data, add_queries, cpu_time, missing_packages

from candgen import MentionTable, PivotTokenIndex
from candgen.evaluation.metrics import recall
from candgen.paper.corpus import Case, Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.protocols import gold_rank
from candgen.tables.queries import HARD, Query
from candgen.text.normalize import normalize_joined, normalize_many

ALPHA, LAM = 0.4, 1.0
KS = (1, 30, 200)
BOTH = "both"
MARK = " \x1f "
SCRIPTS = ["mk-en+hr+bg+sr", "mr-en+hi+gu+bn", "ur-en+hi", "fo-is+da+no+en", "kk-ru+tr+en"]
SOUNDS = ["mr-hi", "jv-id", "tk-az", "kk-ru+tr"]
TIMED = ("en", "fo", "mk", "mr", "bn", "ur")
NAMES = 100_000


class Made(NamedTuple):
    """An index, and how the text of its queries is prepared."""

    index: PivotTokenIndex
    language: str
    both: bool

    def ranks(self, queries: Sequence[Query]) -> list[int]:
        """Return the rank of each gold entity among the first candidates, or 0."""
        mentions = [query.mention for query in queries]
        texts = both_texts(mentions, self.language) if self.both else mentions
        found = self.index.candidates(texts, KS[-1], threads=1)
        return [gold_rank(query.entity, some) for query, some in zip(queries, found, strict=True)]


def both_texts(mentions: Sequence[str], language: str) -> list[str]:
    """Return the default and the Latin text as one text."""
    default, latin = (
        normalize_many(mentions, normalizer, language=language)
        for normalizer in ("default", "latin")
    )
    return [a if a == b else f"{a}{MARK}{b}" for a, b in zip(default, latin, strict=True)]


def both_table(table: MentionTable, language: str) -> MentionTable:
    """Apply both_texts to the mentions of a table."""
    mentions, entities, counts = zip(*table, strict=True)
    texts = both_texts(mentions, language)
    rows = zip(texts, entities, counts, strict=True)
    return MentionTable.from_pairs([row for row in rows if row[0]])


def build(case: Case, normalizer: str) -> Made:
    """The index of a case."""
    training = case.training(case.settings[-1])
    pivots, target, language = dict(training.pivots), training.target, case.pair.target
    both = normalizer == BOTH
    if both:
        pivots = {each: both_table(table, each) for each, table in pivots.items()}
        target = None if target is None else both_table(target, language)
    index = PivotTokenIndex.build(
        pivots,
        target,
        language=language,
        alpha=ALPHA,
        lam=LAM,
        normalizer="none" if both else normalizer,
    )
    return Made(index, language, both)


def stored_size(index: PivotTokenIndex) -> int:
    """The bytes of an index on disk."""
    with TemporaryDirectory() as folder:
        index.save(Path(folder) / "index.candgen")
        return sum(each.stat().st_size for each in Path(folder).rglob("*") if each.is_file())


def measure(case: Case, normalizer: str) -> dict[str, list[dict[str, Any]]]:
    """A row for each table."""
    what = {"pair": case.pair.key, "setting": case.settings[-1], "text": normalizer}
    seconds, made = cpu_time(partial(build, case, normalizer))
    tables = {}
    for name, queries in (("dev", case.folds.dev), ("test", case.folds.test)):
        asking, ranks = cpu_time(partial(made.ranks, queries))
        hard = [rank for rank, query in zip(ranks, queries, strict=True) if query.type == HARD]
        tables[f"Recall on {name}"] = [
            {
                **what,
                "queries": len(queries),
                **{f"@{k}": f"{recall(ranks, k):.1f}" for k in KS},
                "hard": len(hard),
                **{f"hard @{k}": f"{recall(hard, k):.1f}" for k in KS},
            }
        ]
    cost = {"MB": stored_size(made.index) / 1e6, "build s": seconds}
    tables["Cost"] = [{**what, **cost, "query ms": 1000 * asking / len(case.folds.test)}]
    return tables


def speed(corpus: Corpus, names: int) -> list[dict[str, Any]]:
    """CPU seconds of both normalizers for names of several scripts."""
    rows = []
    for language in (each for each in TIMED if each in corpus.languages):
        mentions = [mention for mention, _, _ in corpus.table(language)]
        joined = "\n".join((mentions * (names // len(mentions) + 1))[:names])
        seconds = {
            name: min(
                cpu_time(partial(normalize_joined, joined, name, language=language))[0]
                for _ in range(3)
            )
            for name in ("default", "latin")
        }
        ratio = seconds["latin"] / seconds["default"]
        rows.append({"names": language, **seconds, "latin / default": ratio})
    return rows


def main() -> None:
    """Measure each pair."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_data(parser)
    parser.add_argument(
        "--pair",
        nargs="*",
        default=SCRIPTS,
        metavar="TARGET-PIVOT+PIVOT",
        help="pairs for default, latin, both and sound (default: %(default)s)",
    )
    parser.add_argument(
        "--ipa",
        nargs="*",
        default=SOUNDS,
        metavar="TARGET-PIVOT+PIVOT",
        help="pairs for default, latin and ipa (default: %(default)s)",
    )
    add_queries(parser, 1000)
    parser.add_argument(
        "--names",
        type=int,
        default=NAMES,
        metavar="N",
        help="names to measure the speed with (default: %(default)s)",
    )
    given = parser.parse_args()
    corpus = Corpus(given.data, per_type=given.queries)
    report = Report("romanize", question, ())
    report.add(f"CPU seconds for {given.names:,} names", speed(corpus, given.names))
    ways = [(pair, ("default", "latin", BOTH, "sound")) for pair in given.pair]
    if given.ipa and missing_packages("epitran"):
        print("epitran is not installed: ipa is left out (pip install 'candgen[ipa]')")
    else:
        ways += [(pair, ("default", "latin", "ipa")) for pair in given.ipa]
    for pair, _ in ways[:1]:  # compiles what is not in Numba's cache yet
        build(corpus.case(parse_pair(pair, PAIRS, corpus.languages)), "default")
    for pair, normalizers in ways:
        case = corpus.case(parse_pair(pair, PAIRS, corpus.languages))
        for normalizer in normalizers:
            for title, rows in measure(case, normalizer).items():
                report.add(title, rows)
    report.write()


if __name__ == "__main__":
    main()
