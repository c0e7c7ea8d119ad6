"""An item to rows: its names in some languages, and what to display of it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from candgen.dumps.parenthesis import remove_parenthesis
from candgen.errors import ParameterError
from candgen.wikidata.items import Item, SkipReason
from candgen.wikidata.languages import DEFAULT, Language, parse_languages

PAGE_CLASSES = (
    "Q4167410",  # disambiguation page
    "Q22808320",  # disambiguation page for names of people
    "Q66087861",  # disambiguation page for names
    "Q106589819",  # disambiguation page for family names
    "Q4167836",  # category
    "Q11266439",  # template
    "Q11753321",  # template for navigation
    "Q19887878",  # template for an infobox
    "Q15184295",  # module
    "Q14204246",  # page about the project
    "Q17442446",  # item for the use of the projects
)
"""Classes of pages about Wikipedia itself: by default their items are left out."""

_ITEM = re.compile("Q[1-9][0-9]*")
_MAX_TEXT = 1 << 16  # characters; Wikidata allows 250
_SURROGATE = re.compile("[\ud800-\udfff]")


class Source(IntEnum):
    """Where a name comes from, as bits; the count of a name is the number of its sources."""

    LABEL = 1
    ALIAS = 2
    SITELINK = 4


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which items, and which of their names, are extracted.

    Languages are codes of Wikidata's labels or of Wikipedias; ``mul`` is the code of names for all
    languages. With ``mul=True``, such a label is used in each language without a label of its own,
    and such aliases in each language. An item is left out if it is an instance of a class in
    ``not_instance_of``, or of none in ``instance_of`` unless that is empty; only the classes of its
    own statements count, not their superclasses.

    >>> Selection(languages=("fo", "is"), instance_of=("Q515",)).wanted[1].site
    'iswiki'
    """

    languages: tuple[str, ...]
    labels: bool = True
    aliases: bool = True
    sitelinks: bool = True
    mul: bool = False
    has_sitelink: bool = False
    instance_of: tuple[str, ...] = ()
    not_instance_of: tuple[str, ...] | None = None
    """None is PAGE_CLASSES, except for those in ``instance_of``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", tuple(each.code for each in self.wanted))
        if self.not_instance_of is None:
            left = tuple(each for each in PAGE_CLASSES if each not in self.instance_of)
            object.__setattr__(self, "not_instance_of", left)
        for name in ("instance_of", "not_instance_of"):
            _check_classes(name, getattr(self, name))
        if both := set(self.instance_of) & set(self.not_instance_of or ()):
            raise ParameterError(
                f"{min(both)} is in instance_of and in not_instance_of: drop it from one"
            )
        if not (self.labels or self.aliases or self.sitelinks):
            raise ParameterError(
                "labels, aliases and sitelinks are all left out, so there are no names: keep one"
            )

    @property
    def wanted(self) -> tuple[Language, ...]:
        """The keys of each language in an item."""
        return parse_languages(self.languages)


def _check_classes(name: str, classes: object) -> None:
    if isinstance(classes, str) or not isinstance(classes, Collection):
        raise ParameterError(f"{name} is {classes!r}, expected a list such as ['Q5', 'Q515']")
    for each in classes:
        if not isinstance(each, str) or not _ITEM.fullmatch(each):
            raise ParameterError(f"{name} has {each!r}, expected the id of an item, such as Q5")


class Display(NamedTuple):
    """What to display of an item in a language."""

    language: str
    name: str
    description: str | None


class ItemRows(NamedTuple):
    """The rows of an item."""

    names: dict[tuple[str, str], int]
    """From (language, mention) to its sources."""
    displays: list[Display]
    invalid: int
    """The number of values left out: not a text, empty, too long, or with a surrogate."""


class ItemDescriber:
    """Makes rows of the items that `Selection` selects.

    >>> from candgen.wikidata.items import read_item
    >>> item = read_item(b'{"id": "Q1", "labels": {"fo": {"language": "fo", "value": "Havn"}}}')
    >>> ItemDescriber(Selection(languages=("fo", "is"))).describe(item).names
    {('fo', 'Havn'): 1}
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._languages = selection.wanted
        self._wanted = frozenset(selection.instance_of)
        self._unwanted = frozenset(selection.not_instance_of or ())
        self._adds_default = DEFAULT not in selection.languages

    def describe(self, item: Item) -> ItemRows | SkipReason:
        """Return the rows of an item, or why it has none."""
        if self._selection.has_sitelink and not item.sitelinks:
            return SkipReason.SITELINK
        if not self._unwanted.isdisjoint(item.instance_of):
            return SkipReason.CLASS
        if self._wanted and self._wanted.isdisjoint(item.instance_of):
            return SkipReason.NO_CLASS
        texts = _Texts(item)
        names: dict[tuple[str, str], int] = {}
        displays: list[Display] = []
        for language in self._languages:
            self._describe_in(language, texts, names, displays)
        # The fallback for languages in which the item has no name.
        if self._adds_default and (label := texts.label((DEFAULT,))) is not None:
            displays.append(Display(DEFAULT, label, texts.description((DEFAULT,))))
        if not names and not displays:
            return SkipReason.UNNAMED
        return ItemRows(names, displays, texts.invalid)

    def _describe_in(
        self,
        language: Language,
        texts: "_Texts",
        names: dict[tuple[str, str], int],
        displays: list[Display],
    ) -> None:
        selection, item = self._selection, texts.item
        named = language.site in item.sitelinks or selection.mul
        if not named and not any(c in item.labels or c in item.aliases for c in language.labels):
            return  # the usual case, decided quickly
        label, title = texts.label(language.labels), texts.title(language.site)
        aliases = texts.aliases(language.labels)
        if (name := label or title or next(iter(aliases), None)) is not None:
            displays.append(Display(language.code, name, texts.description(language.labels)))
        if selection.mul:
            label = label or texts.label((DEFAULT,))
            aliases = [*aliases, *texts.aliases((DEFAULT,))]
        given = [(label, Source.LABEL)] if selection.labels else []
        given += [(title, Source.SITELINK)] if selection.sitelinks else []
        given += [(alias, Source.ALIAS) for alias in aliases] if selection.aliases else []
        for mention, source in given:
            if mention is not None:
                key = (language.code, mention)
                names[key] = names.get(key, 0) | source


class _Texts:
    """The texts of an item, with white space normalized; invalid ones are counted."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self._seen: set[tuple[str, str]] = set()
        self.invalid = 0

    def label(self, codes: tuple[str, ...]) -> str | None:
        return next(self._read("labels", self.item.labels, codes), None)

    def description(self, codes: tuple[str, ...]) -> str | None:
        return next(self._read("descriptions", self.item.descriptions, codes), None)

    def title(self, site: str) -> str | None:
        title = next(self._read("sitelinks", self.item.sitelinks, (site,), field="title"), None)
        return None if title is None else remove_parenthesis(title)

    def aliases(self, codes: tuple[str, ...]) -> list[str]:
        return list(self._read("aliases", self.item.aliases, codes))

    def _read(
        self, kind: str, names: Mapping[str, object], codes: tuple[str, ...], field: str = "value"
    ) -> Iterator[str]:
        for code in codes:
            if (found := names.get(code)) is None:
                continue
            for each in found if isinstance(found, list) else [found]:
                text = _normalize(each.get(field)) if isinstance(each, dict) else None
                if text is not None:
                    yield text
                elif (kind, code) not in self._seen:  # each is counted once
                    self.invalid += 1
            self._seen.add((kind, code))


def _normalize(text: object) -> str | None:
    if not isinstance(text, str) or len(text) > _MAX_TEXT or _SURROGATE.search(text):
        return None
    return " ".join(text.split()) or None
