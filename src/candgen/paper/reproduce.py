"""Make the paper's tables and figures, and write them to a folder."""

import contextlib
import platform
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from candgen.errors import ParameterError, StorageError
from candgen.paper.findings import Findings
from candgen.paper.plan import Plan
from candgen.paper.published import EXHIBITS
from candgen.paper.tables import MAKERS
from candgen.protocols import Progress
from candgen.reporting.html import Exhibit, page
from candgen.reporting.plot import draw
from candgen.storage.atomic import write_text
from candgen.storage.versions import version

ALL = "all"
CACHE_FOLDER = "records"
FOLDERS = ("tables", "figures", CACHE_FOLDER)
PACKAGES = ("candgen", "numpy", "numba", "pyarrow", "matplotlib")
TITLE = "Efficient Entity Candidate Generation for Low-Resource Languages, reproduced"
INTRODUCTION = (
    "Every table and figure of the paper, measured anew with candgen. Parameters were chosen on "
    "dev queries, everything shown is on test queries. Recall is in percent of all queries; "
    "intervals are 95% bootstrap intervals."
)


def resolve_names(*names: str) -> tuple[str, ...]:
    """Return the exhibits that names stand for, each once, in the paper's order.

    >>> resolve_names("data", "main-results")
    ('main-results', 'data')
    """
    for name in names:
        if name not in (*EXHIBITS, ALL):
            choices = ", ".join(EXHIBITS)
            raise ParameterError(f"unknown exhibit {name!r}: choose {choices} or {ALL}")
    return tuple(name for name in EXHIBITS if name in names or ALL in names)


def reproduce(
    names: Sequence[str],
    plan: Plan,
    output: Path,
    *,
    command: Sequence[str],
    progress: Progress,
    figures: bool = True,
) -> list[Exhibit]:
    """Measure, and write ``tables``, ``figures``, ``report.md`` and ``report.html`` to a folder.

    ``names`` are those of exhibits, or "all". ``command`` is the command line that the page shows.
    Without ``figures`` none is drawn.
    """
    names = resolve_names(*names)
    before = [path for path in (output, *output.parents) if path.exists()]
    _prepare(output)
    try:
        results = plan.measure(names, progress)
        findings = Findings(results, plan.pairs, tuple(plan.methods), plan.high_resource)
        exhibits = _make_exhibits(names, findings, progress, figures=figures)
    except BaseException:
        _remove_empty_folders(output, before)
        raise
    facts = _facts(plan, findings)
    for exhibit in exhibits:
        _write_exhibit(output, exhibit)
    write_text(output / "report.md", _markdown(exhibits, facts, command))
    html = page(
        TITLE, exhibits, facts=facts, command=shlex.join(command), introduction=INTRODUCTION
    )
    write_text(output / "report.html", html)
    return exhibits


def _make_exhibits(
    names: Sequence[str], findings: Findings, progress: Progress, *, figures: bool
) -> list[Exhibit]:
    made = []
    for number, name in enumerate(names):
        progress(f"drawing {name}", number / len(names))
        exhibit = MAKERS[name](findings)
        if not figures:
            exhibit = replace(exhibit, figure=None)
        elif exhibit.figure is not None:
            exhibit = replace(exhibit, drawing=draw(exhibit.figure))
        made.append(exhibit)
    return made


def _prepare(output: Path) -> None:
    """Make the folder; raise StorageError before the long work if it cannot be used."""
    try:
        if output.is_dir() and any(output.iterdir()) and not (output / CACHE_FOLDER).is_dir():
            raise StorageError(
                f"{output} holds something else: choose an empty folder, or one that reproduce made"
            )
        for name in ("", *FOLDERS):
            (output / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=output / name):
                pass
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{output} cannot be written: {error.strerror or error}; choose another folder"
        ) from error


def _remove_empty_folders(output: Path, before: Sequence[Path]) -> None:
    """Remove the folders that were made here and are empty; results in the cache stay."""
    for folder in (*(output / name for name in FOLDERS), output, *output.parents):
        if folder not in before:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _write_exhibit(output: Path, exhibit: Exhibit) -> None:
    for number, table in enumerate(exhibit.tables, start=1):
        stem = exhibit.name if number == 1 else f"{exhibit.name}-{number}"
        for suffix in (".csv", ".json", ".md", ".tex"):
            table.write(output / "tables" / f"{stem}{suffix}")
    if exhibit.drawing is not None:
        for suffix in (".svg", ".png"):
            exhibit.drawing.write(output / "figures" / f"{exhibit.name}{suffix}")


def _facts(plan: Plan, findings: Findings) -> list[tuple[str, str]]:
    corpus = plan.corpus
    made = "as released" if corpus.released else f"drawn here, up to {corpus.per_type} of each type"
    training = findings.budgets(*{step.kind for step in findings.results})
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d")),
        ("pairs", ", ".join(pair.key for pair in plan.pairs)),
        ("methods", ", ".join(plan.methods)),
        ("queries", made),
        ("seed", str(corpus.seed)),
        ("normalizer", corpus.normalizer),
        *((f"{name}, as asked for", f"{value}") for name, value in plan.options.items()),
        *([("training", training)] if training else []),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in PACKAGES),
    ]


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
