"""Extraction of many Wikipedias on a Spark cluster."""
