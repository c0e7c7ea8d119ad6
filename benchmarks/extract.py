"""How fast are links extracted from a Wikipedia dump, compared with bz2 and with other programs?

    python benchmarks/extract.py --dump mrwiki.xml.bz2 elwiki.xml.bz2 [--pages 400] [--times 8]

CPU seconds of a process and its children without imports and compilation, in a new process each
time, in turn. All programs read the same file, made of the complete pages of the dump. A program
that is not installed or fails is listed under "Do not run here", and the others are measured.

candgen reads equal links once. A dump whose pages repeat is therefore easier than a real one of
that length; one in which a number makes the anchors of each copy distinct ("numbered") is harder.

- bz2: decompression by the C library and nothing else, a lower bound for programs that use it.
  candgen has its own decompressor, which is also measured alone, beside that of indexed_bzip2.
- candgen: end to end, from the dump to a mention table on disk, with titles as entities.
- mwxml with mwparserfromhell, mwxml with wikitextparser: title and text of every link of an
  article, as written, in a Counter. Nothing is normalized, resolved or written.
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

import synthetic_dumps as dumps
from measure import (
    NOT_INSTALLED,
    Report,
    add_repeats,
    in_child,
    in_turn,
    machine,
    median_ratio,
    peak_memory,
)

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
"""(dump, empty folder) -> function that counts the links seen, called after the time is taken."""


def decompression(dump: Path, _folder: Path) -> Callable[[], int]:
    """Decompress a dump with the C library and discard it."""
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
    """Decompress a dump with candgen's decompressor and discard it."""
    from candgen.dumps.compressed_streams import Part, read  # noqa: PLC0415

    for _ in read(Part(str(dump))):
        pass
    return lambda: 0


def indexed_bzip2(dump: Path, _folder: Path) -> Callable[[], int]:
    """Decompress a dump with indexed_bzip2, in C++, on one core."""
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
    """Extract links as its documentation does."""
    from mwparserfromhell import parse  # noqa: PLC0415

    links: Counter[tuple[str, str]] = Counter()
    for text in articles(dump):
        for link in parse(text).filter_wikilinks():
            links[str(link.title), str(link.text or link.title)] += 1
    return links.total


def wikitextparser(dump: Path, _folder: Path) -> Callable[[], int]:
    """Extract links as its documentation does."""
    from wikitextparser import parse  # noqa: PLC0415

    links: Counter[tuple[str, str]] = Counter()
    for text in articles(dump):
        for link in parse(text).wikilinks:
            links[link.title, link.text or link.title] += 1
    return links.total


def wikiextractor(dump: Path, folder: Path) -> Callable[[], int]:
    """Run its command line."""
    from wikiextractor import WikiExtractor  # noqa: PLC0415

    options = ["--links", "--no-templates", "--processes", "1", "--quiet"]
    sys.argv = ["wikiextractor", *options, "--output", str(folder), str(dump)]
    WikiExtractor.main()
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("wiki_*"))
    return lambda: sum(text.count("a href=") for text in texts)


def segment_wiki(dump: Path, folder: Path) -> Callable[[], int]:
    """Call what its command line calls."""
    from gensim.scripts import segment_wiki as gensim  # noqa: PLC0415

    # Python 3.14 would start processes from a server, whose CPU time is not that of a child.
    multiprocessing.set_start_method("fork", force=True)
    made = folder / "articles.jsonl"
    gensim.segment_and_write_all_articles(str(dump), str(made), workers=1, include_interlinks=True)
    lines = made.open(encoding="utf-8")
    return lambda: sum(len(json.loads(line)["interlinks"]) for line in lines)


def candgen(dump: Path, folder: Path, *, workers: int = 1) -> Callable[[], int]:
    """Extract a mention table to disk."""
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
    """Return the CPU seconds of this process and its children, which count once they have ended."""
    for child in multiprocessing.active_children():
        child.join()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def run(name: str, warming: Path, dump: Path, *, workers: int = 1) -> Run:
    """Run a program once in this process, after a short dump that makes it import and compile."""
    way = partial(candgen, workers=workers) if name == OURS else (WAYS | DECOMPRESSORS)[name]
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        way(warming, Path(first))
        memory, wall, cpu = peak_memory(), time.perf_counter(), cpu_seconds()
        links = way(dump, Path(second))
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
        peak = peak_memory()
        return {"cpu": cpu, "wall": wall, "links": links(), "before": memory, "peak": peak}


class Made(NamedTuple):
    """A dump made from a real one."""

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
    """Return why a peer does not run on this machine, or ""; candgen must run."""
    try:
        in_child(run, name, warming, warming)
    except Exception as error:
        if name in (OURS, OUR_BZIP2):
            raise
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return ""


def decompressors(made: Made, warming: Path, report: Report, repeats: int) -> None:
    """Measure decompression alone."""
    names = [LIMIT, *(name for name in DECOMPRESSORS if not failure(name, warming))]
    ways = {name: partial(in_child, run, name, warming, made.path) for name in names}
    runs = in_turn(ways, repeats)
    limit = figures(runs[LIMIT], "cpu")
    report.add(
        f"Decompression alone (CPU seconds, medians of {repeats})",
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


def compare_with_peers(made: Made, warming: Path, report: Report, repeats: int) -> None:
    """Measure all programs on the same pages."""
    broken = {name: error for name in WAYS if (error := failure(name, warming))}
    if broken:
        rows = [{"dump": made.what, "what": name, "error": broken[name]} for name in broken]
        report.add("Do not run here", rows)
    ways = {
        name: partial(in_child, run, name, warming, made.path)
        for name in WAYS
        if name not in broken
    }
    runs = in_turn(ways, repeats)
    ours = figures(runs[OURS], "cpu")
    report.add(
        f"Compared with peers, one worker (CPU seconds, medians of {repeats})",
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


def compare_with_bz2(made: Made, warming: Path, report: Report, repeats: int) -> int:
    """Measure candgen and decompression alone; return the number of links that candgen saw."""
    ways = {name: partial(in_child, run, name, warming, made.path) for name in (LIMIT, OURS)}
    runs = in_turn(ways, repeats)
    limit, ours = runs[LIMIT], runs[OURS]
    report.add(
        f"Compared with bz2, one worker (CPU seconds, medians of {repeats})",
        [
            {
                **made.about(),
                "links": int(ours[0]["links"]),
                "bz2, s": middle(limit, "cpu"),
                "candgen, s": middle(ours, "cpu"),
                "fastest": min(figures(ours, "cpu")),
                "slowest": max(figures(ours, "cpu")),
                "bz2 / candgen, %": 100 * median_ratio(figures(limit, "cpu"), figures(ours, "cpu")),
                "peak MB": middle(ours, "peak") / 1e6,
                "before the start, MB": middle(ours, "before") / 1e6,
            }
        ],
    )
    return int(ours[0]["links"])


def two_workers(made: Made, warming: Path, report: Report, repeats: int) -> None:
    """Measure one worker and two, on a dump of many streams."""
    ways = {
        name: partial(in_child, run, OURS, warming, made.path, workers=workers)
        for name, workers in (("one", 1), ("two", 2))
    }
    runs = in_turn(ways, repeats)
    one, two = runs["one"], runs["two"]
    report.add(
        f"One worker and two, many streams (seconds, medians of {repeats})",
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
    """Add all tables for one real dump."""
    repeats, peer_repeats = options.repeats, min(options.repeats, PEER_REPEATS)
    start = dumps.header(real)
    wiki = dumps.language(start)

    def write(what: str, content: Iterable[bytes], *, streams: bool = False) -> Made:
        path = folder / f"{what.replace(' ', '-')}.xml.bz2"
        to_file = dumps.write_multistream if streams else dumps.write
        return Made(what, path, to_file(path, start, content))

    whole = partial(dumps.pages, real)
    warming = write(f"{wiki} start", islice(whole(), WARMING_PAGES)).path
    once = write(wiki, whole())
    in_child(run, OURS, warming, once.path)  # fills Numba's cache
    first = write(f"{wiki} first pages", islice(whole(), options.pages))
    compare_with_peers(first, warming, report, peer_repeats)
    links = compare_with_bz2(once, warming, report, repeats)
    times = options.times
    again = write(f"{wiki} {times} times", dumps.repeated(real, times))
    if compare_with_bz2(again, warming, report, repeats) != times * links:
        raise AssertionError(f"{again.what} does not have {times} times the {links:,} links")
    decompressors(again, warming, report, repeats)
    numbered = dumps.numbered(map(dumps.with_places, whole()), times)
    more = write(f"{wiki} {times} times, numbered", numbered)
    compare_with_bz2(more, warming, report, repeats)
    if real == options.dump[0]:
        times = options.parallel_times
        again = write(f"{wiki} {times} times", dumps.repeated(real, times), streams=True)
        two_workers(again, warming, report, peer_repeats)


def versions() -> dict[str, str]:
    """Return the machine and the versions that the figures were measured with."""
    installed = {found.name: found.version for found in importlib.metadata.distributions()}
    return machine() | {name: installed.get(name, NOT_INSTALLED) for name in PEER_PACKAGES}


def main() -> None:
    """Measure every dump asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument(
        "--dump",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="real dumps, .xml.bz2; each is measured",
    )
    parser.add_argument(
        "--pages",
        type=int,
        default=2000,
        metavar="N",
        help="pages for the comparison with peers (default: %(default)s)",
    )
    parser.add_argument(
        "--times",
        type=int,
        default=8,
        metavar="N",
        help="copies of all pages in the longer dump (default: %(default)s)",
    )
    parser.add_argument(
        "--parallel-times",
        type=int,
        default=32,
        metavar="N",
        help="copies of all pages of the first dump for two workers (default: %(default)s)",
    )
    add_repeats(parser, REPEATS)
    options = parser.parse_args()
    report = Report("extract", question, [], about=versions())
    for real in options.dump:
        with TemporaryDirectory() as folder:
            measure(real, Path(folder), report, options)
    report.write()


if __name__ == "__main__":
    main()
