"""Settings of the service: names of indexes, API key, environment of the workers."""

import os

import pytest

import candgen
from candgen.service.settings import Limits, Settings, name_indexes, read_key


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


def test_settings_reach_a_worker_as_they_are(monkeypatch):
    monkeypatch.delenv("CANDGEN_API_KEY", raising=False)
    monkeypatch.setenv("CANDGEN_SERVICE", "")
    settings = Settings(
        {"fo": "x"}, Limits(body=3, work_timeout=0.5), 0.7, "https://x", "k" * 9, log=False
    )
    monkeypatch.setenv("CANDGEN_API_KEY", "")
    settings.to_environment()
    assert "k" * 9 not in os.environ["CANDGEN_SERVICE"]
    assert Settings.from_environment() == settings
