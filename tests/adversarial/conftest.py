"""Counts what the adversarial tests try; tests/conftest.py prints the totals."""

import pytest


@pytest.fixture
def tried(record_property):
    """Counts hostile inputs before they are tried: ``tried("tables")``, ``tried("index", 300)``."""

    def count(kind: str, inputs: int = 1) -> None:
        record_property(f"tried {kind}", inputs)

    return count


@pytest.fixture(autouse=True)
def one_request(request, tried):
    """Every test in a module about requests sends at least one; loops count the others."""
    if request.module.__name__.endswith("requests"):
        tried("requests")
