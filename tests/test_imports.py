"""Optional packages are imported by one file each; the documented layers are the checked ones."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "candgen"
OPTIONAL = {
    "babel": ["integrations/cldr.py"],
    "epitran": ["text/ipa.py"],
    "fastapi": ["service/*.py"],
    "lang2vec": [],  # integrations/uriel.py reads its data, without an import
    "matplotlib": ["reporting/plot.py"],
    "prometheus_client": ["service/metrics.py"],
    "pydantic": ["service/*.py"],
    "pydantic_core": ["service/*.py"],
    "pyspark": ["wikipedia/spark/extract.py"],
    "spacy": ["integrations/spacy.py"],
    "srsly": ["integrations/spacy.py"],
    "starlette": ["service/*.py"],
    "torch": ["generators/neural/encoders.py"],
    "uvicorn": ["service/server.py", "service/connections.py"],
}
"""The files that may import each optional package."""


def imported_packages(text):
    """Return the top-level packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


IMPORTS = {path: imported_packages(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


@pytest.mark.parametrize("package", OPTIONAL)
def test_optional_packages_are_imported_in_one_place(package):
    allowed = {path for pattern in OPTIONAL[package] for path in SOURCE.glob(pattern)}
    importing = {path for path, packages in IMPORTS.items() if package in packages}
    assert importing <= allowed
    assert bool(importing) == bool(OPTIONAL[package]), "the list is out of date"


def test_imports_are_found_wherever_they_stand():
    text = "import a.b, c\ndef f():\n    from d.e import g\n    from . import h\n"
    assert imported_packages(text) == {"a", "c", "d"}


def test_the_layers_of_the_design_page_are_those_that_are_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (each for each in settings["contracts"] if each["type"] == "layers")
    checked = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    shown = [
        re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| \d+ \| .*$", page, re.MULTILINE)
    ]
    assert [set(layer) for layer in shown] == [set(layer) - {"__main__"} for layer in checked]
