"""The tables that a generator is built from, by language, and the weights of the pivots."""

from collections.abc import Mapping
from typing import Any

from candgen.errors import ParameterError
from candgen.generators.candidate import check_weight
from candgen.storage.validation import check_count, check_mapping, check_text, check_texts
from candgen.tables.mention_table import MentionTable
from candgen.tables.rows import MAX_TABLES
from candgen.text.normalize import check_normalizer

TARGET = "target"
"""The name of the target's language where none is given."""


def resolve_alphas(
    pivots: Mapping[str, MentionTable], alpha: float | Mapping[str, float]
) -> dict[str, float]:
    """Return the alpha of each pivot, from one number for all or from one for each."""
    if not isinstance(alpha, Mapping):
        return dict.fromkeys(pivots, check_weight("alpha", alpha))
    if unknown := sorted(set(alpha) - set(pivots)):
        raise ParameterError(
            f"alpha is given for {', '.join(map(repr, unknown))}, which is not a pivot: "
            f"the pivots are {', '.join(map(repr, pivots)) or 'none'}"
        )
    if missing := sorted(set(pivots) - set(alpha)):
        raise ParameterError(
            f"alpha has no value for the pivot {', '.join(map(repr, missing))}: "
            "give one for each pivot, or one number for all"
        )
    return {pivot: check_weight(f"alpha of {pivot!r}", alpha[pivot]) for pivot in pivots}


def collect_tables(
    pivots: Mapping[str, MentionTable],
    target: MentionTable | None,
    language: str | None,
    weights: Mapping[str, float],
) -> dict[str, MentionTable]:
    """Return the tables with a weight, by language: the target first, then the pivots by name."""
    if language is not None and not isinstance(language, str):
        raise ParameterError(f"{language!r} is not the name of a language: expected a string")
    name = language or TARGET
    if target is not None and name in pivots:
        raise ParameterError(
            f"{name!r} is the name of the target and of a pivot: give each table a name of its own"
        )
    tables = {} if target is None else {name: target}
    tables.update(sorted(pivots.items()))
    if len(tables) > MAX_TABLES:
        raise ParameterError(
            f"there are {len(tables)} tables, expected at most {MAX_TABLES}: leave pivots out"
        )
    for each, table in tables.items():
        if not isinstance(each, str) or not each:
            raise ParameterError(f"{each!r} is not the name of a language: expected a string")
        if not isinstance(table, MentionTable):
            raise ParameterError(f"the table of {each!r} is {table!r}: expected a MentionTable")
        if len(table) == 0:
            raise ParameterError(f"the table of {each!r} is empty: leave it out, or give it rows")
    if not tables:
        raise ParameterError("nothing to build from: give pivots, a target, or both")
    weighted = {each: table for each, table in tables.items() if weights.get(each, 1.0) > 0}
    if not weighted:
        raise ParameterError("every pivot has alpha 0 and there is no target: nothing is left")
    return weighted


def describe_table(table: MentionTable, entities: int) -> dict[str, Any]:
    """Return what an index stores about a table, by which the table can be recognized."""
    return {
        "pairs": len(table),
        "occurrences": table.total,
        "sha256": table.digest,
        "entities": entities,
    }


def validate_shared(parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Raise ValueError unless the parameters that most generators store are valid."""
    check_normalizer(check_text("normalizer", parameters["normalizer"]))
    for name in ("language", "target"):
        if parameters[name] is not None:
            check_text(name, parameters[name])
    if not set(check_texts("languages", parameters["languages"])) <= set(inputs):
        raise ValueError("a language has no input")
    for described in inputs.values():
        check_text("a checksum", check_mapping("an input", described)["sha256"])
        for name, number in described.items():
            if name != "sha256":
                check_count(name, number)
