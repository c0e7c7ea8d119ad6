"""Tables of a toy world for the paper's experiments, and methods that other code might add."""

import sys
from dataclasses import replace

from candgen import MentionTable
from candgen.generators import METHODS
from candgen.paper.cache import ResultCache
from candgen.paper.corpus import Corpus
from candgen.paper.plan import Plan
from candgen.paper.published import Pair
from candgen.paper.reproduce import reproduce
from candgen.protocols import Method, Size

MEASURE = [sys.executable, "-m", "candgen.cli.measure_process"]


PTI = METHODS["pti"]


COMMAND = ["candgen", "reproduce", "all"]


STEMS = ["vík", "vágur", "havn", "fjørður", "dalur", "nes", "eiði", "sandur", "hólmur", "tindur"]


def names(suffix, share=1.0):
    """Two spellings of each of many places; a language is its ending."""
    rows = []
    for n, stem in enumerate(f"{a}{b}" for a in STEMS for b in STEMS):
        if n % 100 < 100 * share:
            rows.append((f"{stem}{suffix}", f"Q{n + 1}", 1 + n % 3))
            if n % 2:
                rows.append((f"{stem}{suffix} {n}", f"Q{n + 1}", 1))
    return MentionTable.from_pairs(rows)


TABLES = {
    "fo": names("ur"),
    "is": names("ir", share=0.8),
    "olo": names("u", share=0.3),
    "fi": names("i"),
    "en": names("", share=0.9),
    "de": names("en"),
}


TOY_PAIRS = (Pair("fo", "is", "low", False), Pair("olo", "fi", "medium", True))


def study(folder, output, **changes):
    made = Plan(
        Corpus(folder, per_type=5),
        TOY_PAIRS,
        {"pti": PTI},
        ResultCache(output / "records"),
        MEASURE,
        high_resource=("de",),
    )
    return replace(made, **changes)


def run(name, made, output, **options):
    return reproduce(
        [name], made, output, command=COMMAND, progress=lambda _doing, _share: None, **options
    )


def guess(training, parameters):
    """A method that some other file might bring: it knows the most frequent entity only."""
    assert parameters.keys() <= {"mu", "epochs"}
    entities = [entity for table in training.pivots.values() for _, entity, _ in table]
    return Guess(sorted(set(entities or [e for _, e, _ in training.target]))[:30])


class Guess:
    def __init__(self, entities):
        self.entities = entities

    def candidates(self, mentions, k=30):
        return [[(entity, 1.0) for entity in self.entities[:k]] for _ in mentions]


class Trained(Guess):
    def __init__(self, entities, budget):
        super().__init__(entities)
        self.budget = budget


def train(training, parameters):
    """A neural method: it needs English names and dev, tells what it does, and has a budget."""
    training.progress("epoch 1 of 2", 0.5)
    assert list(training.dev)
    entities = sorted({entity for _, entity, _ in training.english})
    return Trained(entities[:30], {"epochs": parameters.get("epochs", 200), "pairs": 40})


NEURAL = Method(
    build=train,
    size=lambda made: Size(len(made.entities)),
    neural=True,
    options=frozenset({"epochs", "pairs"}),
)
