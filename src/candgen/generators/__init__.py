"""Generators: each turns mentions into candidates. One file or package a method.

``METHODS`` maps the name of each method to what builds it, and ``load`` opens what was saved; both
are imported from ``registry`` when they are first used, because all methods together take time.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candgen.generators.registry import METHODS, load

__all__ = ["METHODS", "load"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from candgen.generators import registry  # noqa: PLC0415

    return getattr(registry, name)
