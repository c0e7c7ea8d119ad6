"""The data of experiments: a folder in the released layout, or one of mention tables."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from candgen.errors import ParameterError, TableError
from candgen.evaluation.dataset import read_dataset
from candgen.evaluation.split import Setting, Split, split
from candgen.paper.published import Pair
from candgen.protocols import Progress, Training, no_progress
from candgen.tables.folds import Folds
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import HARD, Query
from candgen.tables.released import DEV, TEST, TRAIN, read_released
from candgen.tables.table_folder import LanguageFiles

ENGLISH = "en"


@dataclass(frozen=True)
class Case:
    """A target with its pivots, split into folds: one column of the paper's tables.

    ``progress`` is passed to methods that take long.
    """

    pair: Pair
    pivots: Mapping[str, MentionTable]
    folds: Folds
    english: MentionTable | None
    progress: Progress = field(default=no_progress, compare=False, repr=False)

    @property
    def settings(self) -> list[str]:
        """The settings in which it can be evaluated; the last one has most training data."""
        alone = self.pair.zero_shot_only or len(self.folds.train) == 0
        return ["zero-shot"] if alone else ["zero-shot", "joint"]

    def training(self, setting: str) -> Training:
        """Return what a method may learn from in a setting; never the test queries."""
        return Training(
            self.pivots,
            self.folds.train if setting == "joint" else None,
            self.pair.target,
            self.english,
            self.folds.dev,
            self.progress,
        )


@dataclass(frozen=True)
class Corpus(LanguageFiles):
    """The data of a folder, split: a file or a folder for each language.

    Tables are split here, after the normalizer: mentions that are equal to the index are one
    mention. Queries in the released layout are used as they are.
    """

    per_type: int = field(default=1000, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    normalizer: str = field(default="default", kw_only=True)

    def case(self, pair: Pair) -> Case:
        """Return a target, split, and its pivots."""
        folds = self.folds(pair.target, "zero-shot" if pair.zero_shot_only else "joint")
        pivots = {pivot: self.table(pivot) for pivot in pair.pivots}
        return Case(pair, pivots, folds, self._english(pair.target, folds))

    def high_resource(self, language: str) -> Case:
        """Return a language that is evaluated with its own data alone."""
        pair = Pair(language, "", "high", zero_shot_only=False)
        folds = self.folds(language, "high-resource")
        return Case(pair, {}, folds, self._english(language, folds))

    def _english(self, target: str, folds: Folds) -> MentionTable | None:
        """Return English names if there are any; if English is the target, only its train."""
        if target == ENGLISH:
            return folds.train if len(folds.train) else None
        return self.table(ENGLISH) if ENGLISH in self.languages else None

    def folds(self, language: str, setting: Setting) -> Folds:
        """Return train, dev and test: those that were released, or a split of the table."""
        if not self.released:
            return self._split(self.table(language), language, setting)
        path = self.path(language)
        found = read_released(path, skip_bad_rows=self.skip_bad_rows)
        if setting == "high-resource":
            if not ((path / DEV).is_file() and (path / TEST).is_file()):
                return self._split(found.train, language, setting)
            dev, test = (
                [query for query in queries if query.type != HARD]
                for queries in (found.dev, found.test)
            )
            return _ReleasedFolds(found.language, found.train, dev, test)
        for name, fold in ((DEV, found.dev), (TEST, found.test)):
            if not fold:
                raise TableError(f"{path / name} has no queries: a target needs dev and test")
        return found

    def _split(self, table: MentionTable, language: str, setting: Setting) -> Split:
        if len(table) == 0:
            raise TableError(f"{self.path(language)} has no pairs: there is nothing to split")
        made = split(
            table,
            per_type=self.per_type,
            seed=self.seed,
            setting=setting,
            normalizer=self.normalizer,
            language=language,
        )
        for name, fold in (("dev", made.dev), ("test", made.test)):
            if not fold:
                raise ParameterError(
                    f"{language} has {len(table)} pairs, too few for {name} queries: leave it out"
                )
        return made


@dataclass(frozen=True)
class _ReleasedFolds:
    language: str | None
    train: MentionTable
    dev: list[Query]
    test: list[Query]


def open_folds(path: Path, *, skip_bad_rows: bool = False) -> Folds:
    """Open a dataset folder, or one language in the released layout; files are read when used."""
    if any((path / name).is_file() for name in (TRAIN, DEV, TEST)):
        return read_released(path, skip_bad_rows=skip_bad_rows)
    return read_dataset(path)


def parse_pair(text: str, known: Sequence[Pair], languages: Collection[str] = ()) -> Pair:
    """Return the pair that ``TARGET-PIVOT`` or ``TARGET-PIVOT+PIVOT`` means.

    Codes may have hyphens: among several readings, the one whose languages exist is taken. A
    target that has no training data in a known pair has none in others.

    >>> parse_pair("fo-is+da", ()).pivots
    ('is', 'da')
    >>> parse_pair("be-tarask-be", (), ["be", "be-tarask"]).target
    'be-tarask'
    """
    for pair in known:
        if text == pair.key:
            return pair
    cuts = [place for place, letter in enumerate(text) if letter == "-"]
    readings = [[text[:cut], *text[cut + 1 :].split("+")] for cut in cuts] or [[text]]
    named = next((names for names in readings if set(names) <= set(languages)), readings[0])
    if len(named) < 2 or not all(re.fullmatch(r"\w[\w-]*", name) for name in named):
        raise ParameterError(f"{text!r} is not a pair: expected TARGET-PIVOT, such as mk-bg")
    if len(set(named)) < len(named):
        raise ParameterError(f"{text!r} names a language twice: target and pivots must differ")
    alone = any(pair.target == named[0] and pair.zero_shot_only for pair in known)
    return Pair(named[0], "+".join(named[1:]), "", zero_shot_only=alone)


def with_zero_shot_only(pairs: tuple[Pair, ...], targets: tuple[str, ...]) -> tuple[Pair, ...]:
    """Return the same pairs, of which exactly these targets have no training data."""
    known = [pair.target for pair in pairs]
    if unknown := sorted(set(targets) - set(known)):
        raise ParameterError(
            f"{unknown[0]!r} is not a target here: choose among {', '.join(known)}"
        )
    return tuple(pair._replace(zero_shot_only=pair.target in targets) for pair in pairs)
