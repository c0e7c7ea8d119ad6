"""Compiled kernels: plain functions of arrays. Nothing here knows what is outside."""
