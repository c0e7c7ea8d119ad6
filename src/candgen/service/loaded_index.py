"""An index in memory: its generator, views of its entities, and the state of its files."""

import os
import re
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from candgen.generators.calibration import Calibration
from candgen.generators.pivot.explanation import Shares
from candgen.generators.promise import Promise
from candgen.generators.registry import open_stored
from candgen.protocols import Explains, ScoreBreakdown, covers, entity_ids_of, first_stage_of
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex
from candgen.storage.index_replacement import MANIFEST
from candgen.tables.entities import EntityTable, EntityText
from candgen.tables.source_mentions import SourceMention

PIECE_SECONDS = 0.01
"""About how long one call of the generator takes, if it is for several mentions."""
FIRST_PIECE, MENTION_COST, MAX_PIECE = 250, 20, 256
"""Characters of the first call, those that every mention counts in addition, and mentions of any
call: a short mention takes longer than its length says."""
SCORES_AT_ONCE = 50
"""Candidates whose scores are broken down in one call."""
FILE_CHECK_INTERVAL = 0.01
"""Seconds between two checks of the files before an answer; after it they are always checked."""
MAX_SHORT_LENGTH, MAX_SHORT_K, MAX_QUICK_SECONDS = 100, 100, 0.003
"""A search for one mention is short up to this many characters and candidates, and quick if it also
takes less than so many seconds."""
MAX_CACHED_ENTITIES = 50_000
SAMPLED_ENTITIES, MAX_EXAMPLES, MAX_EXAMPLE_LENGTH = 1000, 5, 40
"""Entities that are sampled when an index is loaded, example mentions, and their characters."""
QID = re.compile(r"Q[1-9][0-9]*")
ANY_TYPE, ANY_TYPE_QID = "entity", "Q35120"
"""The type of entities without a type; the second is Wikidata's item of that meaning."""


class EntityView(NamedTuple):
    """An entity as the service shows it to a person."""

    name: str
    language: str
    description: str
    types: tuple[str, ...]


class FileState(NamedTuple):
    """What shows that a file was replaced or written to."""

    path: str
    inode: int
    size: int
    modified: int


@dataclass
class LoadedIndex:
    """A named index, shared by all threads; only its cache and its measurements change."""

    name: str
    stored: StoredIndex
    generator: Any
    descriptions: EntityTable | None
    manifest: FileState | None
    files: list[FileState]
    wikidata: bool = False
    """Whether the sampled entities are Wikidata items."""
    promise: Promise | None = None
    """What was measured before it was built."""
    examples: tuple[str, ...] = ()
    """Mentions to try it with."""
    checked: float = 0.0
    """When the files were checked."""
    expected_seconds: float = float("inf")
    """What a search for one short mention may take: see ``_measure``."""
    _cache: dict[str, tuple[list[EntityText], tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def load(cls, name: str, path: str) -> "LoadedIndex":
        """Load the index in a folder, sample it, and run each kind of request once."""
        manifest = _file_state(str(Path(path) / MANIFEST))  # first: it may be replaced meanwhile
        stored = index_folder.load(path)
        files = [_file_state(str(each)) for each in stored.path.glob("*.npy")]
        loaded = cls(
            name,
            stored,
            open_stored(stored),
            EntityTable.from_stored(stored),
            manifest,
            [each for each in files if each is not None],
        )
        loaded.promise = Promise.from_stored(stored)
        sample = loaded._sample_entities()
        loaded.wikidata = bool(sample) and all(map(QID.fullmatch, sample))
        loaded.examples = loaded._choose_examples(sample)
        loaded._warm_up()
        return loaded

    def _sample_entities(self) -> list[str]:
        """Return entities at equal distances, or some candidates if they cannot be listed."""
        candidates = [each.entity for piece in self.search(["a"], 30) for each in piece[0]]
        entities = entity_ids_of(self.generator)
        if entities is None:
            return candidates
        sample: list[str] = entities[:: max(1, len(entities) // SAMPLED_ENTITIES)]
        return sample

    def _choose_examples(self, entities: Iterable[str]) -> tuple[str, ...]:
        """Return their most frequent mentions, in the language of the queries if there are any.

        Equal counts are ordered by a hash, because neighbours would be too similar.
        """
        mentions = [each for entity in entities for each in self.generator.names(entity)]
        short = [each for each in mentions if len(each.mention) <= MAX_EXAMPLE_LENGTH]
        own = [each for each in short if each.language == self.language]
        ordered = sorted(own or short, key=lambda each: (-each.count, crc32(each.mention.encode())))
        return tuple(dict.fromkeys(each.mention for each in ordered))[:MAX_EXAMPLES]

    def _warm_up(self) -> None:
        """Compile the kernels that requests need."""
        mention = self.examples[0] if self.examples else "a"
        (found,) = self.search([mention], 1)
        for entity, _ in found[0]:
            for _ in self.break_down_scores(mention, [entity]):
                pass
            if isinstance(self.generator, Explains):
                self.generator.explain(mention, entity)
        self.expected_seconds = float("inf")  # those with compilation do not count

    @property
    def any_type(self) -> str:
        """The type that every entity has."""
        return ANY_TYPE_QID if self.wikidata else ANY_TYPE

    @property
    def lam(self) -> float | None:
        """The weight of the posterior; None if a request cannot choose another."""
        takes_lam = isinstance(self.generator, ScoreBreakdown)  # only they have a lam at all
        return float(self.stored.parameters["lam"]) if takes_lam else None

    @cached_property
    def language(self) -> str | None:
        """The language of the queries."""
        language: str | None = self.generator.summary().language
        return language

    @property
    def languages(self) -> list[str]:
        """The languages that it was learned from, by the first nested index that has any."""
        parameters = self.stored.parameters
        nested = [each.get("parameters", {}) for each in parameters.get("parts", [])]
        every = (each.get("languages") for each in [parameters, *nested])
        return list(next(filter(None, every), []))

    def facts(self) -> dict[str, Any]:
        """Return what clients may know of the index."""
        entities = entity_ids_of(self.generator)
        table = self.descriptions
        return {
            "name": self.name,
            "kind": self.stored.kind,
            "language": self.language,
            "languages": self.languages,
            "entities": None if entities is None else len(entities),
            "stages": 1 if first_stage_of(self.generator) is self.generator else 2,
            "wikidata": self.wikidata,
            "examples": list(self.examples),
            "lam": self.lam,
            "explains": isinstance(self.generator, Explains),
            "calibrated_on": Calibration.from_stored(self.stored).queries,
            "promise": None if self.promise is None else self.promise.as_json(),
            "types": 0 if table is None else len(table.types),
            "described": 0 if table is None else len(table.entities),
            "bytes": sum(self.stored.sizes.values()),
        }

    def search(
        self, mentions: Sequence[str], k: int, *, lam: float | None = None
    ) -> Iterator[list[Any]]:
        """Yield the generator's candidates of all mentions, some mentions at a time.

        How many depends on their characters and on how long the previous ones took.
        """
        options = {} if lam is None else {"lam": lam}
        first, size = 0, float(FIRST_PIECE)
        while first < len(mentions):
            last = _end_of_piece(mentions, first, size)
            start = time.monotonic()
            answers = self.generator.candidates(mentions[first:last], k, **options)
            seconds = time.monotonic() - start
            if is_short(mentions, k):
                self._measure(seconds)
            yield answers
            size *= min(2.0, max(0.5, PIECE_SECONDS / max(seconds, 1e-9)))
            first = last

    def _measure(self, seconds: float) -> None:
        """Expect what a search took: more at once, less little by little.

        In a large index some short mentions take a hundred times as long as others, and a client
        may send only those.
        """
        before = self.expected_seconds
        falling = seconds if before == float("inf") else 0.9 * before + 0.1 * seconds
        self.expected_seconds = max(seconds, falling)

    def is_quick(self) -> bool:
        """Return whether a short search will probably take less time than waking a thread."""
        return self.expected_seconds < MAX_QUICK_SECONDS

    def break_down_scores(
        self, mention: str, entities: Sequence[str], *, lam: float | None = None
    ) -> Generator[None, None, list[Shares | None]]:
        """Return prior, posterior and languages of first-stage scores; None where unknown."""
        first = first_stage_of(self.generator)
        if not isinstance(first, ScoreBreakdown):
            return [None] * len(entities)
        found: list[Shares | None] = []
        for start in range(0, len(entities), SCORES_AT_ONCE):
            found += first.shares(mention, entities[start : start + SCORES_AT_ONCE], lam=lam)
            yield
        return found

    def view(self, entity: str, languages: Sequence[str] = ()) -> EntityView:
        """Return name and description of an entity in the first of these languages that has them.

        Then come the language of the queries, English, and any. Without a table of names, the name
        is the most frequent mention.
        """
        rows, types = self.describe(entity)
        order = [*languages, (self.language or "").lower(), "en"]
        name = _first_by_language((row for row in rows if row.name), order)
        text = _first_by_language((row for row in rows if row.description), order)
        return EntityView(
            name.name if name else entity,
            name.language if name else "",
            text.description if text else "",
            types or (self.any_type,),
        )

    def view_type(self, type_id: str, languages: Sequence[str] = ()) -> dict[str, str]:
        """Return id and name of a type; the name is the id if the table has no name for it."""
        name = type_id
        if type_id == self.any_type:
            name = "entity"
        elif self.descriptions is not None and self.descriptions.of(type_id):
            name = self.view(type_id, languages).name
        return {"id": type_id, "name": name}

    def view_types(self, view: EntityView, languages: Sequence[str] = ()) -> list[dict[str, str]]:
        """Return id and name of each type of an entity."""
        return [self.view_type(each, languages) for each in view.types]

    def describe(self, entity: str) -> tuple[list[EntityText], tuple[str, ...]]:
        """Return the names and descriptions of an entity in all languages, and its types."""
        if (cached := self._cache.get(entity)) is not None:
            return cached
        table = self.descriptions
        rows = [] if table is None else table.of(entity)
        types = () if table is None else tuple(table.types_of(entity))
        if not any(row.name for row in rows):
            rows = [*rows, *_by_frequency(self.generator.names(entity))]
        if len(self._cache) >= MAX_CACHED_ENTITIES:
            self._cache.clear()
        if rows or types:  # clients can send any number of unknown ids
            self._cache[entity] = rows, types
        return rows, types

    def knows(self, entity: str) -> bool:
        """Return whether an entity can be a candidate, or is at least described."""
        if self.describe(entity)[0]:
            return True
        return covers(self.generator) and self.generator.knows([entity])[0]

    def is_unchanged(self, *, now: bool = False) -> bool:
        """Return whether no file was written to since it was loaded, by a check at intervals.

        A file that was deleted or replaced is still in memory. One that was overwritten would be
        read as wrong numbers, and one that was truncated would end the process.
        """
        time_now = time.monotonic()
        if time_now - self.checked < FILE_CHECK_INTERVAL and not now:
            return True
        self.checked = time_now
        return all(map(_is_unchanged, self.files))

    def is_current(self) -> bool:
        """Return whether the folder still holds this index, and not a rebuilt one."""
        return self.manifest is not None and self.manifest == _file_state(self.manifest.path)


def is_short(mentions: Sequence[str], k: int) -> bool:
    """Return whether a search is so short that it need not wait for longer ones."""
    return len(mentions) == 1 and len(mentions[0]) <= MAX_SHORT_LENGTH and k <= MAX_SHORT_K


def _end_of_piece(mentions: Sequence[str], first: int, size: float) -> int:
    """Return how far one call of the generator goes: at least one mention."""
    last = first
    while last < min(len(mentions), first + MAX_PIECE) and (size > 0 or last == first):
        size -= len(mentions[last]) + MENTION_COST
        last += 1
    return last


def _by_frequency(mentions: Sequence[SourceMention]) -> list[EntityText]:
    """Return mentions as names, by count, then by the number of languages that have them."""
    languages = Counter(each.mention for each in mentions)
    ordered = sorted(mentions, key=lambda each: (-each.count, -languages[each.mention]))
    return [EntityText(each.language, each.mention, "") for each in ordered]


def _first_by_language(rows: Iterable[EntityText], order: Sequence[str]) -> EntityText | None:
    """Return the row whose language comes first; among equals, the first row."""
    ranks = {language: rank for rank, language in reversed(list(enumerate(order)))}
    return min(rows, key=lambda row: ranks.get(row.language.lower(), len(order)), default=None)


def _file_state(path: str) -> FileState | None:
    """Return the state of a file; None if it does not exist."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return FileState(path, found.st_ino, found.st_size, found.st_mtime_ns)


def _is_unchanged(file: FileState) -> bool:
    """Return whether a file was not written to; it may have been deleted or replaced."""
    try:
        now = os.stat(file.path)  # noqa: PTH116 (a Path takes several times as long)
    except OSError:
        return True
    same = now.st_mtime_ns == file.modified and now.st_size == file.size
    return same or now.st_ino != file.inode
