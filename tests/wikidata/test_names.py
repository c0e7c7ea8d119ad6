"""Which items and which of their names are extracted."""

import pytest

from candgen.errors import ParameterError
from candgen.wikidata.names import PAGE_CLASSES, Selection
from tests.support import wikidata_world as world
from tests.support.wikidata_files import extract, tables, write_dump


def test_names_for_all_languages_count_when_they_are_asked_for(tmp_path):
    full = world.item(
        2, labels=world.texts(fo="Páll", mul="Paul"), aliases=world.several(mul=["P"])
    )
    dump = write_dump(tmp_path, world.dump_of([world.ONLY_MUL, full]))
    extract(dump, tmp_path / "plain", languages=("fo", "is"))
    names, shown = tables(tmp_path / "plain", ("fo", "is"))
    assert names == {("fo", "Páll", "Q2"): 1}
    assert shown["Q5", "mul"][0] == "Niels Bohr"
    assert set(shown) == {("Q5", "mul"), ("Q2", "mul"), ("Q2", "fo")}
    extract(dump, tmp_path / "mul", languages=("fo", "is"), mul=True)
    names, same = tables(tmp_path / "mul", ("fo", "is"))
    assert same == shown
    bohr = {(code, name, "Q5") for code in ("fo", "is") for name in ("Niels Bohr", "N. Bohr")}
    paul = {("fo", "Páll", "Q2"), ("is", "Paul", "Q2"), ("fo", "P", "Q2"), ("is", "P", "Q2")}
    assert set(names) == bohr | paul
    extract(dump, tmp_path / "code", languages=("mul",))
    names, same = tables(tmp_path / "code", ("mul",))
    assert {name for _, name, _ in names} == {"Niels Bohr", "N. Bohr", "Paul", "P"}
    assert set(same) == {("Q5", "mul"), ("Q2", "mul")}


def test_filters(tmp_path):
    dump = write_dump(tmp_path, world.all_kinds())

    def kept(**options):
        report = extract(dump, tmp_path / "made", **options)
        return {entity for entity, _ in tables(tmp_path / "made")[1]}, report.skipped

    everything, skipped = kept(not_instance_of=())
    assert everything == {"Q4", "Q5", "Q6", "Q7", "Q8", "Q9", "Q10", "Q12", "Q10704", "Q167646"}
    assert "instance of a class that was left out" not in skipped
    entities, skipped = kept(instance_of=("Q515", "Q5"))
    assert entities == {"Q12", "Q10704"}
    assert skipped["no instance of a class that was asked for"] == 8
    assert kept(instance_of=("Q4167410",))[0] == {"Q7"}
    assert kept(not_instance_of=("Q5",))[0] == everything - {"Q12"}
    entities, skipped = kept(has_sitelink=True)
    assert entities == {"Q8", "Q10704", "Q167646"}
    assert skipped["without a sitelink"] == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"languages": ()}, "no language"),
        ({"languages": "fo"}, "expected a list"),
        ({"languages": ("fo", "FO")}, "twice"),
        ({"languages": ("entities",)}, "'entities' is not the code"),
        ({"languages": ("../x",)}, "is not the code"),
        ({"languages": ("fo",), "instance_of": ("human",)}, "'human'"),
        ({"languages": ("fo",), "instance_of": "Q5"}, "expected a list"),
        ({"languages": ("fo",), "instance_of": ("Q5",), "not_instance_of": ("Q5",)}, "Q5 is in"),
        ({"languages": ("fo",), "labels": False, "aliases": False, "sitelinks": False}, "no names"),
    ],
)
def test_selections_that_make_no_sense(options, words):
    with pytest.raises(ParameterError, match=words):
        Selection(**options)


def test_default_classes_are_each_once():
    assert len(set(PAGE_CLASSES)) == len(PAGE_CLASSES)
    assert {"Q4167410", "Q4167836", "Q11266439"} <= set(PAGE_CLASSES)
