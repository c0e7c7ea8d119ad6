"""The keys under which an item has the names of a language."""

import pytest

from candgen.wikidata.languages import find_keys


@pytest.mark.parametrize(
    ("code", "labels", "site"),
    [
        ("fo", ("fo",), "fowiki"),
        ("nb", ("nb", "no"), "nowiki"),
        ("no", ("nb", "no"), "nowiki"),
        ("nn", ("nn",), "nnwiki"),
        ("be-x-old", ("be-tarask", "be-x-old"), "be_x_oldwiki"),
        ("be-tarask", ("be-tarask", "be-x-old"), "be_x_oldwiki"),
        ("be", ("be",), "bewiki"),
        ("simple", ("en",), "simplewiki"),
        ("zh-hant", ("zh-hant",), "zh_hantwiki"),
        ("zh-min-nan", ("nan", "zh-min-nan"), "zh_min_nanwiki"),
        ("gsw", ("gsw", "als"), "alswiki"),
    ],
)
def test_codes_of_languages(code, labels, site):
    assert find_keys(code) == (code, labels, site)
