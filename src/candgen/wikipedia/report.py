"""What an extraction has seen and made: the JSON report, and the metadata of its tables."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from candgen.storage.versions import version
from candgen.wikipedia.inputs import Sources
from candgen.wikipedia.markup.site import Site
from candgen.wikipedia.options import Options
from candgen.wikipedia.statistics import DAMAGED_STREAMS, Tally

_DATE = re.compile(r"-(20[0-9]{6}|20[0-9]{4})-")


@dataclass(frozen=True)
class Report:
    """What is known of a wiki's tables; ``seen`` is ``kept`` and all of ``dropped`` together."""

    wiki: str
    language: str
    dump_date: str
    """What the dump's name says, or the day of its newest revision."""
    options: Mapping[str, Any]
    origins: Mapping[str, str]
    """Where entities and redirects come from."""
    inputs: Mapping[str, int]
    """Names and sizes of the files."""
    tally: Tally
    tables: Mapping[str, Mapping[str, int]]
    """Names of the tables, each with its pairs and occurrences."""

    @classmethod
    def of(
        cls,
        site: Site,
        language: str,
        sources: Sources,
        options: Options,
        tally: Tally,
        tables: Mapping[str, Mapping[str, int]],
    ) -> "Report":
        """Put together what is known."""
        return cls(
            wiki=site.wiki,
            language=language,
            dump_date=dump_date(sources.dumps[0], tally.newest),
            options={
                name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(options).items()
            },
            origins=sources.describe(),
            inputs={str(path): path.stat().st_size for path in sources.files},
            tally=tally,
            tables=tables,
        )

    @property
    def kept(self) -> int:
        """The occurrences in all tables."""
        return sum(table["occurrences"] for table in self.tables.values())

    @property
    def truncated(self) -> bool:
        """Whether something of the dump is missing: its end, or a stream in its middle."""
        return self.tally.truncated or self.tally.pages[DAMAGED_STREAMS] > 0

    @property
    def adds_up(self) -> bool:
        """Whether everything that was seen was either kept or dropped."""
        return self.tally.seen.total() == self.kept + self.tally.dropped.total()

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        tally = self.tally
        return {
            "wiki": self.wiki,
            "language": self.language,
            "dump_date": self.dump_date,
            "newest_revision": tally.newest,
            "candgen_version": version(),
            "truncated": self.truncated,
            "options": dict(self.options),
            **self.origins,
            "inputs": dict(self.inputs),
            "pages": dict(tally.pages),
            "seen": dict(tally.seen),
            "kept": self.kept,
            "dropped": {str(reason): n for reason, n in sorted(tally.dropped.items(), key=_rank)},
            "tables": {name: dict(table) for name, table in self.tables.items()},
            "faults": [fault._asdict() for fault in tally.faults],
        }

    def metadata(self) -> dict[str, str]:
        """Give it as the metadata of a Parquet file has it: text, or JSON where it has parts."""
        found = self.to_dict()
        del found["tables"], found["inputs"], found["faults"]  # the report has them
        return {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in found.items()
        }


def _rank(dropped: tuple[str, int]) -> tuple[int, str]:
    """The most frequent reason comes first, whatever order they were met in."""
    return -dropped[1], dropped[0]


def dump_date(dump: str, newest: str) -> str:
    """Tell of when a dump is; siteinfo does not say it.

    >>> dump_date("fowiki-20230501-pages-articles.xml.bz2", "2023-04-30T23:59:00Z")
    '20230501'
    >>> dump_date("-", "2023-04-30T23:59:00Z")
    '20230430'
    """
    named = _DATE.search(Path(dump).name)
    return named[1] if named else newest[:10].replace("-", "")
