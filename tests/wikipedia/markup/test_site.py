"""What the start of a dump tells of its wiki."""

import bz2
import json
import pickle
import time

import pytest

from candgen.errors import CandgenError
from candgen.wikipedia.markup.site import Namespace, Site, normalize_name

EXPORT = "http://www.mediawiki.org/xml/export-0.11/"
GERMAN = f"""<mediawiki xmlns="{EXPORT}" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia &amp; Co</sitename>
    <dbname>dewiki</dbname>
    <base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
    <case>first-letter</case>
    <namespaces>
      <namespace case="first-letter" key="0" />
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="100" case="first-letter">Portal</namespace>
      <namespace key="2302" case="case-sensitive">Gadget-Definition</namespace>
    </namespaces>
  </siteinfo>
  <page>"""


def site_of(inside, attributes='xml:lang="fo"', **options):
    header = f"<mediawiki {attributes}><siteinfo>{inside}</siteinfo>"
    return Site.from_xml(header.encode(), **options)


REAL = {
    "elwiki-202305-first100k-lines": ("elwiki", "el", "Αρχείο", "#ανακατευθυνση", "ώ"),
    "fowiki-two-pages": ("fowiki", "fo", "Mynd", "#redirect", "ð"),
    "hywiki-202305-first100k-lines": ("hywiki", "hy", "Պատկեր", "#վերահղում", "և"),
    "mrwiki-202305-first100k-lines": ("mrwiki", "mr", "चित्र", "#पुनर्निर्देशन", "ा"),
}


@pytest.mark.parametrize("stem", REAL)
def test_the_headers_of_real_dumps(shared_data, stem):
    wiki, language, file_namespace, redirect_word, letter = REAL[stem]
    with bz2.open(shared_data / "dumps" / f"{stem}.xml.bz2") as file:
        site = Site.from_xml(file.read(1 << 17))
    assert (site.wiki, site.language, site.case_sensitive) == (wiki, language, False)
    assert site.namespaces[6] == Namespace(6, file_namespace, False)
    assert site.namespaces[2302].case_sensitive
    assert site.aliases[normalize_name(file_namespace)] == site.aliases["image"] == 6
    assert redirect_word in site.redirect_words
    assert letter in site.trail
    assert "en" in site.interwiki


def test_everything_of_a_header():
    site = Site.from_xml(GERMAN.encode())
    assert site.name == "Wikipedia & Co"
    assert site.namespaces[0] == Namespace(0, "", False)
    assert site.namespaces[2302] == Namespace(2302, "Gadget-Definition", True)
    for name in ("datei", "file", "image", "bild"):
        assert site.aliases[name] == 6
    assert site.aliases["portal"] == 100
    assert site.aliases["wp"] == 4
    dictionary = Site.from_xml(GERMAN.replace("dewiki", "dewiktionary").encode())
    assert "wp" not in dictionary.aliases
    assert dictionary.aliases["wiktionary"] == 4
    assert site.aliases["wikipedia"] == site.aliases["project"] == 4
    assert "" not in site.aliases, "a title never names the namespace of articles"
    assert site.redirect_words == ("#redirect", "#weiterleitung")
    assert set("äöüßaz") <= set(site.trail)
    assert site.prefix == ""
    assert site.own_prefixes == {"de"}


def test_a_site_travels_to_another_process():
    site = Site.from_xml(GERMAN.encode())
    assert pickle.loads(pickle.dumps(site)) == site


def test_names_that_the_header_leaves_out_are_english():
    site = site_of("<dbname>fowiki</dbname>")
    assert site.namespaces[14] == Namespace(14, "Category", False)
    assert site.aliases["category talk"] == 15
    assert 828 not in site.namespaces
    assert "module" not in site.aliases, "a namespace that the wiki does not have"


@pytest.mark.parametrize("version", ["0.3", "0.5", "0.10", "0.11", "1.0"])
def test_every_version_of_the_format(version):
    space = f"http://www.mediawiki.org/xml/export-{version}/"
    assert Site.from_xml(GERMAN.replace(EXPORT, space).encode()).namespaces[6].name == "Datei"


@pytest.mark.parametrize(
    "start", ["\ufeff", '<?xml version="1.0" encoding="utf-8"?>\n', "\n\n", "<!-- a -->"]
)
def test_what_may_stand_before_the_first_element(start):
    assert Site.from_xml((start + GERMAN).encode()).wiki == "dewiki"


def test_what_follows_need_not_be_xml():
    assert Site.from_xml(GERMAN.encode() + b"\xff <<< &nonsense; \x00").wiki == "dewiki"


def test_a_header_in_many_pieces():
    comment = "<!-- " + "x" * 200_000 + " -->"
    header = GERMAN.replace("<namespaces>", comment + "<namespaces>").encode()
    assert Site.from_xml(header).namespaces[6].name == "Datei"


def test_character_references_in_names():
    site = site_of('<namespaces><namespace key="4">A &amp; &#x42;</namespace></namespaces>')
    assert site.namespaces[4].name == "A & B"
    assert site.aliases["a & b"] == 4


@pytest.mark.parametrize(
    ("inside", "wiki", "language"),
    [
        ("<dbname>fowiki</dbname>", "fowiki", "fo"),
        ("<dbname>zh_min_nanwiki</dbname>", "zh_min_nanwiki", "zh-min-nan"),
        ("<dbname>fowiktionary</dbname>", "fowiktionary", "fo"),
        ("<base>http://fo.wikipedia.org/wiki/Fors</base>", "fowiki", "fo"),
        ("<base>http://zh-min-nan.wikipedia.org/wiki/x</base>", "zh_min_nanwiki", "zh-min-nan"),
        ("<base>https://is.wiktionary.org/wiki/x</base>", "iswiktionary", "is"),
    ],
)
def test_without_a_language_the_database_tells_it(inside, wiki, language):
    site = site_of(inside, attributes='version="0.5"')
    assert (site.wiki, site.language) == (wiki, language)


def test_without_a_database_the_language_tells_it():
    assert site_of("<base>https://example.org/</base>", 'xml:lang="be-tarask"').wiki == (
        "be_taraskwiki"
    )


def test_a_wiki_may_tell_small_from_capital_letters():
    inside = '<case>case-sensitive</case><namespaces><namespace key="10">x</namespace></namespaces>'
    site = site_of("<dbname>fowiktionary</dbname>" + inside)
    assert site.case_sensitive
    assert site.namespaces[0].case_sensitive
    assert site.namespaces[10].case_sensitive, "old dumps do not say it of each namespace"
    assert not site.namespaces[2].case_sensitive, "users always have a capital"


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (b"", "begins with b''"),
        (b"BZh91AY&SY", "not well-formed"),
        (b"<html><siteinfo></siteinfo></html>", "begins with b'<html>"),
        (b"<mediawiki><page></page>", "the end of <siteinfo> is missing"),
        (b"<mediawiki><siteinfo><case>", "the end of <siteinfo> is missing"),
        (b"<mediawiki><siteinfo></case>", "not well-formed"),
    ],
)
def test_what_is_not_a_dump(header, part):
    with pytest.raises(CandgenError, match=r"expected <mediawiki> with <siteinfo>") as caught:
        Site.from_xml(header)
    assert part in str(caught.value)


DETAILS = {
    "query": {
        "namespaces": {
            "0": {"id": 0, "*": ""},
            "4": {"id": 4, "*": "Wikipedia", "canonical": "Project"},
            "6": {"id": 6, "*": "Mynd", "canonical": "File"},
            "77": {"id": 77, "*": "Elsewhere"},
        },
        "namespacealiases": [{"id": 6, "*": "Ljósmynd"}, {"id": 4, "alias": "WP"}, {"id": "x"}],
        "magicwords": [{"name": "redirect", "aliases": ["#ÁVÍSING", "#REDIRECT"]}],
        "interwikimap": [{"prefix": "Fandom", "url": "https://x/$1"}, {"prefix": "fo"}],
        "general": {"linktrail": "/^([a-bð]+)(.*)$/sDu", "linkprefixcharset": "„\\x{41}-C"},
    }
}


@pytest.mark.parametrize("details", [DETAILS, DETAILS["query"], json.loads(json.dumps(DETAILS))])
def test_the_wiki_itself_knows_best(details):
    site = site_of("<dbname>fowiki</dbname>", details=details)
    assert site.aliases["ljósmynd"] == site.aliases["mynd"] == 6
    assert site.aliases["wp"] == 4
    assert "elsewhere" not in site.aliases
    assert site.redirect_words == ("#redirect", "#ávísing")
    assert site.interwiki == {"fandom", "fo"}
    assert site.trail == "abð"
    assert site.prefix == "ABC„"


@pytest.mark.parametrize(
    "details",
    [{}, {"query": []}, {"query": {"namespaces": 3, "general": []}}, {"namespacealiases": ["x"]}],
)
def test_details_of_another_form_tell_nothing(details):
    assert site_of("<dbname>fowiki</dbname>", details=details) == site_of("<dbname>fowiki</dbname>")


def test_a_trail_that_is_not_understood_is_reported(caplog):
    details = {"general": {"linktrail": "/^(\\w+)(.*)$/"}}
    assert "ð" in site_of("<dbname>fowiki</dbname>", details=details).trail
    assert "is not supported; that of the language is used" in caplog.text


def test_a_wiki_without_prefixes_says_so():
    details = {"general": {"linkprefixcharset": ""}}
    assert site_of("", 'xml:lang="hy"').prefix
    assert site_of("", 'xml:lang="hy"', details=details).prefix == ""


def test_dotted_capitals_in_redirect_words():
    words = site_of("", 'xml:lang="az"').redirect_words
    assert "#İSTİQAMƏTLƏNDİR".casefold() in words
    assert "#istiqamətləndir" in words


ACCENTS = "a" + "\u0301\u0323" * 200_000


@pytest.mark.parametrize(
    ("siteinfo", "details"),
    [
        (f'<namespaces><namespace key="4">{ACCENTS}</namespace></namespaces>', {}),
        ("", {"namespacealiases": [{"id": 4, "*": ACCENTS}]}),
        ("", {"magicwords": [{"name": "redirect", "aliases": [ACCENTS]}]}),
        ("", {"general": {"linktrail": "/^((?:" + "[" * 200_000 + ")+)(.*)$/sDu"}}),
        ("", {"general": {"linkprefixcharset": r"\x{0}-\x{10FFFF}" * 10_000}}),
        ("", {"general": {"linkprefixcharset": r"\x{0}-\x{10FFFF}" * 200}}),
    ],
)
def test_names_and_patterns_longer_than_any_take_no_time(siteinfo, details):
    start = time.process_time()
    assert site_of(siteinfo + "<dbname>fowiki</dbname>", details=details).language == "fo"
    assert time.process_time() - start < 5
