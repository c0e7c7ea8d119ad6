"""Hostile input of every kind: tables, names on a terminal, indexes, dumps, requests."""
