"""The index on real names: against the oracle, and against the paper's released code."""

import unicodedata

import pytest

from candgen import CharNgrams, MentionTable, PivotTokenIndex
from tests.support.oracle import Oracle, ngrams

PAIRS = [("fo", ["is"]), ("olo", ["fi"]), ("mr", ["hi"]), ("tk", ["az"]), ("mk", ["bg", "sr"])]
ROWS = 1500


def _sample(table: MentionTable) -> MentionTable:
    """Every so many rows, so that the oracle has time for it."""
    rows = list(table)
    return MentionTable.from_pairs(rows[:: max(1, len(rows) // ROWS)])


@pytest.mark.parametrize(("target", "pivots"), PAIRS)
def test_real_names_agree_with_the_oracle(shared_data, target, pivots):
    names = shared_data / "names"
    mine = _sample(MentionTable.read(names / f"{target}.tsv.gz"))
    others = {pivot: _sample(MentionTable.read(names / f"{pivot}.tsv.gz")) for pivot in pivots}
    index = PivotTokenIndex.build(others, mine, language=target, alpha=0.4, normalizer="none")
    oracle = Oracle(
        {target: list(mine), **{pivot: list(table) for pivot, table in others.items()}},
        {target: 1.0, **dict.fromkeys(pivots, 0.4)},
        lam=0.4,
        tokenize=ngrams,
    )
    every = MentionTable.read(names / f"{target}.tsv.gz").mentions
    queries = every[:: len(every) // 25]
    for query, answer in zip(queries, index.candidates(queries, 30), strict=True):
        expected = oracle.candidates(query, 30)
        assert [c.entity for c in answer] == [entity for entity, _ in expected]
        assert [c.score for c in answer] == pytest.approx([s for _, s in expected], rel=1e-6)


def _fold(text: str) -> str:
    """As the split was made: NFKC, lower case, white space folded."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


@pytest.mark.parametrize(
    ("setting", "at_1", "at_30", "by_type"),
    [
        ("joint", 52.3, 72.7, {"easy": 100, "medium": 72.8, "hard": 45.2}),
        ("zero-shot", 34.7, 48.4, {"easy": 48.8, "medium": 50.6, "hard": 45.8}),
    ],
)
def test_macedonian_figures_of_the_released_code(shared_data, setting, at_1, at_30, by_type):
    """Measured with the code its authors released, where ties at rank 30 fall differently."""
    split = shared_data / "splits" / "mk"
    bulgarian = MentionTable.read(shared_data / "names" / "bg.tsv.gz")
    folded = MentionTable.from_pairs((_fold(mention), e, n) for mention, e, n in bulgarian)
    train = MentionTable.read(split / "train.tsv") if setting == "joint" else None
    lines = (split / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    queries = [line.split("\t") for line in lines]
    index = PivotTokenIndex.build(
        {"bg": folded},
        train,
        language="mk",
        alpha=0.4,
        lam=1.0,
        tokenizer=CharNgrams(2, 5),
        normalizer="none",
    )
    answers = index.candidates([mention for mention, _, _ in queries], 30)

    def recall(k: int, kind: str | None = None) -> float:
        hits = [
            entity in [candidate.entity for candidate in answer[:k]]
            for (_, entity, its_kind), answer in zip(queries, answers, strict=True)
            if kind in (None, its_kind)
        ]
        return 100 * sum(hits) / len(hits)

    assert len(queries) == 1500
    # 500 queries a type: one more or fewer is 0.2 points.
    assert recall(1) == pytest.approx(at_1, abs=0.31)
    assert recall(30) == pytest.approx(at_30, abs=0.31)
    for kind, figure in by_type.items():
        assert recall(30, kind) == pytest.approx(figure, abs=0.31)
