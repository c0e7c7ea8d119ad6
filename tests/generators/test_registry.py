"""All methods by name, and loading of any kind."""

import numpy as np
import pytest

import candgen
from candgen import CandgenError
from candgen.generators.registry import LOADERS, METHODS
from candgen.generators.summaries import METHODS as SUMMARIES


def test_a_kind_that_is_not_known(tmp_path):
    from candgen.storage import index_folder

    index_folder.save(tmp_path / "x", kind="oracle", parameters={}, arrays={"a": np.zeros(1)})
    with pytest.raises(CandgenError, match=r"of kind 'oracle'.*upgrade candgen, or build it again"):
        candgen.load(tmp_path / "x")


def test_methods_are_those_of_the_summaries():
    assert list(METHODS) == list(SUMMARIES)


def test_every_kind_has_a_loader():
    """A kind is what a generator calls itself in its manifest."""
    assert set(LOADERS) == {*("wikipriors", "translation", "charagram", "pti", "cascade", "rerank")}
