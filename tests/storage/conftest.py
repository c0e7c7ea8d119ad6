"""An index in a folder, and no waiting for the disk."""

import os

import pytest

from candgen.storage import index_folder
from tests.support.stored_indexes import content


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "fo.candgen"
    index_folder.save(path, **content())
    return path
