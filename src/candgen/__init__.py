"""Finds the entities that a name may mean, in languages with almost no data of their own."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candgen.conformance import check_generator
    from candgen.errors import CandgenError
    from candgen.evaluation.experiment import evaluate
    from candgen.evaluation.report import Report
    from candgen.evaluation.split import Split, split
    from candgen.generators import load
    from candgen.generators.candidate import Candidate
    from candgen.generators.cascade import Cascade
    from candgen.generators.explanation import Explanation
    from candgen.generators.neural.charagram import Charagram
    from candgen.generators.pivot import PivotTokenIndex
    from candgen.generators.wikipriors import WikiPriors
    from candgen.mentions import MentionTable
    from candgen.queries import Query
    from candgen.tokenizers import CharNgrams, WholeMention, Words

__all__ = [
    "CandgenError",
    "Candidate",
    "Cascade",
    "CharNgrams",
    "Charagram",
    "Explanation",
    "MentionTable",
    "PivotTokenIndex",
    "Query",
    "Report",
    "Split",
    "WholeMention",
    "WikiPriors",
    "Words",
    "check_generator",
    "evaluate",
    "load",
    "split",
]

_HOMES = {
    "Candidate": "candgen.generators.candidate",
    "CandgenError": "candgen.errors",
    "Cascade": "candgen.generators.cascade",
    "CharNgrams": "candgen.tokenizers",
    "Charagram": "candgen.generators.neural.charagram",
    "Explanation": "candgen.generators.explanation",
    "MentionTable": "candgen.mentions",
    "PivotTokenIndex": "candgen.generators.pivot",
    "Query": "candgen.queries",
    "Report": "candgen.evaluation.report",
    "Split": "candgen.evaluation.split",
    "WholeMention": "candgen.tokenizers",
    "WikiPriors": "candgen.generators.wikipriors",
    "Words": "candgen.tokenizers",
    "check_generator": "candgen.conformance",
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
