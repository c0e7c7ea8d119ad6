"""What an extraction has read and written: the JSON report, and the metadata of its tables."""

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
from candgen.wikipedia.statistics import DAMAGED_STREAMS, PageStatistics

_DATE = re.compile(r"-(20[0-9]{6}|20[0-9]{4})-")


@dataclass(frozen=True)
class Report:
    """A wiki's tables and what they were made from; ``seen`` = ``kept`` + all of ``dropped``."""

    wiki: str
    language: str
    dump_date: str
    """The date in the dump's name, or the day of its newest revision."""
    options: Mapping[str, Any]
    origins: Mapping[str, str]
    """Where entities and redirects come from."""
    inputs: Mapping[str, int]
    """Names and sizes of the files."""
    statistics: PageStatistics
    tables: Mapping[str, Mapping[str, int]]
    """Names of the tables, each with its pairs and occurrences."""

    @classmethod
    def of(
        cls,
        site: Site,
        language: str,
        sources: Sources,
        options: Options,
        statistics: PageStatistics,
        tables: Mapping[str, Mapping[str, int]],
    ) -> "Report":
        """Make the report of an extraction."""
        return cls(
            wiki=site.wiki,
            language=language,
            dump_date=find_dump_date(sources.dumps[0], statistics.newest),
            options={
                name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(options).items()
            },
            origins=sources.describe(),
            inputs={str(path): path.stat().st_size for path in sources.files},
            statistics=statistics,
            tables=tables,
        )

    @property
    def kept(self) -> int:
        """The occurrences in all tables."""
        return sum(table["occurrences"] for table in self.tables.values())

    @property
    def truncated(self) -> bool:
        """Whether something of the dump is missing: its end, or a stream in its middle."""
        return self.statistics.truncated or self.statistics.pages[DAMAGED_STREAMS] > 0

    @property
    def adds_up(self) -> bool:
        """Whether everything that was seen was either kept or dropped."""
        return self.statistics.seen.total() == self.kept + self.statistics.dropped.total()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON report."""
        statistics = self.statistics
        dropped = sorted(statistics.dropped.items(), key=lambda each: (-each[1], each[0]))
        return {
            "wiki": self.wiki,
            "language": self.language,
            "dump_date": self.dump_date,
            "newest_revision": statistics.newest,
            "candgen_version": version(),
            "truncated": self.truncated,
            "options": dict(self.options),
            **self.origins,
            "inputs": dict(self.inputs),
            "pages": dict(statistics.pages),
            "seen": dict(statistics.seen),
            "kept": self.kept,
            "dropped": {str(reason): number for reason, number in dropped},
            "tables": {name: dict(table) for name, table in self.tables.items()},
            "faults": [fault._asdict() for fault in statistics.faults],
        }

    def metadata(self) -> dict[str, str]:
        """Return the metadata of a Parquet file: text, or JSON for other values."""
        found = self.to_dict()
        del found["tables"], found["inputs"], found["faults"]  # the report has them
        return {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in found.items()
        }


def find_dump_date(dump: str, newest: str) -> str:
    """Return the date in a dump's name, or else that of its newest revision.

    >>> find_dump_date("fowiki-20230501-pages-articles.xml.bz2", "2023-04-30T23:59:00Z")
    '20230501'
    >>> find_dump_date("-", "2023-04-30T23:59:00Z")
    '20230430'
    """
    named = _DATE.search(Path(dump).name)
    return named[1] if named else newest[:10].replace("-", "")
