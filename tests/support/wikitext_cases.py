"""What wikitext means: pages of one line, the links that MediaWiki makes of them, and why."""

from functools import cache
from typing import NamedTuple

from candgen.wikipedia.markup.links import Link
from candgen.wikipedia.markup.reasons import Reason
from candgen.wikipedia.markup.site import Site

NAMESPACES = {
    "fo": {6: "Mynd", 14: "Bólkur", 10: "Fyrimynd", 2: "Brúkari", 4: "Wikipedia"},
    "mr": {6: "चित्र", 14: "वर्ग", 10: "साचा"},
    "ar": {6: "ملف", 14: "تصنيف", 10: "قالب"},
    "de": {6: "Datei", 14: "Kategorie", 10: "Vorlage", 2: "Benutzer"},
    "tr": {6: "Dosya", 14: "Kategori", 10: "Şablon"},
    "zh": {6: "文件", 14: "分类", 10: "模板"},
    "ca": {6: "Fitxer", 14: "Categoria", 10: "Plantilla"},
}


@cache
def site_of(language):
    """A wiki of a language, as the start of its dump describes it."""
    names = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 12: "Help", **NAMESPACES[language]}
    spaces = "".join(
        f'<namespace key="{key}" case="first-letter">{name}</namespace>'
        for key, name in names.items()
    )
    header = (
        f'<mediawiki xml:lang="{language}"><siteinfo><sitename>Wikipedia</sitename>'
        f"<dbname>{language}wiki</dbname><case>first-letter</case>"
        f"<namespaces>{spaces}</namespaces></siteinfo>"
    )
    return Site.from_xml(header.encode())


class Case(NamedTuple):
    text: str
    language: str
    expected: tuple
    why: str


CASES = []


def case(text, *expected, why, language="fo"):
    """Expected are (title, mention) or reasons."""
    links = tuple(each if isinstance(each, Reason) else Link(*each) for each in expected)
    CASES.append(Case(text, language, links, why))


# Plain links
case("[[Føroyar]]", ("Føroyar", "Føroyar"), why="A link shows its target.")
case("[[Føroyar|oyggjarnar]]", ("Føroyar", "oyggjarnar"), why="After the pipe is what it shows.")
case("[[føroyar]]", ("Føroyar", "føroyar"), why="Titles begin with a capital, mentions need not.")
case("[[a|b|c]]", ("A", "b|c"), why="Only the first pipe is one.")
case("[[a]][[b]]", ("A", "a"), ("B", "b"), why="Links may touch.")
case("[[ a ]]", ("A", "a"), why="White space around a target is nothing.")
case("[[a|\n b\t\nc ]]", ("A", "b c"), why="Anchors may go over lines, and are folded.")
case("[[a|b&nbsp;c]]", ("A", "b c"), why="A space that does not break is a space.")
case("[[a|b\u00a0\u3000c]]", ("A", "b c"), why="Any white space of Unicode is folded.")
case("[[a|\u200fb\u200e]]", ("A", "b"), why="Marks of direction at the ends are not seen.")
case("[[a_b]]", ("A b", "a_b"), why="MediaWiki shows underscores where they were typed.")
case("[[a|b_c]]", ("A", "b_c"), why="An anchor is not a title.")
case("[[a%20b]]", ("A b", "a b"), why="Percent-encoded targets are decoded, to be shown too.")
case("[[R&amp;D]]", ("R&D", "R&D"), why="Entities in a target are characters.")
case("[[a|R&amp;amp;D]]", ("A", "R&amp;D"), why="Entities in an anchor are decoded once.")
case("[[a|x &lt; y &#9786;]]", ("A", "x < y ☺"), why="Numbers name characters too.")
case("[[a|R&D]]", ("A", "R&D"), why="An ampersand alone is one.")
case("[[2001: A Space Odyssey]]", ("2001: A Space Odyssey",) * 2, why="Not every colon is one.")
case("[[a#b]]", ("A", "a#b"), why="The section is cut from the title, and shown.")
case("[[a#b|c]]", ("A", "c"), why="The section is cut from the title.")
case("[[#b|c]]", Reason.SECTION, why="A section of the same page is no other page.")
case("[[a/b]]", ("A/b", "a/b"), why="Articles have no subpages.")
# Not links
case("[[a", why="Not closed.")
case("[[a]", why="Closed by half.")
case("a]]", why="Not opened.")
case("[a]", why="One bracket is none.")
case("[[a\nb]]", why="A target stays on its line.")
case("[[a<b]]", why="No title has an angle.")
case("[[a>b|c]]", why="No title has an angle.")
case("[[a{b]]", why="No title has a brace.")
case("[[<small>a</small>]]", why="A tag may be in an anchor, not in a target.")
case("[[a[b]]", why="No title has a bracket.")
case("[[]]", Reason.INVALID, why="Nothing is no title.")
case("[[|b]]", Reason.INVALID, why="Nothing is no title.")
case("[[a..|b]] [[..|b]]", ("A..", "b"), Reason.INVALID, why="A relative path is no title.")
case("[[http://example.org x]]", Reason.INVALID, why="Addresses are links to elsewhere.")
case("[[mailto:a@example.org]]", Reason.INVALID, why="Addresses are links to elsewhere.")
case("[http://example.org [[a]] b]", ("A", "a"), why="Links are made before addresses.")
# Brackets
case("[[[a]]]", why="MediaWiki splits at the first two: the target would begin with a bracket.")
case("[[[[a]]]]", ("A", "a"), why="Of links inside each other only the inner one is one.")
case("[[a]]]", ("A", "a"), why="A bracket too many stays outside.")
case(
    "[[a|b [c]]]", ("A", "b [c]"), why="Of three brackets one belongs to the anchor that opens it."
)
case("[[a|[b] c]]", ("A", "[b] c"), why="Brackets may be in an anchor.")
case("[[a|b]c]]", ("A", "b]c"), why="One closing bracket closes nothing.")
case("[[a|b [[c]] d]]", ("C", "c"), why="A link around a link is text.")
case("[[a|b [[c|d]]", ("C", "d"), why="What is not closed does not hinder what is.")
case("[[a|[http://example.org b]]]", ("A", "b"), why="The words of an address are seen.")
case("[[a|b [http://example.org]]]", ("A", "b"), why="An address without words is a number.")
# Pipe trick
case("[[Vágar (oyggj)|]]", ("Vágar (oyggj)", "Vágar"), why="The parenthesis goes.")
case("[[Miðvágur, Vágar|]]", ("Miðvágur, Vágar", "Miðvágur"), why="What follows a comma goes.")
case("[[A, B (c)|]]", ("A, B (c)", "A, B"), why="A parenthesis at the end goes before a comma.")
case("[[Vágar（oyggj）|]]", ("Vágar（oyggj）", "Vágar"), why="Wide parentheses are some.")
case("[[2001: A (film)|]]", ("2001: A (film)", "A"), why="For this, all up to a colon goes.")
case("[[Vágar|]]", ("Vágar", "Vágar"), why="Where nothing goes, all is shown.")
case("[[a#b|]]", Reason.EMPTY, why="With a section MediaWiki makes no anchor.")
# Trails and prefixes
case("[[Føroyar]]nar og", ("Føroyar", "Føroyarnar"), why="Letters right behind belong to it.")
case("[[a|oyggj]]arnar", ("A", "oyggjarnar"), why="Also behind an anchor.")
case("[[a]]æðö", ("A", "aæð"), why="Faroese letters are letters, Swedish ones are not.")
case("[[a]]1 [[b]]-c", ("A", "a"), ("B", "b"), why="Digits and hyphens are not.")
case("[[पुणे]]च्या", ("पुणे", "पुणेच्या"), language="mr", why="Marathi endings are trails.")
case("[[पुणे|शहर]]ात", ("पुणे", "शहरात"), language="mr", why="A vowel sign is part of a trail.")
case("[[Haus]]tür", ("Haus", "Haustür"), language="de", why="German has umlauts.")
case("[[a]]é", ("A", "a"), language="de", why="German has no accents.")
case("ال[[كتاب]]", ("كتاب", "الكتاب"), language="ar", why="An Arabic article stands before.")
case("[[كتاب]]ان [[ب]]", ("كتاب", "كتابان"), ("ب", "ب"), language="ar", why="Arabic has trails.")
case("[[ا]]ب[[ت]]", ("ا", "اب"), ("ت", "ت"), language="ar", why="A trail is not a prefix too.")
case("al[[a]]", ("A", "a"), why="Faroese has no prefixes.")
case("[[casa]]'l", ("Casa", "casa'l"), language="ca", why="A Catalan trail has an apostrophe.")
case("[[casa]]''l''", ("Casa", "casa"), language="ca", why="Two apostrophes are italics.")
case("[[a]]<nowiki/>b", ("A", "a"), why="This is how editors end a trail.")
case("[[a]]<!-- x -->b<!-- -->c d", ("A", "abc"), why="Comments are gone before.")
case("[[a]]''b''", ("A", "a"), why="Quotes are no letters.")
case("[[istanbul]]", ("İstanbul", "istanbul"), language="tr", why="Turkish i has its dot.")
# Markup in anchors
case("[[a|''b'' '''c''' '''''d''''']]", ("A", "b c d"), why="Quotes make italic and bold.")
case("''[[a]]'' '''[[b|c]]'''", ("A", "a"), ("B", "c"), why="Quotes outside are outside.")
case("[[a|l'amour]]", ("A", "l'amour"), why="One quote is an apostrophe.")
case("[[a|l'''amour'']]", ("A", "l'amour"), why="Bold that does not end was an apostrophe.")
case("[[a|''''b'''']]", ("A", "'b'"), why="Of four quotes one is an apostrophe.")
case("[[d''e]]", ("D''e", "d''e"), why="Quotes in a target are part of it.")
case("[[a|<small>b</small><br/>c]]", ("A", "b c"), why="Tags are not seen, breaks are.")
case('[[a|<span style="x">b</span>]]', ("A", "b"), why="Attributes are not seen.")
case("[[a|x<sup>2</sup>]]", ("A", "x2"), why="Tags are not seen.")
case("[[a|b<ref>c [[d]]</ref>]]", ("A", "b"), ("D", "d"), why="A note in an anchor is elsewhere.")
case('[[a|b<ref name="c" />]]', ("A", "b"), why="A mark of a note is not part of a name.")
case("[[a|<nowiki>''b''</nowiki>]]", ("A", "''b''"), why="In nowiki quotes are quotes.")
case("[[a|<nowiki>[[b]]</nowiki>]]", ("A", "[[b]]"), why="In nowiki brackets are brackets.")
case("[[a|-{b}-]]", ("A", "-{b}-"), why="Faroese has no variants, so this is text.")
case("[[a|-{b}-c]]", ("A", "bc"), language="zh", why="Nobody sees the marks of variants.")
case(
    "[[a|-{zh-hans:计算机;zh-hant:電腦}-]]",
    ("A", "计算机"),
    language="zh",
    why="Of several variants a reader sees one: the first is taken.",
)
case("[[a|b<math>x^2</math>]]", Reason.TEMPLATE, why="A reader sees a formula, not its source.")
case("[[a|b<includeonly>c</includeonly>]]", ("A", "b"), why="What is for other pages is not here.")
case("[[a| ]] [[a|&nbsp;]]s [[a|'''''']]", *[Reason.EMPTY] * 2, ("A", "'"), why="Nothing to see.")
# Comments
case("[[a<!-- x -->b]]", ("Ab", "ab"), why="A comment in a target is nothing.")
case("[[a<!-- | -->|b<!-- ]] -->c]]", ("A", "bc"), why="Brackets in a comment are nothing.")
case("[[a|b<!--\n-->]]", ("A", "b"), why="A comment may have lines.")
case("<!-- [[a]] --> [[b]]", ("B", "b"), why="A comment is not on the page.")
case("[[a]] <!-- [[b]]", ("A", "a"), why="A comment that is not closed runs to the end.")
case("<!--> [[a]] --> [[b]]", ("B", "b"), why="A comment needs its own dashes to close.")
# Tags whose content is not wikitext
case("<nowiki>[[a]]</nowiki> [[b]]", ("B", "b"), why="nowiki is made for this.")
case("<NOWIKI >[[a]]</nowiki\n> [[b]]", ("B", "b"), why="Tags may be capital, with spaces.")
case("<nowiki /> [[a]]", ("A", "a"), why="This closes itself.")
case("<nowiki> [[a]]", ("A", "a"), why="An unclosed tag is text.")
case("<nowikix>[[a]]</nowikix>", ("A", "a"), why="Another tag is another tag.")
case('<pre class="x">[[a]]</pre>', why="Text as it is typed.")
case("<math>[[a]]</math><chem>[[b]]</chem><ce>[[c]]</ce>", why="Formulas.")
case('<syntaxhighlight lang="lua">[[a]]</syntaxhighlight><source>[[b]]</source>', why="Code.")
case("<score>[[a]]</score><timeline>[[a]]</timeline><graph>[[a]]</graph>", why="Pictures.")
case("<mapframe>[[a]]</mapframe><templatedata>[[a]]</templatedata>", why="Data.")
case("<nowiki><!--</nowiki>[[a]]", ("A", "a"), why="In nowiki a comment is text.")
case("<!-- <nowiki> -->[[a]]<!-- </nowiki> -->", ("A", "a"), why="In a comment a tag is nothing.")
case("<includeonly>[[a]]</includeonly>[[b]]", ("B", "b"), why="Only where it is included.")
case("[[a]]<includeonly>[[b]]", ("A", "a"), why="Unclosed, it runs to the end.")
case(
    "<noinclude>[[a]]</noinclude><onlyinclude>[[b]]</onlyinclude>",
    ("A", "a"),
    ("B", "b"),
    why="These are on the page itself.",
)
case("<gallery>\nx.jpg|[[a]]\n</gallery>", ("A", "a"), why="A gallery has captions.")
case("<poem>[[a]]</poem><imagemap>\n[[b]]</imagemap>", ("A", "a"), ("B", "b"), why="Wikitext.")
# Templates, notes, tables
case("{{t|[[a]]|x=[[b|c]]}}", ("A", "a"), ("B", "c"), why="Arguments are shown, mostly.")
case("{{t|[[a}} b]]", why="A link ends in the template where it began.")
case("[[a {{t|b]] c}}", why="A link ends in the template where it began.")
case("[[{{t}}|b]] [[a{{t}}]]", *[Reason.TEMPLATE] * 2, why="Only the template knows.")
case("[[a|{{t|b}}]]", Reason.TEMPLATE, why="Only the template knows.")
case("[[a|{{t|[[b]]}}]]", Reason.TEMPLATE, ("B", "b"), why="Each is judged alone.")
case("[[a{{!}}b]]", ("A", "b"), why="This template is a pipe.")
case("[[a|b{{=}}c]]", ("A", "b=c"), why="This template is an equals sign.")
case("{{{x|[[a]]}}}", ("A", "a"), why="A parameter's default is shown.")
case("{{t [[a]]", ("A", "a"), why="Unclosed braces are text.")
case("<ref>[[a]]</ref><ref name=b/>[[b]]", ("A", "a"), ("B", "b"), why="Notes are shown.")
case("{|\n| [[a]] || [[b|c]]\n|}", ("A", "a"), ("B", "c"), why="Tables are shown.")
# Namespaces
case("[[Mynd:x.jpg|thumb|b]]", Reason.IMAGE, why="An image is shown, not linked.")
case("[[File:x.jpg]] [[image:x.jpg]]", *[Reason.IMAGE] * 2, why="English names are known.")
case("[[Datei:x.jpg]] [[Bild:x.jpg]]", *[Reason.IMAGE] * 2, language="de", why="And older names.")
case(
    "[[Mynd:x.jpg|thumb|b [[c]]s [[d]]]]",
    Reason.IMAGE,
    ("C", "cs"),
    ("D", "d"),
    why="Captions have links.",
)
case(
    "[[Mynd:x.jpg|[[Mynd:y.jpg|z]] [[c]]]]",
    Reason.IMAGE,
    Reason.IMAGE,
    ("C", "c"),
    why="Captions may have images.",
)
case("[[Help:x|b [[c]] d]]", ("C", "c"), why="Only images may have links inside.")
case("[[Media:x.ogg|b]]", Reason.IMAGE, why="A file itself is no article.")
case("[[:Mynd:x.jpg|b]]", Reason.NAMESPACE, why="With a colon it is a link to a page.")
case("[[Bólkur:x]] [[category: x|y]]", *[Reason.CATEGORY] * 2, why="A category is not shown.")
case("[[:Bólkur:x]]", Reason.NAMESPACE, why="With a colon it is a link to a page.")
case("[[:a]]", ("A", "a"), why="A colon that is not needed is nothing.")
case("[[Help:x]] [[Special:x]] [[Brúkari:x]]", *[Reason.NAMESPACE] * 3, why="Not articles.")
case("[[is:Ísland]] [[:en:x|y]] [[wikt:x]]", *[Reason.INTERWIKI] * 3, why="Other wikis.")
case("[[वर्ग:x]] [[चित्र:x.jpg]]", Reason.CATEGORY, Reason.IMAGE, language="mr", why="In Marathi.")
