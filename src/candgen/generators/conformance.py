"""Does a generator keep the rules that everything which uses generators relies on?

``check_generator`` asks a generator in many ways and compares the answers. It knows nothing of
how the generator works, so that it is for anybody's: call it in a test of your own.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from candgen.errors import ConformanceError, ParameterError, Violation
from candgen.protocols import Generator, covers

EVERYTHING = 1_000_000
"""A k larger than most candidate spaces."""
ASKED_FOR_EVERYTHING = 10
"""So many mentions are asked for all their candidates, each alone: the answers may be long."""

Pair = tuple[Any, Any]
"""An entity and its score, or what somebody's generator gives in their place."""
Load = Callable[[Path], Generator]


def check_generator(
    generator: Generator,
    mentions: Sequence[str],
    *,
    k: int = 30,
    folder: str | os.PathLike[str] | None = None,
    load: Load | None = None,
) -> None:
    """Raise a ConformanceError that lists every rule that a generator breaks for these mentions.

    Give mentions of all sorts: some that have many candidates, some that tie, some that have none,
    an empty one. With a ``folder`` the generator is also saved there, twice, and loaded again, by
    ``load`` or else by ``candgen.load``.

    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 0.5), ("Q1741", 0.7)][:k] for _ in mentions]
    >>> check_generator(Guess(), ["Vín"])
    Traceback (most recent call last):
    candgen.errors.ConformanceError: Guess breaks the rules for generators 4 times:
    - order: 'Vín' (k=30): Q1741 with 0.7 comes after Q282 with 0.5
    - refusals: candidates('Vín', 30) gave an answer: a str in place of a list must be refused
    - refusals: candidates(['Vín'], 0) gave an answer: such a k must be refused
    - refusals: candidates(['Vín'], True) gave an answer: such a k must be refused
    """
    listed = [] if isinstance(mentions, str) else list(mentions)
    if not listed or not all(isinstance(mention, str) for mention in listed):
        raise ParameterError(f"mentions is {mentions!r}: expected several strings to ask for")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"k is {k!r}: expected a whole number of at least 1")
    if load is not None and folder is None:
        raise ParameterError("load is given without folder: name a folder to save into")
    asked = _Asked(generator, listed, k)
    rules = [*_RULES, *([] if folder is None else [_kept(Path(folder), load or _load)])]
    found: dict[Violation, None] = {}  # what many rules stumble over is said once
    for rule in rules:
        try:
            for violation in rule(asked):
                found[violation] = None
        except _NoAnswerError as none:
            found[none.violation] = None
    if found:
        raise ConformanceError(type(generator).__name__, list(found))


@dataclass(frozen=True)
class _Asked:
    """A generator, and what it is asked."""

    generator: Any
    mentions: list[str]
    k: int

    def ask(self, mentions: list[str], k: int) -> list[list[Pair]]:
        """The answers, if they can be compared at all."""
        given = list(mentions)
        call = f"candidates({_shown(given)}, {k})"
        try:
            answers = [
                [_pair(each) for each in some] for some in self.generator.candidates(given, k=k)
            ]
        except Exception as error:
            raise _NoAnswerError("answers", f"{call} raised {error!r}") from error
        if given != mentions:
            raise _NoAnswerError("arguments", f"{call} changed its argument to {_shown(given)}")
        if len(answers) != len(mentions):
            found = f"{call} gave {len(answers)} answers to {len(mentions)} mentions"
            raise _NoAnswerError("answers", found)
        return answers

    def all(self) -> Iterator[tuple[str, list[Pair]]]:
        """Every mention with its answer."""
        return zip(self.mentions, self.ask(self.mentions, self.k), strict=True)


class _NoAnswerError(Exception):
    """There is nothing to compare."""

    def __init__(self, rule: str, found: str) -> None:
        super().__init__(found)
        self.violation = Violation(rule, found)


Rule = Callable[[_Asked], Iterable[Violation]]


# ---------------------------------------------------------------- one answer


def _values(asked: _Asked) -> Iterator[Violation]:
    """Entities are strings that are not empty, scores are finite floats above 0."""
    for mention, answer in asked.all():
        for entity, score in answer:
            if not isinstance(entity, str) or not entity:
                yield Violation("entities", f"{mention!r}: {entity!r} is not a string, or is empty")
            if not isinstance(score, float):
                kind = type(score).__name__
                yield Violation("scores", f"{mention!r}: {entity} has {score!r}, {kind} not float")
            elif not 0 < score < math.inf:
                yield Violation("scores", f"{mention!r}: {entity} has {score!r}, not above 0")


def _order(asked: _Asked) -> Iterator[Violation]:
    """Scores never increase; among equals the shorter entity comes first, then the smaller."""
    for mention, answer in asked.all():
        where = f"{mention!r} (k={asked.k})"
        for (first, higher), (second, lower) in pairwise(_comparable(answer)):
            if lower > higher:
                found = f"{second} with {lower!r} comes after {first} with {higher!r}"
                yield Violation("order", f"{where}: {found}")
            elif lower == higher and _key(second) < _key(first):
                found = f"{second} comes after {first}, both with {lower!r}"
                yield Violation("ties", f"{where}: {found}")


def _distinct(asked: _Asked) -> Iterator[Violation]:
    """No entity is there twice, and there are k at most."""
    for mention, answer in asked.all():
        for entity, times in Counter(entity for entity, _ in _comparable(answer)).items():
            if times > 1:
                yield Violation("duplicates", f"{mention!r}: {entity} is there {times} times")
        if len(answer) > asked.k:
            yield Violation("length", f"{mention!r}: {len(answer)} candidates for k={asked.k}")


def _space(asked: _Asked) -> Iterator[Violation]:
    """What is a candidate, the generator knows; for those that can say what they know."""
    if not covers(asked.generator):
        return
    knows = asked.generator.knows
    for mention, answer in asked.all():
        entities = [entity for entity, _ in _comparable(answer)]
        try:
            known = list(knows(list(entities)))
        except Exception as error:
            raise _NoAnswerError("knows", f"knows({_shown(entities)}) raised {error!r}") from error
        if len(known) != len(entities):
            raise _NoAnswerError("knows", f"knows({_shown(entities)}) gave {len(known)} answers")
        for entity, yes in zip(entities, known, strict=True):
            if not yes:
                yield Violation("knows", f"{mention!r}: {entity} is a candidate that it denies")


# ---------------------------------------------------------------- several answers


def _prefix(asked: _Asked) -> Iterator[Violation]:
    """With a smaller k the list is cut, and nothing else."""
    longest = asked.ask(asked.mentions, asked.k)
    for k in sorted({1, max(1, asked.k // 2)} - {asked.k}):
        shorter = asked.ask(asked.mentions, k)
        for mention, short, long in zip(asked.mentions, shorter, longest, strict=True):
            if short != long[:k]:
                yield _differs("prefix", mention, f"k={k}", short, f"k={asked.k}", long[:k])
    for mention, long in zip(asked.mentions[:ASKED_FOR_EVERYTHING], longest, strict=False):
        (every,) = asked.ask([mention], asked.k + EVERYTHING)
        if every[: asked.k] != long:
            yield _differs("prefix", mention, f"k={asked.k}", long, "a larger k", every[: asked.k])


def _batches(asked: _Asked) -> Iterator[Violation]:
    """A mention has the same answer alone, in any company, and again."""
    together = asked.ask(asked.mentions, asked.k)
    others = {
        "alone": [asked.ask([mention], asked.k)[0] for mention in asked.mentions],
        "in reversed order": asked.ask(asked.mentions[::-1], asked.k)[::-1],
        "repeated": asked.ask(asked.mentions + asked.mentions, asked.k)[len(asked.mentions) :],
        "asked again": asked.ask(asked.mentions, asked.k),
    }
    for how, answers in others.items():
        for mention, first, second in zip(asked.mentions, together, answers, strict=True):
            if first != second:
                yield _differs("batch", mention, "in a batch", first, how, second)


def _nothing(asked: _Asked) -> Iterable[Violation]:
    """No mentions, no answers."""
    asked.ask([], asked.k)
    return ()


def _refusals(asked: _Asked) -> Iterator[Violation]:
    """What makes no sense is refused, rather than answered letter by letter."""
    text, one = asked.mentions[0] or "a", asked.mentions[:1]
    wrong_k = "such a k must be refused"
    wrong_mentions = "a str in place of a list must be refused"
    calls: list[tuple[object, object, str]] = [
        (text, asked.k, wrong_mentions),
        (one, 0, wrong_k),
        (one, True, wrong_k),
    ]
    for mentions, k, expected in calls:
        try:
            asked.generator.candidates(mentions, k)
        except Exception:  # noqa: S112
            continue
        call = f"candidates({_shown(mentions)}, {k})"
        yield Violation("refusals", f"{call} gave an answer: {expected}")


_RULES: list[Rule] = [_values, _order, _distinct, _space, _prefix, _batches, _nothing, _refusals]


# ---------------------------------------------------------------- save and load


def _kept(folder: Path, load: Load) -> Rule:
    """What is loaded answers as what was saved, and saving twice writes the same bytes."""

    def rule(asked: _Asked) -> Iterator[Violation]:
        paths = [folder / "first.candgen", folder / "second.candgen"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in paths:
                asked.generator.save(path)
            loaded = _Asked(load(paths[0]), asked.mentions, asked.k)
        except Exception as error:
            raise _NoAnswerError("round trip", f"saving or loading raised {error!r}") from error
        for (mention, before), (_, after) in zip(asked.all(), loaded.all(), strict=True):
            if before != after:
                yield _differs("round trip", mention, "built", before, "loaded", after)
        first, second = map(_files, paths)
        for name in sorted(first.keys() | second.keys()):
            if first.get(name) != second.get(name):
                yield Violation("saving", f"{name} is not the same when saved twice")

    return rule


def _load(path: Path) -> Generator:
    from candgen.generators.registry import load  # noqa: PLC0415

    return load(path)


def _files(path: Path) -> dict[str, bytes]:
    every = [path, *path.rglob("*")]
    return {str(each.relative_to(path)): each.read_bytes() for each in every if each.is_file()}


def _pair(candidate: Any) -> Pair:  # noqa: ANN401
    entity, score = candidate
    return entity, score


def _comparable(answer: list[Pair]) -> list[tuple[str, float]]:
    """The candidates whose values have the right types; the rule for values names the others."""
    return [(e, s) for e, s in answer if isinstance(e, str) and isinstance(s, int | float)]


def _key(entity: str) -> tuple[int, str]:
    return len(entity), entity


def _differs(
    rule: str, mention: str, one: str, first: Sequence[Any], other: str, second: Sequence[Any]
) -> Violation:
    """Where two lists that must be equal first differ."""
    at = next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    here, there = ([*some, "nothing"][at] for some in (first, second))
    return Violation(rule, f"{mention!r}, place {at + 1}: {here} {one}, {there} {other}")


def _shown(value: object) -> str:
    """A value as the code for it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
