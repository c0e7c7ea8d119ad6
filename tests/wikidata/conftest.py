"""A dump of many parts."""

import pytest

from tests.support.wikidata_files import many_items


@pytest.fixture(scope="session")
def long_text():
    return many_items(1500)
