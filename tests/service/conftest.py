"""A service over three toy indexes, in this process."""

import pytest

from tests.support.service_world import client_of, save_toy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    save_toy(folder / "one.candgen")
    save_toy(folder / "two.candgen", second_stage=True)
    save_toy(folder / "described.candgen", described=True)
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with client_of(folder, "one", "two", "described") as client:
        yield client
