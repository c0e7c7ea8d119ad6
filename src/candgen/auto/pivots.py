"""Choose the pivots of a target among many languages, and say why."""

import logging
from collections.abc import Mapping, Sequence

from candgen.evaluation.ceilings import candidate_space, ceiling
from candgen.evaluation.pivot_ranking import PivotRanking, rank_pivots
from candgen.protocols import Progress, no_progress
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

log = logging.getLogger("candgen")

MAX_PIVOTS = 8
MIN_PIVOT_GAIN = 0.2
"""Points of trigram similarity that a language must add to become a pivot."""
ENGLISH = "en"
"""Tried even if its names are not similar: it has a name for nearly every entity."""


def choose_pivots(
    target: MentionTable | Sequence[str],
    candidates: Mapping[str, MentionTable],
    *,
    language: str | None = None,
    most: int = MAX_PIVOTS,
    own: MentionTable | None = None,
    progress: Progress = no_progress,
) -> tuple[PivotRanking, dict[str, MentionTable]]:
    """Return the languages whose names are most similar to the target's, and English.

    ``own`` is the whole table that the target is a part of; it is never a pivot.
    """
    ranking = rank_pivots(
        target,
        candidates,
        by="closeness",
        language=language,
        most=most,
        least=MIN_PIVOT_GAIN,
        own=own,
        progress=progress,
    )
    chosen = ranking.chosen()
    if not chosen:
        log.warning("no language has names similar to the target's: expect a low recall")
        chosen = [row.language for row in ranking.rows[:1]]
    if any(row.language == ENGLISH for row in ranking.rows) and ENGLISH not in chosen:
        chosen.append(ENGLISH)
    return ranking, {name: candidates[name] for name in chosen}


def explain_pivots(
    ranking: PivotRanking,
    chosen: Mapping[str, MentionTable],
    languages: int,
    target: MentionTable | Sequence[str],
) -> str:
    """Return why these pivots were chosen among so many languages, in a sentence or two."""
    gains = {row.language: row.gain for row in ranking.rows}
    listed = ", ".join(
        f"{name} (for coverage)" if (gain := gains[name]) is None else f"{name} (+{gain:.1f})"
        for name in chosen
    )
    if isinstance(target, MentionTable):
        queries = [Query(mention, entity) for mention, entity, _ in target]
        reach = ceiling(queries, candidate_space(*chosen.values(), named=target.entities))[
            "all"
        ].recall
        covered = f"Together they have the entities of {reach:.1f}% of the target's pairs."
    else:
        reach = max((row.ceiling for row in ranking.rows if row.ceiling is not None), default=0.0)
        covered = f"Estimated from {ranking.size:,} names, they cover {reach:.1f}% of the names."
    return (
        f"Pivots, chosen from the {languages} languages in the folder, with the points of trigram "
        f"similarity that each adds: {listed}. {covered}"
    )
