"""The training budget of neural methods here, compared with that of the paper.

A budget has the most ``epochs`` and training ``pairs`` that a generator was given, and those that
they are compared with, ``of_epochs`` and ``of_pairs``. A generator may have its own as an attribute
``budget``; otherwise it is what the parameters ask for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from candgen.protocols import Method, Parameters, budget_of

PAPER: Mapping[str, int] = {"epochs": 200, "pairs": 80_000}
"""The budget of the paper."""

_NAMES = {"epochs": "epochs", "pairs": "training pairs"}


def with_budget(
    result: dict[str, Any], method: Method, parameters: Parameters, generator: object
) -> dict[str, Any]:
    """Return the result, with the generator's budget if its method is neural."""
    if not method.neural:
        return result
    found: dict[str, Any] = {f"of_{name}": value for name, value in PAPER.items()}
    found |= {name: parameters[name] for name in PAPER if name in parameters}
    own = budget_of(generator)
    found |= {name: value for name, value in own.items() if name.removeprefix("of_") in PAPER}
    return {**result, "budget": found}


def budgets_in(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the budgets in a result: of the whole, of each setting, of each size."""
    places = [result, *result.get("settings", {}).values(), *result.get("sizes", ())]
    return [place["budget"] for place in places if "budget" in place]


def describe_budgets(budgets: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return a sentence for each budget of some methods; nothing for methods without one.

    >>> short = {"epochs": 5, "pairs": 20000, "of_epochs": 200, "of_pairs": 80000}
    >>> describe_budgets({"pti": [], "charagram": [short], "char-cnn": [short]})
    "charagram, char-cnn: at most 5 epochs (the paper's: 200) and 20,000 training pairs \
(the paper's: 80,000)."
    """
    by_budget: dict[str, list[str]] = {}
    for method, some in budgets.items():
        compared = [_compare(name, some) for name in PAPER]
        if text := " and ".join(filter(None, compared)):
            by_budget.setdefault(text, []).append(method)
    return " ".join(f"{', '.join(names)}: at most {text}." for text, names in by_budget.items())


def _compare(name: str, budgets: Iterable[Mapping[str, Any]]) -> str:
    """Return how much of one quantity was used, and how much in the paper if it differs."""
    known = [budget for budget in budgets if name in budget]
    if not known:
        return ""
    low, high = (pick(budget[name] for budget in known) for pick in (min, max))
    amount = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    paper = max(budget.get(f"of_{name}", PAPER[name]) for budget in known)
    compared = "as in the paper" if low == high == paper else f"the paper's: {paper:,}"
    called = _NAMES[name] if high > 1 else _NAMES[name].removesuffix("s")
    return f"{amount} {called} ({compared})"
