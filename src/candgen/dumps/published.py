"""What a mirror of Wikimedia's dumps publishes: which runs of a wiki, and which files of a run.

``{mirror}/{wiki}/`` lists the runs by date, and ``{mirror}/{wiki}/{date}/dumpstatus.json`` says of
each job of a run whether it is done, and which files it made.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from candgen.errors import CandgenError, ParameterError, shown


class DownloadError(CandgenError, OSError):
    """Something cannot be had from a mirror, or is not what the mirror says it is."""


class Kind(StrEnum):
    """What a file of a run is for."""

    ARTICLES = "articles"
    """The pages, in a bzip2 file of many streams, and the index of these."""
    PAGE_PROPS = "page-props"
    REDIRECTS = "redirects"
    SITEINFO = "siteinfo"
    LANGLINKS = "langlinks"


class Published(NamedTuple):
    """A file of a run, as its dumpstatus.json describes it."""

    kind: Kind
    name: str
    size: int
    sha1: str
    md5: str
    """Checksums in hexadecimal, empty if there is none."""


# The jobs that make a kind of file, the best first: large wikis have their articles in pieces, and
# a job that puts these together again.
_JOBS: Mapping[Kind, tuple[str, ...]] = {
    Kind.ARTICLES: ("articlesmultistreamdumprecombine", "articlesmultistreamdump"),
    Kind.PAGE_PROPS: ("pagepropstable",),
    Kind.REDIRECTS: ("redirecttable",),
    Kind.SITEINFO: ("namespaces",),
    Kind.LANGLINKS: ("langlinkstable",),
}
_PROJECTS = "wiki|wiktionary|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage"
_WIKI = re.compile(rf"[a-z][a-z0-9_]*(?:{_PROJECTS})")
_LANGUAGE = re.compile(r"[a-z]{2,}(?:[-_][a-z0-9]+)*")
# Wikipedias whose databases are not called after their present code.
_DATABASES = {
    "be-tarask": "be_x_old",
    "bho": "bh",
    "cbk": "cbk_zam",
    "egl": "eml",
    "gsw": "als",
    "lzh": "zh_classical",
    "nan": "zh_min_nan",
    "nb": "no",
    "nrf": "nrm",
    "rup": "roa_rup",
    "sgs": "bat_smg",
    "vro": "fiu_vro",
    "yue": "zh_yue",
}


def database_name(language: str) -> str:
    """The name that a Wikipedia has among the dumps; that of another project is taken as it is.

    >>> database_name("fo"), database_name("zh-min-nan"), database_name("be-tarask")
    ('fowiki', 'zh_min_nanwiki', 'be_x_oldwiki')
    >>> database_name("fowiktionary")
    'fowiktionary'
    """
    code = language.strip().lower()
    if _WIKI.fullmatch(code):
        return code
    if not _LANGUAGE.fullmatch(code):
        raise ParameterError(
            f"the language is {shown(language)}, expected a code such as fo or zh-min-nan, "
            "or the name of a wiki such as fowiki"
        )
    return f"{_DATABASES.get(code.replace('_', '-'), code.replace('-', '_'))}wiki"


def run_dates(listing: str) -> list[str]:
    """The dates that a mirror's page on a wiki links to, the newest first.

    >>> run_dates('<a href="20230501/">20230501/</a> <a href="20230520/">..</a> <a href="latest/">')
    ['20230520', '20230501']
    """
    found = re.findall(r"""href=["']?(?:[^"'\s>]*/)?(\d{8})/?["'\s>]""", listing)
    return sorted(set(found), reverse=True)


def parse_status(text: str, url: str) -> Mapping[str, Any]:
    """The jobs of a dumpstatus.json, by name."""
    try:
        jobs = json.loads(text)["jobs"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unexpected(url, "no jobs") from error
    if not isinstance(jobs, dict) or not all(isinstance(job, dict) for job in jobs.values()):
        raise _unexpected(url, "jobs that are none")
    return jobs


def files_of_run(
    jobs: Mapping[str, Any], kinds: Sequence[Kind], *, prefix: str, url: str
) -> list[Published] | str:
    """The files of all these kinds; or what is not done yet.

    The names of all files must begin with ``prefix``. Runs that are older than the job that writes
    a siteinfo file are complete without.
    """
    found: dict[str, Published] = {}
    for kind in kinds:
        names = _JOBS[kind]
        done = next((name for name in names if _state(jobs, name) == "done"), None)
        if done is not None:
            for file in _files_of_job(jobs[done], kind, prefix=prefix, url=url):
                found.setdefault(file.name, file)
        elif kind is not Kind.SITEINFO or any(name in jobs for name in names):
            return f"{names[-1]}: {_state(jobs, names[-1])}"
    return list(found.values())


def _state(jobs: Mapping[str, Any], name: str) -> str:
    return str(jobs[name].get("status", "unknown")) if name in jobs else "missing"


def _files_of_job(job: Mapping[str, Any], kind: Kind, *, prefix: str, url: str) -> list[Published]:
    files = job.get("files")
    if not isinstance(files, dict) or not files:
        raise _unexpected(url, f"no files of the job for {kind.value}")
    return [_file(name, about, kind, prefix=prefix, url=url) for name, about in files.items()]


def _file(name: str, about: object, kind: Kind, *, prefix: str, url: str) -> Published:
    # A name becomes that of a file here: it must not lead out of its folder.
    if not re.fullmatch(re.escape(prefix) + r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", name):
        raise _unexpected(url, f"a file named {shown(name)}, expected {prefix}...")
    size = about.get("size") if isinstance(about, dict) else None
    if not isinstance(about, dict) or type(size) is not int or size < 0:
        raise _unexpected(url, f"no size of {name}")
    sums = {each: about.get(each, "") for each in ("sha1", "md5")}
    for each, length in (("sha1", 40), ("md5", 32)):
        if not isinstance(sums[each], str) or not re.fullmatch(
            rf"(?:[0-9a-fA-F]{{{length}}})?", sums[each]
        ):
            raise _unexpected(url, f"{shown(sums[each])} for the {each} of {name}")
    return Published(kind, name, size, sums["sha1"].lower(), sums["md5"].lower())


def _unexpected(url: str, what: str) -> DownloadError:
    return DownloadError(
        f"{url} is not what a mirror publishes, it has {what}: "
        "try again later, another run (--date) or another mirror (--mirror)"
    )
