"""The folders that benchmarks write to: benchmarks/data and benchmarks/results.

The environment variable CANDGEN_BENCHMARKS names another folder than benchmarks/ to hold both. It
is an environment variable, not an option, so that the processes a benchmark starts see it too.
"""

import os
from pathlib import Path

_BASE = Path(os.environ.get("CANDGEN_BENCHMARKS", Path(__file__).parent))

DATA = _BASE / "data"
"""Synthetic tables and the indexes built from them, which take long to make."""
RESULTS = _BASE / "results"
"""The tables of every run, as Markdown and JSON."""
