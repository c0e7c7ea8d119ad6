"""Generators nested in another generator: how they are stored in one folder and opened again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from candgen.errors import StorageError
from candgen.protocols import Storable
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix


class NestedContents(NamedTuple):
    """What is stored of nested generators, the arrays and inputs of each under its own prefix."""

    described: list[dict[str, Any]]
    arrays: dict[str, Any]
    inputs: dict[str, Any]


def pack_nested(generators: Sequence[Any], outer: str) -> NestedContents:
    """Return what is stored of the generators nested in an ``outer`` one, such as a cascade."""
    packed = NestedContents([], {}, {})
    for number, each in enumerate(generators):
        if not isinstance(each, Storable):
            raise StorageError(
                f"generator {number + 1} is {each!r}, which has no method contents and cannot "
                f"be stored in a {outer}: give it one, or save the others by themselves"
            )
        kind, parameters, arrays, inputs = each.contents()
        packed.described.append({"kind": kind, "parameters": dict(parameters)})
        packed.arrays.update(add_prefix(_prefix(number), arrays))
        packed.inputs[_prefix(number)] = dict(inputs)
    return packed


def stored_nested(stored: StoredIndex) -> list[StoredIndex]:
    """Return what is stored of each nested generator, as if it had been saved by itself."""
    return [
        replace(
            stored,
            kind=described["kind"],
            parameters=dict(described["parameters"]),
            arrays=strip_prefix(_prefix(number), stored.arrays),
            inputs=stored.inputs[_prefix(number)],
            sizes={
                array.removeprefix(f"{_prefix(number)}."): size
                for array, size in stored.sizes.items()
                if array.startswith(f"{_prefix(number)}.")
            },
        )
        for number, described in enumerate(stored.parameters["parts"])
    ]


def _prefix(number: int) -> str:
    return f"part{number}"  # the name of a nested generator in the files
