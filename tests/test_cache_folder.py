"""One variable names the folder of all that can be made again."""

import os
from pathlib import Path

import pytest

from candgen.cache_folder import CACHE_VARIABLE, cache_folder, is_private


def test_the_variable_names_it(monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, "/var/cache/candgen")
    assert cache_folder() == Path("/var/cache/candgen")


def test_without_it_it_is_the_users(monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/candgen")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/rannva")
    assert cache_folder() == Path("/home/rannva/.cache/candgen")


def test_a_user_without_a_home_has_none(monkeypatch):
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert cache_folder() is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the users of Unix")
def test_a_folder_is_private_if_nobody_else_can_write_to_it(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    assert is_private(tmp_path)
    tmp_path.chmod(0o775)
    assert not is_private(tmp_path)
    tmp_path.chmod(0o755)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert not is_private(tmp_path)
    assert is_private(tmp_path, owner)
    assert not is_private(tmp_path / "missing")
