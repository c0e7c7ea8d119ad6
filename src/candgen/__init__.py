"""Finds the entities that a name may mean, in languages with almost no data of their own."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candgen.errors import CandgenError
    from candgen.evaluation.experiment import evaluate
    from candgen.evaluation.report import Report
    from candgen.evaluation.split import Split, split
    from candgen.generators import load
    from candgen.generators.candidate import Candidate
    from candgen.generators.explanation import Explanation
    from candgen.generators.pivot import PivotTokenIndex
    from candgen.mentions import MentionTable
    from candgen.queries import Query
    from candgen.tokenizers import CharNgrams, WholeMention, Words

__all__ = [
    "CandgenError",
    "Candidate",
    "CharNgrams",
    "Explanation",
    "MentionTable",
    "PivotTokenIndex",
    "Query",
    "Report",
    "Split",
    "WholeMention",
    "Words",
    "evaluate",
    "load",
    "split",
]

_HOMES = {
    "Candidate": "candgen.generators.candidate",
    "CandgenError": "candgen.errors",
    "CharNgrams": "candgen.tokenizers",
    "Explanation": "candgen.generators.explanation",
    "MentionTable": "candgen.mentions",
    "PivotTokenIndex": "candgen.generators.pivot",
    "Query": "candgen.queries",
    "Report": "candgen.evaluation.report",
    "Split": "candgen.evaluation.split",
    "WholeMention": "candgen.tokenizers",
    "Words": "candgen.tokenizers",
    "evaluate": "candgen.evaluation.experiment",
    "load": "candgen.generators",
    "split": "candgen.evaluation.split",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Public names are imported when they are first used: ``candgen --help`` needs no Numba."""
    if name not in _HOMES:
        raise AttributeError(f"module 'candgen' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
