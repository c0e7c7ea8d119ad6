"""Downloads from the faulty mirror."""

import pytest

from candgen.dumps.download import Network, download
from tests.support.faulty_mirror import CONTACT


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("CANDGEN_CONTACT", raising=False)


@pytest.fixture
def get(mirror, tmp_path):
    """Downloads into a folder; ``get.waits`` has the pauses that were made, in no time."""
    waits = []

    def run(*languages, **options):
        settings = {"timeout": 1.0, "attempts": 4, "sleep": waits.append}
        network = Network(**{**settings, **options.pop("network", {})})
        options = {"mirror": mirror.url, "contact": CONTACT, **options}
        return download(languages or ["fo"], tmp_path, network=network, **options)

    run.waits, run.folder = waits, tmp_path
    return run
