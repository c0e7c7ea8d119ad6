"""Optional packages: one package a file, and no other file imports it."""
