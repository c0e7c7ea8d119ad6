"""Generators inside a generator: how they are stored in one folder, and found again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from candgen.errors import StorageError
from candgen.protocols import Storable
from candgen.storage.index_folder import StoredIndex, add_prefix, strip_prefix


class Parts(NamedTuple):
    """What is stored of several generators: each under a name of its own."""

    described: list[dict[str, Any]]
    arrays: dict[str, Any]
    inputs: dict[str, Any]


def pack_parts(generators: Sequence[Any], whole: str) -> Parts:
    """The contents of generators that a ``whole``, such as a cascade, is made of."""
    packed = Parts([], {}, {})
    for number, part in enumerate(generators):
        if not isinstance(part, Storable):
            raise StorageError(
                f"generator {number + 1} is {part!r}, which has no method contents and cannot "
                f"be stored in a {whole}: give it one, or save the others by themselves"
            )
        kind, parameters, its_arrays, its_inputs = part.contents()
        packed.described.append({"kind": kind, "parameters": dict(parameters)})
        packed.arrays.update(add_prefix(f"part{number}", its_arrays))
        packed.inputs[f"part{number}"] = dict(its_inputs)
    return packed


def stored_part(stored: StoredIndex, number: int) -> StoredIndex:
    """What is stored of one generator, as if it had been saved by itself."""
    name = f"part{number}"
    described: Mapping[str, Any] = stored.parameters["parts"][number]
    return replace(
        stored,
        kind=described["kind"],
        parameters=dict(described["parameters"]),
        arrays=strip_prefix(name, stored.arrays),
        inputs=stored.inputs[name],
        sizes={
            array.removeprefix(f"{name}."): size
            for array, size in stored.sizes.items()
            if array.startswith(f"{name}.")
        },
    )
