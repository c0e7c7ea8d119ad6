"""Whatever a page holds: the fast reader agrees with the slow one, never raises, stays linear."""

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from candgen.wikipedia.markup.links import Link, LinkReader
from candgen.wikipedia.markup.reasons import Reason
from tests.support import wikitext_oracle
from tests.support.wikitext_cases import CASES, site_of
from tests.support.wikitext_pages import DUMPS, dump

PLAIN, PREFIXES = site_of("fo"), site_of("ar")
READER = LinkReader(PLAIN)

TOKENS = """
[ [[ [[[ ] ]] ]]] { {{ {{{ } }} }}} {| |} | | || : a b File:x Ð é ' '' ''' & &amp; &#39; # % %20 _
[[a]] [[a|b]] [[File:x|thumb| [[: {{!}} {{=}} {{t|}} [http://x y] <br> < > / <b> </b>
<!-- --> <!-- <nowiki> </nowiki> <nowiki/> <pre> </pre> <math> </math> <ref> </ref> <ref/>
<ref\tname=a> </REF > <includeonly> </includeonly> <NoWiki > <syntaxhighlight\tlang=x>
""".replace("\t", "~").split()
TOKENS = [token.replace("~", " ") for token in TOKENS] + [" ", "\n", "\n{|\n", "\n|}\n", "\t"]
TEXTS = st.lists(st.sampled_from(TOKENS), max_size=40).map(lambda tokens: "".join(tokens).encode())
MORE_TEXTS = TEXTS | st.binary(max_size=60) | st.text(max_size=60).map(str.encode)
SWITCHES = st.fixed_dictionaries(dict.fromkeys(("templates", "refs", "tables"), st.booleans()))


def heads_apart(reader, raws):
    """Only a reader knows which heads are those of images: the others are no links."""
    return [raw for raw in raws if not raw.endswith(b"|") or reader.read(raw) is Reason.IMAGE]


@given(MORE_TEXTS, SWITCHES, st.sampled_from([PLAIN, PREFIXES]))
@example(b"[[a|{{t|[[b]]}}]]c", {"templates": False, "refs": True, "tables": True}, PLAIN)
def test_the_kernel_finds_what_the_slow_reader_finds(text, switches, site):
    expected = wikitext_oracle.find_links(text, site.trail, site.prefix, **switches)
    reader = LinkReader(site, **switches)
    assert reader.raw_links(text) == heads_apart(reader, expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:40])
def test_the_slow_reader_knows_the_cases(case):
    site, text = site_of(case.language), case.text.encode()
    raws = wikitext_oracle.find_links(text, site.trail, site.prefix)
    reader = LinkReader(site)
    assert tuple(map(reader.read, heads_apart(reader, raws))) == case.expected


@given(MORE_TEXTS)
def test_nothing_raises_and_every_link_is_one(text):
    for link in READER.links(text):
        assert isinstance(link, Reason | Link)
        if isinstance(link, Link):
            assert link.title and link.mention == " ".join(link.mention.split()) != ""
    READER.redirect_target(text)
    READER.redirect_target(b"#REDIRECT " + text)
    READER.read(text)


def mutated(page, dice):
    """A real page with pieces taken out, doubled, moved and replaced."""
    for _ in range(dice.randint(1, 8)):
        start = dice.randrange(len(page) + 1)
        end = min(len(page), start + dice.randrange(200))
        other = dice.randrange(len(page) + 1)
        token = dice.choice(TOKENS).encode()
        new = dice.choice([b"", page[start:end] * 2, token, page[other : other + 50], b"\xff\x00"])
        page = page[:start] + new + page[end:]
    return page


@pytest.mark.parametrize("language", DUMPS)
def test_mutated_real_pages_are_read_alike(language, shared_data):
    site, pages = dump(shared_data, language)
    reader, dice = LinkReader(site), random.Random(5)
    for page in dice.sample(pages, min(25, len(pages))):
        text = mutated(page.text.encode()[:2000], dice)
        expected = wikitext_oracle.find_links(text, site.trail, site.prefix)
        assert reader.raw_links(text) == heads_apart(reader, expected)
        for link in reader.links(text):
            assert isinstance(link, Reason | Link)


REPEATED = """
[ [[ [[[ ] ]] ]]] { {{ {{{ }} {| < & ' ''' <!-- --> <!--> <nowiki> <nowiki~ </nowiki </ref~ <ref>
<ref~ <ref/> </ref> <math> <includeonly> [[a| [[a|b<!-- [[a|b<ref> [[a:b| [[a#( [[a|[http://x~
[[a|<ref~ [[a|<nowiki> [[a|''b''' {{a|[[b {{[[a|b]]]}} [[File:a|[[b]] <ref><!--</ref> [[a]]<!--x-->
[[a{{!}} &amp &#1 [[a|{{ [[] []] [[a|b]] {{[[a]]}} a' %41 ~{|~ ~|} [[a,~
"""
REPEATED = [token.replace("~", " ") for token in REPEATED.split()] + ["\n{|\n", "\n|}\n"]
REPEATED += ["a", " ", "[[{{x}}"]
WRAPPED = ("{}", "[[a|{}]]", "[[a|[http://{}]]", "#REDIRECT [[{}]]")
LIMIT = 5  # seconds; one would do, but machines have bad moments


@pytest.mark.parametrize("wrapping", WRAPPED)
@pytest.mark.parametrize("token", REPEATED)
def test_time_is_linear(token, wrapping):
    """Two megabytes of anything take little CPU time; what is quadratic takes minutes."""
    small = wrapping.format(token * (2_000 // len(token))).encode()
    text = wrapping.format(token * (2_000_000 // len(token))).encode()
    READER.links(small)
    taken = []
    for _ in range(2):
        start = time.process_time()
        for raw in set(READER.raw_links(text)):
            READER.read(raw)
        READER.redirect_target(text)
        taken.append(time.process_time() - start)
        if taken[-1] < LIMIT:
            break
    assert min(taken) < (1 if token == "[" else LIMIT)


DEEP = (
    ("{{", "}}", 1),
    ("[[a:b|", "]]", 1),
    ("{{[[a|", "]]}}", 100_000),
    ("\n{|", "\n|}", 0),
    ("[[{{x}}", "]]", 1),
)


@pytest.mark.parametrize(("opening", "closing", "number"), DEEP)
def test_depth_takes_linear_time_and_room(opening, closing, number):
    text = (opening * 100_000 + "[[c]]" + closing * 100_000).encode()
    reader = LinkReader(PLAIN, tables=False)
    start = time.process_time()
    raws = reader.raw_links(text)
    assert time.process_time() - start < LIMIT
    assert len(raws) == number
    assert sum(map(len, raws)) <= 2 * len(text)
