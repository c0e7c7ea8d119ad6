"""The codes of languages, and the names of the databases of their wikis."""

import pytest

from candgen.dumps import wiki_codes
from candgen.errors import ParameterError


@pytest.mark.parametrize(
    ("language", "wiki"),
    [
        ("fo", "fowiki"),
        (" FO ", "fowiki"),
        ("zh-min-nan", "zh_min_nanwiki"),
        ("nan", "zh_min_nanwiki"),
        ("be-tarask", "be_x_oldwiki"),
        ("be-x-old", "be_x_oldwiki"),
        ("nb", "nowiki"),
        ("no", "nowiki"),
        ("als", "alswiki"),
        ("gsw", "alswiki"),
        ("simple", "simplewiki"),
        ("fowiki", "fowiki"),
        ("be_x_oldwiki", "be_x_oldwiki"),
        ("fowiktionary", "fowiktionary"),
        ("roa_tara", "roa_tarawiki"),
    ],
)
def test_names_of_wikis(language, wiki):
    assert wiki_codes.database_name(language) == wiki


@pytest.mark.parametrize("language", ["", "../x", "f", "fo/..", "fo wiki", "fø", "fo\n/x", "-fo"])
def test_languages_that_are_none(mirror, get, language):
    with pytest.raises(ParameterError, match="expected a code such as fo"):
        get(language)
    assert not mirror.requests
