"""Wikitext: sites, titles, links, and the words that a reader sees."""
