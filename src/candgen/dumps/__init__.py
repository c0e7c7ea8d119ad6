"""Dumps: what reading the dumps of Wikipedia and of Wikidata has in common."""
