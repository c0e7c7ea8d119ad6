"""Generators whose answers are written down, so that every figure can be computed by hand."""

from candgen import Query

# Who answers what is written down, so that every figure can be worked out by hand.
QUERIES = [
    Query("Vín", "Q282", "easy"),
    Query("Wien", "Q1741", "easy"),
    Query("Vínarborg", "Q1741", "medium"),
    Query("Rín", "Q584", "hard"),
    Query("Rínin", "Q584", "hard"),
]


class Scripted:
    """A generator that answers as it was told to."""

    def __init__(self, answers, known=None):
        self.answers = answers
        self.asked = []
        if known is not None:
            self.knows = lambda entities: [entity in known for entity in entities]

    def candidates(self, mentions, k=30):
        self.asked.append((list(mentions), k))
        return [
            [(entity, 1 / (place + 1)) for place, entity in enumerate(self.answers.get(m, ()))][:k]
            for m in mentions
        ]

    def save(self, path):
        raise AssertionError("nobody saves")


FIRST = {
    "Vín": ["Q282", "Q1741"],  # rank 1
    "Wien": ["Q584", "Q1741"],  # rank 2
    "Vínarborg": ["Q282", "Q584", "Q1741"],  # rank 3
    "Rín": ["Q282"],  # not there
    "Rínin": [],  # no candidates
}


SECOND = {**FIRST, "Wien": ["Q1741"], "Rín": ["Q584"], "Vín": ["Q1741"]}
