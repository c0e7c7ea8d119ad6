"""``candgen explain``: why an entity is a candidate for a mention."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.explain_rerank import show_rerank
from candgen.cli.output import bar, show, table, visible, write_json
from candgen.cli.progress import progress_bar
from candgen.cli.query import Lam, refuse_untaken
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen import Explanation
    from candgen.generators.pivot.explanation import TokenPart

TOKENS_SHOWN = 20
SOURCES_SHOWN = 10


class Format(StrEnum):
    """How an explanation is written."""

    TABLE = "table"
    JSON = "json"


def explain(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="A folder made by candgen build.")],
    mention: Annotated[str, typer.Argument(metavar="MENTION", help="What was looked for.")],
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="The entity to explain.")],
    *,
    lam: Lam = None,
    form: Annotated[
        Format, typer.Option("--format", help="For a person, or for a program.")
    ] = Format.TABLE,
) -> None:
    """Show why an entity has its score for a mention.

    \b
    Example:
      candgen explain fo.candgen "Tórshavn" Q10704

    The priors and posteriors of the tokens that both have add up to the score, with the background
    that smoothing adds where an index is smoothed. Of an index with a second stage, first comes
    what moved the entity to its place there.
    """
    from candgen.protocols import Explains  # noqa: PLC0415 (--help need not wait for NumPy)

    with progress_bar() as progress:
        progress(f"opening {index}", 0.0)
        generator = candgen.load(index)
        if not isinstance(generator, Explains):
            raise ParameterError(
                f"{index} holds a generator that cannot explain its candidates: pti, its versions "
                "and rerank can"
            )
        options = {} if lam is None else {"lam": lam}
        refuse_untaken(index, generator.explain, options)
        explanation = generator.explain(mention, entity, **options)
    if form is Format.JSON:
        write_json(explanation.as_json())
    else:
        _show(explanation)


def _show(explanation: Any) -> None:  # noqa: ANN401
    from candgen.generators.rerank.explanation import RerankExplanation  # noqa: PLC0415

    if not isinstance(explanation, RerankExplanation):
        _show_index(explanation)
        return
    show_rerank(explanation)
    if explanation.first is not None:
        show("", "The first stage:", "")
        _show(explanation.first)


def _show_index(explanation: "Explanation") -> None:
    show(
        f"{visible(explanation.mention)} -> {visible(explanation.entity)}: "
        f"score {explanation.score:.4g} = prior {explanation.prior:.4g} "
        f"+ posterior {explanation.posterior:.4g}{_background(explanation)} "
        f"(lam {explanation.lam:g})",
        f"seen as {visible(explanation.normalized)!r}",
    )
    if explanation.tokens:
        show("", _tokens(explanation.tokens))
    else:
        show("", "No token of the mention is one of the entity's.")
    if explanation.unknown:
        show("", f"Unknown to the index: {visible(' '.join(explanation.unknown))}")
    languages = table("language", "share", "", right=["share"])
    for language, share in sorted(explanation.languages.items(), key=lambda item: -item[1]):
        languages.add_row(visible(language), f"{share:.1%}", bar(share))
    sources = table("source mention", "language", "count", right=["count"])
    for source in explanation.sources[:SOURCES_SHOWN]:
        sources.add_row(visible(source.mention), visible(source.language), f"{source.count:,}")
    show("", languages, "", sources)
    if (more := len(explanation.sources) - SOURCES_SHOWN) > 0:
        show(f"and {more:,} more (--format json has all)")


def _background(explanation: "Explanation") -> str:
    return f" + background {explanation.background:.4g}" if explanation.background else ""


def _tokens(parts: "Sequence[TokenPart]") -> Any:  # noqa: ANN401
    """The weightiest tokens, and the rest as one line, so that the columns add up."""
    made = table("token", "times", "prior", "posterior", "", right=["times", "prior", "posterior"])
    most = parts[0].prior + parts[0].posterior
    for part in parts[:TOKENS_SHOWN]:
        shown = bar((part.prior + part.posterior) / most)
        made.add_row(visible(part.token), str(part.times), *_both([part]), shown)
    if rest := parts[TOKENS_SHOWN:]:
        made.add_row(f"{len(rest)} more", str(sum(part.times for part in rest)), *_both(rest), "")
    made.add_section()
    made.add_row("sum", str(sum(part.times for part in parts)), *_both(parts), "", style="bold")
    return made


def _both(parts: "Sequence[TokenPart]") -> tuple[str, str]:
    priors, posteriors = (part.prior for part in parts), (part.posterior for part in parts)
    return f"{sum(priors):.4f}", f"{sum(posteriors):.4f}"
