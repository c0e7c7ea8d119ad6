"""Real pages, judged by mwparserfromhell: the targets of their links, page by page.

Where it and we are known to differ, and who does what MediaWiki does:

| difference | example | who is right |
|---|---|---|
| gallery | ``<gallery>x.jpg|[[a]]</gallery>`` | we: captions are wikitext |
| includeonly | ``<includeonly>[[a]]</includeonly>`` | we: that is not on the page itself |
| link around links | ``[[a|b [[c]] d]]`` | we: only the inner one becomes a link |
| address | ``[[http://example.org]]`` | both: it sees none, and we count one that is not legal |

Everything else that differs counts against us.
"""

import re
from collections import Counter
from typing import NamedTuple

import mwparserfromhell
import pytest

from candgen.wikipedia.markup.anchors import prepare
from candgen.wikipedia.markup.links import LinkReader
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.titles import Titles
from tests.support.wikitext_cases import site_of
from tests.support.wikitext_pages import DUMPS, dump

SAMPLE = {"mr": 5, "el": 8, "hy": 10, "fo": 1}
"""One page of so many is looked at; all of them take more than a minute."""

CAPTIONED = re.compile(r"<(gallery|imagemap)\b[^>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
INCLUDE_ONLY = re.compile(r"<includeonly>(.*?)(?:</includeonly>|\Z)", re.DOTALL)
ADDRESS = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)


class Judge:
    """Compares what two readers find on the pages of a wiki."""

    def __init__(self, site):
        self.reader, self.titles = LinkReader(site), Titles(site)

    def ours(self, text):
        return [target_of(raw) for raw in self.reader.raw_links(text.encode())]

    def theirs(self, text):
        code = mwparserfromhell.parse(text, skip_style_tags=True)
        return [prepare(str(link.title)) for link in code.ifilter_wikilinks()]

    def around_links(self, text):
        """Targets of links that have links inside and are no images."""
        code = mwparserfromhell.parse(text, skip_style_tags=True)
        for link in code.ifilter_wikilinks():
            inside = str(link.text or "")
            if "[[" in inside and self.reader.read(f"[[{link.title}|".encode()) != Reason.IMAGE:
                yield prepare(str(link.title))

    def normalised(self, targets):
        return Counter(
            "a template" if "{{" in target else self.titles.parse(target) for target in targets
        )

    def compare(self, text):
        ours, theirs = self.ours(text), self.theirs(text)
        found, expected = self.normalised(ours), self.normalised(theirs)
        known = Counter()
        only_ours, only_theirs = found - expected, expected - found
        for name, targets in self.known_to_us(text, ours) if only_ours else ():
            explained = only_ours & self.normalised(targets)
            only_ours -= explained
            known[name] += explained.total()
        for name, targets in self.known_to_them(text) if only_theirs else ():
            explained = only_theirs & self.normalised(targets)
            only_theirs -= explained
            known[name] += explained.total()
        return Comparison((found | expected).total(), only_ours, only_theirs, known)

    def known_to_us(self, text, ours):
        captions = "\n".join(found[2] for found in CAPTIONED.finditer(text))
        yield "gallery", self.ours(captions)
        yield "address", filter(ADDRESS.match, ours)

    def known_to_them(self, text):
        yield "includeonly", self.theirs("\n".join(INCLUDE_ONLY.findall(text)))
        yield "link around links", self.around_links(text)


class Comparison(NamedTuple):
    links: int
    only_ours: Counter
    only_theirs: Counter
    known: Counter

    @property
    def unknown(self):
        return self.only_ours.total() + self.only_theirs.total()


def target_of(raw):
    inside = prepare(raw.decode()).partition("[[")[2]
    return (inside.rpartition("]]")[0] or inside).partition("|")[0]


EXAMPLES = {
    "gallery": "<gallery>\nx.jpg|[[a]]\n</gallery>",
    "includeonly": "<includeonly>[[a]]</includeonly>",
    "link around links": "[[a|b [[c]] d]]",
    "address": "[[http://example.org]]",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_known_difference_is_one(name):
    comparison = Judge(site_of("fo")).compare(EXAMPLES[name])
    assert +comparison.known == {name: 1}
    assert comparison.unknown == 0
    assert f"| {name} |" in __doc__


def test_a_difference_that_is_not_known_is_found():
    judge = Judge(site_of("fo"))
    judge.theirs = lambda text: ["b"] if text else []
    assert judge.compare("[[a]]").unknown == 2


def test_targets_agree_on_real_pages(shared_data):
    links, unknown, known, odd = 0, 0, Counter(), []
    for language in DUMPS:
        site, pages = dump(shared_data, language)
        judge = Judge(site)
        for page in pages[:: SAMPLE[language]]:
            comparison = judge.compare(page.text)
            links += comparison.links
            known += comparison.known
            unknown += comparison.unknown
            if comparison.unknown:
                odd.append((page.title, comparison))
    assert links > 20_000
    assert known.total() <= 0.01 * links
    assert unknown <= 0.002 * (links - known.total()), odd[:20]
