"""What is the recall per script, beside the same stages on the text of other romanizations?

    python benchmarks/scripts.py --data FOLDER --script Hebrew Thai

FOLDER holds latin.tsv.gz, a mention table of Latin names, and for each script two tables of mention
and entity: queries-SCRIPT.tsv.gz, and forms-SCRIPT.tsv.gz with all its forms. An answer is right if
the entity has the form of the query. The index is zero-shot, as ``build_auto`` builds it from one
pivot, and the languages of names and queries are unknown.

anyascii and uroman romanize names and queries beforehand, then the same stages are built on their
text. uroman is left out unless it is installed.
"""

import argparse
import gzip
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from anyascii import anyascii
from measure import Report, add_data, add_queries, missing_packages
from tfidf import Tfidf

from candgen import MentionTable, Rerank
from candgen.auto.normalizer import DEFAULTS_WITHOUT_DEV

KS = (1, 10, 30)
SEED = 1
UNROMANIZED = "?"
"""Stands for a text of which nothing is left."""

Romanize = Callable[[str], str]


class ScriptQuery(NamedTuple):
    """A form, and all entities that have it."""

    mention: str
    entities: frozenset[str]


class Way(NamedTuple):
    """A generator, and how names and queries are romanized for it."""

    generator: Any
    romanize: Romanize

    def recalls(self, queries: Sequence[ScriptQuery]) -> str:
        """Return recall at each of KS, in percent."""
        texts = [romanized(query.mention, self.romanize) for query in queries]
        found = self.generator.candidates(texts, KS[-1])
        ranks = [
            next((n for n, each in enumerate(some) if each[0] in query.entities), KS[-1])
            for query, some in zip(queries, found, strict=True)
        ]
        shares = (100 * sum(rank < k for rank in ranks) / len(ranks) for k in KS)
        return " / ".join(f"{share:.1f}" for share in shares)


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a table without its header."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]


def read_queries(folder: Path, script: str, number: int) -> list[ScriptQuery]:
    """Return a sample of the queries of a script."""
    owners: dict[str, set[str]] = defaultdict(set)
    queries = read_rows(folder / f"queries-{script}.tsv.gz")
    for mention, entity, *_ in [*read_rows(folder / f"forms-{script}.tsv.gz"), *queries]:
        owners[mention].add(entity)
    chosen = random.Random(SEED).sample(queries, min(number, len(queries)))
    return [ScriptQuery(mention, frozenset(owners[mention])) for mention, *_ in chosen]


def romanized(text: str, romanize: Romanize) -> str:
    """Return the romanized text, or UNROMANIZED."""
    return romanize(text).strip() or UNROMANIZED


def unchanged(text: str) -> str:
    """Return the text itself: candgen romanizes it."""
    return text


def make_uroman() -> Romanize:
    """Return the function of uroman."""
    from uroman import Uroman  # noqa: PLC0415

    return cache(Uroman().romanize_string)  # type: ignore[no-any-return]


def build_both(table: MentionTable, romanize: Romanize) -> Rerank:
    """Return both stages on romanized names."""
    rows: Iterable[tuple[str, str, int]] = (
        (romanized(mention, romanize), entity, count) for mention, entity, count in table
    )
    names = table if romanize is unchanged else MentionTable.from_pairs(rows)
    return Rerank.build({"en": names}, **DEFAULTS_WITHOUT_DEV)


def make_ways(table: MentionTable) -> Mapping[str, Way]:
    """Return what is compared, by the heading of its column."""
    both = build_both(table, unchanged)
    ways = {
        "first stage": Way(both.first_stage, unchanged),
        "both stages": Way(both, unchanged),
        "both, anyascii": Way(build_both(table, anyascii), anyascii),
    }
    if missing_packages("uroman"):
        print("uroman is not installed: it is left out (pip install uroman)")
    else:
        uroman = make_uroman()
        ways["both, uroman"] = Way(build_both(table, uroman), uroman)
    names = MentionTable.from_pairs([(romanized(m, anyascii), e, n) for m, e, n in table])
    tfidf = Tfidf.build({"en": names}, normalizer="latin")
    return {**ways, "TF-IDF, anyascii": Way(tfidf, anyascii)}


def main() -> None:
    """Measure each script."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_data(parser)
    add_queries(parser, 300, "queries of each script")
    parser.add_argument(
        "--script", nargs="*", metavar="SCRIPT", help="scripts to measure (default: all)"
    )
    given = parser.parse_args()
    found = sorted(path.name[8:-7] for path in given.data.glob("queries-*.tsv.gz"))
    ways = make_ways(MentionTable.read(given.data / "latin.tsv.gz"))
    report = Report("scripts", question, ())
    rows = []
    for script in given.script or found:
        queries = read_queries(given.data, script, given.queries)
        recalls = {name: way.recalls(queries) for name, way in ways.items()}
        rows.append({"script": script, "queries": len(queries), **recalls})
    report.add("Recall@1 / @10 / @30", rows)
    report.write()


if __name__ == "__main__":
    main()
