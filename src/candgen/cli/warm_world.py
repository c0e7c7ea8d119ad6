"""A synthetic world of names, as tables and dumps, on which ``candgen warm`` runs commands."""

import bz2
import gzip
import itertools
import json
from pathlib import Path

ENDINGS = {"fo": "", "is": "ur", "da": "e", "no": "en", "en": "y"}
"""The languages, and what names end in."""
SYLLABLES = ("ha", "vi", "tór", "nes", "fjø", "ey", "gar")
HEAD = """<mediawiki version="0.11" xml:lang="fo"><siteinfo><sitename>Wikipedia</sitename>
<dbname>fowiki</dbname><case>first-letter</case><namespaces>
<namespace key="0" case="first-letter" /><namespace key="6" case="first-letter">Mynd</namespace>
<namespace key="14" case="first-letter">Bólkur</namespace></namespaces></siteinfo>
"""
PAGE = """  <page><title>{title}</title><ns>0</ns><id>{number}</id>{redirect}
    <revision><model>wikitext</model><text bytes="1">{text}</text></revision></page>
"""
TEXT = """&lt;!-- x --&gt;''{0}'' [[{1}]], [[{2}|{0}]]um, [[Mynd:x.jpg|[[{1}]]]] {{{{x|[[{2}]]}}}}
{{| \n| [[{1}|a]]\n|}} &lt;ref&gt;[[{2}]]&lt;/ref&gt; &lt;nowiki&gt;[[x]]&lt;/nowiki&gt; &amp;amp;
[[Bólkur:{0}]] [[:en:{1}]] [https://example.org {2}]
"""
PAGE_PROPS = """CREATE TABLE `page_props` (
  `pp_page` int(11) NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL
) ENGINE=InnoDB;
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q1'),(2,'wikibase_item','Q2');
"""


def write_world(folder: Path) -> None:
    """Write mention tables, names without entities, and dumps of Wikipedia and Wikidata."""
    stems = ["".join(each).capitalize() for each in itertools.permutations(SYLLABLES, 2)]
    tables = folder / "tables"
    tables.mkdir()
    for language, ending in ENDINGS.items():
        rows = [
            f"{stem}{ending}{more}\tQ{number}\t{number}\n"
            for number, stem in enumerate(stems, start=1)
            for more in ("", "rin")
        ]
        text = "".join(["mention\tentity\tcount\n", *rows])
        for place in (folder, tables):
            (place / f"{language}.tsv").write_text(text, encoding="utf-8")
    (folder / "fo.txt").write_text("\n".join(stems) + "\n", encoding="utf-8")
    dump = _wikipedia(stems).encode()
    (folder / "wiki.xml").write_bytes(dump)
    (folder / "wiki.xml.bz2").write_bytes(bz2.compress(dump))
    (folder / "page_props.sql.gz").write_bytes(gzip.compress(PAGE_PROPS.encode()))
    (folder / "wikidata.json.bz2").write_bytes(bz2.compress(_wikidata(stems).encode()))


def _wikipedia(titles: list[str]) -> str:
    """Return a dump whose pages link to the next ones; the last is a redirect."""
    around = [*titles, *titles]
    pages = [
        PAGE.format(title=title, number=at + 1, redirect="", text=TEXT.format(*around[at : at + 3]))
        for at, title in enumerate(titles)
    ]
    redirect = f'<redirect title="{titles[0]}" />'
    text = f"#REDIRECT [[{titles[0]}]]"
    pages.append(PAGE.format(title="Wien", number=len(titles) + 1, redirect=redirect, text=text))
    return f"{HEAD}{''.join(pages)}</mediawiki>\n"


def _wikidata(names: list[str]) -> str:
    """Return a dump with an item for each name."""
    items = [
        {"type": "item", "id": f"Q{at}", "labels": {"fo": {"language": "fo", "value": name}}}
        for at, name in enumerate(names, start=1)
    ]
    return "[\n" + ",\n".join(map(json.dumps, items)) + "\n]\n"
