"""Codes of languages."""

import pytest

from candgen.text.language_code import base_language


@pytest.mark.parametrize(
    ("code", "base"),
    [("fo", "fo"), ("AZ-Latn", "az"), ("be_tarask", "be"), ("zh-min-nan", "zh"), ("", "")],
)
def test_what_follows_a_hyphen_does_not_matter(code, base):
    assert base_language(code) == base


def test_no_language():
    assert base_language(None) == ""
