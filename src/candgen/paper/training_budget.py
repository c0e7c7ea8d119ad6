"""How long neural methods were trained here, beside how long the paper trained them.

A budget has the most ``epochs`` and training ``pairs`` that a generator was given, and what they
are compared with, ``of_epochs`` and ``of_pairs``. A generator that knows its own has it as an
attribute ``budget``; of others it is what was asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from candgen.protocols import Method, Parameters, budget_of

PAPER: Mapping[str, int] = {"epochs": 200, "pairs": 80_000}
"""What the paper trained with."""

_CALLED = {"epochs": "epochs", "pairs": "training pairs"}


def with_budget(
    result: dict[str, Any], method: Method, parameters: Parameters, generator: object
) -> dict[str, Any]:
    """The result, with the generator's budget if its method is neural."""
    if not method.neural:
        return result
    found: dict[str, Any] = {f"of_{name}": value for name, value in PAPER.items()}
    found |= {name: parameters[name] for name in PAPER if name in parameters}
    told = budget_of(generator)
    found |= {name: value for name, value in told.items() if name.removeprefix("of_") in PAPER}
    return {**result, "budget": found}


def budgets_in(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The budgets on record in a result: of the whole, of each setting, of each size."""
    parts = [result, *result.get("settings", {}).values(), *result.get("sizes", ())]
    return [part["budget"] for part in parts if "budget" in part]


def describe_budgets(budgets: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A sentence for each budget that methods were trained with; none of methods without.

    >>> short = {"epochs": 5, "pairs": 20000, "of_epochs": 200, "of_pairs": 80000}
    >>> describe_budgets({"pti": [], "charagram": [short], "char-cnn": [short]})
    "charagram, char-cnn: at most 5 epochs (the paper's: 200) and 20,000 training pairs \
(the paper's: 80,000)."
    """
    by_budget: dict[str, list[str]] = {}
    for method, some in budgets.items():
        said = [_compared(name, some) for name in PAPER]
        if text := " and ".join(filter(None, said)):
            by_budget.setdefault(text, []).append(method)
    return " ".join(f"{', '.join(names)}: at most {text}." for text, names in by_budget.items())


def _compared(name: str, budgets: Iterable[Mapping[str, Any]]) -> str:
    """How much of one thing there was, and how much in the paper, where that is not the same."""
    known = [budget for budget in budgets if name in budget]
    if not known:
        return ""
    low, high = (pick(budget[name] for budget in known) for pick in (min, max))
    amount = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    paper = max(budget.get(f"of_{name}", PAPER[name]) for budget in known)
    compared = "as in the paper" if low == high == paper else f"the paper's: {paper:,}"
    called = _CALLED[name] if high > 1 else _CALLED[name].removesuffix("s")
    return f"{amount} {called} ({compared})"
