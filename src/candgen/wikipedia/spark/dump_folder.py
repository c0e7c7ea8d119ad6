"""A folder of dumps of many wikis, whose files are recognized by Wikimedia's names for them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from candgen.errors import TableError
from candgen.wikipedia.inputs import Sources

_NAME = re.compile(r"(?P<wiki>[a-z][a-z0-9_]*wiki)-(?:(?P<date>\d{6,8}|latest)-)?(?P<rest>.+)")
_DUMP = re.compile(r"(?P<kind>.*)\.xml(?P<pages>-p\d+p\d+)?(?:\.bz2|\.gz)?")
_NO_ARTICLES = re.compile(r"stub-|abstract|pages-logging|pages-meta-history|flow")
_PAGE_PROPS = re.compile(r"page_props\.sql(?:\.gz|\.bz2)?")
_REDIRECTS = re.compile(r"redirect\.sql(?:\.gz|\.bz2)?")
_SITEINFO = re.compile(r"siteinfo-namespaces\.json(?:\.gz)?")
# Their names end in wiki, but they are not Wikipedias.
_OTHER_PROJECT = re.compile(
    "(?:commons|foundation|incubator|mediawiki|meta|outreach|sources|species|test2?|testcommons"
    "|testwikidata|vote|wikidata|wikifunctions|wikimania)wiki"
)


class Wiki(NamedTuple):
    """A wiki, and its files."""

    language: str
    """The code in its address, ``zh-min-nan``: unique, unlike the language in a dump's header."""
    sources: Sources


class _File(NamedTuple):
    path: Path
    wiki: str
    date: str
    rest: str
    """The name after wiki and date."""


def find_wikis(
    folder: str | PathLike[str], *, languages: Collection[str] | None = None
) -> list[Wiki]:
    """Find the Wikipedias whose dumps are in a folder or below it, by wiki.

    Of several runs of a wiki the newest is taken; of its articles the multistream dump rather than
    the other, and the whole rather than its pieces. If a run has no tables, those of another run
    are taken. With ``languages``, exactly those wikis are returned; raise TableError if one is
    missing.
    """
    root = Path(folder)
    if not root.is_dir():
        raise TableError(f"{root} is not a folder, expected one that holds dumps of wikis")
    by_wiki: dict[str, list[_File]] = defaultdict(list)
    for file in _find_files(root.rglob("*")):
        by_wiki[file.wiki].append(file)
    found = [
        made for _, files in sorted(by_wiki.items()) if (made := _choose_files(files)) is not None
    ]
    if languages is not None:
        found = _select(found, languages, root)
    if not found:
        raise TableError(
            f"{root} has no dumps of Wikipedias: expected names like "
            "fowiki-20240101-pages-articles-multistream.xml.bz2, in it or below it"
        )
    return found


def _find_files(paths: Iterable[Path]) -> Iterator[_File]:
    """Yield the files with known names; one that is in two folders is taken once."""
    seen: set[str] = set()
    for path in sorted(paths):
        name = _NAME.fullmatch(path.name)
        if name is None or _OTHER_PROJECT.fullmatch(name["wiki"]) or path.name in seen:
            continue
        if path.is_file():
            seen.add(path.name)
            yield _File(path, name["wiki"], name["date"] or "", name["rest"])


def _choose_files(files: list[_File]) -> Wiki | None:
    dumps = [file for file in files if _rank(file) is not None]
    if not dumps:
        return None
    date = max(map(_date_order, dumps))
    newest = [file for file in dumps if _date_order(file) == date]
    best = min(_rank(file) or 0 for file in newest)
    chosen = sorted((file for file in newest if _rank(file) == best), key=_page_order)
    page_props, redirects, siteinfo = (
        _choose_table(files, pattern, chosen[0].date)
        for pattern in (_PAGE_PROPS, _REDIRECTS, _SITEINFO)
    )
    language = files[0].wiki.removesuffix("wiki").replace("_", "-")
    sources = Sources(
        tuple(str(file.path) for file in chosen),
        page_props=page_props,
        redirects=redirects,
        siteinfo=siteinfo,
    )
    return Wiki(language, sources)


def _rank(file: _File) -> int | None:
    """Return the preference of a dump, the best first; None if it has no articles."""
    dump = _DUMP.fullmatch(file.rest)
    if dump is None or _NO_ARTICLES.match(file.rest):
        return None
    if "pages-articles" not in dump["kind"]:
        return 4
    return 2 * ("multistream" not in dump["kind"]) + (dump["pages"] is not None)


def _date_order(file: _File) -> tuple[bool, str]:
    return file.date == "latest", file.date and file.date.ljust(8, "9")


def _page_order(file: _File) -> tuple[int, str]:
    """Return the order of the pieces of a dump: p1p873 comes before p10000p20000."""
    first = re.search(r"-p(\d+)p\d+", file.rest)
    return int(first[1]) if first else 0, file.rest


def _choose_table(files: list[_File], pattern: re.Pattern[str], date: str) -> Path | None:
    fitting = [file for file in files if pattern.fullmatch(file.rest)]
    if not fitting:
        return None
    return max(fitting, key=lambda file: (file.date == date, _date_order(file))).path


def _select(found: list[Wiki], languages: Collection[str], root: Path) -> list[Wiki]:
    kept = [wiki for wiki in found if wiki.language in languages]
    missing = sorted(set(languages) - {wiki.language for wiki in kept})
    if missing:
        there = ", ".join(wiki.language for wiki in found[:20]) or "none"
        raise TableError(
            f"{root} has no dump of {', '.join(missing)}: expected names like "
            f"{missing[0].replace('-', '_')}wiki-...xml.bz2; there are dumps of {there}"
        )
    return kept
