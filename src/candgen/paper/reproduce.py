"""The paper's tables and figures from one call, written to a folder as everyone wants them."""

import contextlib
import platform
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from candgen.errors import ParameterError, StorageError
from candgen.paper.findings import Results
from candgen.paper.plan import Study
from candgen.paper.published import EXHIBITS
from candgen.paper.tables import MAKERS
from candgen.protocols import Progress
from candgen.reporting.html import Exhibit, page
from candgen.reporting.plot import Drawing, draw
from candgen.storage.atomic import atomic_write, write_text
from candgen.storage.versions import version

ALL = "all"
RECORDS = "records"
TITLE = "Efficient Entity Candidate Generation for Low-Resource Languages, reproduced"
INTRODUCTION = (
    "Every table and figure of the paper, measured anew with candgen. Parameters were chosen on "
    "dev queries, everything shown is on test queries. Recall is in percent of all queries; "
    "intervals are 95% bootstrap intervals."
)


def names_of(*names: str) -> tuple[str, ...]:
    """The exhibits that names stand for, each once, in the paper's order.

    >>> names_of("data", "main-results")
    ('main-results', 'data')
    """
    for name in names:
        if name not in (*EXHIBITS, ALL):
            choices = ", ".join(EXHIBITS)
            raise ParameterError(f"nothing is called {name!r}: choose {choices} or {ALL}")
    return tuple(name for name in EXHIBITS if name in names or ALL in names)


def reproduce(
    names: Sequence[str],
    study: Study,
    output: Path,
    *,
    command: Sequence[str],
    progress: Progress,
    figures: bool = True,
) -> list[Exhibit]:
    """Measure, and write ``tables``, ``figures``, ``report.md`` and ``report.html`` to a folder.

    ``names`` are those of exhibits, or "all". ``command`` is what the page says it was made with.
    Without ``figures`` none is drawn.
    """
    names = names_of(*names)
    before = [path for path in (output, *output.parents) if path.exists()]
    _prepare(output)
    try:
        results = _measured(names, study, progress)
        exhibits = _exhibits(names, results, progress, figures=figures)
    except BaseException:
        _leave_nothing_empty(output, before)
        raise
    facts = _facts(study, results)
    _write(output, exhibits)
    write_text(output / "report.md", _markdown(exhibits, facts, command))
    html = page(
        TITLE, exhibits, facts=facts, command=shlex.join(command), introduction=INTRODUCTION
    )
    write_text(output / "report.html", html)
    return exhibits


def _measured(names: Sequence[str], study: Study, progress: Progress) -> Results:
    findings = study.measure(names, progress)
    return Results(findings, study.pairs, tuple(study.methods), study.high_resource)


def _exhibits(
    names: Sequence[str], results: Results, progress: Progress, *, figures: bool
) -> list[Exhibit]:
    made = []
    for number, name in enumerate(names):
        progress(f"drawing {name}", number / len(names))
        each = MAKERS[name](results)
        if each.figure is not None:
            each = (
                replace(each, drawing=draw(each.figure)) if figures else replace(each, figure=None)
            )
        made.append(each)
    return made


def _prepare(output: Path) -> None:
    """Make the folder; refuse, before the long work, what is not ours or cannot be written to."""
    try:
        if output.is_dir() and any(output.iterdir()) and not (output / RECORDS).is_dir():
            raise StorageError(
                f"{output} holds something else: choose an empty folder, or one that reproduce made"
            )
        for name in ("", "tables", "figures", RECORDS):
            (output / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=output / name):
                pass
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{output} cannot be written: {error.strerror or error}; choose another folder"
        ) from error


def _leave_nothing_empty(output: Path, before: Sequence[Path]) -> None:
    """Remove the folders that were made and are empty; what was measured stays."""
    for folder in (
        output / "tables",
        output / "figures",
        output / RECORDS,
        output,
        *output.parents,
    ):
        if folder not in before:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _write(output: Path, exhibits: Sequence[Exhibit]) -> None:
    for exhibit in exhibits:
        for number, table in enumerate(exhibit.tables, start=1):
            stem = exhibit.name if number == 1 else f"{exhibit.name}-{number}"
            for suffix in (".csv", ".json", ".md", ".tex"):
                table.write(output / "tables" / f"{stem}{suffix}")
        if exhibit.drawing is not None:
            _write_drawing(output / "figures" / exhibit.name, exhibit.drawing)


def _write_drawing(stem: Path, drawing: Drawing) -> None:
    for suffix, content in ((".svg", drawing.svg), (".png", drawing.png)):
        path = stem.with_name(stem.name + suffix)
        try:
            with atomic_write(path) as file:
                file.write(content)
        except OSError as error:
            raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _facts(study: Study, results: Results) -> list[tuple[str, str]]:
    corpus = study.corpus
    packages = ("candgen", "numpy", "numba", "pyarrow", "matplotlib")
    made = "as released" if corpus.released else f"drawn here, up to {corpus.per_type} of each type"
    facts = [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d")),
        ("pairs", ", ".join(pair.key for pair in study.pairs)),
        ("methods", ", ".join(study.methods)),
        ("queries", made),
        ("seed", str(corpus.seed)),
        ("normalizer", corpus.normalizer),
        *((f"{name}, as asked for", f"{value}") for name, value in study.options.items()),
        *_trained(results),
        ("Python", platform.python_version()),
    ]
    facts += [(name, version(name)) for name in packages]
    return facts


def _trained(results: Results) -> list[tuple[str, str]]:
    told = results.budgets(*{step.kind for step in results.findings})
    return [("training", told)] if told else []


def _markdown(
    exhibits: Sequence[Exhibit], facts: Sequence[tuple[str, str]], command: Sequence[str]
) -> str:
    parts = [f"# {TITLE}\n", f"{INTRODUCTION}\n", f"```sh\n{shlex.join(command)}\n```\n"]
    parts.append("; ".join(f"{name}: {value}" for name, value in facts) + "\n")
    for exhibit in exhibits:
        parts.append(f"## {exhibit.title}\n")
        if exhibit.drawing is not None:
            parts.append(f"![{exhibit.title}](figures/{exhibit.name}.svg)\n")
        parts += [table.to_markdown() for table in exhibit.tables]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)
