"""A plan of measurements: which pairs and methods, on which data, for which exhibits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from candgen.errors import ParameterError
from candgen.paper import measurements
from candgen.paper.cache import Result, ResultCache
from candgen.paper.corpus import ENGLISH, Case, Corpus
from candgen.paper.published import EXHIBITS, Pair
from candgen.protocols import Method, Parameters, Progress
from candgen.storage.versions import version

NEEDS: Mapping[str, tuple[str, ...]] = {
    "main-results": ("queries", "ranks"),
    "query-types": ("queries", "ranks"),
    "high-resource": ("high-resource",),
    "data": ("queries", "data"),
    "thresholding": ("queries", "ranks", "thresholds"),
    "complexity": ("queries", "ranks", "complexity"),
    "ceilings": ("ceilings",),
    "training-size": ("queries", "ranks", "training-sizes"),
    "recall-at-k": ("queries", "ranks"),
}
"""The measurements that each of the paper's tables and figures needs."""

assert set(NEEDS) == set(EXHIBITS)  # noqa: S101

_AFTER_RANKS = ("thresholds", "complexity", "training-sizes")
_BY_METHOD = ("ranks", *_AFTER_RANKS)
_FILE_NAME = str.maketrans({":": "", ",": "", " ": "-"})


class Step(NamedTuple):
    """One measurement of a pair or a language, with a method or without."""

    kind: str
    subject: str
    method: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.kind}{', ' + self.method if self.method else ''}"


@dataclass(frozen=True)
class Plan:
    """What to measure.

    ``options`` are passed to the methods that have them, such as epochs. ``command`` starts the
    program that measures complexity: see ``complexity.measure_in_process``.
    """

    corpus: Corpus
    pairs: tuple[Pair, ...]
    methods: Mapping[str, Method]
    cache: ResultCache
    command: Sequence[str]
    options: Parameters = field(default_factory=dict)
    high_resource: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise TableError or ParameterError if data is missing, before the long work begins."""
        targets = (language for pair in self.pairs for language in (pair.target, *pair.pivots))
        for language in (*targets, *self.high_resource):
            self.corpus.path(language)
        neural = [name for name, method in self.methods.items() if method.neural]
        if neural and ENGLISH not in self.corpus.languages:
            raise ParameterError(
                f"{neural[0]} compares mentions with English names: put a table {ENGLISH}.tsv into "
                f"{self.corpus.folder}, or leave {neural[0]} out"
            )

    def measure(self, exhibits: Sequence[str], progress: Progress) -> dict[Step, Result]:
        """Measure what these exhibits need, pair by pair; results in the cache are reused."""
        steps = list(self._steps(dict.fromkeys(kind for each in exhibits for kind in NEEDS[each])))
        open_case = lru_cache(maxsize=1)(self.corpus.case)
        found: dict[Step, Result] = {}
        for number, step in enumerate(steps):
            progress(str(step), number / len(steps))
            show = partial(_show_step, progress, step, number / len(steps))
            run = partial(self._run, step, open_case, found, show)
            name = str(step).translate(_FILE_NAME)
            found[step] = self.cache.get(name, self._depends_on(step, found), run)
        return found

    def _steps(self, kinds: Mapping[str, None]) -> Iterator[Step]:
        for pair in self.pairs:
            for kind in kinds:
                if kind in ("queries", "ceilings"):
                    yield Step(kind, pair.key)
            for name, method in self.methods.items():
                for kind in kinds:
                    if kind in _BY_METHOD and (
                        kind != "thresholds" or "threshold" in method.options
                    ):
                        yield Step(kind, pair.key, name)
        if "data" in kinds:
            for language in dict.fromkeys(name for pair in self.pairs for name in pair.pivots):
                yield Step("data", language)
        if "high-resource" in kinds:
            for language in self.high_resource:
                for name in self.methods:
                    yield Step("high-resource", language, name)

    def _run(
        self,
        step: Step,
        open_case: Callable[[Pair], Case],
        found: Mapping[Step, Result],
        progress: Progress,
    ) -> Result:
        if step.kind == "data":
            return measurements.data(self.corpus.table(step.subject))
        if step.kind == "high-resource":
            case = self.corpus.high_resource(step.subject)
        else:
            case = open_case(self._pair(step.subject))
        case = replace(case, progress=progress)
        if step.kind == "queries":
            return measurements.queries(case, self.corpus.normalizer)
        if step.kind == "ceilings":
            return measurements.ceilings(case)
        method, fixed = self.methods[step.method], self._fixed(step.method)
        if step.kind == "high-resource":
            return measurements.high_resource(case, method, fixed)
        if step.kind == "ranks":
            return measurements.ranks(case, method, fixed)
        if step.kind == "training-sizes":
            settings = found[step._replace(kind="ranks")]["settings"]
            return measurements.training_sizes(case, method, fixed, settings, self.corpus.seed)
        best = self._chosen(step, found)[case.settings[-1]]
        if step.kind == "thresholds":
            return measurements.thresholds(case, method, fixed, best)
        return measurements.complexity(case, step.method, method, fixed, best, self.command)

    def _depends_on(self, step: Step, found: Mapping[Step, Result]) -> dict[str, Any]:
        """Return all that the result depends on; if any of it changes, it is measured again."""
        languages = [step.subject]
        if step.kind not in ("data", "high-resource"):
            pair = self._pair(step.subject)
            languages = [pair.target, *pair.pivots]
        if step.kind != "data" and ENGLISH in self.corpus.languages:
            languages.append(ENGLISH)
        grid = self.methods[step.method].grid if step.method else {}
        return {
            "candgen": version("candgen"),
            "numpy": version("numpy"),
            "files": self.corpus.fingerprint(*languages),
            "zero_shot_only": step.subject in {p.key for p in self.pairs if p.zero_shot_only},
            "seed": self.corpus.seed,
            "per_type": self.corpus.per_type,
            "normalizer": self.corpus.normalizer,
            "skip_bad_rows": self.corpus.skip_bad_rows,
            "options": self._fixed(step.method),
            "grid": {name: list(values) for name, values in grid.items()},
            "chosen": self._chosen(step, found) if step.kind in _AFTER_RANKS else None,
        }

    def _fixed(self, method: str) -> dict[str, Any]:
        """Return the options that a method has."""
        known = {**self.options, "normalizer": self.corpus.normalizer}
        options = self.methods[method].options if method else ()
        return {name: value for name, value in known.items() if name in options}

    def _chosen(self, step: Step, found: Mapping[Step, Result]) -> dict[str, Parameters]:
        """Return what dev chose in each setting."""
        settings = found[step._replace(kind="ranks")]["settings"]
        return {setting: result["parameters"] for setting, result in settings.items()}

    def _pair(self, key: str) -> Pair:
        return next(pair for pair in self.pairs if pair.key == key)


def _show_step(progress: Progress, step: Step, at: float, doing: str, _fraction: float) -> None:
    """Show what a method does in a step; its fraction of the whole plan is not known."""
    progress(f"{step}, {doing}", at)
