"""The token index: counts of tokens by entity, their layout on disk, and exact search."""
