"""Automatic building: choose pivots, normalizer and weights by held-back names, and say why."""

from candgen.auto.build import Auto, build_auto
from candgen.auto.normalizer import choose_normalizer
from candgen.auto.pivots import choose_pivots, explain_pivots

__all__ = ["Auto", "build_auto", "choose_normalizer", "choose_pivots", "explain_pivots"]
