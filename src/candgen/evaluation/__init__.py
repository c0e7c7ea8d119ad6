"""How good a generator is: splits, measures, experiments, and the paper's tables and figures."""
