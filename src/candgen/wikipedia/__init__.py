"""From the dumps of Wikipedia and Wikidata to mention tables."""
