"""What is stored with a generator in its folder: calibration, and names of its entities."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candgen.protocols import Progress
    from candgen.tables.entities import EntityTable
    from candgen.tables.queries import Query


def calibrate(
    output: Path,
    generator: Any,  # noqa: ANN401
    dev: "Sequence[Query]",
    progress: "Progress",
) -> str:
    """Learn probabilities from dev, store them with the index, and return a sentence about it.

    Easy queries are left out, unless there are no others: they would promise too much.
    """
    from candgen.evaluation.held_back import held_back  # noqa: PLC0415
    from candgen.generators.calibration import Calibration  # noqa: PLC0415

    progress("calibrating on dev", 0.0)
    queries = held_back(dev)
    if not queries:
        queries = list(dev)
    Calibration.learn(generator, queries).store(output)
    return f"Probabilities of scores were calibrated on {len(queries):,} dev queries."


class EntityFile:
    """A table of entities, read before the long work, so that an invalid one fails early."""

    def __init__(self, path: Path | None, progress: "Progress") -> None:
        from candgen.tables.entities import read_entities  # noqa: PLC0415

        self.path = path
        if path is not None:
            progress(f"reading {path}", 0.0)
            self.rows = read_entities(path)

    def sitelinks(self) -> dict[str, int]:
        """Return how many sitelinks entities have; empty if the table does not say it."""
        from candgen.tables.entities import sitelinks_of  # noqa: PLC0415

        return {} if self.path is None else sitelinks_of(self.rows)

    def select(self, generator: Any) -> "EntityTable | None":  # noqa: ANN401
        """Return what the table says about the entities of a generator."""
        from candgen.protocols import entity_ids_of  # noqa: PLC0415
        from candgen.tables.entities import EntityTable  # noqa: PLC0415

        if self.path is None:
            return None
        return EntityTable.select(self.rows, entity_ids_of(generator), self.path)
