"""PivotTokenIndex: the paper's method, for any number of pivots."""
