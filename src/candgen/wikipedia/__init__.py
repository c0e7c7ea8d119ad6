"""Wikipedia dumps to mention tables."""
