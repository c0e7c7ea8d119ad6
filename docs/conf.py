"""Sphinx's configuration for the site that ``make docs`` builds of these pages."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

from command_reference import command_reference

from candgen.storage.versions import version as installed_version

project = "candgen"
author = "The candgen developers"
version = release = installed_version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
smartquotes = False  # they would make a dash of the -- of an option
default_role = "literal"
highlight_language = "text"

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
add_module_names = False
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "candgen"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
pygments_style = "a11y-light"  # furo brings both; a test measures the contrast of their colours
pygments_dark_style = "a11y-high-contrast-dark"


def _fill_in(_app: Sphinx, page: str, source: list[str]) -> None:
    """Insert the reference of the commands into cli.md."""
    if page == "cli":
        source[0] = source[0].replace("<!-- commands -->", command_reference())


def _keep_formulas(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Show indented lines of docstrings, which are formulas, as literal blocks."""
    text = "\n".join(lines)
    lines[:] = re.sub(r"(?<=\n\n)(?=    \S)", "::\n\n", text).split("\n")


def _skip_fields(
    _app: Sphinx, _what: str, _name: str, member: object, _skipped: object, _options: object
) -> bool | None:
    """Leave out the fields of named tuples, which their signatures list."""
    return True if str(member.__doc__).startswith("Alias for field") else None


def setup(app: Sphinx) -> None:
    """Connect the functions above; Sphinx calls this."""
    app.connect("source-read", _fill_in)
    app.connect("autodoc-process-docstring", _keep_formulas)
    app.connect("autodoc-skip-member", _skip_fields)
