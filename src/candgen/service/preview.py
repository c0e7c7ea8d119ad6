"""An entity as a small page, or a piece of one: what people see of it in OpenRefine."""

import html
from base64 import b64encode
from hashlib import sha256
from urllib.parse import quote

from candgen.service.loaded_index import Opened, Shown

WIKIDATA = "https://www.wikidata.org/wiki/"
SIZE = {"width": 420, "height": 260}


def entity_html(opened: Opened, entity: str, shown: Shown) -> str:
    """Name, id, description, types, and the names in all languages; everything escaped."""
    text = html.escape
    link = text(entity)
    if opened.wikidata:
        address = text(WIKIDATA + quote(entity, safe=""))
        link = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{link}</a>'
    languages_of: dict[str, list[str]] = {}
    for row in opened.names(entity):
        if row.name and row.language not in languages_of.setdefault(row.name, []):
            languages_of[row.name].append(row.language)
    names = "".join(
        f"<li><bdi>{text(name)}</bdi> <small>{text(', '.join(filter(None, codes)))}</small></li>"
        for name, codes in list(languages_of.items())[:12]
    )
    types = ", ".join(
        text(opened.type(each).name) for each in shown.types if each != opened.any_type
    )
    return (
        f"<h1><bdi>{text(shown.name)}</bdi> <small>{link}</small></h1>"
        f"{f'<p>{text(shown.description)}</p>' if shown.description else ''}"
        f"{f'<p><em>{types}</em></p>' if types else ''}<ul>{names}</ul>"
    )


def page(opened: Opened, entity: str, body: str) -> str:
    """HTML that shows an entity, as a page of its own."""
    language = html.escape(opened.language or "en")
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
"""Nothing but this very style; any page may show it inside itself, as OpenRefine does."""
