"""The site that is made of docs/: it builds, is whole, and asks nobody else for anything."""

import importlib.util
import json
import posixpath
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
    """Every page of the site, by its path."""
    return {
        path.relative_to(site).as_posix(): Fetched(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


def at(page, link):
    """Return the path in the site to which a link of a page leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) if link else page


def prose(path):
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def test_every_page_is_there(built):
    assert {path.with_suffix(".html").name for path in PAGES} <= set(built)
    assert {"index.html", "tutorial.html", "cli.html", "api.html", "search.html"} <= set(built)
    assert "results/README.html" in built


def test_links_between_pages_lead_somewhere(site, built):
    for name, page in built.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = unquote(link).partition("#")
            target = at(name, path)
            assert (site / target).is_file(), f"{name}: {link}"
            if place and target in built:
                assert place in built[target].places, f"{name}: {link}"


def test_nothing_comes_from_elsewhere(site, built):
    for name, page in built.items():
        for address in page.loaded:
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{name}: {address}"
            assert (site / at(name, address.partition("?")[0])).is_file(), f"{name}: {address}"
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
                place = f'"cmdoption-candgen-{name}-{option.lstrip("-")}"'
                assert (place in text) != parameter.hidden, (name, option)


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
        for script in re.findall(r"\b(?:benchmarks|tests)/[\w/]+\.py\b", path.read_text("utf-8")):
            assert (ROOT / script).is_file(), f"{path.name}: {script}"


def test_search_knows_the_words_of_the_pages(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")  # a script: it works without a server too
    for word in ("reconcil", "romanis", "candgen"):
        assert word in index


SEARCHED = {
    "timeout": "timeout",
    "fuzzy matching": "fuzzi",
    "edit distance": "edit",
    "transliteration": "transliter",
    "held-out": "held",
    "deterministic": "determinist",
    "random seed": "seed",
}
"""Standard terms that users search for, and the stems by which Sphinx's search knows them."""


@pytest.mark.parametrize("term", SEARCHED)
def test_a_standard_term_is_in_the_glossary_and_leads_to_a_page(term, site):
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    _, _, asked = glossary.partition("## Looking for another word?")
    (row,) = (line for line in asked.splitlines() if line.startswith("|") and term in line)
    assert re.search(r"\]\(\w+\.md\) \|$", row)
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    pages, stems = _value(index, "docnames"), _value(index, "terms")
    found = stems[SEARCHED[term]]
    assert pages.index("glossary") in (found if isinstance(found, list) else [found])


def _value(index, key):
    """Return one entry of Sphinx's search index."""
    start = index.index(f'"{key}":') + len(f'"{key}":')
    return json.JSONDecoder().raw_decode(index, start)[0]


def test_every_word_of_the_glossary_has_one_row():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    meanings, _, _ = glossary.partition("## Looking for another word?")
    words = re.findall(r"^\| ((?!word |--)[^|]+) \|", meanings, re.MULTILINE)
    assert len(words) > 60
    assert len(set(words)) == len(words)


def test_the_first_page_has_the_install_line_an_example_and_the_picture(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "pip<span" in text or "pip install" in text
    assert 'class="highlight-python' in text
    assert re.search(r'<img [^>]*src="_images/page\.png"', text)


LEAST = 4.5
"""The contrast that the Web Content Accessibility Guidelines ask of text (level AA)."""


def luminance(colour):
    """Return the relative luminance of #rrggbb or #rgb."""
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Return the contrast ratio of two colours, from 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_can_be_read(theme, site):
    style = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    start = {"light": r"^", "dark": r'^body\[data-theme="dark"\] '}[theme]
    rules = dict(re.findall(start + r"\.highlight ?([^{]*?) ?\{([^}]*)\}", style, re.MULTILINE))
    ground = re.search(r"background: (#\w+)", rules[""])[1]
    coloured = 0
    for token, rule in rules.items():
        colour = re.search(r"(?<![-\w])color: (#\w+)", rule)
        behind = re.search(r"background-color: (#\w+)", rule)
        if colour:
            coloured += 1
            assert contrast(colour[1], behind[1] if behind else ground) >= LEAST, (token, rule)
    assert coloured > 20
