"""Hostile dumps: every one gives a table or one sentence, in time, in memory, and leaves nothing.

Inputs are drawn with seeds, so that a failure can be repeated; each test prints which one failed.
"""

import bz2
import contextlib
import gzip
import json
import multiprocessing
import os
import random
import signal

import pytest

from candgen.errors import CandgenError
from candgen.wikidata.extract import extract_wikidata
from candgen.wikidata.names import Selection
from candgen.wikipedia.extract import Options, Sources, extract
from candgen.wikipedia.sql import read_langlinks, read_page_entities, read_redirects
from tests.support import faroese_wiki, sql_dumps, wikidata_world
from tests.support.dumps import (
    END,
    WrittenPage,
    dump_xml,
    header_xml,
    multistream,
    page_xml,
    pieces,
)

SECONDS = 60  # for one small input; a tenth of a second is usual
SEEDS = range(6)
EACH = 50  # inputs of a seed


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """What survives a power cut is not tested here, and takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@contextlib.contextmanager
def in_time(what):
    """Fail if the block takes too long."""

    def fail(_signal, _frame):
        raise AssertionError(f"{what} took longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(what, call, folder):
    """Call; return the result, or None if it was refused. Nothing may be left but what it says."""
    result = None
    try:
        with in_time(what):
            result = call()
    except CandgenError as error:
        assert str(error), what
        assert "\n" not in str(error), what
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    hidden = [path.name for path in folder.rglob(".*") if path.is_file() or result is not None]
    assert not [name for name in hidden if result is not None or name.startswith(".candgen")], what
    assert multiprocessing.active_children() == [], what
    return result


def mutated(data, dice, tokens):
    """Bytes with pieces taken out, doubled, moved, flipped, or replaced by tokens."""
    for _ in range(dice.randint(1, 6)):
        start = dice.randrange(len(data) + 1)
        end = min(len(data), start + dice.choice((0, 0, 1, 4, 30, 400)))
        other = dice.randrange(len(data) + 1)
        flipped = bytes(byte ^ 1 << dice.randrange(8) for byte in data[start:end])
        new = dice.choice(
            (b"", flipped, data[start:end] * 2, data[other : other + 60], dice.choice(tokens))
        )
        data = data[:start] + new + data[end:]
    return data[: dice.randrange(len(data) + 1)] if dice.random() < 0.1 else data


# Compressed streams

STREAMS = {
    ".bz2": multistream(pieces(faroese_wiki.PAGES, together=3)),
    ".gz": b"".join(gzip.compress(piece) for piece in pieces(faroese_wiki.PAGES, together=3)),
}
MAGICS = [b"BZh91AY&SY", b"BZh0", b"\x17\x72\x45\x38\x50\x90", b"\x1f\x8b\x08", b"\0" * 64, b"\xff"]


@pytest.mark.parametrize("suffix", STREAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_streams(suffix, seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    path = tmp_path / f"fo.xml{suffix}"
    for number in range(EACH):
        path.write_bytes(mutated(STREAMS[suffix], dice, [*MAGICS, STREAMS[suffix]]) or b"x")
        report = check(
            f"seed {seed}, input {number}", lambda: extract(path, tmp_path / "fo.parquet"), tmp_path
        )
        assert report is None or report.adds_up


# XML

XML = dump_xml(faroese_wiki.PAGES)
XML_TOKENS = """<page> </page> <title> </title> <text> </text> <text/> <revision> </revision> <ns>
</ns> <ns>99999999999</ns> <ns>-</ns> <id>99999999999999999999</id> <id>x</id> <redirect~title="
<redirect~title="fo:fo:fo:x"/> <![CDATA[ ]]> <!-- --> <?x ?> & &amp; &lt; &#0; &#x1b; &#99999999;
&nbsp; &l9; " ' <mediawiki> </mediawiki> <siteinfo> </siteinfo> <a:b> xmlns="x" \0 \x1b[31m \x85
\r \t \ufffe \ud7ff <!DOCTYPE~a[<!ENTITY~l9~"&l9;">]> <namespace~key="0">x:y</namespace>
<namespace~key="-9">..</namespace> <case>case-sensitive</case> <model>css</model>"""
XML_TOKENS = [token.replace("~", " ").encode() for token in XML_TOKENS.split()]
XML_TOKENS += [b"\xff\xfe", b"\xed\xa0\x80", b"<text " + b'a="b" ' * 99, b"<a>" * 999]


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_xml(seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    path = tmp_path / "fo.xml"
    options = Options(titles=True, redirect_titles=True)
    for number in range(EACH):
        path.write_bytes(mutated(XML, dice, XML_TOKENS) or b"x")
        report = check(
            f"seed {seed}, input {number}",
            lambda: extract(path, tmp_path / "fo.parquet", options=options),
            tmp_path,
        )
        assert report is None or report.adds_up


ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(12))
HEADERS = {
    "billion laughs": f"<!DOCTYPE mediawiki [{ENTITIES}]>".encode()
    + header_xml(name="N").replace(b"<sitename>N", b"<sitename>&l11;"),
    "a file": b'<!DOCTYPE mediawiki [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    + header_xml(name="N").replace(b"<sitename>N", b"<sitename>&f;"),
    "patterns": header_xml(namespaces={4: "(a+)+$", 6: "[", 10: "\\", 14: "*"}),
    "paths": header_xml(wiki="../../etc/passwd", namespaces={4: "../..", 6: "/etc"}),
    "escapes": header_xml(wiki="\x9b31mwiki", name="\x9b2J", namespaces={6: "\x9b"}),
    "deep": b"<mediawiki><siteinfo>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</siteinfo>",
    "no language": header_xml(language="", wiki=""),
    "numbers": header_xml(namespaces={10**8: "a", -(10**8): "b"}),
    "long": header_xml(wiki="a" * 100_000, name="b" * 100_000, namespaces={4: "\u0301" * 100_000}),
}


@pytest.mark.parametrize("what", HEADERS)
def test_headers(what, cli, tmp_path, tried):
    tried("dumps")
    (tmp_path / "in").mkdir()
    page = page_xml(
        WrittenPage("A", "[[b]] [[(a+)+$:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!]] [[../..:x]]")
    )
    (tmp_path / "in" / "x.xml").write_bytes(HEADERS[what] + page + END)
    with in_time(what):
        dump = tmp_path / "in" / "x.xml"
        done = cli("extract", "is", "--dump", dump, "-o", tmp_path / "fo.parquet")
    assert done.status in (0, 2)
    assert not [c for c in done.out + done.err if (c < " " and c != "\n") or "\x7f" <= c < "\xa0"]
    assert "root:" not in done.out + done.err
    made = {path.name for path in tmp_path.iterdir()} - {"in"}
    assert made == ({"fo.parquet", "fo.report.json"} if done.status == 0 else set())


# Wikitext

WIKI_TOKENS = """[ [[ [[[ ] ]] ]]] { {{ {{{ } }} }}} {| |} | : # % & ' ''' < > <!-- --> <nowiki>
</nowiki> <nowiki/> <ref> </ref> <ref/> <math> </math> <pre> <br> <includeonly> [[a| [[a|b]]
[[:en:x]] [[File:x| [[fo:fo:a]] [[Kjak: [[a#( [[%41%zz]] [http://x~y] -{zh:a;b:c}- &amp; &#39;
&#x110000; ../ \u0301 \u0323 \u200e \u3000 \ufeff \0 \x1b[2J {{!}} #REDIRECT #TILVÍSING [[a~(b)|]]
[[a,~b|]] a é 字"""
WIKI_TOKENS = [token.replace("~", " ") for token in WIKI_TOKENS.split()] + ["\n", "\n{|\n", "\t"]


def hostile_text(dice):
    """Tokens in any order, some of them many times, some nested deeply."""
    text = ""
    for _ in range(dice.randint(1, 12)):
        token, other = dice.choice(WIKI_TOKENS), dice.choice(WIKI_TOKENS)
        times = dice.choice((1, 1, 2, 30, 2000))
        text += dice.choice((token * times, (token + other) * times, token * times + other * times))
    return text


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_wikitext(seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    titles = [dice.choice((f"S{n}", hostile_text(dice)[:300])) or "x" for n in range(EACH)]
    pages = [WrittenPage(title, hostile_text(dice)) for title in titles]
    (tmp_path / "fo.xml").write_bytes(dump_xml(pages))
    switches = {name: dice.random() < 0.5 for name in ("templates", "refs", "tables", "titles")}
    report = check(
        f"seed {seed}",
        lambda: extract(tmp_path / "fo.xml", tmp_path / "fo.parquet", options=Options(**switches)),
        tmp_path,
    )
    assert report.adds_up
    assert report.statistics.pages["read"] + report.statistics.pages["bad"] == EACH


# Tables of the database

SQL = {
    "page_props": (sql_dumps.PAGE_PROPS, read_page_entities),
    "redirect": (sql_dumps.REDIRECT, read_redirects),
    "langlinks": (sql_dumps.LANGLINKS, lambda path: read_langlinks(path, "is")),
}
SQL_TOKENS = """' '' \\ \\' \\\\ " ` ( ) , ; ); ), ,( (1 /* */ -- # NULL 0x 0xzz -1 1e999 1e-999 -0
99999999999999999999 9223372036854775808 -9223372036854775809 1.5.5 INSERT~INTO~`x`~VALUES~(1)
CREATE~TABLE~`x`~(`a`~int); CREATE~TABLE~`redirect`~( REPLACE INTO VALUES _binary~'a' _utf8 DROP
UNLOCK~TABLES; wikibase_item Q99999999999999999999 \0 \xff"""
SQL_TOKENS = [token.replace("~", " ").encode("latin-1") for token in SQL_TOKENS.split()]
SQL_TOKENS += [b"''" * 2000, b"\\'" * 2000, b" " * 5000, b"(" * 5000, b"9" * 5000, b"\n"]


@pytest.mark.parametrize("table", SQL)
@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_sql(table, seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    text, read = SQL[table]
    for number in range(EACH):
        data = mutated(text, dice, SQL_TOKENS)
        path = tmp_path / dice.choice(("x.sql", "x.sql.gz", "x.sql.bz2"))
        packed = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)(data)
        path.write_bytes(mutated(packed, dice, MAGICS) if dice.random() < 0.3 else packed)
        check(f"{table}, seed {seed}, input {number}", lambda path=path: read(path), tmp_path)


# Siteinfo

VALUES = [None, True, -1, 10**30, 1.5, "", "x:y", "[" * 5000, "a\u0301\u0323" * 5000, [], {}, [[]]]
VALUES += ["\\x{0}-\\x{10FFFF}", "/^([a-z]+)(.*)$/", "/^(((((", "\x1b[31m", {"id": 4, "*": "x"}]


def hostile_json(dice, depth=0):
    """Values under the names that siteinfo has, of any type."""
    if depth > 3 or dice.random() < 0.3:
        return dice.choice(VALUES)
    names = ("query", "general", "namespaces", "namespacealiases", "interwikimap", "magicwords")
    names += ("linktrail", "linkprefixcharset", "id", "*", "alias", "prefix", "name", "aliases")
    made = {dice.choice(names): hostile_json(dice, depth + 1) for _ in range(dice.randint(0, 5))}
    return list(made.values()) if dice.random() < 0.3 else made


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_siteinfo(seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    (tmp_path / "fo.xml").write_bytes(XML)
    path = tmp_path / "siteinfo.json"
    for number in range(EACH):
        made = {"query": hostile_json(dice)} if dice.random() < 0.8 else hostile_json(dice)
        data = json.dumps(made).encode()
        path.write_bytes(mutated(data, dice, [b"[" * 99_999, b"\xff"]) if number % 5 == 0 else data)
        sources = Sources((str(tmp_path / "fo.xml"),), siteinfo=path)
        what = f"seed {seed}, input {number}"
        check(what, lambda sources=sources: extract(sources, tmp_path / "fo.parquet"), tmp_path)


# Wikidata

JSON_TOKENS = """{ } [ ] , : " null true -1 1e999 0.5 99999999999999999999 "id" "Q0" "Q1" "P31"
"\\ud800" "\\u0000" "labels":[] "labels":{} "aliases":{"fo":{}} "claims":[{}] "type":[]
"modified":{} ]} },{ \\" "numeric-id":{} "numeric-id":1e9 "language" NaN Infinity"""
JSON_TOKENS = [token.encode() for token in JSON_TOKENS.split()]
JSON_TOKENS += [b"[" * 5000, b'{"a":' * 5000, b"9" * 5000, b"\n", b"\xff", b"\0", b"\xef\xbb\xbf"]


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_wikidata(seed, tmp_path, tried):
    tried("dumps", EACH)
    dice = random.Random(seed)
    text = wikidata_world.dump_of([*wikidata_world.FULL, *wikidata_world.OTHERS])
    selection = Selection(languages=("fo", "en"), mul=True)
    for number in range(EACH):
        data = mutated(text, dice, JSON_TOKENS)
        pack = dice.choice((bytes, gzip.compress, bz2.compress))
        path = tmp_path / "dump.json"
        path.write_bytes(pack(data) or b"x")
        check(
            f"seed {seed}, input {number}",
            lambda path=path: extract_wikidata(path, tmp_path / "out", selection=selection),
            tmp_path,
        )
