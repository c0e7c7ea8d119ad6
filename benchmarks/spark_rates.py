"""How much CPU time and disk does a Spark worker need for each megabyte of a dump?

    python benchmarks/spark_rates.py --data FOLDER

FOLDER holds the dumps of one or more wikis, with the file names that Wikimedia gives them. From
these rates docs/spark.md computes what all Wikipedias need. PySpark is not needed: the script runs
the tasks of a worker without Spark.
"""

import argparse
import bz2
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from measure import Report, add_repeats, cpu_time

from candgen.wikipedia.options import Options
from candgen.wikipedia.spark.dump_folder import Wiki, find_wikis
from candgen.wikipedia.spark.tasks import cut_into_tasks, run_task

REPEATS = 3
MB = 1e6


def read(wiki: Wiki) -> pa.Table:
    """Return the rows that the tasks of a wiki give to Spark."""
    options = Options()
    batches = [
        batch for task in cut_into_tasks([wiki], options) for batch in run_task(task, options)
    ]
    return pa.Table.from_batches(batches)


def parquet_size(table: pa.Table) -> int:
    """Return the bytes of a table as Spark writes it into the work folder."""
    file = io.BytesIO()
    pq.write_table(table, file, compression="snappy")
    return file.tell()


def measure(wiki: Wiki, repeats: int) -> dict[str, float]:
    """Return the figures of one wiki; of several runs the fastest counts."""
    dump = Path(wiki.sources.dumps[0]).read_bytes()
    read(wiki)  # compiles
    reading = [cpu_time(lambda: read(wiki)) for _ in range(repeats)]
    plain = [cpu_time(lambda: bz2.decompress(dump)) for _ in range(repeats)]
    return {
        "compressed MB": len(dump) / MB,
        "XML MB": len(plain[0][1]) / MB,
        "CPU seconds": min(seconds for seconds, _ in reading),
        "bz2 alone": min(seconds for seconds, _ in plain),
        "rows as Parquet MB": parquet_size(reading[0][1]) / MB,
    }


def main() -> None:
    """Measure every wiki of the folder, and print a total."""
    question = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="folder of dumps, .xml.bz2"
    )
    add_repeats(parser, REPEATS)
    given = parser.parse_args()
    wikis = {wiki.language: measure(wiki, given.repeats) for wiki in find_wikis(given.data)}
    names = list(next(iter(wikis.values())))
    wikis["all"] = {name: sum(each[name] for each in wikis.values()) for name in names}
    report = Report("spark-rates", question, [])
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
