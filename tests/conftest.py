"""What every test may use: the real data beside the repository, and how hypothesis runs."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from candgen import kernels
from candgen.cli import main
from tests.support.dumps import write_dump
from tests.support.faroese_wiki import PAGES
from tests.support.faulty_mirror import serving

settings.register_profile("ci", deadline=None, print_blob=True)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """The tests have their own record of verified indexes, not that of the user.

    Kernels that commands compile stay beside the source, for the next run of the tests.
    """
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANDGEN_CACHE_DIR", str(folder))
        patch.setenv("NUMBA_CACHE_DIR", str(Path(kernels.__file__).parent / "__pycache__"))
        yield folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder ../shared/data, or the one that CANDGEN_SHARED_DATA names; skips without it."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CANDGEN_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"../shared/data is not here: {folder} (CANDGEN_SHARED_DATA names another)")
    return folder


@pytest.fixture
def faroese(tmp_path) -> str:
    """The dump of a small wiki, several streams of bzip2."""
    return str(write_dump(tmp_path / "fowiki-20230501-pages.xml.bz2", PAGES, together=2))


@pytest.fixture
def mirror(monkeypatch):
    """A server on this machine that has one run of the Faroese wiki."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("CANDGEN_CONTACT", raising=False)
    with serving() as made:
        made.jobs = made.add_run()
        yield made


class Result:
    """What a command run inside this process did."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def answers(self):
        return [json.loads(line) for line in self.out.removesuffix("\n").split("\n") if line]


@pytest.fixture
def cli(capfdbinary, monkeypatch):
    """Runs a command in this process: ``cli("query", index, stdin=b"Vín")``."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.delenv("COLUMNS", raising=False)  # what runs the tests may set it
        capfdbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Result(status, out.decode(), err.decode())

    return run


def pytest_terminal_summary(terminalreporter):
    """Print how many hostile inputs were tried, from the reports, which xdist's workers send."""
    inputs: dict[str, int] = {}
    failed: dict[str, int] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            counts = [each for each in report.user_properties if each[0].startswith("tried ")]
            for kind in dict.fromkeys(name.removeprefix("tried ") for name, _ in counts):
                total = sum(count for name, count in counts if name == f"tried {kind}")
                inputs[kind] = inputs.get(kind, 0) + total
                failed[kind] = failed.get(kind, 0) + (outcome == "failed")
    for kind in sorted(inputs):
        terminalreporter.write_line(
            f"adversarial: {kind}: {inputs[kind]:,} inputs tried, failed tests: {failed[kind]}"
        )
