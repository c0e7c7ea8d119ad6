"""``candgen serve``: mistakes are one sentence before anything starts; what starts, answers."""

import os
import socket
import sys

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install 'candgen[server]'")

from candgen.storage import index_folder
from candgen.tables.entities import EntityTable
from tests.support.service_world import save_toy
from tests.support.serving import serving

ENTITIES = "entity\tlanguage\tname\tdescription\ttype\nQ282\ten\twine\t\tQ154\n"


@pytest.fixture
def index(tmp_path):
    save_toy(tmp_path / "fo.candgen")
    return tmp_path / "fo.candgen"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "missing argument"),
        (["none.candgen"], "none.candgen does not exist: build it first"),
        (["fo.candgen", "./fo.candgen"], "have the same name 'fo'"),
        (["fo.candgen", "--port", "70000"], "65535"),
        (["fo.candgen", "--workers", "0"], "workers"),
        (["fo.candgen", "--match-threshold", "2"], "match"),
        (["fo.candgen", "--max-k", "0"], "max-k"),
        (["fo.candgen", "--url", "names.example"], "expected an address such as"),
        (["fo.candgen", "--url", "http://[x/"], "expected an address such as"),
        (["fo.candgen", "--url", "https:///names"], "expected an address such as"),
        (["fo.candgen", "--allowed-host", "http://x"], "expected a host name or an address"),
        (["fo.candgen", "--allowed-host", "x:80"], "expected a host name or an address"),
        (["fo.candgen", "--max-connections", "0"], "max-connections"),
        (["fo.candgen", "--api-key-file", "none"], "the API key cannot be read from none"),
        (["fo.candgen", "--entities", "none.tsv"], "none.tsv does not exist"),
        (["fo.candgen", "--host", "256.0.0.1"], "cannot listen at 256.0.0.1"),
        (["fo.candgen", "--host", "192.0.2.1"], "cannot listen at 192.0.2.1"),
        (["fo.candgen", "--host", "a..b"], "cannot listen at a..b, port 8000: invalid address"),
        (["fo.candgen", "--work-timeout", "inf"], "the limit work_timeout is inf"),
    ],
)
def test_mistakes_are_one_sentence(cli, index, monkeypatch, arguments, said):
    monkeypatch.chdir(index.parent)
    before = sorted(each.name for each in index.iterdir())
    result = cli("serve", *arguments)
    assert result.status == 2
    assert said in result.err.lower() or said in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""
    assert sorted(each.name for each in index.iterdir()) == before


def test_a_port_that_is_taken(cli, index):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = cli("serve", index, "--port", port)
    assert result.status == 2
    assert f"port {port}: Address already in use" in result.err
    assert "--port" in result.err


def test_without_the_extra_it_says_what_to_install(cli, index, monkeypatch):
    monkeypatch.delitem(sys.modules, "candgen.service.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = cli("serve", index)
    assert result.status == 2
    assert "pip install 'candgen[server]'" in result.err


def test_it_prints_its_address_and_answers(index):
    with serving(index.parent, f"names={index}") as served:
        answer = served.ask("/api/v1/candidates?mention=V%C3%ADn&k=1")
        assert (answer.status, answer.json["index"]) == (200, "names")
        assert answer.candidates[0][0] == "Q282"
        assert {served.ask(path).status for path in ("/", "/page.css")} == {200}


def test_a_table_of_entities_is_stored_with_the_index(index, tmp_path):
    (tmp_path / "entities.tsv").write_text(ENTITIES, encoding="utf-8")
    with serving(tmp_path, index, "--entities", tmp_path / "entities.tsv") as served:
        answer = served.ask("/api/v1/candidates?mention=V%C3%ADn&k=1&details=true")
        assert answer.json["candidates"][0]["name"] == "wine"
    assert EntityTable.from_stored(index_folder.load(index)).types_of("Q282") == ["Q154"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a Unix")
def test_everything_below_the_address_can_be_in_a_proxy(index):
    with serving(index.parent, index, "--url", "https://names.example/fo") as served:
        manifest = served.ask("/reconcile").json
        assert manifest["preview"]["url"].startswith("https://names.example/fo/reconcile/preview")
