"""The site that is made of docs/: it builds, is whole, and asks nobody else for anything."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from typer.main import get_command

import candgen
from candgen.cli import app
from tests.support.documents import DOCS, PAGES, ROOT

COMMANDS = get_command(app).commands
NEEDED = ("sphinx", "myst_parser", "furo")
LOADED = {"audio": "src", "iframe": "src", "img": "src", "script": "src", "source": "src"}
"""What a browser fetches by itself, and the attribute that says from where; links apart."""


class Fetched(HTMLParser):
    """What a page makes a browser fetch, where its links lead, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("id"):
            self.places.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "link" and attributes.get("rel") not in ("index", "search", "next", "prev"):
            self.loaded.append(attributes["href"])
        if tag in LOADED and attributes.get(LOADED[tag]):
            self.loaded.append(attributes[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built with warnings as errors."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)} not installed: pip install --group docs")
    folder = tmp_path_factory.mktemp("docs")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-d",
        folder / "trees",
        DOCS,
        folder / "site",
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def built(site):
    """Every page of the site, by its name."""
    return {path.name: Fetched(path.read_text(encoding="utf-8")) for path in site.glob("*.html")}


def prose(path):
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def test_every_page_is_there(built):
    assert {path.with_suffix(".html").name for path in PAGES} <= set(built)
    assert {"index.html", "tutorial.html", "cli.html", "api.html", "search.html"} <= set(built)


def test_links_between_pages_lead_somewhere(site, built):
    for name, page in built.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = unquote(link).partition("#")
            target = path or name
            assert (site / target).is_file(), f"{name}: {link}"
            if place and target in built:
                assert place in built[target].places, f"{name}: {link}"


def test_nothing_comes_from_elsewhere(site, built):
    for name, page in built.items():
        for address in page.loaded:
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{name}: {address}"
            assert (site / address.partition("?")[0]).is_file(), f"{name}: {address}"
    for path in site.rglob("*.css"):
        style = path.read_text(encoding="utf-8")
        fetched = re.findall(r"""(?:url\(|@import\s)\s*['"]?((?:https?:)?//[^'")\s]+)""", style)
        assert fetched == [], path


def test_every_command_is_in_the_reference_with_all_that_it_takes(built, site):
    text = (site / "cli.html").read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        assert f"candgen-{name}" in built["cli.html"].places
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert f"cmdoption-candgen-{name}-{option.lstrip('-')}" in text, (name, option)


def test_every_command_is_on_a_page_that_somebody_wrote():
    pages = [ROOT / "README.md", *PAGES]
    written = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    for name in COMMANDS:
        assert re.search(rf"\bcandgen {name}\b(?!-)", written), f"no page tells of candgen {name}"


def test_every_command_has_an_example():
    for name, command in COMMANDS.items():
        assert f"  candgen {name}" in command.help, name


def test_every_public_name_has_an_entry(built):
    for name in candgen.__all__:
        assert f"candgen.{name}" in built["api.html"].places, f"docs/api.md has no {name}"
    assert "candgen.MentionTable.read" in built["api.html"].places


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_and_images_of_a_page_lead_somewhere(path):
    for target in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)", prose(path)):
        assert (path.parent / target).exists(), target


def test_benchmarks_that_pages_name_exist():
    for path in [ROOT / "README.md", *PAGES]:
        for script in re.findall(r"\b(?:benchmarks|tests)/\w+\.py\b", path.read_text("utf-8")):
            assert (ROOT / script).is_file(), f"{path.name}: {script}"


def test_search_knows_the_words_of_the_pages(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")  # a script: it works without a server too
    for word in ("reconcil", "romanis", "candgen"):
        assert word in index
