"""Counts what the adversarial tests try; tests/conftest.py prints the totals."""

import pytest


@pytest.fixture
def tried(record_property):
    """Counts hostile inputs before they are tried: ``tried("tables")``, ``tried("index", 300)``."""

    def count(kind: str, inputs: int = 1) -> None:
        record_property(f"tried {kind}", inputs)

    return count
