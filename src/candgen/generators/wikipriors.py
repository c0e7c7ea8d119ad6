"""WikiPriors: exact matches of whole mentions first, then of their words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from candgen.errors import StorageError, TableError, check_flag, check_whole_number
from candgen.generators.calibration import Calibration
from candgen.generators.candidate import Candidate, check_query, search_candidates
from candgen.generators.index_base import IndexBase, summarize
from candgen.generators.inputs import TARGET, collect_tables, describe_table, validate_shared
from candgen.generators.tiers import ask_in_turn
from candgen.index.counts import EntityNumbers, NoTokenError, count
from candgen.index.layout import block_bits
from candgen.index.pooling import pool
from candgen.index.tie_order import tie_order
from candgen.index.token_index import TokenIndex
from candgen.kernels.blocks import KEY_BITS, KEY_MASK
from candgen.protocols import Progress, Summary, no_progress
from candgen.storage.index_folder import Contents, StoredIndex, add_prefix, strip_prefix
from candgen.storage.validation import check_texts
from candgen.tables.mention_table import MentionTable
from candgen.tables.source_mentions import SourceMention, SourceMentions
from candgen.text.normalize import check_normalizer, normalize_many
from candgen.text.tokenizers import Tokenizer, WholeMention, Words, from_parameters, to_parameters

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class WikiPriors(IndexBase):
    """Candidates by P(entity | mention), then by P(entity | word) for the remaining places.

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
        """Build an index: count the mentions and words of the target, and of all pivots together.

        Args:
            pivots: Mention tables of related languages, by language code.
            target: The mention table of the target language, if there is one.
            language: Code of the target language, which is also the language of the queries.
            normalizer: Text normalizer, for the tables and for the queries.
            released: Rank as the code does that the paper's authors released: the probabilities of
                all tiers are summed, words are separated by white space only, and mentions of one
                word are not looked up among the words.
            threads: How many threads prepare the search.
            progress: Called with the name of the current step and the fraction of it that is done.

        Returns:
            The index, ready for ``candidates`` and ``save``.

        Raises:
            ParameterError: A parameter is invalid, or there is no table.
            TableError: No mention has a token.
        """
        check_normalizer(normalizer)
        check_whole_number("threads", threads)
        pivots = dict(pivots or {})
        tables = collect_tables(pivots, target, language, {})
        plans = _plans(tables, pivots, released=bool(released))
        built = {
            plan["name"]: tier
            for plan in plans
            if (tier := _build_tier(plan, tables, normalizer, threads, progress)) is not None
        }
        if not built:
            raise TableError("no mention has a token: there is nothing to build an index from")
        progress("gathering mentions", 0.0)
        tiers, rows = _unite(tables, built)
        sources = SourceMentions.gather(tables, rows, len(next(iter(tiers.values())).entities))
        parameters = {
            "tiers": plans,
            "released": bool(released),
            "normalizer": normalizer,
            "language": language,
            "target": None if target is None else language or TARGET,
            "languages": list(tables),
        }
        inputs = {
            each: describe_table(table, len(np.unique(rows[each][rows[each] >= 0])))
            for each, table in tables.items()
        }
        progress("done", 1.0)
        return cls(tiers, sources, parameters, inputs)

    @property
    def postings(self) -> int:
        """How many priors are stored, over all tiers."""
        return sum(tier.postings for tier in self.tiers.values())

    def candidates(
        self, mentions: Sequence[str], k: int = 30, *, threads: int | None = None
    ) -> list[list[Candidate]]:
        """Return the k best entities for each mention, best first.

            score(e | m) = number of tiers left + s / (1 + s)
            s            = sum over tokens t of m of  P(e | t),  in the first tier that has e

        A token is the mention itself, or a word. As released, the score is s, summed over all
        tiers.

        Args:
            mentions: The mentions, as they stand in the text.
            k: The largest number of candidates for a mention.
            threads: How many threads search; one for each core if None.
        """
        checked = check_query(mentions, k)
        normalizer, language = self.parameters["normalizer"], self.parameters["language"]
        texts = normalize_many(checked, normalizer, language=language)
        if self.parameters["released"]:
            return [self._sum_tiers(text, k) for text in texts]
        # A tier without any token is not stored, and counts as a tier that finds nothing.
        tiers = [
            partial(search_candidates, self.tiers[name], lam=0.0, threads=threads)
            if (name := tier["name"]) in self.tiers
            else _find_nothing
            for tier in self.parameters["tiers"]
        ]
        return ask_in_turn(tiers, texts, k, fill=True)

    def _sum_tiers(self, text: str, k: int) -> list[Candidate]:
        """Return the k best by the sum over all tiers; every entity of every token is added."""
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
        entities = self._any_tier.ids(found[best])
        return list(map(Candidate, entities, score[best].tolist()))

    @cached_property
    def _lists(self) -> dict[str, "PriorLists"]:
        """The tiers by token; computed on first use, because only ``released`` needs them."""
        return {name: PriorLists.of(tier) for name, tier in self.tiers.items()}

    def knows(self, entities: Sequence[str]) -> list[bool]:
        """Return, for each entity, whether it can be a candidate at all."""
        return [self._any_tier.tie_order_of(entity) is not None for entity in entities]

    def names(self, entity: str) -> list[SourceMention]:
        """Return the mentions of an entity in the tables, most frequent first; [] if unknown."""
        place = self._any_tier.tie_order_of(entity)
        return [] if place is None else self.sources.of(place)

    @property
    def _any_tier(self) -> TokenIndex:
        """One of the tiers: all have the same entities."""
        return next(iter(self.tiers.values()))

    def summary(self) -> Summary:
        """Return method, language, pivots and sizes."""
        entities = len(self._any_tier.entities)
        return summarize("WikiPriors", self.parameters, entities, postings=self.postings)

    def validate(self) -> None:
        """Raise ValueError unless arrays and parameters are as ``build`` makes them."""
        validate_shared(self.parameters, self.inputs)
        check_flag("released", self.parameters["released"])
        entities = len(self._any_tier.entities)
        for plan in self.parameters["tiers"]:
            check_texts("the languages of a tier", plan["languages"])
        for tier in self.tiers.values():
            tier.validate(partial=True)
            if len(tier.blocks.token_total) != 1:
                raise ValueError("a tier has several layers of counts")
        self.sources.validate(entities)

    def contents(self) -> Contents:
        """Return what `save` writes; the entities once for all tiers."""
        arrays = add_prefix("sources", self.sources.arrays())
        for name, tier in self.tiers.items():
            for key, array in tier.arrays().items():
                shared = key.startswith("entities.")
                arrays[key if shared else f"tiers.{name}.{key}"] = array
        return Contents("wikipriors", self.parameters, arrays, self.inputs)

    @classmethod
    def from_stored(cls, stored: StoredIndex) -> "WikiPriors":
        """Return the index that was saved."""
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
        return cls(tiers, sources, stored.parameters, stored.inputs, calibration=calibration)


class PriorLists(NamedTuple):
    """P(e | t): token t has ``place[start[t]:start[t + 1]]``, places of entities, and priors."""

    start: Integers
    place: npt.NDArray[np.uint32]
    prior: npt.NDArray[np.float64]

    @classmethod
    def of(cls, index: TokenIndex) -> "PriorLists":
        """Return the postings of an index by token, in double precision."""
        blocks = index.blocks
        token = (blocks.key >> KEY_BITS).astype(np.int64)
        block = np.repeat(np.arange(len(blocks.block_start) - 1), np.diff(blocks.block_start))
        entity = block << block_bits(blocks) & ~KEY_MASK | (blocks.key & KEY_MASK)
        n = blocks.value[blocks.code]
        n[blocks.escape_at] = blocks.escape_value
        size = np.bincount(token, minlength=len(index.vocabulary))
        prior = n / np.bincount(token, n)[token]
        order = np.argsort(token, kind="stable")
        start = np.concatenate(([0], np.cumsum(size)))
        return cls(start, blocks.tie_order[entity[order]], prior[order])


class _Tier(NamedTuple):
    """An index with its own numbering of entities, their ids, and each row's entity."""

    token_index: TokenIndex
    entities: pa.LargeStringArray
    entity_of_row: Mapping[str, EntityNumbers]


def _plans(
    tables: Mapping[str, MentionTable], pivots: Mapping[str, MentionTable], *, released: bool
) -> list[dict[str, Any]]:
    """Return the tiers in order: which languages each counts, and with which tokenizer."""
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
    """Return the index of one tier; None if no mention has a token, such as a word."""
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
    except NoTokenError:
        return None
    progress("laying out", 0.0)
    pooled = pool(counts, dict.fromkeys(mine, 1.0), in_place=True)
    index = TokenIndex.build(counts, pooled, lam=0.0, threads=threads)
    return _Tier(index, counts.entities, counts.entity_of_row)


def _unite(
    tables: Mapping[str, MentionTable], built: Mapping[str, _Tier]
) -> tuple[dict[str, TokenIndex], dict[str, Integers]]:
    """Return the tiers with one numbering of all entities, and each row's entity in it, or -1."""
    every = pa.chunked_array([tier.entities for tier in built.values()]).unique()
    ids, order = tie_order(every)
    rows = {each: np.full(len(table), -1, np.int64) for each, table in tables.items()}
    tiers = {}
    for name, tier in built.items():
        place = order[pc.index_in(tier.entities, value_set=every).to_numpy()]
        place.setflags(write=False)  # like all arrays of an index, so that kernels compile once
        # Places keep the order of the ids, so ties are broken as before.
        blocks = tier.token_index.blocks._replace(tie_order=place)
        tiers[name] = replace(tier.token_index, blocks=blocks, entities=ids)
        for each, entity in tier.entity_of_row.items():
            numbered = np.where(entity < 0, -1, place[entity].astype(np.int64))
            rows[each] = np.maximum(
                rows[each], numbered
            )  # an entity may have a mention and no word
    return tiers, rows


def _find_nothing(texts: list[str], _k: int) -> list[list[Candidate]]:
    return [[] for _ in texts]
