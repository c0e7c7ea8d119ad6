"""Every method in one line, for help texts; cheap to import."""

METHODS = {
    "wikipriors": "exact matches of whole mentions, then of their words",
    "wikipriors-released": "the same, ranked as by the paper's released code: all tiers summed",
    "translation": "words translated as aligned names teach, then looked up among English names",
    "charagram": "sums of n-gram embeddings, compared with English names (neural)",
    "char-lstm": "the same with a character LSTM in place of the sums (neural)",
    "char-cnn": "the same with a character CNN in place of the sums (neural)",
    "pti": "pivot token indexes, the paper's method: character n-grams of pivots and target",
    "pti-wildcards": "pti, also with n-grams of which one character may be any",
    "pti-fusion": "pti, with the probabilities of the languages mixed instead of their counts",
    "pti-smoothing": "pti-fusion, with additive smoothing of the pivots' probabilities",
    "cascade": "wikipriors, and pti where it finds nothing: for languages with much data",
    "cascade-fill": "wikipriors first, and pti for the places that it leaves",
    "rerank": "pti on romanized names, its first 300 put into order by learned edits",
}
"""The names that ``candgen build --method`` takes, in the order of the tables."""
