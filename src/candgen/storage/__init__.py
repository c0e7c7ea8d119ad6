"""Storage: atomic writes, locks, the manifest, and the folder of an index."""
