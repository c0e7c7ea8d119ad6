"""``candgen explain``: why an entity is a candidate for a mention."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import candgen
from candgen.cli.explain_rerank import show_rerank
from candgen.cli.options import Format, IndexFolder, Lam, OutputFormat
from candgen.cli.output import bar, show, table, visible, write_json
from candgen.cli.progress import progress_bar
from candgen.cli.query import reject_unsupported
from candgen.errors import ParameterError

if TYPE_CHECKING:
    from candgen import Explanation
    from candgen.generators.pivot.explanation import TokenPart

TOKENS_SHOWN = 20
SOURCES_SHOWN = 10


def explain(
    index: IndexFolder,
    mention: Annotated[str, typer.Argument(metavar="MENTION", help="The mention.")],
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="The entity to explain.")],
    *,
    lam: Lam = None,
    form: OutputFormat = Format.TABLE,
) -> None:
    """Show why an entity has its score for a mention.

    \b
    Example:
      candgen explain fo.candgen "Tórshavn" Q10704

    The score is the sum of the priors and posteriors of the tokens that mention and entity share,
    and of the background of a smoothed index. For an index with a second stage, the features that
    moved the entity to its rank come first.
    """
    from candgen.protocols import Explains  # noqa: PLC0415

    with progress_bar() as progress:
        progress(f"opening {index}", 0.0)
        generator = candgen.load(index, progress=progress)
        if not isinstance(generator, Explains):
            raise ParameterError(
                f"the generator in {index} cannot explain its candidates: use an index of the "
                "method pti, one of its variants, or rerank"
            )
        options = {} if lam is None else {"lam": lam}
        reject_unsupported(index, generator.explain, options)
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
    background = f" + background {explanation.background:.4g}" if explanation.background else ""
    show(
        f"{visible(explanation.mention)} -> {visible(explanation.entity)}: "
        f"score {explanation.score:.4g} = prior {explanation.prior:.4g} "
        f"+ posterior {explanation.posterior:.4g}{background} "
        f"(lam {explanation.lam:g})",
        f"seen as {visible(explanation.normalized)!r}",
    )
    if explanation.tokens:
        show("", token_table(explanation.tokens))
    else:
        show("", "No token of the mention is a token of the entity.")
    if explanation.unknown:
        show("", f"Not in the index: {visible(' '.join(explanation.unknown))}")
    languages = table("language", "share", "", right=["share"])
    for language, share in sorted(explanation.languages.items(), key=lambda item: -item[1]):
        languages.add_row(visible(language), f"{share:.1%}", bar(share))
    sources = table("source mention", "language", "count", right=["count"])
    for source in explanation.sources[:SOURCES_SHOWN]:
        sources.add_row(visible(source.mention), visible(source.language), f"{source.count:,}")
    show("", languages, "", sources)
    if (more := len(explanation.sources) - SOURCES_SHOWN) > 0:
        show(f"and {more:,} more (--format json has all)")


def token_table(parts: "Sequence[TokenPart]", shown: int = TOKENS_SHOWN) -> Any:  # noqa: ANN401
    """Return the tokens with the highest scores, and one line for the rest: the columns add up."""
    made = table("token", "times", "prior", "posterior", "", right=["times", "prior", "posterior"])
    highest = parts[0].prior + parts[0].posterior if parts else 0.0
    for part in parts[:shown]:
        share = bar((part.prior + part.posterior) / highest)
        made.add_row(visible(part.token), str(part.times), *_both([part]), share)
    if rest := parts[shown:]:
        made.add_row(f"{len(rest)} more", str(sum(part.times for part in rest)), *_both(rest), "")
    made.add_section()
    made.add_row("sum", str(sum(part.times for part in parts)), *_both(parts), "", style="bold")
    return made


def _both(parts: "Sequence[TokenPart]") -> tuple[str, str]:
    priors, posteriors = (part.prior for part in parts), (part.posterior for part in parts)
    return f"{sum(priors):.4f}", f"{sum(posteriors):.4f}"
