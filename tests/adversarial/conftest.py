"""What the adversarial tests share: counting what they try, and a served toy index.

tests/conftest.py prints the counts.
"""

import pytest

from tests.support.serving import build, serving


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the toy index fo.candgen."""
    made = tmp_path_factory.mktemp("service")
    build(made / "fo.candgen")
    return made


@pytest.fixture(scope="module")
def service(folder):
    """The toy index, served with default limits; a module with others has its own."""
    with serving(folder, folder / "fo.candgen") as made:
        yield made
