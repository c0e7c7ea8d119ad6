"""What recall is measured on: pairs of languages with their splits, and several pivots for each.

Nine pairs are the paper's, split as ``candgen reproduce`` splits them, and so are any others that
are asked for. The tenth is a fixed split of Macedonian names, already folded, with queries for test
only: those for dev are drawn from its training data, and what was chosen on them is then built with
all of it.
"""

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import candgen
from candgen.evaluation.ceilings import unlike_pivots
from candgen.evaluation.split import split
from candgen.generators.pivot.weight_search import take_stratified
from candgen.paper.corpus import ENGLISH, Corpus, parse_pair
from candgen.paper.published import PAIRS
from candgen.protocols import Training
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query
from candgen.tables.table_folder import TableFolder

FIXED = "mk-fixed"
FIXED_LANGUAGE, FIXED_PIVOT = "mk", "bg"
FIXED_PER_TYPE = 500
NAMES = (*(pair.key for pair in PAIRS), FIXED)
ZERO_SHOT, JOINT = "zero-shot", "joint"
MOST_PIVOTS = 6
MOST_DEV = 500


@dataclass(frozen=True)
class Case:
    """A target, its queries, and the languages that may be learned from.

    ``train`` goes with dev. ``whole`` is what the last build learns from: the same, but where dev
    was drawn from it. Of ``dev`` at most ``most_dev`` choose the alphas of several pivots.
    """

    name: str
    language: str
    pivot: str
    settings: tuple[str, ...]
    corpus: Corpus
    train: MentionTable
    whole: MentionTable
    dev: Sequence[Query]
    test: Sequence[Query]
    most_dev: int = MOST_DEV

    @property
    def some_dev(self) -> list[Query]:
        """Dev queries for what takes long: of each type its share."""
        return take_stratified(self.dev, self.most_dev)

    def training(self, setting: str, pivots: Sequence[str], *, whole: bool = False) -> Training:
        """What a method may learn from; never the test queries."""
        target = None if setting == ZERO_SHOT else self.whole if whole else self.train
        tables = {pivot: table_of(self.corpus, pivot) for pivot in pivots}
        english = table_of(self.corpus, ENGLISH)
        return Training(tables, target, self.language, english, self.dev)

    def several(self) -> list[str]:
        """Up to six pivots that are most like the target, and English, which has most entities.

        They are chosen by the pairs of dev, which both settings know.
        """
        known = MentionTable.from_pairs((query.mention, query.entity) for query in self.dev)
        others = TableFolder(self.corpus.folder, without=self.language)
        ranking = candgen.rank_pivots(
            known, others, by="closeness", language=self.language, most=MOST_PIVOTS
        )
        return [*(pivot for pivot in ranking.chosen() if pivot != ENGLISH), ENGLISH]

    @cached_property
    def unlike(self) -> list[bool]:
        """Which test queries are no name of their gold in the paper's pivot."""
        flags = unlike_pivots(
            self.test,
            [table_of(self.corpus, self.pivot)],
            normalizer="default",
            language=self.language,
            languages=[self.pivot],
        )
        return list(map(bool, flags))

    @cached_property
    def digest(self) -> str:
        """Of the test queries: ranks are compared only where they are of the same ones."""
        text = "\n".join(f"{query.mention}\t{query.entity}" for query in self.test)
        return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=16)
def table_of(corpus: Corpus, language: str) -> MentionTable:
    """A table that stays in memory while the methods of a case learn from it."""
    return corpus.table(language)


def open_case(name: str, data: Path, fixed: Path | None) -> Case:
    """A case by its name; ``fixed`` is the folder of the fixed split."""
    corpus = Corpus(data)
    if name == FIXED:
        if fixed is None:
            raise SystemExit(f"{FIXED}: name the folder of its split with --fixed")
        return _fixed_case(corpus, fixed)
    pair = parse_pair(name, PAIRS, corpus.languages)
    made = corpus.case(pair)
    train = made.parts.train
    return Case(
        name,
        pair.target,
        pair.pivot,
        tuple(made.settings),
        corpus,
        train,
        train,
        list(made.parts.dev),
        list(made.parts.test),
    )


def _fixed_case(corpus: Corpus, folder: Path) -> Case:
    whole = MentionTable.read(folder / "train.tsv")
    with (folder / "test.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        test = [Query(row["mention"], row["entity"], row["type"]) for row in rows]
    drawn = split(whole, per_type=FIXED_PER_TYPE, normalizer="default", language=FIXED_LANGUAGE)
    return Case(
        FIXED,
        FIXED_LANGUAGE,
        FIXED_PIVOT,
        (ZERO_SHOT, JOINT),
        corpus,
        drawn.train,
        whole,
        list(drawn.dev),
        test,
    )
