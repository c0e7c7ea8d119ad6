"""How much CPU time and disk does reading a dump take on one of Spark's workers, for its size?

    python benchmarks/sizes.py --data FOLDER

FOLDER is a mirror: dumps of one or more wikis, with the names that Wikimedia gives them. From the
rates docs/spark.md computes what all Wikipedias need.
"""

import argparse
import bz2
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from measure import Report, cpu_time

from candgen.wikipedia.options import Options
from candgen.wikipedia.spark.dump_folder import Wiki, find_wikis
from candgen.wikipedia.spark.tasks import cut_into_tasks, run_task

REPEATS = 3
MB = 1e6


def read(wiki: Wiki) -> pa.Table:
    """What the tasks of a wiki give to Spark."""
    options = Options()
    batches = [
        batch for task in cut_into_tasks([wiki], options) for batch in run_task(task, options)
    ]
    return pa.Table.from_batches(batches)


def parquet_size(table: pa.Table) -> int:
    """The bytes of a table as Spark writes it into the work folder."""
    file = io.BytesIO()
    pq.write_table(table, file, compression="snappy")
    return file.tell()


def measure(wiki: Wiki) -> dict[str, float]:
    """The figures of one wiki; of several runs the quickest counts."""
    dump = Path(wiki.sources.dumps[0]).read_bytes()
    read(wiki)  # compiles
    reading = [cpu_time(lambda: read(wiki)) for _ in range(REPEATS)]
    plain = [cpu_time(lambda: bz2.decompress(dump)) for _ in range(REPEATS)]
    return {
        "compressed MB": len(dump) / MB,
        "XML MB": len(plain[0][1]) / MB,
        "CPU seconds": min(seconds for seconds, _ in reading),
        "bz2 alone": min(seconds for seconds, _ in plain),
        "rows as Parquet MB": parquet_size(reading[0][1]) / MB,
    }


def main() -> None:
    """Measure every wiki of the folder, and all together."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--data", type=Path, required=True, help="a folder of dumps, .xml.bz2")
    wikis = {wiki.language: measure(wiki) for wiki in find_wikis(parser.parse_args().data)}
    names = list(next(iter(wikis.values())))
    wikis["together"] = {name: sum(each[name] for each in wikis.values()) for name in names}
    report = Report("sizes", question, [])
    report.add(
        "Reading",
        [
            {
                "wiki": language,
                **each,
                "CPU s a MB": each["CPU seconds"] / each["compressed MB"],
                "Parquet MB a MB": each["rows as Parquet MB"] / each["compressed MB"],
            }
            for language, each in wikis.items()
        ],
    )
    report.write()


if __name__ == "__main__":
    main()
