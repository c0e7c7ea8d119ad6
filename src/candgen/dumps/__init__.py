"""Shared by the readers of Wikipedia and Wikidata dumps: streams, parts, work folder, download."""
