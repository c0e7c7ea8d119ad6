"""How much memory and time does counting many links take, when counts spill to disk?

    python benchmarks/spill.py --dump elwiki.xml.bz2 [--links 5000000] [--titles 3000000]

The synthetic dump has as many links as a large Wikipedia, few of them equal: the plain links of
real pages, without the text between them, in as many copies as needed. A number makes the anchors
of each copy distinct; within a copy, links repeat as they do on the real pages. Titles get numbers
too, until there are --titles of them. 50 million links are 3 GB of XML.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psutil
import synthetic_dumps as dumps
from extract import OURS, WARMING_PAGES, run
from measure import Report, in_child

SECONDS_BETWEEN_LOOKS = 0.2
DISK_A_LINK = 200
"""Bytes: the dump, temporary files while counting, and the table."""

T = TypeVar("T")


def watched(work: Callable[[], T]) -> tuple[dict[str, float], T]:
    """Return the peak memory of the processes that the work started, and its result.

    Resident: the sum over processes, with shared pages counted for each of them.
    Proportional: shared pages counted once, divided among the processes that share them.
    """
    most = {"resident": 0.0, "proportional": 0.0, "largest process": 0.0}
    done = threading.Event()

    def look() -> None:
        while not done.wait(SECONDS_BETWEEN_LOOKS):
            memory = []
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):  # it may have exited meanwhile
                    memory.append(process.memory_full_info())
            resident = [part.rss for part in memory]
            now = {
                "resident": sum(resident),
                "proportional": sum(part.pss for part in memory),
                "largest process": max(resident, default=0),
            }
            most.update({key: max(most[key], now[key]) for key in most})

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        return most, work()
    finally:
        done.set()
        watcher.join()


def make(real: Path, folder: Path, links: int, titles: int) -> tuple[Path, Path, dumps.Size]:
    """Write a short dump for warming up and one with at least ``links`` links."""
    start = dumps.header(real)
    short, long = folder / "short.xml.bz2", folder / "long.xml.bz2"
    pages = [dumps.bare(page) for page in dumps.pages(real)]
    dumps.write(short, start, pages[:WARMING_PAGES])
    found = [link[1] for page in pages for link in dumps.LINK.finditer(page)]
    copies, worlds = -(-links // len(found)), -(-titles // len(set(found)))
    content = dumps.numbered(map(dumps.with_places, pages), copies, worlds=worlds)
    return short, long, dumps.write_multistream(long, start, content, level=1)


def measure(real: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Write the dump, extract it, and sample the memory of every process meanwhile."""
    short, long, size = make(real, folder, options.links, options.titles)
    print(f"wrote {size.pages:,} pages, {size.xml / 1e9:.1f} GB of XML", flush=True)
    work = partial(in_child, run, OURS, short, long, workers=options.workers)
    most, taken = watched(work)
    return {
        "links": int(taken["links"]),
        "GB of XML": size.xml / 1e9,
        "GB of bz2": long.stat().st_size / 1e9,
        "workers": options.workers,
        "CPU s": taken["cpu"],
        "wall s": taken["wall"],
        "links/s (wall)": taken["links"] / taken["wall"],
        **{f"{what}, MB": memory / 1e6 for what, memory in most.items()},
        "before the start, MB": taken["before"] / 1e6,
    }


def main() -> None:
    """Measure, in a folder that is removed in any case."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument(
        "--dump", type=Path, required=True, metavar="FILE", help="a real dump, .xml.bz2"
    )
    parser.add_argument(
        "--links",
        type=int,
        default=50_000_000,
        metavar="N",
        help="links of the synthetic dump (default: %(default)s)",
    )
    parser.add_argument(
        "--titles",
        type=int,
        default=3_000_000,
        metavar="N",
        help="distinct titles of the synthetic dump (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=2,
        metavar="N",
        help="worker processes (default: %(default)s)",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="folder for temporary files (default: %(default)s)",
    )
    options = parser.parse_args()
    free, needed = shutil.disk_usage(options.folder).free, DISK_A_LINK * options.links
    if free < needed:
        sys.exit(
            f"{options.folder} has {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB are needed: "
            "choose another --folder or fewer --links"
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes the temporary files
    os.environ["TMPDIR"] = str(options.folder)  # for the child processes
    report = Report("spill", question, [options.links])
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report.add(
            "Counting links: CPU time, and peak memory of all processes",
            [measure(options.dump, Path(folder), options)],
        )
    report.write()


if __name__ == "__main__":
    main()
