"""Settings of the service: names of indexes, API key, environment of the workers."""

import os

import pytest

import candgen
from candgen.service.settings import is_key_file_exposed, name_indexes, read_key


def test_names_of_indexes():
    assert name_indexes(["a/fo.candgen", "x=b/fo.candgen"]) == {
        "fo": "a/fo.candgen",
        "x": "b/fo.candgen",
    }
    for bad, said in (
        (["fo.candgen", "b/fo.candgen"], "have the same name 'fo'"),
        (["x="], "names no folder"),
        (["a b.candgen"], "needs a name"),
    ):
        with pytest.raises(candgen.CandgenError, match=said):
            name_indexes(bad)


def test_the_key_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("CANDGEN_API_KEY", raising=False)
    assert read_key(None) is None
    monkeypatch.setenv("CANDGEN_API_KEY", "from-the-environment")
    assert read_key(None) == "from-the-environment"
    (tmp_path / "key").write_text("from-a-file\n", encoding="utf-8")
    assert read_key(tmp_path / "key") == "from-a-file"
    for bad in ("", "short", "with space in it", "ключ-ключ-ключ"):
        (tmp_path / "key").write_text(bad, encoding="utf-8")
        with pytest.raises(candgen.CandgenError, match="at least 8 printable ASCII characters"):
            read_key(tmp_path / "key")
    with pytest.raises(candgen.CandgenError, match="cannot be read"):
        read_key(tmp_path / "none")


@pytest.mark.skipif(os.name != "posix", reason="needs a Unix")
def test_a_key_that_others_can_read(tmp_path):
    key = tmp_path / "key"
    key.write_text("from-a-file\n", encoding="utf-8")
    for mode, exposed in ((0o600, False), (0o400, False), (0o640, True), (0o604, True)):
        key.chmod(mode)
        assert is_key_file_exposed(key) is exposed
    assert not is_key_file_exposed(None)
