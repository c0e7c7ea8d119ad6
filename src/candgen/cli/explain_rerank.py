"""The explanation of a second stage: the features that give an entity its rank."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from candgen.cli.output import show, table, visible

if TYPE_CHECKING:
    from candgen.generators.rerank.edit_model import Edit
    from candgen.generators.rerank.explanation import Property, RerankExplanation
    from candgen.generators.rerank.translations import TranslatedWord

SPACE = "␣"
"""Shown for a space that is inserted, deleted or replaced."""


def show_rerank(explanation: "RerankExplanation") -> None:
    """Print the ranks of an entity, its features, and the edits from its name to the mention."""
    before = f"was {explanation.before} in the first stage"
    show(
        f"{visible(explanation.mention)} -> {visible(explanation.entity)}: "
        f"score {explanation.score:.4g}, place {explanation.after} "
        f"({before if explanation.before else 'found by its translation'})",
        f"seen as {visible(explanation.normalized)!r}{_translated(explanation.words)}",
        "",
        _properties(explanation.properties, explanation.leader),
        "",
    )
    if explanation.spelling:
        show(
            f"the name most like it: {visible(explanation.spelling)!r}, "
            f"which becomes {visible(explanation.normalized)!r} by "
            f"{visible(spelled(explanation.edits))}"
        )
    else:
        show("The entity has no name to compare the mention with.")


def _translated(words: "Sequence[TranslatedWord]") -> str:
    """Return which words were translated, and the probabilities of the translations."""
    each = (f"{visible(a)} is {visible(b)} (p = {share:.2f})" for a, b, share in words)
    return f", where {', '.join(each)}" if words else ""


def _properties(properties: "Sequence[Property]", leader: str | None) -> Any:  # noqa: ANN401
    """Return a table of the features, beside those of the candidate that it is compared with."""
    columns = ["value", "weight", "brings"]
    if leader is not None:
        columns += [f"value of {visible(leader)}", "ahead"]
    made = table("property", *columns, right=columns)
    for each in properties:
        cells = [each.value, each.weight, each.weight * each.value, each.leader, each.ahead]
        made.add_row(each.name, *(f"{cell:.3f}" for cell in cells[: len(columns)]))
    made.add_section()
    brought = sum(each.weight * each.value for each in properties)
    sums = ["", "", f"{brought:.3f}", "", f"{sum(each.ahead for each in properties):+.3f}"]
    made.add_row("sum", *sums[: len(columns)], style="bold")
    return made


def spelled(edits: "Iterable[Edit]") -> str:
    """Return edits in one line: kept, replaced, deleted and inserted characters.

    >>> from candgen.generators.rerank.edit_model import Edit
    >>> spelled([Edit("w", "v", 0.4), Edit("i", "i", 0.9), Edit("e", "", 0.1), Edit("n", "n", 0.9)])
    'w→v, i, -e, n'
    >>> spelled([Edit("n", "n", 0.9), Edit("y", "y", 0.9), Edit("", " ", 0.1), Edit("", "a", 0.1)])
    'ny, +␣, +a'
    """
    parts: list[str] = []
    kept = ""
    for before, after, _ in edits:
        if before == after:
            kept += before
            continue
        if kept:
            parts.append(kept)
            kept = ""
        old, new = (each.replace(" ", SPACE) for each in (before, after))
        parts.append(f"{old}→{new}" if old and new else f"-{old}" if old else f"+{new}")
    return ", ".join([*parts, kept] if kept else parts)
