"""Generators over HTTP: for programs, for OpenRefine, and for people with a browser."""
