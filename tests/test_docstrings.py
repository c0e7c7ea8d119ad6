"""Examples in docstrings are true."""

import doctest
import importlib.util
import pkgutil

import pytest

import candgen

LEFT_OUT = ["candgen.__main__"]
if importlib.util.find_spec("torch") is None:
    LEFT_OUT.append("candgen.generators.neural.encoders")  # it needs PyTorch, which is optional
if importlib.util.find_spec("spacy") is None:
    LEFT_OUT.append("candgen.integrations.spacy")  # it needs spaCy, which is optional
if importlib.util.find_spec("pyspark") is None:
    LEFT_OUT.append("candgen.wikipedia.spark.extract")  # it needs PySpark, which is optional
MODULES = [
    module.name
    for module in pkgutil.walk_packages(candgen.__path__, "candgen.")
    if not module.name.startswith("candgen.kernels") and module.name not in LEFT_OUT
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = [doctest.testmod(importlib.import_module(name)).attempted for name in MODULES]
    assert sum(found) >= 5
