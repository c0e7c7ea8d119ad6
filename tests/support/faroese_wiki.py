"""A small wiki whose mention table is known, written by hand."""

import gzip

import candgen
from tests.support.dumps import WrittenPage

PAGES = [
    WrittenPage("Føroyar", "[[Tórshavn]], [[Havnin|Havnina]], [[Suðuroy]]ar, [[Føroyar]]", id=1),
    WrittenPage("Tórshavn", "í [[Føroyar|Føroyum]] {{x|[[Kina]]}}<ref>[[Suðuroy]]</ref>", id=2),
    WrittenPage("Havnin", "#TILVÍSING [[Tórshavn]]", id=3, redirect="Tórshavn"),
    WrittenPage("Suðuroy", "{|\n| [[Tórshavn|T.]]\n|} [[Eingin síða]]", id=4),
    WrittenPage("A", "#REDIRECT [[B]]", id=5, redirect="B"),
    WrittenPage("B", "#REDIRECT [[A]]", id=6, redirect="A"),
    WrittenPage("Wiki", "#REDIRECT [[:en:Wiki]]", id=7),
    WrittenPage("Paris (gudur)", "[[A|a]] [[B]] [[Wiki]] [[Mynd:x.jpg|[[Kina]]]] [[en:x]]", id=8),
    WrittenPage("Bólkur:Býir", "[[Tórshavn]]", namespace=14, id=9),
    WrittenPage("Fyrimynd:Box", "[[Tórshavn]]", namespace=10, id=10),
    WrittenPage("Søga", "#TILVÍSING [[Føroyar#Søga]]", id=11, redirect="Føroyar"),
    WrittenPage("Gomul", "[[Søga|søgu]] [[Búskapur]] #REDIRECT [[x]]", id=12),
    WrittenPage("Búskapur", "#TILVÍSING [[Bólkur:Býir]]", id=13, redirect="Bólkur:Býir"),
    WrittenPage("Gadget.js", "[[Tórshavn]]", id=14, model="javascript"),
]
WITHOUT_IDS = {
    ("Tórshavn", "fo:Tórshavn"): 1,
    ("Havnina", "fo:Tórshavn"): 1,
    ("Suðuroyar", "fo:Suðuroy"): 1,
    ("Suðuroy", "fo:Suðuroy"): 1,
    ("Føroyar", "fo:Føroyar"): 1,
    ("Føroyum", "fo:Føroyar"): 1,
    ("Kina", "fo:Kina"): 2,
    ("T.", "fo:Tórshavn"): 1,
    ("Eingin síða", "fo:Eingin síða"): 1,
    ("søgu", "fo:Føroyar"): 1,
    ("x", "fo:X"): 1,
}
PAGE_PROPS = """\
CREATE TABLE `page_props` (
  `pp_page` int(11) NOT NULL,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q4628',NULL),(1,'defaultsort','(x),''y''',NULL),
(2,'wikibase_item','Q10704',NULL),(3,'wikibase_item','Q1',NULL),(12,'page_image','a\\'b',1.5);
"""
REDIRECT = """\
CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL DEFAULT 0,
  `rd_namespace` int(11) NOT NULL DEFAULT 0,
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `redirect` VALUES (3,0,'Suðuroy','',''),(12,0,'Føroyar','','x'),(4,0,'X','en','');
"""
LANGLINKS = """\
CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL DEFAULT 0,
  `ll_lang` varbinary(35) NOT NULL DEFAULT '',
  `ll_title` varbinary(255) NOT NULL DEFAULT '',
  PRIMARY KEY (`ll_from`,`ll_lang`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
INSERT INTO `langlinks` VALUES (1,'en','Faroe Islands'),(1,'de','Färöer'),(2,'en','Tórshavn');
"""


def rows(path):
    """The rows of a mention table."""
    return {(mention, entity): count for mention, entity, count in candgen.MentionTable.read(path)}


def zipped(path, text):
    """A file that is gzipped text."""
    path.write_bytes(gzip.compress(text.encode()))
    return path
