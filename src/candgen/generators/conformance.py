"""Check that a generator follows the rules that everything else relies on.

``check_generator`` asks a generator in many ways and compares the answers. It does not depend on
how the generator works, so that you can call it in a test of your own generator.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from candgen.errors import ConformanceError, ParameterError, Violation, check_whole_number
from candgen.index.tie_order import tie_key
from candgen.protocols import Explains, Generator, Names, Probabilities, covers

LARGE_K = 1_000_000
"""A k larger than most candidate spaces."""
EXPENSIVE_MENTIONS = 10
"""The slow checks are made for this many mentions only."""

Pair = tuple[Any, Any]
"""An entity and its score, or what a generator wrongly returns in their place."""
Load = Callable[[Path], Generator]


def check_generator(
    generator: Generator,
    mentions: Sequence[str],
    *,
    k: int = 30,
    folder: str | os.PathLike[str] | None = None,
    load: Load | None = None,
) -> None:
    """Raise ConformanceError, with a list of all violations, if a generator breaks a rule.

    Also checked are the abilities of ``candgen.protocols`` that the generator has: ``Explains``,
    ``Names``, ``Covers`` and ``Probabilities``.

    Args:
        generator: The generator, which need not be one of candgen's.
        mentions: What to ask it for. Give mentions of all sorts: some with many candidates, some
            with ties, some without any candidate, an empty one.
        k: The largest number of candidates to ask for.
        folder: Where to save the generator, twice, and load it again; not checked if None.
        load: Opens what was saved; ``candgen.load`` if None.

    Returns:
        None, if the generator follows all rules.

    >>> class Guess:
    ...     def candidates(self, mentions, k=30):
    ...         return [[("Q282", 0.5), ("Q1741", 0.7)][:k] for _ in mentions]
    >>> check_generator(Guess(), ["Vín"])
    Traceback (most recent call last):
    candgen.errors.ConformanceError: Guess breaks the rules for generators 4 times:
    - order: 'Vín' (k=30): Q1741 with 0.7 comes after Q282 with 0.5
    - refusals: candidates('Vín', 30) gave an answer: a str in place of a list must be rejected
    - refusals: candidates(['Vín'], 0) gave an answer: such a k must be rejected
    - refusals: candidates(['Vín'], True) gave an answer: such a k must be rejected
    """
    listed = [] if isinstance(mentions, str) else list(mentions)
    if not listed or not all(isinstance(mention, str) for mention in listed):
        raise ParameterError(f"mentions is {mentions!r}: expected several strings to ask for")
    check_whole_number("k", k)
    if load is not None and folder is None:
        raise ParameterError("load is given without folder: name a folder to save into")
    subject = _Subject(generator, listed, k)
    rules = [*_RULES, *([] if folder is None else [_saved(Path(folder), load or _load)])]
    found: dict[Violation, None] = {}  # a violation that several rules meet is listed once
    for rule in rules:
        try:
            for violation in rule(subject):
                found[violation] = None
        except _CallError as error:
            found[error.violation] = None
    if found:
        raise ConformanceError(type(generator).__name__, list(found))


@dataclass(frozen=True)
class _Subject:
    """A generator, and the mentions and k that it is asked with."""

    generator: Any
    mentions: list[str]
    k: int

    def ask(self, mentions: list[str], k: int) -> list[list[Pair]]:
        """Return the answers; raise _CallError if they cannot be compared."""
        given = list(mentions)
        call = f"candidates({_shown(given)}, {k})"
        with _calling("answers", call):
            answers = [
                [(entity, score) for entity, score in some]
                for some in self.generator.candidates(given, k=k)
            ]
        if given != mentions:
            raise _CallError("arguments", f"{call} changed its argument to {_shown(given)}")
        if len(answers) != len(mentions):
            found = f"{call} gave {len(answers)} answers to {len(mentions)} mentions"
            raise _CallError("answers", found)
        return answers

    def all(self) -> Iterator[tuple[str, list[Pair]]]:
        """Yield every mention with its answer."""
        return zip(self.mentions, self.ask(self.mentions, self.k), strict=True)

    def best(self) -> Iterator[tuple[str, str, float]]:
        """Yield some mentions with their best candidate and its score."""
        for mention, answer in islice(self.all(), EXPENSIVE_MENTIONS):
            for entity, score in _comparable(answer)[:1]:
                yield mention, entity, score


class _CallError(Exception):
    """A call raised an error, or returned nothing that can be compared."""

    def __init__(self, rule: str, found: str) -> None:
        super().__init__(found)
        self.violation = Violation(rule, found)


Rule = Callable[[_Subject], Iterable[Violation]]


# ---------------------------------------------------------------- one answer


def _values(subject: _Subject) -> Iterator[Violation]:
    """Check that entities are non-empty strings, and scores finite floats above 0."""
    for mention, answer in subject.all():
        for entity, score in answer:
            if not isinstance(entity, str) or not entity:
                yield Violation("entities", f"{mention!r}: {entity!r} is not a string, or is empty")
            if not isinstance(score, float):
                kind = type(score).__name__
                yield Violation("scores", f"{mention!r}: {entity} has {score!r}, {kind} not float")
            elif not 0 < score < math.inf:
                yield Violation("scores", f"{mention!r}: {entity} has {score!r}, not above 0")


def _order(subject: _Subject) -> Iterator[Violation]:
    """Check that scores never increase, and that equal ones are in tie order."""
    for mention, answer in subject.all():
        where = f"{mention!r} (k={subject.k})"
        for (first, higher), (second, lower) in pairwise(_comparable(answer)):
            if lower > higher:
                found = f"{second} with {lower!r} comes after {first} with {higher!r}"
                yield Violation("order", f"{where}: {found}")
            elif lower == higher and tie_key(second) < tie_key(first):
                found = f"{second} comes after {first}, both with {lower!r}"
                yield Violation("ties", f"{where}: {found}")


def _distinct(subject: _Subject) -> Iterator[Violation]:
    """Check that no entity occurs twice, and that there are at most k."""
    for mention, answer in subject.all():
        for entity, times in Counter(entity for entity, _ in _comparable(answer)).items():
            if times > 1:
                yield Violation("duplicates", f"{mention!r}: {entity} is there {times} times")
        if len(answer) > subject.k:
            yield Violation("length", f"{mention!r}: {len(answer)} candidates for k={subject.k}")


# ---------------------------------------------------------------- abilities


def _coverage(subject: _Subject) -> Iterator[Violation]:
    """Check that a generator knows its candidates."""
    generator = subject.generator
    if not covers(generator):
        return
    for mention, answer in subject.all():
        entities = [entity for entity, _ in _comparable(answer)]
        call = f"knows({_shown(entities)})"
        with _calling("knows", call):
            known = list(generator.knows(list(entities)))
        if len(known) != len(entities):
            raise _CallError("knows", f"{call} gave {len(known)} answers")
        for entity, yes in zip(entities, known, strict=True):
            if not yes:
                yield Violation("knows", f"{mention!r}: {entity} is a candidate that it denies")


def _names(subject: _Subject) -> Iterator[Violation]:
    """Check that names are (mention, language, count), the most frequent first."""
    generator = subject.generator
    if not isinstance(generator, Names):
        return
    for entity in dict.fromkeys(entity for _, entity, _ in subject.best()):
        call = f"names({entity!r})"
        with _calling("names", call):
            found: list[tuple[Any, ...]] = [tuple(name) for name in generator.names(entity)]
        wrong = [name for name in found if [*map(type, name)] != [str, str, int]]
        if wrong:
            yield Violation("names", f"{call} has {wrong[0]!r}: expected mention, language, count")
        elif any(first[2] < second[2] for first, second in pairwise(found)):
            yield Violation("names", f"{call} does not have the most frequent name first")


def _explanations(subject: _Subject) -> Iterator[Violation]:
    """Check that the explanation of a candidate has the candidate's score."""
    generator = subject.generator
    if not isinstance(generator, Explains):
        return
    for mention, entity, score in subject.best():
        call = f"explain({mention!r}, {entity!r})"
        with _calling("explain", call):
            explained = float(generator.explain(mention, entity).score)
        if not math.isclose(explained, score, rel_tol=1e-5, abs_tol=1e-30):
            found = f"{call} has the score {explained!r}, the candidate {score!r}"
            yield Violation("explain", found)


def _probabilities(subject: _Subject) -> Iterator[Violation]:
    """Check that each candidate has a probability from 0 to 1, and that they never increase."""
    generator = subject.generator
    if not isinstance(generator, Probabilities):
        return
    for mention, answer in subject.all():
        candidates = _comparable(answer)
        call = f"probabilities({mention!r}, {_shown(candidates)})"
        with _calling("probabilities", call):
            found = [float(each) for each in generator.probabilities(mention, candidates)]
        if len(found) != len(candidates):
            yield Violation("probabilities", f"{call} gave {len(found)} for {len(candidates)}")
        for each in found:
            if not 0 <= each <= 1:
                yield Violation("probabilities", f"{call} has {each!r}, not from 0 to 1")
        if any(second > first * (1 + 1e-9) for first, second in pairwise(found)):
            yield Violation("probabilities", f"{call} has one that is higher than the one before")


def _abilities(generator: object) -> set[str]:
    """Return the names of the abilities that a generator has."""
    found = {
        each.__name__ for each in (Explains, Names, Probabilities) if isinstance(generator, each)
    }
    return found | ({"Covers"} if covers(generator) else set())


@contextmanager
def _calling(rule: str, call: str) -> Iterator[None]:
    """Turn any error of a call into the violation of a rule."""
    try:
        yield
    except Exception as error:
        raise _CallError(rule, f"{call} raised {error!r}") from error


# ---------------------------------------------------------------- several answers


def _prefix(subject: _Subject) -> Iterator[Violation]:
    """Check that a smaller k cuts the list and changes nothing else."""
    longest = subject.ask(subject.mentions, subject.k)
    for k in sorted({1, max(1, subject.k // 2)} - {subject.k}):
        shorter = subject.ask(subject.mentions, k)
        for mention, short, long in zip(subject.mentions, shorter, longest, strict=True):
            if short != long[:k]:
                yield _differs("prefix", mention, f"k={k}", short, f"k={subject.k}", long[:k])
    for mention, long in zip(subject.mentions[:EXPENSIVE_MENTIONS], longest, strict=False):
        (every,) = subject.ask([mention], subject.k + LARGE_K)
        if every[: subject.k] != long:
            yield _differs(
                "prefix", mention, f"k={subject.k}", long, "a larger k", every[: subject.k]
            )


def _batches(subject: _Subject) -> Iterator[Violation]:
    """Check that a mention has the same answer alone, in any batch, and when asked again."""
    together = subject.ask(subject.mentions, subject.k)
    others = {
        "alone": [subject.ask([mention], subject.k)[0] for mention in subject.mentions],
        "in reversed order": subject.ask(subject.mentions[::-1], subject.k)[::-1],
        "repeated": subject.ask(subject.mentions + subject.mentions, subject.k)[
            len(subject.mentions) :
        ],
        "asked again": subject.ask(subject.mentions, subject.k),
    }
    for how, answers in others.items():
        for mention, first, second in zip(subject.mentions, together, answers, strict=True):
            if first != second:
                yield _differs("batch", mention, "in a batch", first, how, second)


def _nothing(subject: _Subject) -> Iterable[Violation]:
    """Check that without mentions there are no answers."""
    subject.ask([], subject.k)
    return ()


def _refusals(subject: _Subject) -> Iterator[Violation]:
    """Check that invalid arguments are rejected, such as a string in place of a list."""
    text, one = subject.mentions[0] or "a", subject.mentions[:1]
    wrong_k = "such a k must be rejected"
    wrong_mentions = "a str in place of a list must be rejected"
    calls: list[tuple[object, object, str]] = [
        (text, subject.k, wrong_mentions),
        (one, 0, wrong_k),
        (one, True, wrong_k),
    ]
    for mentions, k, expected in calls:
        try:
            subject.generator.candidates(mentions, k)
        except Exception:  # noqa: S112
            continue
        call = f"candidates({_shown(mentions)}, {k})"
        yield Violation("refusals", f"{call} gave an answer: {expected}")


_RULES: list[Rule] = [
    *(_values, _order, _distinct),
    *(_coverage, _names, _explanations, _probabilities),
    *(_prefix, _batches, _nothing, _refusals),
]


# ---------------------------------------------------------------- save and load


def _saved(folder: Path, load: Load) -> Rule:
    """Check that a loaded generator equals the saved one, and that saving is deterministic."""

    def rule(subject: _Subject) -> Iterator[Violation]:
        paths = [folder / "first.candgen", folder / "second.candgen"]
        with _calling("round trip", "saving or loading"):
            folder.mkdir(parents=True, exist_ok=True)
            for path in paths:
                subject.generator.save(path)
            loaded = _Subject(load(paths[0]), subject.mentions, subject.k)
        for (mention, built), (_, again) in zip(subject.all(), loaded.all(), strict=True):
            if built != again:
                yield _differs("round trip", mention, "built", built, "loaded", again)
        if (before := _abilities(subject.generator)) != (after := _abilities(loaded.generator)):
            found = f"built it has {sorted(before)}, loaded {sorted(after)}"
            yield Violation("abilities", found)
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


def _comparable(answer: list[Pair]) -> list[tuple[str, float]]:
    """Return the candidates with valid types; the rule for values reports the others."""
    return [(e, s) for e, s in answer if isinstance(e, str) and isinstance(s, int | float)]


def _differs(
    rule: str, mention: str, one: str, first: Sequence[Any], other: str, second: Sequence[Any]
) -> Violation:
    """Return the violation of two lists that must be equal, at the first difference."""
    at = next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    here, there = ([*some, "nothing"][at] for some in (first, second))
    return Violation(rule, f"{mention!r}, place {at + 1}: {here} {one}, {there} {other}")


def _shown(value: object) -> str:
    """Return a value as code, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
