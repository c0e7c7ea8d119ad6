"""What every test may use: the real data beside the repository, and how hypothesis runs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", deadline=None, print_blob=True)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder ../shared/data, or the one that CANDGEN_SHARED_DATA names; skips without it."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CANDGEN_SHARED_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"../shared/data is not here: {folder} (CANDGEN_SHARED_DATA names another)")
    return folder
