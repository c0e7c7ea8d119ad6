"""Print queries that the last method missed, for error analysis."""

from collections.abc import Mapping, Sequence

from recall_cases import Case
from recall_methods import ROWS
from recall_results import Cell, path_of, read_json

from candgen.evaluation.ceilings import candidate_space, covered, unlike_pivots
from candgen.generators import METHODS
from candgen.protocols import gold_rank
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import Query

DEPTH = 300
SHOWN_NAMES = 6
SECOND_STAGE = ("depth", "weights")


def failures(case: Case, setting: str, number: int, *, k: int) -> None:
    """Print queries whose gold entity is not among the first k, evenly spaced among all such."""
    kept = read_json(path_of(case.name, setting, list(ROWS)[-1]))
    if kept is None:
        raise SystemExit(f"{case.name}, {setting}: measure {list(ROWS)[-1]} first")
    cell = Cell(**kept)
    missed = [at for at, rank in enumerate(cell.ranks) if not 0 < rank <= k]
    some = some_of(missed, number)
    print(f"{case.name}, {setting}: {len(missed)} of {len(cell.ranks)} are missed at rank {k}.")
    print(summary(case, setting, cell.pivots, [case.test[at] for at in missed]))
    queries, firsts = [case.test[at] for at in some], [cell.first[at] for at in some]
    places = first_places(case, cell, queries)
    tables = tables_of(case, setting, cell.pivots)
    names = names_of(tables, {*firsts, *(query.entity for query in queries)})
    for at, query, before, instead in zip(some, queries, places, firsts, strict=True):
        show(query, cell.ranks[at], before, instead, names)


def some_of(missed: Sequence[int], number: int) -> list[int]:
    """Return at most so many of the queries, evenly spaced."""
    count = min(number, len(missed))
    return [missed[at * len(missed) // count] for at in range(count)]


def first_places(case: Case, cell: Cell, queries: Sequence[Query]) -> list[int]:
    """Return the ranks of the gold entities in the first stage."""
    own = {name: value for name, value in cell.parameters.items() if name not in SECOND_STAGE}
    training = case.training(cell.setting, cell.pivots, whole=True)
    index = METHODS["pti"](training, {"normalizer": "latin", **own})
    found = index.candidates([query.mention for query in queries], DEPTH)
    return [gold_rank(query.entity, some) for query, some in zip(queries, found, strict=True)]


def summary(case: Case, setting: str, pivots: Sequence[str], queries: Sequence[Query]) -> str:
    """Say how many gold entities no pivot has, and how many queries are names of their gold."""
    tables = tables_of(case, setting, pivots)
    unlike = unlike_pivots(
        queries, tables.values(), normalizer="latin", language=case.language, languages=list(tables)
    )
    found = covered(queries, candidate_space(*tables.values()))
    return (
        f"Of these, {int((~found).sum())} have a gold entity that no pivot has, "
        f"and {int((~unlike).sum())} are names of their gold entity after transliteration."
    )


def show(query: Query, rank: int, before: int, instead: str, names: dict[str, list[str]]) -> None:
    """Print one query on a few lines."""
    first = f"rank {before} in the first stage" if before else f"not in its first {DEPTH}"
    last = f"rank {rank} in the second" if rank else "not in the first 30 of the second"
    about = "; ".join([*([query.type] if query.type else []), first])
    print(f"\n{query.mention}  {query.entity}  ({about}, {last})")
    print(f"    {'; '.join(names.get(query.entity, [])) or 'no pivot has it'}")
    if instead and instead != query.entity:
        print(f"    first candidate: {instead} {'; '.join(names.get(instead, []))}")


def names_of(tables: Mapping[str, MentionTable], entities: set[str]) -> dict[str, list[str]]:
    """Return a few names of each entity in the tables, by language."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    wanted = pa.array(sorted(entities), pa.large_string())
    names: dict[str, list[str]] = {}
    for code, table in tables.items():
        rows = table.arrow.filter(pc.is_in(table.arrow["entity"], value_set=wanted))
        pairs = zip(rows["entity"].to_pylist(), rows["mention"].to_pylist(), strict=True)
        found: dict[str, list[str]] = {}
        for entity, mention in pairs:
            found.setdefault(entity, []).append(mention)
        for entity, mentions in found.items():
            names.setdefault(entity, []).append(f"{code}: {', '.join(mentions[:SHOWN_NAMES])}")
    return names


def tables_of(case: Case, setting: str, pivots: Sequence[str]) -> dict[str, MentionTable]:
    """Return all tables of the training data, by language."""
    training = case.training(setting, pivots, whole=True)
    own = {} if training.target is None else {case.language: training.target}
    return {**own, **training.pivots}
