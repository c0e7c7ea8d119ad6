"""From Wikidata's JSON dump to names, and to what is known of entities."""
