"""Generators that are stored inside another one."""

import pytest

import candgen
from candgen import CandgenError, Cascade
from tests.generators.test_cascade import Listed, priors, pti


def test_a_part_is_opened_as_if_it_were_alone(tmp_path):
    from candgen.storage import index_folder

    Cascade(priors(), pti()).save(tmp_path / "both")
    pti().save(tmp_path / "alone")
    opened = []
    both = index_folder.load(tmp_path / "both")
    Cascade.from_stored(both, lambda part: opened.append(part) or Listed())
    alone = index_folder.load(tmp_path / "alone")
    assert (opened[1].kind, opened[1].sizes) == (alone.kind, alone.sizes)
    assert opened[1].parameters == alone.parameters
    assert opened[1].inputs == alone.inputs
    assert (opened[1].path, opened[1].version) == (tmp_path / "both", alone.version)
    assert set(opened[1].arrays) == set(alone.arrays)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(CandgenError, match=r"generator 2 is .* has no method contents"):
        Cascade(priors(), Listed()).save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_part_of_unknown_kind(tmp_path):
    from candgen.storage import index_folder

    kind, parameters, arrays, inputs = Cascade(priors(), pti()).contents()
    parameters["parts"][1]["kind"] = "oracle"
    index_folder.save(
        tmp_path / "x", kind=kind, parameters=parameters, arrays=arrays, inputs=inputs
    )
    with pytest.raises(CandgenError, match=r"of kind 'oracle'.*upgrade candgen, or build it again"):
        candgen.load(tmp_path / "x")
