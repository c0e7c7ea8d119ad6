"""Every case of the table of wikitext means what it says."""

import pytest

from candgen.wikipedia.markup.links import LinkReader
from tests.support.wikitext_cases import CASES, site_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:40])
def test_case(case):
    reader = LinkReader(site_of(case.language))
    assert tuple(reader.links(case.text.encode())) == case.expected, case.why


def test_the_table_is_a_table():
    assert len(CASES) >= 80
    assert len({(case.text, case.language) for case in CASES}) == len(CASES)
    assert {case.language for case in CASES} >= {"fo", "mr", "ar", "de", "tr"}
    assert all(case.why.endswith(".") for case in CASES)
