"""How fast are links taken out of a Wikipedia dump, beside decompression alone and beside peers?

    python benchmarks/extract.py --dump mrwiki.xml.bz2 elwiki.xml.bz2 [--pages 400] [--times 8]

CPU seconds of a process and of those it started, imports and compilation apart, in a fresh process
each time, in turn. All of them read the same file, made of the dump's whole pages.

Ours reads equal links once. A dump whose pages repeat is therefore easier than a real one of that
length; one in which a number makes the anchors of each copy new ("numbered") is harder.

- bz2: decompression by the C library and nothing else, the limit of what calls it. Ours has a
  decompressor of its own, which is also measured alone, beside that of indexed_bzip2.
- candgen: end to end, from the dump to a mention table on disk, with titles as entities.
- mwxml with mwparserfromhell, mwxml with wikitextparser: title and text of every link of an
  article, as they are written, in a Counter. Nothing is normalised, resolved or written.
- WikiExtractor with links and without expanding templates, one process: plain text with links as
  HTML, in files. Lists are left out, and nothing is counted.
- gensim's segment_wiki with interlinks, one worker: sections and links of articles of at least 200
  characters, as JSON lines. Nothing is counted.
"""

import argparse
import bz2
import importlib.metadata
import json
import multiprocessing
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import made_dumps as dumps
from measure import Report, in_child, in_turn, machine, median_ratio, peak_memory

REPEATS = 5
PEER_REPEATS = 3
WARMING_PAGES = 20
LIMIT, OURS = "bz2", "candgen"
OUR_BZIP2, INDEXED_BZIP2 = "candgen, decompression", "indexed_bzip2"
PEER_PACKAGES = (
    "mwxml",
    "mwparserfromhell",
    "wikitextparser",
    "wikiextractor",
    "gensim",
    "indexed_bzip2",
)

Run = dict[str, float]
Way = Callable[[Path, Path], Callable[[], int]]
"""(dump, empty folder) -> what to call when the clock stands, to know how many links it saw."""


def decompression(dump: Path, _folder: Path) -> Callable[[], int]:
    """Every byte of a dump, let go at once."""
    with dump.open("rb") as file:
        decompressor = bz2.BZ2Decompressor()
        while data := file.read(1 << 20):
            while data:
                decompressor.decompress(data)
                data = decompressor.unused_data
                if decompressor.eof:
                    decompressor = bz2.BZ2Decompressor()
    return lambda: 0


def our_decompression(dump: Path, _folder: Path) -> Callable[[], int]:
    """Every byte of a dump, as ours reads it."""
    from candgen.dumps.compressed_streams import Part, read  # noqa: PLC0415

    for _ in read(Part(str(dump))):
        pass
    return lambda: 0


def indexed_bzip2(dump: Path, _folder: Path) -> Callable[[], int]:
    """The same by a decompressor in C++, on one core."""
    import indexed_bzip2  # noqa: PLC0415

    with indexed_bzip2.open(str(dump), parallelization=1) as file:
        while file.read(1 << 20):
            pass
    return lambda: 0


def articles(dump: Path) -> Iterator[str]:
    """The wikitext of all pages of namespace 0 that are not redirects, as mwxml reads them."""
    import mwxml  # noqa: PLC0415

    with bz2.open(dump) as file:
        for page in mwxml.Dump.from_file(file):
            if page.namespace == 0 and page.redirect is None:
                for revision in page:
                    yield revision.text or ""


def mwparserfromhell(dump: Path, _folder: Path) -> Callable[[], int]:
    """As its documentation takes links out of a text."""
    from mwparserfromhell import parse  # noqa: PLC0415

    links: Counter[tuple[str, str]] = Counter()
    for text in articles(dump):
        for link in parse(text).filter_wikilinks():
            links[str(link.title), str(link.text or link.title)] += 1
    return links.total


def wikitextparser(dump: Path, _folder: Path) -> Callable[[], int]:
    """As its documentation takes links out of a text."""
    from wikitextparser import parse  # noqa: PLC0415

    links: Counter[tuple[str, str]] = Counter()
    for text in articles(dump):
        for link in parse(text).wikilinks:
            links[link.title, link.text or link.title] += 1
    return links.total


def wikiextractor(dump: Path, folder: Path) -> Callable[[], int]:
    """Its command line."""
    from wikiextractor import WikiExtractor  # noqa: PLC0415

    options = ["--links", "--no-templates", "--processes", "1", "--quiet"]
    sys.argv = ["wikiextractor", *options, "--output", str(folder), str(dump)]
    WikiExtractor.main()
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("wiki_*"))
    return lambda: sum(text.count("a href=") for text in texts)


def segment_wiki(dump: Path, folder: Path) -> Callable[[], int]:
    """What its command line calls."""
    from gensim.scripts import segment_wiki as gensim  # noqa: PLC0415

    # Python 3.14 would start its processes from a server, whose CPU time is nobody's child's.
    multiprocessing.set_start_method("fork", force=True)
    made = folder / "articles.jsonl"
    gensim.segment_and_write_all_articles(str(dump), str(made), workers=1, include_interlinks=True)
    lines = made.open(encoding="utf-8")
    return lambda: sum(len(json.loads(line)["interlinks"]) for line in lines)


def candgen(dump: Path, folder: Path, *, workers: int = 1) -> Callable[[], int]:
    """The whole way, to a mention table on disk."""
    from candgen.wikipedia.extract import extract  # noqa: PLC0415

    report = extract(dump, folder / "table.parquet", workers=workers)
    return lambda: report.statistics.seen["links"]


WAYS: dict[str, Way] = {
    LIMIT: decompression,
    OURS: candgen,
    "mwxml + mwparserfromhell": mwparserfromhell,
    "mwxml + wikitextparser": wikitextparser,
    "WikiExtractor": wikiextractor,
    "gensim segment_wiki": segment_wiki,
}
DECOMPRESSORS: dict[str, Way] = {OUR_BZIP2: our_decompression, INDEXED_BZIP2: indexed_bzip2}


def cpu_seconds() -> float:
    """Of this process and of those it started, which are waited for, or theirs are not counted."""
    for child in multiprocessing.active_children():
        child.join()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def run(name: str, warming: Path, dump: Path, *, workers: int = 1) -> Run:
    """Run one way once, in this process, after a short dump that makes it import and compile."""
    way = partial(candgen, workers=workers) if name == OURS else (WAYS | DECOMPRESSORS)[name]
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        way(warming, Path(first))
        memory, wall, cpu = peak_memory(), time.perf_counter(), cpu_seconds()
        links = way(dump, Path(second))
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
        peak = peak_memory()
        return {"cpu": cpu, "wall": wall, "links": links(), "before": memory, "peak": peak}


class Made(NamedTuple):
    """A dump that was made of a real one."""

    what: str
    path: Path
    size: dumps.Size

    def about(self) -> dict[str, Any]:
        """The first columns of a row."""
        return {"dump": self.what, "pages": self.size.pages, "MB of XML": self.size.xml / 1e6}


def middle(runs: list[Run], key: str) -> float:
    """The median of a figure over the runs."""
    return median(run[key] for run in runs)


def figures(runs: list[Run], key: str) -> list[float]:
    """One figure of every run."""
    return [run[key] for run in runs]


def failure(name: str, warming: Path) -> str:
    """Why a peer does not run on this machine, or nothing; ours must run."""
    try:
        in_child(run, name, warming, warming)
    except Exception as error:
        if name in (OURS, OUR_BZIP2):
            raise
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return ""


def decompressors(made: Made, warming: Path, report: Report) -> None:
    """Decompression alone."""
    names = [LIMIT, *(name for name in DECOMPRESSORS if not failure(name, warming))]
    ways = {name: partial(in_child, run, name, warming, made.path) for name in names}
    runs = in_turn(ways, REPEATS)
    limit = figures(runs[LIMIT], "cpu")
    report.add(
        f"Decompression alone (CPU seconds, medians of {REPEATS})",
        [
            {
                **made.about(),
                "what": name,
                "CPU s": middle(taken, "cpu"),
                "MB/s": made.size.xml / 1e6 / middle(taken, "cpu"),
                "times as fast as bz2": median_ratio(limit, figures(taken, "cpu")),
            }
            for name, taken in runs.items()
        ],
    )


def beside_peers(made: Made, warming: Path, report: Report) -> None:
    """Everybody on the same pages."""
    broken = {name: error for name in WAYS if (error := failure(name, warming))}
    if broken:
        rows = [{"dump": made.what, "what": name, "error": broken[name]} for name in broken]
        report.add("Do not run here", rows)
    ways = {
        name: partial(in_child, run, name, warming, made.path)
        for name in WAYS
        if name not in broken
    }
    runs = in_turn(ways, PEER_REPEATS)
    ours = figures(runs[OURS], "cpu")
    report.add(
        f"Beside peers, one worker (CPU seconds, medians of {PEER_REPEATS})",
        [
            {
                **made.about(),
                "what": name,
                "links": int(taken[0]["links"]),
                "CPU s": middle(taken, "cpu"),
                "fastest": min(figures(taken, "cpu")),
                "slowest": max(figures(taken, "cpu")),
                "MB/s": made.size.xml / 1e6 / middle(taken, "cpu"),
                "x candgen": median_ratio(figures(taken, "cpu"), ours),
            }
            for name, taken in runs.items()
        ],
    )


def beside_the_limit(made: Made, warming: Path, report: Report) -> int:
    """Ours and decompression alone, and what memory ours takes; give the links that ours saw."""
    ways = {name: partial(in_child, run, name, warming, made.path) for name in (LIMIT, OURS)}
    runs = in_turn(ways, REPEATS)
    limit, ours = runs[LIMIT], runs[OURS]
    report.add(
        f"Beside decompression, one worker (CPU seconds, medians of {REPEATS})",
        [
            {
                **made.about(),
                "links": int(ours[0]["links"]),
                "bz2, s": middle(limit, "cpu"),
                "candgen, s": middle(ours, "cpu"),
                "fastest": min(figures(ours, "cpu")),
                "slowest": max(figures(ours, "cpu")),
                "share of the limit, %": 100
                * median_ratio(figures(limit, "cpu"), figures(ours, "cpu")),
                "peak MB": middle(ours, "peak") / 1e6,
                "of that before": middle(ours, "before") / 1e6,
            }
        ],
    )
    return int(ours[0]["links"])


def two_workers(made: Made, warming: Path, report: Report) -> None:
    """One worker and two, on a dump of many streams."""
    ways = {
        name: partial(in_child, run, OURS, warming, made.path, workers=workers)
        for name, workers in (("one", 1), ("two", 2))
    }
    runs = in_turn(ways, PEER_REPEATS)
    one, two = runs["one"], runs["two"]
    report.add(
        f"One worker and two, many streams (seconds, medians of {PEER_REPEATS})",
        [
            {
                **made.about(),
                "links": int(one[0]["links"]),
                "one, CPU": middle(one, "cpu"),
                "one, wall": middle(one, "wall"),
                "two, CPU": middle(two, "cpu"),
                "two, wall": middle(two, "wall"),
                "times faster (wall)": median_ratio(figures(one, "wall"), figures(two, "wall")),
                "peak MB with one": middle(one, "peak") / 1e6,
            }
        ],
    )


def measure(real: Path, folder: Path, report: Report, options: argparse.Namespace) -> None:
    """All tables for one real dump; every file made of it is let go afterwards."""
    start = dumps.header(real)
    wiki = dumps.language(start)

    def write(what: str, content: Iterable[bytes], *, streams: bool = False) -> Made:
        path = folder / f"{what.replace(' ', '-')}.xml.bz2"
        to_file = dumps.write_multistream if streams else dumps.write
        return Made(what, path, to_file(path, start, content))

    whole = partial(dumps.pages, real)
    warming = write(f"{wiki} start", islice(whole(), WARMING_PAGES)).path
    once = write(wiki, whole())
    in_child(run, OURS, warming, once.path)  # whatever is compiled is in Numba's cache now
    beside_peers(write(f"{wiki} first pages", islice(whole(), options.pages)), warming, report)
    links = beside_the_limit(once, warming, report)
    times = options.times
    again = write(f"{wiki} {times} times", dumps.repeated(real, times))
    if beside_the_limit(again, warming, report) != times * links:
        raise AssertionError(f"{again.what} does not have {times} times the {links:,} links")
    decompressors(again, warming, report)
    numbered = dumps.numbered(map(dumps.with_places, whole()), times)
    beside_the_limit(write(f"{wiki} {times} times, numbered", numbered), warming, report)
    if real == options.dump[0]:
        times = options.parallel_times
        again = write(f"{wiki} {times} times", dumps.repeated(real, times), streams=True)
        two_workers(again, warming, report)


def versions() -> dict[str, str]:
    """What the figures were measured with."""
    installed = {found.name: found.version for found in importlib.metadata.distributions()}
    return machine() | {name: installed.get(name, "absent") for name in PEER_PACKAGES}


def main() -> None:
    """Measure every dump asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--dump", type=Path, nargs="+", required=True, metavar="FILE")
    parser.add_argument(
        "--pages", type=int, default=2000, help="for the peers: the first so many pages"
    )
    parser.add_argument(
        "--times", type=int, default=8, help="how often a longer dump has all pages"
    )
    parser.add_argument(
        "--parallel-times",
        type=int,
        default=32,
        help="the same, where two workers read the first of the dumps",
    )
    options = parser.parse_args()
    report = Report("extract", question, [], about=versions())
    for real in options.dump:
        with TemporaryDirectory() as folder:
            measure(real, Path(folder), report, options)
    report.write()


if __name__ == "__main__":
    main()
