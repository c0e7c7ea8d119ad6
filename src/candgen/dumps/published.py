"""What a mirror of Wikimedia's dumps publishes: the runs of a wiki, and the files of a run.

``{mirror}/{wiki}/`` lists the runs by date, and ``{mirror}/{wiki}/{date}/dumpstatus.json`` has the
status of each job of a run and the files that it made.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from candgen.errors import CandgenError, shown


class DownloadError(CandgenError, OSError):
    """A file cannot be downloaded from a mirror, or differs from what the mirror published."""


class Kind(StrEnum):
    """What a file of a run is for."""

    ARTICLES = "articles"
    """The pages, in a bzip2 file of many streams, and the index of these."""
    PAGE_PROPS = "page-props"
    REDIRECTS = "redirects"
    SITEINFO = "siteinfo"
    LANGLINKS = "langlinks"


class PublishedFile(NamedTuple):
    """A file of a run, as its dumpstatus.json describes it."""

    kind: Kind
    name: str
    size: int
    sha1: str
    md5: str
    """Checksums in hexadecimal, empty if there is none."""

    @property
    def has_checksum(self) -> bool:
        """Whether its content can be verified."""
        return bool(self.sha1 or self.md5)


# The jobs that make a kind of file, the best first: large wikis have their articles in pieces, and
# a job that puts these together again.
_JOBS: Mapping[Kind, tuple[str, ...]] = {
    Kind.ARTICLES: ("articlesmultistreamdumprecombine", "articlesmultistreamdump"),
    Kind.PAGE_PROPS: ("pagepropstable",),
    Kind.REDIRECTS: ("redirecttable",),
    Kind.SITEINFO: ("namespaces",),
    Kind.LANGLINKS: ("langlinkstable",),
}


def find_run_dates(listing: str) -> list[str]:
    """Return the dates that a mirror's page on a wiki links to, the newest first.

    >>> find_run_dates('<a href="20230501/">20230501/</a> <a href="20230520/"> <a href="latest/">')
    ['20230520', '20230501']
    """
    found = re.findall(r"""href=["']?(?:[^"'\s>]*/)?(\d{8})/?["'\s>]""", listing)
    return sorted(set(found), reverse=True)


def parse_status(text: str, url: str) -> Mapping[str, Any]:
    """Return the jobs of a dumpstatus.json by name."""
    try:
        jobs = json.loads(text)["jobs"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _describe_invalid(url, "no jobs") from error
    if not isinstance(jobs, dict) or not all(isinstance(job, dict) for job in jobs.values()):
        raise _describe_invalid(url, "invalid jobs")
    return jobs


def select_files(
    jobs: Mapping[str, Any], kinds: Sequence[Kind], *, prefix: str, url: str
) -> list[PublishedFile] | str:
    """Return the files of all these kinds; or the job that is not done yet, and its status.

    The names of all files must begin with ``prefix``. Runs that are older than the job that writes
    a siteinfo file are complete without.
    """
    found: dict[str, PublishedFile] = {}
    for kind in kinds:
        names = _JOBS[kind]
        status = {name: str(jobs[name].get("status", "unknown")) for name in names if name in jobs}
        done = next((name for name in names if status.get(name) == "done"), None)
        if done is not None:
            files = jobs[done].get("files")
            if not isinstance(files, dict) or not files:
                raise _describe_invalid(url, f"no files of the job for {kind.value}")
            for name, about in files.items():
                found.setdefault(name, _parse_file(name, about, kind, prefix=prefix, url=url))
        elif kind is not Kind.SITEINFO or status:
            return f"{names[-1]}: {status.get(names[-1], 'missing')}"
    return list(found.values())


def _parse_file(name: str, about: object, kind: Kind, *, prefix: str, url: str) -> PublishedFile:
    # The name becomes that of a local file: it must not lead out of its folder.
    if not re.fullmatch(re.escape(prefix) + r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", name):
        raise _describe_invalid(url, f"a file named {shown(name)}, expected {prefix}...")
    size = about.get("size") if isinstance(about, dict) else None
    if not isinstance(about, dict) or type(size) is not int or size < 0:
        raise _describe_invalid(url, f"no size of {name}")
    sums = []
    for algorithm, length in (("sha1", 40), ("md5", 32)):
        value = about.get(algorithm, "")
        if not isinstance(value, str) or not re.fullmatch(rf"([0-9a-fA-F]{{{length}}})?", value):
            raise _describe_invalid(url, f"{shown(value)} for the {algorithm} of {name}")
        sums.append(value.lower())
    return PublishedFile(kind, name, size, *sums)


def _describe_invalid(url: str, what: str) -> DownloadError:
    return DownloadError(
        f"{url} is not what a mirror publishes, it has {what}: "
        "try again later, another run (--date) or another mirror (--mirror)"
    )
