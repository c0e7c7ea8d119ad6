"""Synthetic mention tables like that of the German Wikipedia, of any size.

The names are synthetic: a Markov chain over the words of Babel's CLDR data (countries, languages,
currencies, cities) and a few lists of word elements make lexicons, and templates make names of
persons, places, works and so on from them. The same number of entities, seed and Babel release
give the same bytes on every machine. From this folder's parent:

    python -m world 50000
    python -m world family FOLDER --pivots 50000 10000 2000 --pairs 5000
"""

from world.family import Family, make_family
from world.queries import make_queries
from world.table import World, load_world, make_world

__all__ = ["Family", "World", "load_world", "make_family", "make_queries", "make_world"]
