"""HTML previews of entities for OpenRefine."""

import html
from base64 import b64encode
from hashlib import sha256
from urllib.parse import quote

from candgen.service.loaded_index import EntityView, LoadedIndex

WIKIDATA = "https://www.wikidata.org/wiki/"
SIZE = {"width": 420, "height": 260}
MAX_NAMES = 12


def entity_html(loaded: LoadedIndex, entity: str, view: EntityView) -> str:
    """Return name, id, description, types and names in all languages as escaped HTML."""
    text = html.escape
    link = text(entity)
    if loaded.wikidata:
        address = text(WIKIDATA + quote(entity, safe=""))
        link = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{link}</a>'
    languages_of: dict[str, list[str]] = {}
    for row in loaded.describe(entity)[0]:
        if row.name and row.language not in languages_of.setdefault(row.name, []):
            languages_of[row.name].append(row.language)
    names = "".join(
        f"<li><bdi>{text(name)}</bdi> <small>{text(', '.join(filter(None, codes)))}</small></li>"
        for name, codes in list(languages_of.items())[:MAX_NAMES]
    )
    types = ", ".join(
        text(each["name"]) for each in loaded.view_types(view) if each["id"] != loaded.any_type
    )
    return (
        f"<h1><bdi>{text(view.name)}</bdi> <small>{link}</small></h1>"
        f"{f'<p>{text(view.description)}</p>' if view.description else ''}"
        f"{f'<p><em>{types}</em></p>' if types else ''}<ul>{names}</ul>"
    )


def page_html(loaded: LoadedIndex, entity: str, body: str) -> str:
    """Return a complete HTML page with the HTML of an entity."""
    language = html.escape(loaded.language or "en")
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f"<title>{html.escape(entity)}</title><style>{_STYLE}</style>{body}</html>"
    )


_STYLE = (
    "body,ul{margin:0;padding:0}body{font:14px/1.4 system-ui,sans-serif;padding:12px}"
    "h1{font-size:17px;margin:0 0 6px}p{margin:4px 0}li{display:inline-block;margin:2px 12px 2px 0}"
    "small{color:#555;font-weight:normal}"
    "@media(prefers-color-scheme:dark){body{background:#16181d;color:#e8e8e8}"
    "small{color:#aaa}a{color:#8ab4f8}}"
)
POLICY = "default-src 'none'; style-src '{hash}'; frame-ancestors *".format(
    hash=f"sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}"
)
"""Allows only this style; any page may embed the preview, as OpenRefine does."""
