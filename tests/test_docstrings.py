"""Examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import candgen

MODULES = [
    module.name
    for module in pkgutil.walk_packages(candgen.__path__, "candgen.")
    if not module.name.startswith(("candgen.kernels", "candgen.__main__"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = [doctest.testmod(importlib.import_module(name)).attempted for name in MODULES]
    assert sum(found) >= 5
