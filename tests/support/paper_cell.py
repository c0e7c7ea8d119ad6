"""One cell of the paper's tables computed apart: no candgen, no NumPy but for float32.

    candgen split names/tk.tsv.gz --setting zero-shot --normalizer default -o tk.dataset
    python tests/support/paper_cell.py names/az.tsv.gz tk.dataset/test.tsv 1.0

prints how many of the test queries, and which percentage, Azerbaijani names answer with lam = 1:
zero-shot recall@30 of tk-az.
"""

import gzip
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np


def normalized(text, *, turkic):
    """What the default normalizer makes of Latin script."""
    text = unicodedata.normalize("NFKC", text)
    if turkic:
        text = text.replace("İ", "i").replace("I", "ı")
    letters = unicodedata.normalize("NFD", text.casefold())
    kept = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return " ".join(unicodedata.normalize("NFC", kept).split())


def tokens(text):
    marked = f"\x02{text}\x03" if text else ""
    places = ((i, n) for n in range(2, 6) for i in range(len(marked) - n + 1))
    return Counter(marked[i : i + n] for i, n in places)


def count(path):
    """n(t, e) and its sums, of Azerbaijani names."""
    n, of_token, of_entity = defaultdict(Counter), Counter(), Counter()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            mention, entity, times = line.rstrip("\n").split("\t")
            for token, c in tokens(normalized(mention, turkic=True)).items():
                n[token][entity] += c * int(times)
                of_token[token] += c * int(times)
                of_entity[entity] += c * int(times)
    return n, of_token, of_entity


def candidates(mention, lam, counts, k=30):
    n, of_token, of_entity = counts
    prior, posterior = Counter(), Counter()
    for token, c in tokens(normalized(mention, turkic=False)).items():
        for entity, value in n.get(token, {}).items():
            prior[entity] += c * value / of_token[token]
            posterior[entity] += c * value / of_entity[entity]
    scores = {entity: np.float32(prior[entity] + lam * posterior[entity]) for entity in prior}
    return sorted(scores, key=lambda entity: (-scores[entity], len(entity), entity))[:k]


def answered(pivot, test, lam):
    """The queries in a test file, and how many of them are answered."""
    counts = count(pivot)
    lines = Path(test).read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t")[:2] for line in lines[1:]]
    return len(queries), sum(entity in candidates(m, lam, counts) for m, entity in queries)


if __name__ == "__main__":
    number, found = answered(sys.argv[1], sys.argv[2], float(sys.argv[3]))
    sys.stdout.write(f"{found} of {number}, {100 * found / number:.1f}%\n")
