"""The data that experiments run on: a folder in the released layout, or one of mention tables."""

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
    """One target with its pivots, split: what one column of the paper's tables is about.

    ``progress`` is told what methods do that take long.
    """

    pair: Pair
    pivots: Mapping[str, MentionTable]
    parts: Folds
    english: MentionTable | None
    progress: Progress = field(default=no_progress, compare=False, repr=False)

    @property
    def settings(self) -> list[str]:
        """The settings in which it can be evaluated; the last one knows most."""
        alone = self.pair.zero_shot_only or len(self.parts.train) == 0
        return ["zero-shot"] if alone else ["zero-shot", "joint"]

    def training(self, setting: str) -> Training:
        """What a method may learn from in a setting; never the test queries."""
        return Training(
            self.pivots,
            self.parts.train if setting == "joint" else None,
            self.pair.target,
            self.english,
            self.parts.dev,
            self.progress,
        )


@dataclass(frozen=True)
class Corpus(LanguageFiles):
    """The data of a folder, split: a file or a folder for each language.

    Tables are split here, after the normalizer: what the index cannot tell apart is one mention.
    Queries in the released layout are taken as they are.
    """

    per_type: int = field(default=1000, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    normalizer: str = field(default="default", kw_only=True)

    def case(self, pair: Pair) -> Case:
        """A target, split, and its pivots."""
        setting: Setting = "zero-shot" if pair.zero_shot_only else "joint"
        parts = self.parts(pair.target, setting)
        pivots = {pivot: self.table(pivot) for pivot in pair.pivots}
        return Case(pair, pivots, parts, self._english(pair.target, parts))

    def high_resource(self, language: str) -> Case:
        """A language that is evaluated with its own data alone."""
        pair = Pair(language, "", "high", zero_shot_only=False)
        parts = self.parts(language, "high-resource")
        return Case(pair, {}, parts, self._english(language, parts))

    def _english(self, target: str, parts: Folds) -> MentionTable | None:
        """English names, if there are any; where English is the target, not those of its tests."""
        if target == ENGLISH:
            return parts.train if len(parts.train) else None
        return self.table(ENGLISH) if ENGLISH in self.languages else None

    def parts(self, language: str, setting: Setting) -> Folds:
        """Training data, dev and test; those that were released, or a split of the table."""
        if self.released:
            path = self.path(language)
            found = read_released(path, skip_bad_rows=self.skip_bad_rows)
            queries = (path / DEV).is_file() and (path / TEST).is_file()
            if setting == "high-resource":
                return (
                    _without_hard(found) if queries else self._split(found.train, language, setting)
                )
            for name, part in ((DEV, found.dev), (TEST, found.test)):
                if not part:
                    raise TableError(f"{path / name} has no queries: a target needs dev and test")
            return found
        return self._split(self.table(language), language, setting)

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
        for name, part in (("dev", made.dev), ("test", made.test)):
            if not part:
                raise ParameterError(
                    f"{language} has {len(table)} pairs, too few for {name} queries: leave it out"
                )
        return made


@dataclass(frozen=True)
class _Parts:
    language: str | None
    train: MentionTable
    dev: list[Query]
    test: list[Query]


def _without_hard(found: Folds) -> _Parts:
    return _Parts(found.language, found.train, _not_hard(found.dev), _not_hard(found.test))


def _not_hard(queries: Sequence[Query]) -> list[Query]:
    return [query for query in queries if query.type != HARD]


def open_parts(path: Path, *, skip_bad_rows: bool = False) -> Folds:
    """A dataset folder, or one language in the released layout; files are read when asked for."""
    if any((path / name).is_file() for name in (TRAIN, DEV, TEST)):
        return read_released(path, skip_bad_rows=skip_bad_rows)
    return read_dataset(path)


def parse_pair(text: str, known: Sequence[Pair], languages: Collection[str] = ()) -> Pair:
    """What ``TARGET-PIVOT`` or ``TARGET-PIVOT+PIVOT`` means.

    Codes may have hyphens: of several ways to read it, the one whose languages there are. A target
    that has no training data in a known pair has none in others.

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
    """The same pairs, of which exactly these targets have no training data."""
    if unknown := sorted(set(targets) - {pair.target for pair in pairs}):
        raise ParameterError(f"{unknown[0]!r} is no target here: choose among the pairs' targets")
    return tuple(pair._replace(zero_shot_only=pair.target in targets) for pair in pairs)
