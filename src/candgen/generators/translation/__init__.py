"""The translation baseline: word translations learned from names, and lookup among names."""
