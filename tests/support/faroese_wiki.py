"""A small wiki whose mention table is known, written by hand."""

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


def rows(path):
    """The rows of a mention table."""
    return {(mention, entity): count for mention, entity, count in candgen.MentionTable.read(path)}
