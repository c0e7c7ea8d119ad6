"""An index that is open: its generator, what is known of its entities, and whether it is sound."""

import inspect
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from candgen.generators.calibration import Calibration
from candgen.generators.pivot.explanation import Shares
from candgen.generators.registry import open_stored
from candgen.protocols import Explains, Names, ScoreBreakdown, covers, entity_ids_of, first_stage_of
from candgen.storage import index_folder
from candgen.storage.index_folder import MANIFEST, Stored
from candgen.tables.entities import Described, Descriptions
from candgen.tables.source_mentions import SourceMention

CHUNK = 256
"""Mentions that are asked for at once; between two chunks a request may be given up."""
CHECKED_EVERY = 0.25
"""Seconds for which the files of an index are believed to be as they were."""
SHORT, QUICK_K, QUICK = 100, 100, 0.003
"""Characters of a name, candidates, and seconds: up to these, a question is quick."""
REMEMBERED = 50_000
"""Entities whose names are kept at hand."""
LOOKED_AT, EXAMPLES, LONGEST_EXAMPLE = 1000, 5, 40
"""Entities of which a look at an index is content, names to show, and their characters."""
QID = re.compile(r"Q[1-9][0-9]*")
ANY = "entity"
"""The type of what has no type; of Wikidata's entities it is Q35120, which means the same."""
ANY_QID = "Q35120"


class Late(Exception):  # noqa: N818
    """The time for a request is over."""

    @staticmethod
    def check(deadline: float) -> None:
        """Give up what nobody waits for any longer."""
        if time.monotonic() > deadline:
            raise Late


class Shown(NamedTuple):
    """An entity as a person sees it."""

    name: str
    language: str
    description: str
    types: tuple[str, ...]


class Type(NamedTuple):
    """What an entity is."""

    id: str
    name: str


class _File(NamedTuple):
    path: str
    inode: int
    size: int
    changed: int


@dataclass
class Opened:
    """An index by its name; shared by all threads, and never changed but for what it remembers."""

    name: str
    stored: Stored
    generator: Any
    calibration: Calibration
    descriptions: Descriptions | None
    manifest: _File | None
    files: list[_File]
    wikidata: bool
    """Whether its entities are Wikidata's, by a look at some of them."""
    examples: tuple[str, ...] = ()
    """Names to try it with."""
    checked: float = 0.0
    usual: float = float("inf")
    """Seconds that one short mention takes, as far as that is known."""
    _known: dict[str, tuple[list[Described], tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def open(cls, name: str, path: str, *, verify: bool = False) -> "Opened":
        """Open what is in a folder, and ask it all there is to ask, once."""
        manifest = _file(Path(path) / MANIFEST)  # before it is read: it may be replaced meanwhile
        stored = index_folder.load(path, verify=verify)
        arrays = (each for each in stored.path.iterdir() if each.suffix == ".npy")
        opened = cls(
            name,
            stored,
            open_stored(stored),
            Calibration.from_stored(stored),
            Descriptions.from_stored(stored),
            manifest,
            [*filter(None, map(_file, arrays))],
            wikidata=False,
        )
        some = opened._some_entities()
        opened.wikidata = bool(some) and all(QID.fullmatch(each) for each in some)
        opened.examples = opened._examples_among(some)
        opened._rehearse()
        return opened

    def _some_entities(self) -> list[str]:
        """Entities from here and there, or those that the generator answers with."""
        asked = [each.entity for each in self.ask(["a"], 30)[0]]
        entities = entity_ids_of(self.generator)
        if entities is None:
            return asked
        step = max(1, len(entities) // LOOKED_AT)
        found: list[str] = entities[::step]
        return found

    def _examples_among(self, entities: Iterable[str]) -> tuple[str, ...]:
        """Their most frequent names, in the language of the queries if there are any.

        Among equals they are drawn by lot, always the same: neighbours would be too much alike.
        """
        if not isinstance(self.generator, Names):
            return ()
        names = [name for entity in entities for name in self.generator.names(entity)]
        short = [name for name in names if len(name.mention) <= LONGEST_EXAMPLE]
        own = [name for name in short if name.language == self.language]
        ordered = sorted(own or short, key=lambda name: (-name.count, crc32(name.mention.encode())))
        return tuple(dict.fromkeys(name.mention for name in ordered))[:EXAMPLES]

    def _rehearse(self) -> None:
        """Ask what clients will ask: they need not wait for what is compiled now."""
        mention = self.examples[0] if self.examples else "a"
        for entity, _ in self.ask([mention], 1)[0]:
            self.shares(mention, [entity])
            if isinstance(self.generator, Explains):
                self.generator.explain(mention, entity)
        self.usual = float("inf")  # what took its time to compile is not usual

    @property
    def any_type(self) -> str:
        """The type that every entity has."""
        return ANY_QID if self.wikidata else ANY

    @property
    def lam(self) -> float | None:
        """The weight of the posterior, if the generator lets clients choose one."""
        return float(self.generator.lam) if self.takes_lam else None

    @property
    def takes_lam(self) -> bool:
        """Whether a query may say lam."""
        return "lam" in inspect.signature(self.generator.candidates).parameters

    @property
    def language(self) -> str | None:
        """The language of the queries."""
        language: str | None = self._parameter("language")
        return language

    @property
    def languages(self) -> list[str]:
        """The languages that it has learned from."""
        return list(self._parameter("languages") or [])

    def _parameter(self, name: str) -> Any:  # noqa: ANN401
        """What the generator was built with, or else the first of its parts that knows."""
        parameters = self.stored.parameters
        parts = [each.get("parameters", {}) for each in parameters.get("parts", [])]
        return next((each[name] for each in [parameters, *parts] if each.get(name)), None)

    @property
    def first(self) -> Any:  # noqa: ANN401
        """The generator, or its first stage, whose scores have parts."""
        return first_stage_of(self.generator)

    def shares(
        self, mention: str, entities: Sequence[str], *, lam: float | None = None
    ) -> Sequence[Shares | None]:
        """What the (first stage's) scores of candidates are made of; None if it cannot tell."""
        if not isinstance(self.first, ScoreBreakdown):
            return [None] * len(entities)
        return self.first.shares(mention, entities, lam=lam)

    def ask(
        self,
        mentions: Sequence[str],
        k: int,
        *,
        lam: float | None = None,
        deadline: float = float("inf"),
    ) -> list[list[Any]]:
        """The candidates of mentions, as the generator gives them, or Late."""
        options = {} if lam is None else {"lam": lam}
        answers: list[list[Any]] = []
        start = time.monotonic()
        for first in range(0, len(mentions), CHUNK):
            Late.check(deadline)
            answers += self.generator.candidates(mentions[first : first + CHUNK], k, **options)
        if is_short(mentions):
            taken = time.monotonic() - start
            self.usual = taken if self.usual == float("inf") else 0.9 * self.usual + 0.1 * taken
        return answers

    def is_quick(self, mentions: Sequence[str], k: int) -> bool:
        """Whether these mentions are likely to be answered before anybody notices."""
        return is_short(mentions) and k <= QUICK_K and self.usual < QUICK

    def show(self, entity: str, languages: Sequence[str] = ()) -> Shown:
        """An entity's name and description in the first of these languages that it has them in.

        Then come the language of the queries, English, and whatever there is. Without a table of
        names, its most frequent mention is its name.
        """
        rows, types = self._facts(entity)
        order = [*languages, (self.language or "").lower(), "en"]
        name = _best((row for row in rows if row.name), order)
        said = _best((row for row in rows if row.description), order)
        return Shown(
            name.name if name else entity,
            name.language if name else "",
            said.description if said else "",
            types or (self.any_type,),
        )

    def type(self, kind: str, languages: Sequence[str] = ()) -> Type:
        """A type, with a name if the table of entities has one for it."""
        if kind == self.any_type:
            return Type(kind, "entity")
        known = self.descriptions is not None and self.descriptions.of(kind)
        return Type(kind, self.show(kind, languages).name if known else kind)

    def _facts(self, entity: str) -> tuple[list[Described], tuple[str, ...]]:
        """What is known of an entity; kept, because the same ones are asked for again and again."""
        known = self._known.get(entity)
        if known is None:
            rows = [] if self.descriptions is None else self.descriptions.of(entity)
            types = () if self.descriptions is None else self.descriptions.types_of(entity)
            if not any(row.name for row in rows) and isinstance(self.generator, Names):
                rows = [*rows, *_by_frequency(self.generator.names(entity))]
            known = rows, tuple(types)
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            if rows or types:  # there is no end of entities that are none
                self._known[entity] = known
        return known

    def names(self, entity: str) -> list[Described]:
        """All that is known of an entity by language, to be shown in a preview."""
        return self._facts(entity)[0]

    def knows(self, entity: str) -> bool:
        """Whether it may be a candidate, or is at least described."""
        if self._facts(entity)[0]:
            return True
        return covers(self.generator) and self.generator.knows([entity])[0]

    def is_sound(self, *, at_once: bool = False) -> bool:
        """Whether its files are those that were opened; a file that is gone still is, in memory.

        What was written into an open file would be read as numbers, and what was cut off ends the
        process, so that this is looked at before questions are answered.
        """
        now = time.monotonic()
        if now - self.checked < CHECKED_EVERY and not at_once:
            return True
        self.checked = now
        return all(map(_is_unchanged, self.files))

    def is_current(self) -> bool:
        """Whether the folder still holds this index, and not one that was built since."""
        return self.manifest is not None and self.manifest == _file(Path(self.manifest.path))


def is_short(mentions: Sequence[str]) -> bool:
    """Whether this is one name of a usual length."""
    return len(mentions) == 1 and len(mentions[0]) <= SHORT


def _by_frequency(names: Sequence[SourceMention]) -> list[Described]:
    """Mentions as names, the most frequent first, among equals the one that more languages have."""
    languages = Counter(each.mention for each in names)
    ordered = sorted(names, key=lambda each: (-each.count, -languages[each.mention]))
    return [Described(each.language, each.mention, "") for each in ordered]


def _best(rows: Iterable[Described], order: Sequence[str]) -> Described | None:
    """The row in the language that comes first; among equals, and without any, the first row."""
    ranks = {language: place for place, language in reversed(list(enumerate(order)))}
    listed = list(rows)
    return min(listed, key=lambda row: ranks.get(row.language.lower(), len(order)), default=None)


def _file(path: Path) -> _File | None:
    """A file as it is now, if it is there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return _File(os.fspath(path), found.st_ino, found.st_size, found.st_mtime_ns)


def _is_unchanged(file: _File) -> bool:
    """Whether nobody has written into a file; another one in its place, or none, is no harm."""
    now = _file(Path(file.path))
    return now is None or now.inode != file.inode or now == file
