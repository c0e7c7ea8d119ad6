"""An item to rows: the names that it has in some languages, and what to show of it."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from candgen.dumps.parenthesis import without_parenthesis
from candgen.errors import ParameterError
from candgen.wikidata.items import Item, Skipped
from candgen.wikidata.languages import DEFAULT, Language, parse_languages

PAGES = (
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
"""Classes of pages that Wikipedia keeps for itself: by default their items are left out."""

_ITEM = re.compile("Q[1-9][0-9]*")
_LONE = re.compile("[\ud800-\udfff]")
# "Paris (mythology)": what tells pages of one name apart. Names such as "f(x)" have no space.


class Source(IntEnum):
    """Where a name comes from, a bit each; the count of a name is the number of these."""

    LABEL = 1
    ALIAS = 2
    SITELINK = 4


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which items and which of their names are wanted.

    Languages are codes of Wikidata's labels or of Wikipedias; ``mul`` is one, of names that hold
    in every language. With ``mul``, such a label is also one of each language without a label of
    its own, and such aliases are aliases of each language. An item is left out if it is an instance
    of a class in ``not_instance_of``, or of none in ``instance_of`` unless that is empty; only what
    it is said to be directly counts, not what its classes are subclasses of.

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
    """None is PAGES, but for those that ``instance_of`` asks for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", tuple(each.code for each in self.wanted))
        if self.not_instance_of is None:
            left = tuple(each for each in PAGES if each not in self.instance_of)
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
        """Where an item keeps the names of each language."""
        return parse_languages(self.languages)


def _check_classes(name: str, classes: object) -> None:
    if isinstance(classes, str) or not isinstance(classes, Collection):
        raise ParameterError(f"{name} is {classes!r}, expected a list such as ['Q5', 'Q515']")
    for each in classes:
        if not isinstance(each, str) or not _ITEM.fullmatch(each):
            raise ParameterError(f"{name} has {each!r}, expected the id of an item, such as Q5")


class Shown(NamedTuple):
    """What to show of an item in a language."""

    language: str
    name: str
    description: str | None


class Described(NamedTuple):
    """The rows of an item."""

    names: dict[tuple[str, str], int]
    """From (language, mention) to its sources."""
    shown: list[Shown]
    illegal: int
    """How many texts were left out: not a text, empty, or with half a character."""


class Describer:
    """Makes rows of items; `Selection` says which.

    >>> from candgen.wikidata.items import read_item
    >>> item = read_item(b'{"id": "Q1", "labels": {"fo": {"language": "fo", "value": "Havn"}}}')
    >>> Describer(Selection(languages=("fo", "is"))).describe(item).names
    {('fo', 'Havn'): 1}
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._languages = selection.wanted
        self._in = frozenset(selection.instance_of)
        self._out = frozenset(selection.not_instance_of or ())
        self._default = DEFAULT not in selection.languages

    def describe(self, item: Item) -> Described | Skipped:
        """Give the rows of an item, or why it has none."""
        if self._selection.has_sitelink and not item.sitelinks:
            return Skipped.SITELINK
        if not self._out.isdisjoint(item.instance_of):
            return Skipped.CLASS
        if self._in and self._in.isdisjoint(item.instance_of):
            return Skipped.NO_CLASS
        texts = _Texts(item)
        names: dict[tuple[str, str], int] = {}
        shown: list[Shown] = []
        for language in self._languages:
            self._describe_in(language, texts, names, shown)
        # Who shows an item in a language without a name for it can fall back to this one.
        if self._default and (label := texts.label((DEFAULT,))) is not None:
            shown.append(Shown(DEFAULT, label, texts.description((DEFAULT,))))
        if not names and not shown:
            return Skipped.UNNAMED
        return Described(names, shown, texts.illegal)

    def _describe_in(
        self,
        language: Language,
        texts: "_Texts",
        names: dict[tuple[str, str], int],
        shown: list[Shown],
    ) -> None:
        selection, item = self._selection, texts.item
        named = language.site in item.sitelinks or selection.mul
        if not named and not any(c in item.labels or c in item.aliases for c in language.labels):
            return  # as most items have nothing in most languages
        label, title = texts.label(language.labels), texts.title(language.site)
        aliases = texts.aliases(language.labels)
        if (name := label or title or next(iter(aliases), None)) is not None:
            shown.append(Shown(language.code, name, texts.description(language.labels)))
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
    """The texts of an item, with white space folded; counts those that cannot be used."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self._seen: set[tuple[str, str]] = set()
        self.illegal = 0

    def label(self, codes: tuple[str, ...]) -> str | None:
        return next(self._texts("labels", self.item.labels, codes), None)

    def description(self, codes: tuple[str, ...]) -> str | None:
        return next(self._texts("descriptions", self.item.descriptions, codes), None)

    def title(self, site: str) -> str | None:
        title = next(self._texts("sitelinks", self.item.sitelinks, (site,), field="title"), None)
        return None if title is None else without_parenthesis(title)

    def aliases(self, codes: tuple[str, ...]) -> list[str]:
        return list(self._texts("aliases", self.item.aliases, codes))

    def _texts(
        self, kind: str, names: Mapping[str, object], codes: tuple[str, ...], field: str = "value"
    ) -> Iterator[str]:
        for code in codes:
            if (found := names.get(code)) is None:
                continue
            for each in found if isinstance(found, list) else [found]:
                text = _folded(each.get(field)) if isinstance(each, dict) else None
                if text is not None:
                    yield text
                elif (kind, code) not in self._seen:  # asked for again, it is counted once
                    self.illegal += 1
            self._seen.add((kind, code))


def _folded(text: object) -> str | None:
    if not isinstance(text, str) or _LONE.search(text):
        return None
    return " ".join(text.split()) or None
