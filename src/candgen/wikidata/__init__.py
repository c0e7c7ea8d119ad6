"""Wikidata's JSON dump to names, and to a table of entities."""
