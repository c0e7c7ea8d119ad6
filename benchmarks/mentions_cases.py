"""The cases of mentions.py: of each kind of mention, the tables and the queries of a language.

The folder of the data holds folders of mention tables: ``names``, ``slavicner`` (mentions in news),
``anchors`` (texts of links) and ``scripts`` (names of persons in one script each).
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from measure import missing_packages
from mentions_queries import add_generic_words, persons, reorder, shorten
from mentions_results import Place
from recall_cases import JOINT, ZERO_SHOT
from recall_results import read_json, write_json

from candgen.auto import choose_pivots
from candgen.auto.pivots import ENGLISH
from candgen.evaluation.ceilings import candidate_space, unlike_pivots
from candgen.evaluation.split import Split, split
from candgen.tables.mention_table import MentionTable
from candgen.tables.queries import EASY, Query, read_queries
from candgen.tables.table_folder import TableFolder

SAME_QUERIES = "zero-shot-held-out"
"""Zero-shot with the queries of the joint setting, where the zero-shot ones are others."""
SETTINGS = (ZERO_SHOT, SAME_QUERIES, JOINT)
ANCHOR_PIVOTS = {"mr": ("hi", "gu", "bn", "en")}
"""The pivots of a language of anchors; those that candgen chooses where none are listed."""
LANGUAGE_NAMES = "language:"
"""The prefix of the entities of CLDR that are languages."""
PERSON_NAMES = "latin"
"""The table of given and family names, in the folder of scripts."""

Tables = dict[str, MentionTable]
Known = MentionTable | Sequence[str]
"""What is known of a target: a table with entities, or only names."""


@dataclass(frozen=True)
class Case:
    """Queries and what all methods may learn from.

    ``target`` is the labelled table of the target, None in a zero-shot setting; then there are only
    its ``names``, without the queries. ``read_pivots`` returns the other tables for what is known
    of the target. ``subsets`` are flags of queries. ``owners`` has all entities that are right for
    a mention, where these are several.
    """

    place: Place
    target: MentionTable | None
    names: Sequence[str]
    queries: Sequence[Query]
    read_pivots: Callable[[Known], Tables]
    subsets: Mapping[str, list[bool]] = field(default_factory=dict)
    owners: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def language(self) -> str | None:
        """The code of the target; None where only a script is known."""
        return None if self.place.kind == "scripts" else self.place.language

    @cached_property
    def pivots(self) -> Tables:
        """The tables of other languages."""
        return self.read_pivots(self.known)

    @property
    def known(self) -> Known:
        """What is known of the target."""
        return self.names if self.target is None else self.target

    @property
    def tables(self) -> Tables:
        """All tables with entities, by language; the target's is the last."""
        own = {} if self.target is None else {self.place.language: self.target}
        return {**self.pivots, **own}

    def golds(self, query: Query) -> frozenset[str]:
        """Return the entities that are right for a query."""
        return self.owners.get(query.mention) or frozenset({query.entity})

    @cached_property
    def unlike(self) -> list[bool]:
        """For each query, whether no table has its mention, romanised, as a name of its gold."""
        asked = [
            query._replace(entity=gold) for query in self.queries for gold in self.golds(query)
        ]
        flags = unlike_pivots(
            asked,
            self.tables.values(),
            normalizer="latin",
            language=self.language,
            languages=list(self.tables),
        )
        ends = np.cumsum([len(self.golds(query)) for query in self.queries])[:-1]
        return [bool(part.all()) for part in np.split(flags, ends)]

    @property
    def digest(self) -> str:
        """Hash of the queries."""
        return digest_of([f"{query.mention}\t{query.entity}" for query in self.queries])


class Draw(NamedTuple):
    """Which queries are wanted, from which folder."""

    data: Path
    place: Place
    number: int

    @property
    def language(self) -> str:
        """The language, or the script."""
        return self.place.language

    @property
    def random(self) -> Random:
        """A source of random numbers, the same for all settings of a case."""
        return Random(f"{self.place.kind} {self.language} {self.place.seed}")

    def some(self, queries: Iterable[Query]) -> list[Query]:
        """Return at most the wanted number of queries, drawn at random."""
        distinct = {query[:2]: query for query in queries}
        pairs = self.random.sample(sorted(distinct), min(self.number, len(distinct)))
        return [distinct[pair] for pair in sorted(pairs)]

    def folds(self, table: MentionTable, per_type: int) -> Split:
        """Hold out names of a table; what is held out does not depend on the setting."""
        return split(
            table,
            per_type=max(per_type, 1),
            seed=self.place.seed,
            normalizer="default",
            language=self.language,
        )

    def case(
        self,
        table: MentionTable,
        queries: Sequence[Query],
        read_pivots: Callable[[Known], Tables],
        **more: Mapping[str, list[bool]],
    ) -> Case:
        """Return a case whose target is ``table``, or the names of it that are not asked for."""
        asked = {query.mention for query in queries}
        names = [mention for mention in dict.fromkeys(table.mentions) if mention not in asked]
        target = table if self.place.setting == JOINT else None
        return Case(self.place, target, names, queries, read_pivots, **more)


def news(draw: Draw) -> Case:
    """Mentions in news; the other languages of the folder are pivots."""
    folder = TableFolder(draw.data / "slavicner")
    table = folder[draw.language]
    pivots = {code: folder[code] for code in folder if code != draw.language}
    if draw.place.setting == ZERO_SHOT:
        half = draw._replace(number=min(draw.number, len(table) // 2))
        queries = half.some(Query(mention, entity) for mention, entity, _ in table)
        known = candidate_space(*pivots.values())
        subsets = {"entity in a pivot": [query.entity in known for query in queries]}
    else:
        folds = draw.folds(table, draw.number // 3)
        table, queries = folds.train, folds.test
        subsets = held_out(queries)
    return draw.case(table, queries, lambda _: pivots, subsets=subsets)


def anchors(draw: Draw) -> Case:
    """Texts of links in Wikipedia; the target's table has labels."""
    found = TableFolder(draw.data / "anchors")[draw.language]
    labels = TableFolder(draw.data / "names")[draw.language]
    queries = draw.some(Query(mention, entity) for mention, entity, _ in found)
    flags = unlike_pivots(
        queries, [labels], normalizer="default", language=draw.language, languages=[draw.language]
    )
    codes = ANCHOR_PIVOTS.get(draw.language)

    def read_pivots(known: Known) -> Tables:
        folder = TableFolder(draw.data / "names", without=draw.language)
        if codes is None:
            return choose_pivots(known, folder, language=draw.language)[1]
        return {code: folder[code] for code in codes if code in folder}

    subsets = {"no label of the entity": [bool(flag) for flag in flags]}
    return draw.case(labels, queries, read_pivots, subsets=subsets)


def labels(draw: Draw) -> Case:
    """Names that are held out, and as many that the training data has."""
    folds = held_out_labels(draw)
    return names_case(draw, folds.train, folds.test, subsets=held_out(folds.test))


def held_out_labels(draw: Draw) -> Split:
    """Hold out a third of the wanted number of names of each type."""
    return draw.folds(TableFolder(draw.data / "names")[draw.language], draw.number // 3)


def order(draw: Draw) -> Case:
    """Names of persons, the last word first."""
    folds = draw.folds(TableFolder(draw.data / "names")[draw.language], 3 * draw.number)
    return names_case(draw, folds.train, draw.some(reorder(folds.test, known_persons(draw))))


def partial(draw: Draw) -> Case:
    """One word of a name: of a person's the last, of others the rarest."""
    table = TableFolder(draw.data / "names")[draw.language]
    folds = draw.folds(table, 2 * draw.number)
    queries = shorten(folds.test, known_persons(draw), table)
    return names_case(draw, folds.train, draw.some(queries))


def generic(draw: Draw) -> Case:
    """Names with a frequent word of the language before or after them."""
    table = TableFolder(draw.data / "names")[draw.language]
    folds = draw.folds(table, draw.number // 2)
    queries = add_generic_words(folds.test, table, draw.random)
    return names_case(draw, folds.train, draw.some(queries))


def languages(draw: Draw) -> Case:
    """Names of languages in CLDR; the target's names of all other entities are known."""
    from candgen.integrations import cldr  # noqa: PLC0415

    table = cldr.names(draw.language)
    named = [Query(mention, gold) for mention, gold, _ in table if gold.startswith(LANGUAGE_NAMES)]
    queries = draw._replace(number=min(draw.number, len(named) // 2)).some(named)
    asked = {query.entity for query in queries}
    rest = MentionTable.from_pairs(row for row in table if row[1] not in asked)

    def read_pivots(known: Known) -> Tables:
        # Languages with a region or a script, such as sr_Latn, may be the target in other letters.
        codes = [code for code in cldr.languages() if "_" not in code and code != draw.language]
        others = {code: cldr.names(code) for code in codes}
        return choose_pivots(known, others, language=draw.language)[1]

    return draw.case(rest, queries, read_pivots)


def scripts(draw: Draw) -> Case:
    """Names in one script; a hit on any entity that has the form counts."""
    folder = draw.data / "scripts"
    queries = draw.some(read_queries(folder / f"queries-{draw.language}.tsv.gz"))
    owners: dict[str, set[str]] = {}
    for mention, entity, _ in MentionTable.read(folder / f"forms-{draw.language}.tsv.gz"):
        owners.setdefault(mention, set()).add(entity)
    return Case(
        draw.place,
        None,
        (),
        queries,
        lambda _: {ENGLISH: read_table(folder / f"{PERSON_NAMES}.tsv.gz")},
        owners={
            query.mention: frozenset({query.entity, *owners.get(query.mention, ())})
            for query in queries
        },
    )


def held_out(queries: Sequence[Query]) -> dict[str, list[bool]]:
    """Return which queries the training data does not have."""
    return {"held out": [query.type != EASY for query in queries]}


def names_case(
    draw: Draw, train: MentionTable, queries: Sequence[Query], **more: Mapping[str, list[bool]]
) -> Case:
    """Return a case of the folder of names, with the pivots that candgen chooses."""
    return draw.case(train, queries, lambda _: chosen_pivots(draw), **more)


def chosen_pivots(draw: Draw) -> Tables:
    """Return the pivots that ``build_auto`` chooses among all tables of names.

    They are chosen once for all kinds, with what is known in the case "labels", and stored: to read
    all tables takes longer than to measure a case.
    """
    place = draw.place._replace(kind="labels")
    case = draw.case(held_out_labels(draw).train, (), dict)
    folder = TableFolder(draw.data / "names", without=draw.language)
    wanted = {"names": digest_of(case.known), "languages": list(folder)}
    stored = read_json(place.path("pivots"))
    if stored is None or stored["wanted"] != wanted:
        chosen = choose_pivots(case.known, folder, language=draw.language)[1]
        stored = {"wanted": wanted, "pivots": list(chosen)}
        write_json(place.path("pivots"), stored)
    return {code: folder[code] for code in stored["pivots"]}


def digest_of(known: Known) -> str:
    """Return a hash of what is known of a target."""
    if isinstance(known, MentionTable):
        return known.digest
    return hashlib.sha256("\n".join(known).encode()).hexdigest()


def known_persons(draw: Draw) -> frozenset[str]:
    """Return the entities that are probably persons, by the target's and English names."""
    folder = TableFolder(draw.data / "names")
    codes = [code for code in (draw.language, ENGLISH) if code in folder]
    return _persons(draw.data, tuple(folder.path(code) for code in codes), tuple(codes))


@lru_cache(maxsize=2)
def _persons(data: Path, paths: tuple[Path, ...], codes: tuple[str, ...]) -> frozenset[str]:
    words = read_table(data / "scripts" / f"{PERSON_NAMES}.tsv.gz").mentions
    return persons(dict(zip(codes, map(read_table, paths), strict=True)), words)


@lru_cache(maxsize=1)
def read_table(path: Path) -> MentionTable:
    """Read a table; the last one is kept."""
    return MentionTable.read(path)


class Kind(NamedTuple):
    """A kind of mention: the languages by default, and the settings and folders it has."""

    open: Callable[[Draw], Case]
    languages: tuple[str, ...]
    settings: tuple[str, ...]
    folders: tuple[str, ...]


NAMES = ("fo", "mk", "mr", "tk", "jv", "lb")
SCRIPTS = (
    *("Cyrillic", "Greek", "Arabic", "Hebrew", "Armenian", "Georgian", "Devanagari", "Bengali"),
    *("Tamil", "Telugu", "Thai", "Hangul", "Kana", "Han"),
)
BOTH = (ZERO_SHOT, JOINT)
KINDS: dict[str, Kind] = {
    "news": Kind(news, ("bg", "cs", "pl", "ru"), SETTINGS, ("slavicner",)),
    "anchors": Kind(anchors, ("mr",), BOTH, ("anchors", "names")),
    "labels": Kind(labels, NAMES, BOTH, ("names",)),
    "languages": Kind(languages, ("ro", "hsb", "sw", "fo", "uz", "mk"), BOTH, ()),
    "order": Kind(order, NAMES, BOTH, ("names", "scripts")),
    "partial": Kind(partial, NAMES, BOTH, ("names", "scripts")),
    "generic": Kind(generic, NAMES, BOTH, ("names",)),
    "scripts": Kind(scripts, SCRIPTS, (ZERO_SHOT,), ("scripts",)),
}
"""By name, in the order of the tables."""


def places(
    data: Path, kinds: Sequence[str], wanted: Sequence[str] | None, seeds: Sequence[int]
) -> list[Place]:
    """Return the cases that the data has, and say which are left out.

    Those of a language and setting follow each other: they share tables.
    """
    made = []
    for name in kinds:
        kind = KINDS[name]
        missing = [folder for folder in kind.folders if not (data / folder).is_dir()]
        if missing or (name == "languages" and missing_packages("babel")):
            what = f"no folder {missing[0]} in {data}" if missing else "babel is not installed"
            print(f"{what}: {name} is left out")
            continue
        for language in wanted or kind.languages:
            if not has(data, name, language):
                print(f"{name} has no data of {language}")
                continue
            made += [Place(name, language, each, seed) for seed in seeds for each in kind.settings]
    made.sort(key=lambda place: (place.language, SETTINGS.index(place.setting), place.seed))
    return made


def has(data: Path, kind: str, language: str) -> bool:
    """Return whether there is data of a language, or a script."""
    if kind == "scripts":
        return (data / "scripts" / f"queries-{language}.tsv.gz").exists()
    if kind == "languages":
        from candgen.integrations import cldr  # noqa: PLC0415

        return language in cldr.languages()
    folders = {"news": ("slavicner",), "anchors": ("anchors", "names")}.get(kind, ("names",))
    return all(language in TableFolder(data / folder) for folder in folders)


def open_case(data: Path, place: Place, number: int) -> Case:
    """Return a case with about ``number`` queries."""
    return KINDS[place.kind].open(Draw(data, place, number))
