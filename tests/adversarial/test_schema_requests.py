"""Requests made from the OpenAPI description, right ones and wrong ones: no answer surprises."""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from tests.support.serving import serving

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")
schemathesis = pytest.importorskip("schemathesis", reason="makes requests from the OpenAPI")
generation = pytest.importorskip("schemathesis.generation")

OPENAPI = "/api/v1/openapi.json"
OPERATIONS = {
    "/api/v1/candidates": ("GET", "POST"),
    "/api/v1/explain": ("GET",),
    "/api/v1/indexes": ("GET",),
    "/api/v1/reload": ("POST",),
}


@pytest.fixture(scope="module")
def service(folder):
    # A body that is too large gets 413, which the tool does not count as a refusal.
    size = "--max-body", 1 << 28
    with serving(folder, folder / "fo.candgen", "--quiet", *size) as made:
        yield made


@pytest.fixture(scope="module")
def described(service):
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}{OPENAPI}")


def test_these_are_all_operations(described):
    assert {
        path: tuple(sorted(map(str.upper, described[path]))) for path in described
    } == OPERATIONS


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize(
    ("path", "method"), [(path, each) for path, methods in OPERATIONS.items() for each in methods]
)
def test_every_answer_is_described(service, described, tried, path, method, mode):
    """No 500, no status and no content that the description lacks; valid data are accepted."""
    made = described[path][method].as_strategy(generation_mode=generation.GenerationMode[mode])

    @settings(
        max_examples=150,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(made)
    def each(case):
        nonlocal sent
        sent += 1
        case.call_and_validate()

    sent = 0
    try:
        each()
        tried("requests", sent)
    except Unsatisfiable:
        assert mode == "NEGATIVE"
        assert path in ("/api/v1/indexes", "/api/v1/reload")  # which take nothing
    assert not service.mistakes()


def test_boundary_values_and_methods_that_are_not_offered(service, tmp_path):
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            f"http://127.0.0.1:{service.port}{OPENAPI}",
            "--phases",
            "examples,coverage",
            "--checks",
            "all",
            "--generation-deterministic",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    assert said.returncode == 0, said.stdout
    assert not service.mistakes()
