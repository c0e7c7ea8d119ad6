"""Accept-Language: the languages that a client accepts."""

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.service.accept_language import parse_accept_language


def test_accept_language_is_read_leniently():
    assert parse_accept_language("") == ()
    assert parse_accept_language("fo") == ("fo",)
    assert parse_accept_language("x;q=,;;,*,da-DK;q=0.3,en;q=0.9") == ("en", "da-dk", "da")
