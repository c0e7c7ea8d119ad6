"""Finds the entities that a name may mean, in languages with almost no data of their own."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candgen.auto import Auto, build_auto
    from candgen.errors import CandgenError
    from candgen.evaluation.evaluate import evaluate
    from candgen.evaluation.pivot_ranking import PivotRanking, rank_pivots
    from candgen.evaluation.report import Report
    from candgen.evaluation.split import Split, split
    from candgen.generators.candidate import Candidate
    from candgen.generators.cascade import Cascade
    from candgen.generators.conformance import check_generator
    from candgen.generators.neural.charagram import Charagram
    from candgen.generators.pivot.explanation import Explanation
    from candgen.generators.pivot.pivot_token_index import PivotTokenIndex
    from candgen.generators.registry import load
    from candgen.generators.rerank.rerank import Rerank
    from candgen.generators.translation.translation import Translation
    from candgen.generators.wikipriors import WikiPriors
    from candgen.tables.mention_table import MentionTable
    from candgen.tables.queries import Query
    from candgen.text.tokenizers import CharNgrams, WholeMention, Words

__all__ = [
    "Auto",
    "CandgenError",
    "Candidate",
    "Cascade",
    "CharNgrams",
    "Charagram",
    "Explanation",
    "MentionTable",
    "PivotRanking",
    "PivotTokenIndex",
    "Query",
    "Report",
    "Rerank",
    "Split",
    "Translation",
    "WholeMention",
    "WikiPriors",
    "Words",
    "build_auto",
    "check_generator",
    "evaluate",
    "load",
    "rank_pivots",
    "split",
]

_HOMES = {
    "Auto": "candgen.auto",
    "CandgenError": "candgen.errors",
    "Candidate": "candgen.generators.candidate",
    "Cascade": "candgen.generators.cascade",
    "CharNgrams": "candgen.text.tokenizers",
    "Charagram": "candgen.generators.neural.charagram",
    "Explanation": "candgen.generators.pivot.explanation",
    "MentionTable": "candgen.tables.mention_table",
    "PivotRanking": "candgen.evaluation.pivot_ranking",
    "PivotTokenIndex": "candgen.generators.pivot.pivot_token_index",
    "Query": "candgen.tables.queries",
    "Report": "candgen.evaluation.report",
    "Rerank": "candgen.generators.rerank.rerank",
    "Split": "candgen.evaluation.split",
    "Translation": "candgen.generators.translation.translation",
    "WholeMention": "candgen.text.tokenizers",
    "WikiPriors": "candgen.generators.wikipriors",
    "Words": "candgen.text.tokenizers",
    "build_auto": "candgen.auto",
    "check_generator": "candgen.generators.conformance",
    "evaluate": "candgen.evaluation.evaluate",
    "load": "candgen.generators.registry",
    "rank_pivots": "candgen.evaluation.pivot_ranking",
    "split": "candgen.evaluation.split",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import a public name on first use, so that ``candgen --help`` does not wait for Numba."""
    if name == "__version__":
        from candgen.storage.versions import version  # noqa: PLC0415

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'candgen' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet, for completion in a REPL."""
    return sorted({*__all__, "__version__", *(name for name in globals() if name[:2] == "__")})
