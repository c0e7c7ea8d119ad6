"""How fast is a Wikidata dump read, compared with decompression and JSON parsing alone?

    python benchmarks/wikidata.py --items 20000

The dump is synthetic: items shaped like Wikidata's, with labels in many languages and some
kilobytes of statements, a little over ten kilobytes each. The peers discard what they decompress
or parse, so they are a lower bound for every reader that parses each line. The bzip2 file is a
single stream, which is harder to read in parallel than many. The time for the real dump is
computed from the rates, for about 1.5 TB of text.
"""

import argparse
import bz2
import gzip
import json
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from measure import (
    Report,
    add_repeats,
    cpu_time,
    in_child,
    in_turn,
    median_ratio,
    peak_memory,
    wall_time,
)

from candgen.wikidata.extract import extract_wikidata
from candgen.wikidata.names import Selection

LANGUAGES = ("fo", "is", "da", "en")
REPEATS = 3
REAL_BYTES = 1.5e12  # decompressed
OPEN: dict[str, Callable[[Path], Any]] = {
    "bz2": bz2.open,
    "gz": gzip.open,
    "plain": partial(open, mode="rb"),
}


def words(draw: random.Random) -> list[str]:
    """Synthetic words."""
    syllables = ["ka", "to", "mi", "sø", "rin", "vel", "da", "húg", "stra", "li", "no", "ber"]
    return ["".join(draw.choices(syllables, k=draw.randrange(1, 5))) for _ in range(5000)]


def statement(draw: random.Random, target: str) -> dict[str, Any]:
    """A statement with a reference, as most have one."""
    mine, cited = f"P{draw.randrange(6, 9000)}", "P248"
    return {
        "mainsnak": _snak(mine, draw.randrange(1, 10**8)),
        "type": "statement",
        "id": f"{target}${draw.randbytes(4).hex()}-{draw.randbytes(2).hex()}",
        "rank": draw.choice(["normal", "normal", "normal", "preferred", "deprecated"]),
        "references": [
            {
                "hash": draw.randbytes(20).hex(),
                "snaks": {cited: [_snak(cited, draw.randrange(1, 10**5))]},
                "snaks-order": [cited],
            }
        ],
    }


def _snak(name: str, value: int) -> dict[str, Any]:
    entity = {"entity-type": "item", "numeric-id": value, "id": f"Q{value}"}
    return {
        "snaktype": "value",
        "property": name,
        "datavalue": {"value": entity, "type": "wikibase-entityid"},
        "datatype": "wikibase-item",
    }


def items(number: int) -> Iterator[bytes]:
    """Lines of a dump."""
    draw = random.Random(5)
    known = words(draw)
    codes = [*LANGUAGES, *(f"{a}{b}" for a in "lmnprst" for b in "aeiklorsu")]
    for at in range(number):
        entity = f"Q{draw.randrange(1, 10**6)}{at:06}"
        name = " ".join(draw.choices(known, k=draw.randrange(1, 4)))
        mine = draw.sample(codes, k=min(len(codes), 2 + int(draw.expovariate(1 / 12))))
        content = {
            "type": "item",
            "id": entity,
            "labels": {code: {"language": code, "value": name} for code in mine},
            "descriptions": {
                code: {"language": code, "value": " ".join(draw.choices(known, k=4))}
                for code in mine
            },
            "aliases": {
                code: [{"language": code, "value": draw.choice(known)} for _ in range(2)]
                for code in mine[:3]
            },
            "claims": {
                f"P{each or 31}": [statement(draw, entity)]
                for each in range(int(draw.expovariate(1 / 14)) + 1)
            },
            "sitelinks": {
                f"{code}wiki": {"site": f"{code}wiki", "title": name, "badges": []}
                for code in mine[:5]
            },
            "modified": "2024-05-01T10:20:30Z",
        }
        yield json.dumps(content, separators=(",", ":")).encode()


def write_dumps(folder: Path, number: int) -> dict[str, Path]:
    """The same dump in three formats."""
    text = b"[\n" + b",\n".join(items(number)) + b"\n]\n"
    made = {"plain": text, "gz": gzip.compress(text, 6), "bz2": bz2.compress(text)}
    paths = {kind: folder / f"dump.{kind}" for kind in made}
    for kind, path in paths.items():
        path.write_bytes(made[kind])
    return paths


def decompress(kind: str, path: Path) -> None:
    """Decompress everything and discard it."""
    with OPEN[kind](path) as file:
        while file.read(1 << 20):
            pass


def parse(kind: str, path: Path) -> None:
    """Decompress everything, parse each line and discard it."""
    with OPEN[kind](path) as file:
        for line in file:
            if line.startswith(b"{"):
                json.loads(line.rstrip(b",\n"))


def ours(path: Path, folder: Path, workers: int = 1) -> None:
    """Extract the tables of four languages and the entities."""
    extract_wikidata(
        path,
        folder,
        selection=Selection(languages=LANGUAGES),
        workers=workers,
        part_size=None if workers == 1 else 1 << 20,  # small parts: the dump is small
    )


def memory_of(path: Path, folder: Path) -> int:
    """Return the peak memory of one process, in bytes."""
    ours(path, folder)
    return peak_memory()


def taken(work: Callable[[], object]) -> float:
    """Return the CPU seconds only."""
    return cpu_time(work)[0]


def waited(work: Callable[[], object]) -> float:
    """Return the elapsed seconds only."""
    return wall_time(work)[0]


def hours(rate: float) -> float:
    """Return the hours for the real dump at this many bytes of text a second."""
    return REAL_BYTES / rate / 3600


def measure(
    paths: dict[str, Path], number: int, folder: Path, repeats: int, report: Report
) -> None:
    """Add the tables of each format."""
    size = paths["plain"].stat().st_size
    report.add(
        "The dump",
        [
            {
                "items": number,
                "MB": size / 1e6,
                "kB an item": size / 1e3 / number,
                **{f"{kind}, MB": paths[kind].stat().st_size / 1e6 for kind in ("gz", "bz2")},
            }
        ],
    )
    for kind, path in paths.items():
        works = {
            "decompress": partial(decompress, kind, path),
            "decompress, json.loads": partial(parse, kind, path),
            "candgen": partial(ours, path, folder / f"made-{kind}"),
        }
        found = in_turn({name: partial(taken, work) for name, work in works.items()}, repeats)
        report.add(
            f"One process (CPU time, medians of {repeats})",
            [
                {
                    "format": kind,
                    "what": name,
                    "s": median(seconds),
                    "items a s": number / median(seconds),
                    "MB a s": size / 1e6 / median(seconds),
                    "over decompress": median_ratio(seconds, found["decompress"]),
                    "over json.loads": median_ratio(seconds, found["decompress, json.loads"]),
                    "real dump, h": hours(size / median(seconds)),
                }
                for name, seconds in found.items()
            ],
        )
        runs = {
            workers: partial(waited, partial(ours, path, folder / f"made-{kind}", workers))
            for workers in (1, 2)
        }
        passed = in_turn({str(workers): run for workers, run in runs.items()}, repeats)
        report.add(
            f"Two processes (elapsed seconds with their start, medians of {repeats})",
            [
                {
                    "format": kind,
                    "one, s": median(passed["1"]),
                    "two, s": median(passed["2"]),
                    "one / two": median_ratio(passed["1"], passed["2"]),
                    "memory of one, MB": in_child(memory_of, path, folder / "child") / 1e6,
                }
            ],
        )


def main() -> None:
    """Write the dumps and measure."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument(
        "--items",
        type=int,
        default=20_000,
        metavar="N",
        help="items of the synthetic dump (default: %(default)s)",
    )
    add_repeats(parser, REPEATS)
    given = parser.parse_args()
    number = given.items
    report = Report("wikidata", question, [number])
    with TemporaryDirectory() as name:
        begun = time.perf_counter()
        paths = write_dumps(Path(name), number)
        print(f"wrote {number:,} items in {time.perf_counter() - begun:.0f} s")
        measure(paths, number, Path(name), given.repeats, report)
    report.write()


if __name__ == "__main__":
    main()
