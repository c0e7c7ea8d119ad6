"""WikiPriors: what is known by heart, the names as they were seen and then their words."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import ParameterError, StorageError, TableError
from candgen.generators.calibration import DEFAULT as DEFAULT_CALIBRATION
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query
from candgen.generators.inputs import TARGET, tables_of
from candgen.generators.tiers import ask_in_turn
from candgen.index.counts import count, pool
from candgen.index.token_index import TokenIndex, ranked
from candgen.kernels.blocks import BLOCK, BLOCK_BITS
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage import index_folder
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import check_normalizer, normalize_many
from candgen.text.tokenizers import Tokenizer, WholeMention, Words, from_parameters, to_parameters

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class WikiPriors:
    """Candidates by P(entity | mention), and by P(entity | word) for the places that are left.

    The tiers are, in this order, the target's mentions, the pivots' mentions, the target's words
    and the pivots' words. In Faroese, Vín is wine; in Icelandic, it is Vienna more often than wine:

    >>> icelandic = MentionTable.from_pairs(
    ...     [("Vín", "Q1741", 3), ("Vín", "Q282"), ("Rín", "Q584", 2)])
    >>> faroese = MentionTable.from_pairs([("Wien", "Q1741"), ("Vín", "Q282")])
    >>> priors = WikiPriors.build({"is": icelandic}, faroese, language="fo")
    >>> [(c.entity, round(c.score, 3)) for c in priors.candidates(["Vín"])[0]]
    [('Q282', 3.5), ('Q1741', 2.429)]
    >>> [(c.entity, round(c.score, 3)) for c in priors.candidates(["Rín, Vín"])[0]]
    [('Q282', 1.5), ('Q584', 0.5), ('Q1741', 0.429)]

    The score 3.5 is 3 tiers left and 1 / (1 + 1), since P(Q282 | Vín) = 1 in Faroese.
    """

    tiers: Mapping[str, TokenIndex]
    """By name, without those that have no token; all share one numbering of the entities."""
    sources: SourceMentions
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    calibration: Calibration = DEFAULT_CALIBRATION

    @classmethod
    def build(
        cls,
        pivots: Mapping[str, MentionTable] | None = None,
        target: MentionTable | None = None,
        *,
        language: str | None = None,
        normalizer: str = "default",
        released: bool = False,
        threads: int = 1,
        progress: Progress = no_progress,
    ) -> "WikiPriors":
        """Count mentions and words of the target, and of all pivots together.

        ``language`` is that of the target and of the queries. ``released`` ranks as the code
        does that the paper's authors released: the probabilities of all tiers are summed, words
        are what white space separates, and mentions of one word have no use for the words.
        """
        check_normalizer(normalizer)
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ParameterError(f"threads is {threads!r}: expected a whole number of at least 1")
        pivots = dict(pivots or {})
        tables = tables_of(pivots, target, language, {})
        plans = _plans(tables, pivots, released=bool(released))
        built = {
            plan["name"]: tier
            for plan in plans
            if (tier := _build_tier(plan, tables, normalizer, threads, progress)) is not None
        }
        if not built:
            raise TableError("no mention has a token: there is nothing to build an index from")
        progress("gathering mentions", 0.0)
        tiers, rows = _together(tables, built)
        sources = SourceMentions.gather(tables, rows, len(next(iter(tiers.values())).entities))
        parameters = {
            "tiers": plans,
            "released": bool(released),
            "normalizer": normalizer,
            "language": language,
            "target": None if target is None else language or TARGET,
            "languages": list(tables),
        }
        inputs = {each: _described(table, rows[each]) for each, table in tables.items()}
        progress("done", 1.0)
        return cls(tiers, sources, parameters, inputs)

    @property
    def postings(self) -> int:
        """How many priors are stored, over all tiers."""
        return sum(tier.postings for tier in self.tiers.values())

    def candidates(
        self, mentions: Sequence[str], k: int = 30, *, threads: int | None = None
    ) -> list[list[Candidate]]:
        """The k best entities for each mention, best first.

            score(e | m) = number of tiers left + s / (1 + s)
            s            = sum over tokens t of m of  P(e | t),  in the first tier that has e

        A token is the mention itself, or a word. As released, the score is s, summed over all
        tiers. ``threads`` defaults to one for each core.
        """
        asked = check_query(mentions, k)
        normalizer, language = self.parameters["normalizer"], self.parameters["language"]
        texts = normalize_many(asked, normalizer, language=language)
        if self.parameters["released"]:
            return [self._summed(text, k) for text in texts]
        tiers = [
            partial(_search, self.tiers.get(tier["name"]), threads=threads)
            for tier in self.parameters["tiers"]
        ]
        return ask_in_turn(tiers, texts, k, fill=True)

    def _summed(self, text: str, k: int) -> list[Candidate]:
        """The k best by the sum over all tiers; every entity of every token is added."""
        places, shares = [np.empty(0, np.uint32)], [np.empty(0, np.float64)]
        few = len(text.split()) < 2
        for name, tier in self.tiers.items():
            if few and name.endswith("_words"):
                continue
            lists = self._lists[name]
            for token, times in zip(*(each.tolist() for each in tier.tokens(text)), strict=True):
                here = slice(*lists.start[token : token + 2].tolist())
                places.append(lists.place[here])
                shares.append(times * lists.prior[here])
        found, inverse = np.unique(np.concatenate(places), return_inverse=True)
        score = np.bincount(inverse, np.concatenate(shares), len(found)).astype(np.float32)
        best = np.lexsort((found, -score))[:k]
        entities = next(iter(self.tiers.values())).ids(found[best])
        return list(map(Candidate, entities, score[best].tolist()))

    @cached_property
    def _lists(self) -> dict[str, "PriorLists"]:
        """The tiers by token. Made when first needed: only what is summed needs them."""
        return {name: PriorLists.of(tier) for name, tier in self.tiers.items()}

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Which of these entities can be candidates at all."""
        return [self._place(entity) is not None for entity in entities]

    def names(self, entity: str) -> list[SourceMention]:
        """The mentions of an entity in the tables, the most frequent first; none if unknown."""
        place = self._place(entity)
        return [] if place is None else self.sources.of(place)

    def _place(self, entity: str) -> int | None:
        return next(iter(self.tiers.values())).place(entity)

    def probabilities(self, mention: str, candidates: Sequence[tuple[str, float]]) -> list[float]:
        """Return how likely each candidate is the right one; ask for at least 30 candidates.

        Learned on dev queries if the index was tuned, fixed otherwise: see ``Calibration``.
        """
        return self.calibration.probabilities(mention, candidates)

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        languages, target = self.parameters["languages"], self.parameters["target"]
        pivots = tuple(each for each in languages if each != target)
        entities = len(next(iter(self.tiers.values())).entities)
        language = self.parameters["language"]
        return Summary("WikiPriors", language, pivots, entities, postings=self.postings)

    def __repr__(self) -> str:
        return str(self.summary())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a folder that ``candgen.load`` opens; what was there is replaced."""
        index_folder.save(path, **self.contents()._asdict())

    def contents(self) -> Contents:
        """What is stored; the entities once for all tiers."""
        arrays = add_prefix("sources", self.sources.arrays())
        for name, tier in self.tiers.items():
            for key, array in tier.arrays().items():
                shared = key.startswith("entities.")
                arrays[key if shared else f"tiers.{name}.{key}"] = array
        return Contents("wikipriors", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "WikiPriors":
        """The index that was saved."""
        entities = add_prefix("entities", strip_prefix("entities", stored.arrays))
        tiers = {
            tier["name"]: TokenIndex.from_arrays(
                {**arrays, **entities}, tokenizer=from_parameters(tier["tokenizer"]), threshold=0.0
            )
            for tier in stored.parameters["tiers"]
            if (arrays := strip_prefix(f"tiers.{tier['name']}", stored.arrays))
        }
        planned = {name.split(".")[1] for name in stored.arrays if name.startswith("tiers.")}
        if not tiers or planned != set(tiers):
            raise StorageError(f"{stored.path} has other tiers than it says: build it again")
        sources = SourceMentions.from_arrays(
            strip_prefix("sources", stored.arrays), languages=stored.parameters["languages"]
        )
        calibration = Calibration.from_stored(stored)
        return cls(tiers, sources, stored.parameters, stored.inputs, calibration)


class PriorLists(NamedTuple):
    """P(e | t): token t has ``place[start[t]:start[t + 1]]``, places of entities, and priors."""

    start: Integers
    place: npt.NDArray[np.uint32]
    prior: npt.NDArray[np.float64]

    @classmethod
    def of(cls, index: TokenIndex) -> "PriorLists":
        """The postings of an index by token, in double precision."""
        blocks = index.blocks
        token = (blocks.key >> BLOCK_BITS).astype(np.int64)
        block = np.repeat(np.arange(len(blocks.block_start) - 1), np.diff(blocks.block_start))
        entity = block << BLOCK_BITS | (blocks.key & (BLOCK - 1))
        n = blocks.value[blocks.code]
        n[blocks.escape_at] = blocks.escape_value
        size = np.bincount(token, minlength=len(index.vocabulary))
        prior = n / np.bincount(token, n)[token]
        order = np.argsort(token, kind="stable")
        start = np.concatenate(([0], np.cumsum(size)))
        return cls(start, blocks.rank[entity[order]], prior[order])


class _Tier(NamedTuple):
    """An index with entities of its own, their ids by number, and the number of each row's."""

    tokens: TokenIndex
    entities: pa.LargeStringArray
    entity_of_row: Mapping[str, Integers]


def _plans(
    tables: Mapping[str, MentionTable], pivots: Mapping[str, MentionTable], *, released: bool
) -> list[dict[str, Any]]:
    """The tiers in their order: which languages each counts, and what is a token there."""
    languages = {
        "target": [each for each in tables if each not in pivots],
        "pivot": [each for each in tables if each in pivots],
    }
    words = Words("spaced" if released else "letters")
    tokenizers: dict[str, Tokenizer] = {"mentions": WholeMention(), "words": words}
    return [
        {"name": f"{whose}_{what}", "languages": some, "tokenizer": to_parameters(tokenizer)}
        for what, tokenizer in tokenizers.items()
        for whose, some in languages.items()
        if some
    ]


def _build_tier(
    plan: Mapping[str, Any],
    tables: Mapping[str, MentionTable],
    normalizer: str,
    threads: int,
    progress: Progress,
) -> _Tier | None:
    """The index of one tier; None if no mention has a token, such as a word."""
    mine = {each: tables[each] for each in plan["languages"]}
    tokenizer = from_parameters(plan["tokenizer"])
    try:
        counts = count(
            mine,
            tokenizer=tokenizer,
            normalizer=normalizer,
            progress=progress,
            warn=isinstance(tokenizer, WholeMention),
        )
    except TableError:
        return None
    progress("laying out", 0.0)
    pooled = pool(counts, dict.fromkeys(mine, 1.0), in_place=True)
    tokens = TokenIndex.build(counts, pooled, threads=threads)
    return _Tier(tokens, counts.entities, counts.entity_of_row)


def _together(
    tables: Mapping[str, MentionTable], built: Mapping[str, _Tier]
) -> tuple[dict[str, TokenIndex], dict[str, Integers]]:
    """The tiers with one numbering of all entities, and by it the entity of each row, or -1."""
    every = pa.chunked_array([tier.entities for tier in built.values()]).unique()
    ids, rank = ranked(every)
    rows = {each: np.full(len(table), -1, np.int64) for each, table in tables.items()}
    tiers = {}
    for name, tier in built.items():
        place = rank[pc.index_in(tier.entities, value_set=every).to_numpy()]
        place.setflags(write=False)  # like all arrays of an index, so that kernels compile once
        # Places keep the order of the ids, so ties are broken as before.
        blocks = tier.tokens.blocks._replace(rank=place)
        tiers[name] = replace(tier.tokens, blocks=blocks, entities=ids)
        for each, entity in tier.entity_of_row.items():
            numbered = np.where(entity < 0, -1, place[entity].astype(np.int64))
            rows[each] = np.maximum(rows[each], numbered)  # not all that have a name have a word
    return tiers, rows


def _described(table: MentionTable, entity: Integers) -> dict[str, Any]:
    """What is stored of a table, to tell whether another is the same."""
    return {
        "pairs": len(table),
        "occurrences": table.total,
        "sha256": table.digest,
        "entities": len(np.unique(entity[entity >= 0])),
    }


def _search(
    tier: TokenIndex | None, texts: list[str], k: int, *, threads: int | None
) -> list[list[tuple[str, float]]]:
    """The k best of one tier for each normalised text; nothing where there is no tier."""
    if tier is None:
        return [[] for _ in texts]
    answers: list[list[tuple[str, float]]] = []
    at_once = max(1, min(4096, 1_000_000 // k))
    for first in range(0, len(texts), at_once):
        hits = tier.search(texts[first : first + at_once], k, lam=0.0, threads=threads)
        there = np.arange(hits.rank.shape[1]) < hits.found[:, np.newaxis]
        scores = hits.score[there].tolist()
        every = list(zip(tier.ids(hits.rank[there]), scores, strict=True))
        ends = np.cumsum(hits.found).tolist()
        answers += [every[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return answers
