"""Rerank: the second stage, which orders the candidates of another generator."""
