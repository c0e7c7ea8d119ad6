"""The versions of candgen and of the packages that it uses."""

from importlib import metadata

from candgen.storage.versions import version


def test_versions():
    assert version() == metadata.version("candgen")
    assert version("numpy") == metadata.version("numpy")
    assert version("no such package") == "0+unknown"
