"""The files that an extraction reads, and the tables beside the dump."""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from candgen.dumps.compressed_streams import STDIN
from candgen.errors import ParameterError, TableError
from candgen.wikipedia import sql
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.markup.titles import Title, Titles
from candgen.wikipedia.resolve import Entities
from candgen.wikipedia.title_entities import read_ids

_NO_TITLE = re.compile("[\t\n\r]")  # a field of a table cannot hold these
_BATCH = 1 << 16
_HEAD = 4096
_MAX_SITEINFO = 1 << 23  # bytes, decompressed
_DATABASE = re.compile(rb"-- Host: .*Database: ([a-z0-9_]+)")
_WIKI = re.compile(r"([a-z][a-z0-9_]*wik[a-z]*)-")


@dataclass(frozen=True)
class Sources:
    """The names of the files that an extraction reads."""

    dumps: tuple[str, ...]
    """pages-articles, plain or compressed, one or several files; ``-`` is stdin."""
    page_props: Path | None = None
    """The entities of pages."""
    redirects: Path | None = None
    """The targets of redirects; without it they are read from the dump."""
    ids: Path | None = None
    """A table of titles and entities, of this wiki or of the one that langlinks lead to."""
    langlinks: Path | None = None
    langlinks_to: str = ""
    """The language of ``ids`` if they are used with ``langlinks``."""
    siteinfo: Path | None = None
    """A siteinfo-namespaces file, or an answer of the API, with more than the dump's header."""

    def __post_init__(self) -> None:
        if not self.dumps:
            raise ParameterError("no dump was given, expected at least one file")
        if STDIN in self.dumps and len(self.dumps) > 1:
            raise ParameterError("stdin was given beside other dumps: name files only, or - alone")
        if len({os.path.realpath(dump) for dump in self.dumps}) < len(self.dumps):
            raise ParameterError("a dump was given twice: its links would count twice")
        if (self.langlinks is None) != (not self.langlinks_to):
            raise ParameterError(
                "language links need a table of the other wiki's titles and entities, "
                "and its language: --langlinks FILE --ids en=FILE"
            )
        if self.langlinks_to and self.ids is None:
            raise ParameterError("language links lead to titles of a wiki without ids: give both")

    @property
    def files(self) -> list[Path]:
        """All of them that are files."""
        beside = (self.page_props, self.redirects, self.ids, self.langlinks, self.siteinfo)
        return [Path(dump) for dump in self.dumps if dump != STDIN] + [p for p in beside if p]

    @property
    def has_ids(self) -> bool:
        """Whether entities are known; if not, each title is its own entity."""
        return self.page_props is not None or self.ids is not None

    @property
    def tables(self) -> list[Path]:
        """Those from the wiki's database, which use the numbers of its pages."""
        return [path for path in (self.page_props, self.redirects, self.langlinks) if path]

    def check_wiki(self, wiki: str) -> None:
        """Raise ParameterError if a table is of another wiki, where numbers mean other pages."""
        for path in self.tables:
            if (found := _find_wiki(path)) not in (None, wiki):
                raise ParameterError(
                    f"{path} is of {found}, but the dump is of {wiki}: give the files of one wiki"
                )

    def describe(self) -> dict[str, str]:
        """Return where entities and redirects come from."""
        ids = f"language links to {self.langlinks_to}" if self.langlinks_to else "a table of titles"
        known = [what for what, path in (("page_props", self.page_props), (ids, self.ids)) if path]
        return {
            "entities_from": ", then ".join(known) or "titles",
            "redirects_from": "the database, then the dump" if self.redirects else "the dump",
        }


class SideTables:
    """The tables beside the dump, read first so that an invalid one is reported early."""

    def __init__(self, sources: Sources) -> None:
        self.details = _read_details(sources.siteinfo) if sources.siteinfo else None
        props, langlinks, to = sources.page_props, sources.langlinks, sources.langlinks_to
        self._page_entities = sql.read_page_entities(props) if props else None
        self._redirects = sql.read_redirects(sources.redirects) if sources.redirects else None
        self._ids = read_ids(sources.ids) if sources.ids else None
        self._langlinks = sql.read_langlinks(langlinks, to) if langlinks else None

    def find_entities(self, pages: pa.Table, site: Site) -> Entities | None:
        """Return the entities of titles; None if no file has entities."""
        tables: list[pa.Table] = []
        if self._page_entities is not None:
            tables.append(_join_by_id(pages, self._page_entities))
        if self._ids is not None and self._langlinks is None:
            tables.append(_normalize_titles(self._ids, site))
        if self._ids is not None and self._langlinks is not None:
            foreign = self._langlinks.rename_columns(["id", "foreign"])
            ids = self._ids.rename_columns(["foreign", "entity"])
            tables.append(_join_by_id(pages, foreign.join(ids, "foreign", join_type="inner")))
        return Entities.of(*tables) if tables else None

    def correct_redirects(self, pages: pa.Table, site: Site) -> pa.Table:
        """Replace the targets of redirects by those in the database, if it has them."""
        if self._redirects is None:
            return pages
        outside: list[bool] = []
        targets: list[str | None] = []
        for batch in self._redirects.to_batches(max_chunksize=_BATCH):
            prefixes = batch["interwiki"].to_pylist()
            outside += [bool(prefix) for prefix in prefixes]
            targets += _make_titles(batch, prefixes, Titles(site))
        places = pc.index_in(pages["id"], value_set=self._redirects["id"].combine_chunks())
        columns = {
            "redirect": pa.array(targets, pa.large_string()),
            "redirect_namespace": self._redirects["namespace"].combine_chunks(),
            "outside": pa.array(outside),
        }
        for name, values in columns.items():
            found = pc.coalesce(values.take(places), pages[name])
            pages = pages.set_column(pages.schema.get_field_index(name), name, found)
        return pages


def _make_titles(
    batch: pa.RecordBatch, prefixes: list[str], titles: Titles
) -> Iterator[str | None]:
    """Yield the titles that redirects lead to: "" for another wiki, None if invalid."""
    rows = zip(prefixes, batch["namespace"].to_pylist(), batch["key"].to_pylist(), strict=True)
    for prefix, namespace, key in rows:
        title = "" if prefix else titles.from_database(namespace, key)
        yield None if _NO_TITLE.search(title) else title


def _normalize_titles(ids: pa.Table, site: Site) -> pa.Table:
    """Normalize the titles of a user's table as the wiki does; invalid titles stay."""
    parse = Titles(site).parse
    parsed = ((title, parse(title)) for title in ids["title"].to_pylist())
    titles = [found.text if isinstance(found, Title) else title for title, found in parsed]
    return pa.table([pa.array(titles, pa.large_string()), ids["entity"]], ["title", "entity"])


def _join_by_id(pages: pa.Table, by_id: pa.Table) -> pa.Table:
    """Return titles and entities, joined by the ids of pages."""
    titles = pages.select(["title", "id"])
    return titles.join(by_id, "id", join_type="inner").select(["title", "entity"])


def _read_details(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            packed = file.peek(2).startswith(b"\x1f\x8b")
            unpacked = gzip.GzipFile(fileobj=file) if packed else file
            raw = unpacked.read(_MAX_SITEINFO + 1)
        if len(raw) > _MAX_SITEINFO:
            raise ValueError("no wiki has so many namespaces")
        found = json.loads(raw)
    except FileNotFoundError as error:
        raise TableError(f"{path} does not exist: check the name and the folder") from error
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise TableError(
            f"{path} cannot be read as JSON, expected a siteinfo-namespaces file: download it again"
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("query"), dict):
        raise TableError(f'{path} has no "query", expected a siteinfo-namespaces file')
    return found


def _find_wiki(path: Path) -> str | None:
    """Return the wiki of a table of a database, by its first lines or its name."""
    with sql.open_dump(path) as file:
        head = file.read(_HEAD)
    if found := _DATABASE.search(head):
        return found[1].decode("ascii")
    named = _WIKI.match(path.name)
    return named[1] if named else None
