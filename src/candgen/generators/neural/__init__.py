"""Charagram and its relatives: names and mentions as vectors. Only training needs PyTorch."""
