"""What lies beside a generator in its folder: what its scores are worth, names of its entities."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from candgen.protocols import Progress
    from candgen.tables.entities import EntityTable
    from candgen.tables.queries import Query

Entities = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Table of entities to show: entity, language, name, description, type."
    ),
]


def calibrate(
    output: Path,
    generator: Any,  # noqa: ANN401
    dev: "Sequence[Query]",
    progress: "Progress",
) -> str:
    """Learn on dev what scores are worth, store that with the index, and say so."""
    from candgen.generators.calibration import Calibration  # noqa: PLC0415

    progress("calibrating on dev", 0.0)
    Calibration.learn(generator, dev).store(output)
    return f"Scores were turned into probabilities by {len(dev):,} dev queries."


class Table:
    """A table of entities, read before the long work, so that a bad one costs nothing."""

    def __init__(self, path: Path | None, progress: "Progress") -> None:
        from candgen.tables.entities import read_entities  # noqa: PLC0415

        self.path = path
        if path is not None:
            progress(f"reading {path}", 0.0)
            self.rows = read_entities(path)

    def chosen(self, generator: Any) -> "EntityTable | None":  # noqa: ANN401
        """What it says of the entities of a generator."""
        from candgen.protocols import entity_ids_of  # noqa: PLC0415
        from candgen.tables.entities import EntityTable  # noqa: PLC0415

        if self.path is None:
            return None
        return EntityTable.select(self.rows, entity_ids_of(generator), self.path)
