"""How large is an index, and how quickly does it open?

    python benchmarks/index_size.py --size 50000 500000 2500000

Bytes a posting by array, the time `candgen.load` takes, and which pages of the files one query
reads when none of them is in memory.
"""

import argparse
import ctypes
import mmap
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from measure import Report, add_repeats, add_size, in_child, wall_time
from synthetic_index import index_path, warm_up
from world import load_world, make_queries

import candgen
from candgen.cache_folder import CACHE_VARIABLE
from candgen.storage import index_folder
from candgen.storage.index_folder import StoredIndex

REPEATS = 5
OPENINGS = 50
SOURCES = "sources."
"""What the arrays of the stored mentions are called, which count apart."""


def forget(folder: Path) -> None:
    """Take the files of an index out of the page cache."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resident_pages(path: Path) -> tuple[int, int]:
    """How many pages of a file are in the page cache, and how many it has."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        size = -(-len(mapped) // mmap.PAGESIZE)
        flags = (ctypes.c_ubyte * size)()
        address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(len(mapped)), flags):
            raise OSError(ctypes.get_errno(), f"mincore failed for {path}")
        return int(np.count_nonzero(np.frombuffer(flags, np.uint8) & 1)), size


def open_once(folder: Path) -> dict[str, float]:
    """Open an index in a process that never opened one, and many times more."""
    load: Callable[[Path], Any] = candgen.load  # imports what it needs before the clock starts
    process = psutil.Process()
    before = process.memory_full_info().uss
    first, index = wall_time(lambda: load(folder))
    taken = process.memory_full_info().uss - before
    again = [wall_time(lambda: load(folder))[0] for _ in range(OPENINGS)]
    del index
    return {"first": first, "again": statistics.median(again), "memory": taken}


def open_unknown(folder: Path) -> float:
    """Open an index that this user never opened: all of it is read and validated."""
    load: Callable[[Path], Any] = candgen.load
    os.environ[CACHE_VARIABLE] = os.devnull
    load(folder)  # compiles, where nothing is compiled yet
    return wall_time(lambda: load(folder))[0]


def open_and_ask(folder: Path, query: str) -> dict[str, float]:
    """Open an index and ask for one mention, in a process that never opened this one."""
    warm_up()
    load: Callable[[Path], Any] = candgen.load
    opening, index = wall_time(lambda: load(folder))
    asking, _ = wall_time(lambda: index.candidates([query], threads=1))
    return {"opening": opening, "asking": asking}


def arrays(size: int, stored: StoredIndex, postings: int) -> list[dict[str, Any]]:
    """Bytes by array, the largest first, and their sum without the stored mentions."""
    rows = [
        {
            "array": name,
            "entities": size,
            "type": str(array.dtype),
            "length": array.size,
            "MB on disk": stored.sizes[name] / 1e6,
            "bytes a posting on disk": stored.sizes[name] / postings,
            "in memory": array.nbytes / postings,
        }
        for name, array in stored.arrays.items()
    ]
    rows.sort(key=lambda row: -row["MB on disk"])
    sums = []
    for title, counted in {
        "all but the stored mentions": [r for r in rows if not r["array"].startswith(SOURCES)],
        "the stored mentions": [r for r in rows if r["array"].startswith(SOURCES)],
    }.items():
        summed = ("length", "MB on disk", "bytes a posting on disk", "in memory")
        total = {key: sum(row[key] for row in counted) for key in summed}
        sums.append({"array": title, "entities": size, "type": "", **total})
    return sums + rows


def opening(size: int, folder: Path, repeats: int) -> dict[str, Any]:
    """How long opening takes: in a fresh process, with a cold and with a warm page cache."""
    cold, warm, unknown = [], [], []
    for _ in range(repeats):
        forget(folder)
        cold.append(in_child(open_once, folder))
        warm.append(in_child(open_once, folder))
        unknown.append(in_child(open_unknown, folder))
    return {
        "entities": size,
        "cold cache, ms": 1e3 * statistics.median(run["first"] for run in cold),
        "fresh process, ms": 1e3 * statistics.median(run["first"] for run in warm),
        "again, ms": 1e3 * statistics.median(run["again"] for run in warm),
        "not verified before, ms": 1e3 * statistics.median(unknown),
        "own memory, kB": statistics.median(run["memory"] for run in warm) / 1e3,
    }


def pages(
    size: int, folder: Path, queries: list[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Which share of each file is read from the disk by opening and by one query, and how long."""
    forget(folder)
    before = shares_resident(folder)
    in_child(open_once, folder)
    opened = shares_resident(folder)
    asked, seconds = [], []
    for query in queries:
        forget(folder)
        seconds.append(in_child(open_and_ask, folder, query)["asking"])
        asked.append(shares_resident(folder))
    megabytes = {path.name: path.stat().st_size / 1e6 for path in folder.iterdir()}
    megabytes["all"] = sum(megabytes.values())
    rows = [
        {
            "array": name.split(".npy")[0].rsplit(".", 1)[0],
            "entities": size,
            "MB": megabytes[name],
            "before, %": 100 * before[name],
            "opened, %": 100 * opened[name],
            "one query, %": 100 * statistics.median(shares[name] for shares in asked),
        }
        for name in sorted(megabytes, key=lambda name: -megabytes[name])
        if megabytes[name] > megabytes["all"] / 200
    ]
    return rows, {"entities": size, "median ms": 1e3 * statistics.median(seconds)}


def shares_resident(folder: Path) -> dict[str, float]:
    """The share of the pages in the page cache, by file and of all."""
    counted = {path.name: resident_pages(path) for path in folder.iterdir() if path.stat().st_size}
    resident, number = np.sum(list(counted.values()), axis=0).tolist()
    return {"all": resident / number, **{name: part / of for name, (part, of) in counted.items()}}


def measure(size: int, repeats: int, report: Report) -> None:
    """All tables for a world of one size."""
    folder = index_path(size)
    stored = index_folder.load(folder)
    postings = candgen.load(folder).token_index.postings
    report.add(f"Arrays, {size:,} entities, {postings:,} postings", arrays(size, stored, postings))
    queries = make_queries(load_world(size), repeats, seed=1)
    del stored  # what is mapped is not forgotten
    report.add("Opening (wall time)", [opening(size, folder, repeats)])
    read, asked = pages(size, folder, queries)
    report.add(f"Pages read from the disk, {size:,} entities", read)
    report.add("The first query on a cold cache (wall time)", [asked])


def main() -> None:
    """Measure every size asked for."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    add_size(parser)
    add_repeats(parser, REPEATS)
    options = parser.parse_args()
    report = Report("index-size", question, options.size)
    for size in options.size:
        measure(size, options.repeats, report)
    report.write()


if __name__ == "__main__":
    main()
