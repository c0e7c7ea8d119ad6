"""The real pages that wikitext is judged on, read without our reader of dumps."""

import bz2
import html
import re
from functools import cache
from typing import NamedTuple

from candgen.wikipedia.markup.site import Site

PAGE = re.compile(r"<title>(.*?)</title>.*?<text[^>]*>(.*?)</text>", re.DOTALL)
DUMPS = {
    "mr": "mrwiki-202305-first100k-lines.xml.bz2",
    "el": "elwiki-202305-first100k-lines.xml.bz2",
    "hy": "hywiki-202305-first100k-lines.xml.bz2",
    "fo": "fowiki-two-pages.xml.bz2",
}


class Page(NamedTuple):
    title: str
    text: str


@cache
def dump(folder, language):
    """The wiki, and the pages of its dump as plain wikitext."""
    xml = bz2.decompress((folder / "dumps" / DUMPS[language]).read_bytes()).decode()
    header, _, rest = xml.partition("</siteinfo>")
    found = (PAGE.search(page) for page in rest.split("<page>")[1:])
    pages = [Page(*map(html.unescape, page.groups())) for page in found if page]
    return Site.from_xml(f"{header}</siteinfo>".encode()), pages
