"""Wikitext: sites, titles, links, and the text that a reader sees."""
