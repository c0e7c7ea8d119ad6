"""A study: which pairs and methods are measured, on which data; and what was found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from candgen.errors import ParameterError
from candgen.paper import measurements
from candgen.paper.cache import Records, Result
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
"""What has to be measured for each of the paper's tables and figures."""

assert set(NEEDS) == set(EXHIBITS)  # noqa: S101


class Step(NamedTuple):
    """One measurement of a pair (or language), with a method or without."""

    kind: str
    subject: str
    method: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.kind}{', ' + self.method if self.method else ''}"


Findings = dict[Step, Result]


@dataclass(frozen=True)
class Study:
    """What to measure. ``options`` are given to the methods that know them, such as epochs.

    ``command`` starts the program that measures complexity: see ``complexity.measure_apart``.
    """

    corpus: Corpus
    pairs: tuple[Pair, ...]
    methods: Mapping[str, Method]
    records: Records
    command: Sequence[str]
    options: Parameters = field(default_factory=dict)
    high_resource: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse, before the long work, languages that there is no data of."""
        for pair in self.pairs:
            for language in (pair.target, *pair.pivots):
                self.corpus.path(language)
        for language in self.high_resource:
            self.corpus.path(language)
        neural = [name for name, method in self.methods.items() if method.neural]
        if neural and ENGLISH not in self.corpus.languages:
            raise ParameterError(
                f"{neural[0]} compares mentions with English names: put a table {ENGLISH}.tsv into "
                f"{self.corpus.folder}, or leave {neural[0]} out"
            )

    def measure(self, exhibits: Sequence[str], progress: Progress) -> Findings:
        """Everything that these exhibits need, pair by pair; what is on record is not repeated."""
        kinds = dict.fromkeys(kind for exhibit in exhibits for kind in NEEDS[exhibit])
        steps = list(self._steps(list(kinds)))
        cases = lru_cache(maxsize=1)(self.corpus.case)
        found: Findings = {}
        for number, step in enumerate(steps):
            told = partial(_tell, progress, str(step), number / len(steps))
            progress(str(step), number / len(steps))
            run = partial(self._run, step, cases, found, told)
            found[step] = self.records.get(
                str(step).translate(_FILE_NAME), self._depends_on(step, found), run
            )
        return found

    def _steps(self, kinds: list[str]) -> Iterator[Step]:
        by_method = [kind for kind in kinds if kind in _BY_METHOD]
        for pair in self.pairs:
            for kind in kinds:
                if kind in ("queries", "ceilings"):
                    yield Step(kind, pair.key)
            for name, method in self.methods.items():
                for kind in by_method:
                    if kind != "thresholds" or "threshold" in method.options:
                        yield Step(kind, pair.key, name)
        if "data" in kinds:
            for language in dict.fromkeys(name for pair in self.pairs for name in pair.pivots):
                yield Step("data", language)
        if "high-resource" in kinds:
            for language in self.high_resource:
                for name in self.methods:
                    yield Step("high-resource", language, name)

    def _run(
        self, step: Step, cases: Callable[[Pair], Case], found: Findings, progress: Progress
    ) -> Result:
        if step.kind == "data":
            return measurements.data(self.corpus.table(step.subject))
        fixed = self._fixed(step.method)
        if step.kind == "high-resource":
            case = replace(self.corpus.high_resource(step.subject), progress=progress)
            return measurements.high_resource(case, self.methods[step.method], fixed)
        case = replace(cases(self._pair(step.subject)), progress=progress)
        if step.kind == "queries":
            return measurements.queries(case, self.corpus.normalizer)
        if step.kind == "ceilings":
            return measurements.ceilings(case)
        method = self.methods[step.method]
        if step.kind == "ranks":
            return measurements.ranks(case, method, fixed)
        chosen = self._chosen(step, found)
        best = chosen[case.settings[-1]]
        if step.kind == "thresholds":
            return measurements.thresholds(case, method, fixed, best)
        if step.kind == "complexity":
            return measurements.complexity(case, step.method, method, fixed, best, self.command)
        settings = found[Step("ranks", step.subject, step.method)]["settings"]
        return measurements.training_sizes(case, method, fixed, settings, self.corpus.seed)

    def _depends_on(self, step: Step, found: Findings) -> dict[str, Any]:
        """All that the result follows from; if any of it changes, it is measured again."""
        languages = [step.subject]
        if step.kind not in ("data", "high-resource"):
            pair = self._pair(step.subject)
            languages = [pair.target, *pair.pivots]
        if step.kind != "data" and ENGLISH in self.corpus.languages:
            languages.append(ENGLISH)
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
            "grid": {k: list(v) for k, v in self._grid(step.method).items()},
            "chosen": self._chosen(step, found) if step.kind in _AFTER_RANKS else None,
        }

    def _fixed(self, method: str) -> dict[str, Any]:
        """The options that a method knows."""
        if not method:
            return {}
        known = {**self.options, "normalizer": self.corpus.normalizer}
        return {name: known[name] for name in known if name in self.methods[method].options}

    def _grid(self, method: str) -> Mapping[str, Sequence[float]]:
        return self.methods[method].grid if method else {}

    def _chosen(self, step: Step, found: Findings) -> dict[str, Parameters]:
        """What dev chose in each setting."""
        settings = found[Step("ranks", step.subject, step.method)]["settings"]
        return {setting: result["parameters"] for setting, result in settings.items()}

    def _pair(self, key: str) -> Pair:
        return next(pair for pair in self.pairs if pair.key == key)


def _tell(progress: Progress, step: str, share: float, doing: str, _share: float) -> None:
    """Say what a method does in a step; how much of the whole is done it does not know."""
    progress(f"{step}, {doing}", share)


_AFTER_RANKS = ("thresholds", "complexity", "training-sizes")
_BY_METHOD = ("ranks", *_AFTER_RANKS)
_FILE_NAME = str.maketrans({":": "", ",": "", " ": "-"})
