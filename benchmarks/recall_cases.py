"""The cases of recall.py: pairs of languages with their splits, and several pivots for each.

Nine pairs are the paper's, split as ``candgen reproduce`` splits them, and so is every other pair
of the command line. The tenth is a fixed split of Macedonian names, already normalized, with test
queries only: its dev queries are drawn from the training data, and the index with the parameters
chosen on them is then built from all of it.
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
EPOCHS = 5


@dataclass(frozen=True)
class Case:
    """A target, its queries, and the pivots.

    ``train`` goes with dev. ``whole`` is the training data of the last build: it differs from
    ``train`` where dev was drawn from it. At most ``most_dev`` queries of ``dev`` choose the alphas
    of several pivots. ``epochs`` is the training length of charagram.
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
    epochs: int = EPOCHS

    @property
    def some_dev(self) -> list[Query]:
        """A stratified sample of the dev queries, for what takes long."""
        return take_stratified(self.dev, self.most_dev)

    def training(self, setting: str, pivots: Sequence[str], *, whole: bool = False) -> Training:
        """Return the training data of a method; never the test queries."""
        target = None if setting == ZERO_SHOT else self.whole if whole else self.train
        tables = {pivot: table_of(self.corpus, pivot) for pivot in pivots}
        english = table_of(self.corpus, ENGLISH)
        return Training(tables, target, self.language, english, self.dev)

    def several(self) -> list[str]:
        """Return up to six pivots that are closest to the target, and English.

        They are chosen with the pairs of dev, which both settings have. English has most entities.
        """
        known = MentionTable.from_pairs((query.mention, query.entity) for query in self.dev)
        others = TableFolder(self.corpus.folder, without=self.language)
        ranking = candgen.rank_pivots(
            known, others, by="closeness", language=self.language, most=MOST_PIVOTS
        )
        return [*(pivot for pivot in ranking.chosen() if pivot != ENGLISH), ENGLISH]

    @cached_property
    def unlike(self) -> list[bool]:
        """For each test query, whether it has no exact match among its gold's pivot names."""
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
        """Hash of the test queries: only ranks of the same queries are compared."""
        text = "\n".join(f"{query.mention}\t{query.entity}" for query in self.test)
        return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=16)
def table_of(corpus: Corpus, language: str) -> MentionTable:
    """Return a table, which is cached for the methods of a case."""
    return corpus.table(language)


def open_case(name: str, data: Path, fixed: Path | None, per_type: int, seed: int = 0) -> Case:
    """Return a case by its name; ``fixed`` is the folder of the fixed split, which has no seed."""
    corpus = Corpus(data, per_type=per_type, seed=seed)
    if name == FIXED:
        if fixed is None:
            raise SystemExit(f"{FIXED}: name the folder of its split with --fixed")
        return _fixed_case(corpus, fixed, min(per_type, FIXED_PER_TYPE))
    pair = parse_pair(name, PAIRS, corpus.languages)
    made = corpus.case(pair)
    train = made.folds.train
    return Case(
        name,
        pair.target,
        pair.pivot,
        tuple(made.settings),
        corpus,
        train,
        train,
        list(made.folds.dev),
        list(made.folds.test),
    )


def _fixed_case(corpus: Corpus, folder: Path, per_type: int) -> Case:
    whole = MentionTable.read(folder / "train.tsv")
    with (folder / "test.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        test = [Query(row["mention"], row["entity"], row["type"]) for row in rows]
    drawn = split(whole, per_type=per_type, normalizer="default", language=FIXED_LANGUAGE)
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
