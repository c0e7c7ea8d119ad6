"""From a folder of dumps of many wikis to one data set, on Spark.

Tasks read ranges of dumps with the same functions as the engine on one machine does; redirects,
entities and sums are left to Spark's SQL. Everything that needs PySpark, which is optional, is in
this file.
"""

import json
import os
import re
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from candgen.dumps.workspace import Workspace
from candgen.errors import CandgenError, MissingExtraError, ParameterError, TableError
from candgen.storage.atomic import write_text
from candgen.storage.versions import version
from candgen.wikipedia.options import Options
from candgen.wikipedia.read_parts import Progress, Watcher
from candgen.wikipedia.report import Report
from candgen.wikipedia.spark.dump_folder import Wiki, find_wikis
from candgen.wikipedia.spark.outputs import check_output, finishings, folders, publish, report_of
from candgen.wikipedia.spark.queries import views
from candgen.wikipedia.spark.tasks import PART, ROWS, Task, finish, rows, site_of, tasks
from candgen.wikipedia.statistics import Tally

try:
    from py4j.protocol import Py4JError  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as error:
    raise MissingExtraError("this needs PySpark: pip install 'candgen[spark]'") from error

TASKS = "tasks.json"
"""In the work folder, for whoever cuts the work into Spark's partitions."""

_PAIRS = "language string, fold tinyint, mention string, entity string, reason string, count bigint"
_BYTES_A_PARTITION = 64 << 20
_MOST_PARTITIONS = 10_000
_OURS = re.compile(r"candgen\.errors\.(\w+): (.+)")
_SECONDS = 0.5  # between two looks at how far Spark is


def extract_with_spark(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    master: str | None = None,
    languages: Collection[str] | None = None,
    options: Options | None = None,
    resume: bool = False,
    part_size: int = PART,
    progress: Watcher = lambda _progress: None,
) -> list[Report]:
    """Write the mention tables of all wikis whose dumps are in a folder; give their reports.

    The output is a folder of one folder a language, ``language=fo``, which `MentionTable.read`
    takes; with ``options.split`` there are three such, ``train``, ``dev`` and ``test``. Both
    folders must have the same name on every machine. ``master`` is Spark's, such as
    ``spark://host:7077``; without it a session that is there is used, or what is configured.
    ``resume`` uses what an interrupted run has read of the dumps, if that was everything.
    """
    options = options or Options()
    # Other machines, and the JVM of this one, have other working folders.
    output = Path(os.path.abspath(output))  # noqa: PTH100
    if part_size < 1:
        raise ParameterError(f"the size of parts is {part_size}, expected at least 1 byte")
    check_output(output)
    wikis = find_wikis(Path(folder).absolute(), languages=languages)
    for wiki in wikis:
        site_of(wiki)  # a file that is no dump is told before the long work
    workspace = Workspace(output)
    plan = _plan(wikis, options, part_size)
    workspace.begin(plan, resume=resume)
    write_text(workspace.folder / TASKS, json.dumps(plan))
    job = _Job(wikis, options, workspace.folder, progress)
    try:
        with _session(master) as spark, _told():
            reports = job.run(spark)
        publish(workspace, output, reports)
    except BaseException:
        if not job.harvested:
            workspace.discard()
        raise
    finally:
        workspace.release()
    return reports


def _plan(wikis: Sequence[Wiki], options: Options, part_size: int) -> dict[str, Any]:
    """What is to be done; two runs with the same plan do the same."""
    stats = {str(path): path.stat() for wiki in wikis for path in wiki.sources.files}
    return {
        "candgen": version(),
        "files": {path: [stat.st_size, stat.st_mtime_ns] for path, stat in stats.items()},
        "options": asdict(options),
        "tasks": tasks(wikis, options, size=part_size),
    }


# What Spark does


class _Job:
    """The steps of an extraction; each leaves its result in a folder of the workspace."""

    def __init__(
        self, wikis: Sequence[Wiki], options: Options, folder: Path, progress: Watcher
    ) -> None:
        self._wikis = wikis
        self._options = options
        self._folder = folder
        self._progress = progress
        self._size = sum(Path(dump).stat().st_size for w in wikis for dump in w.sources.dumps)

    @property
    def harvested(self) -> bool:
        """Whether all dumps have been read; Spark says so by this file."""
        return (self._folder / "harvest" / "_SUCCESS").is_file()

    def run(self, spark: SparkSession) -> list[Report]:
        least = spark.sparkContext.defaultParallelism
        partitions = min(max(least, self._size // _BYTES_A_PARTITION), _MOST_PARTITIONS)
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        if not self.harvested:
            with self._watched(spark, "reading pages"):
                self._harvest(spark)
        with self._watched(spark, "following redirects and adding up"):
            named = self._resolve(spark)
        with self._watched(spark, "writing tables"):
            reports = self._reports(spark, named)
            self._finish(spark, reports)
        return reports

    def _harvest(self, spark: SparkSession) -> None:
        spark.dataSource.register(_Harvest)
        found = spark.read.format(_Harvest.name()).load(str(self._folder / TASKS))
        found.write.partitionBy("kind").parquet(str(self._folder / "harvest"), mode="overwrite")

    def _resolve(self, spark: SparkSession) -> list[Any]:
        """Make the pairs; give how many pages and redirects lend their names."""
        harvest = spark.read.schema(_ddl()).parquet(str(self._folder / "harvest"))
        harvest.createOrReplaceTempView("harvest")
        with_ids = {wiki.language for wiki in self._wikis if wiki.sources.has_ids}
        frames: dict[str, DataFrame] = {}
        for name, query in views(self._options, with_ids).items():
            frames[name] = spark.sql(query)
            if name == "redirects":  # many others are made of it
                frames[name].persist()
            frames[name].createOrReplaceTempView(name)
        try:
            output = frames["pairs"].write.partitionBy("language", "fold")
            output.parquet(str(self._folder / "pairs"), mode="overwrite")
            names = self._options.titles or self._options.redirect_titles
            return frames["named"].collect() if names else []
        finally:
            frames["redirects"].unpersist()

    def _reports(self, spark: SparkSession, named: Sequence[Any]) -> list[Report]:
        tallies = self._tallies(spark, named)
        tables: dict[str, dict[str, dict[str, int]]] = {
            language: {
                name: {"pairs": 0, "occurrences": 0} for name in folders(language, self._options)
            }
            for language in tallies
        }
        for row in self._sums(spark):
            if row.reason is not None:
                tallies[row.language].dropped[row.reason] += row.occurrences
            else:
                name = folders(row.language, self._options)[row.fold]
                tables[row.language][name] = {"pairs": row.pairs, "occurrences": row.occurrences}
        return [
            report_of(wiki, self._options, tallies[wiki.language], tables[wiki.language])
            for wiki in self._wikis
        ]

    def _tallies(self, spark: SparkSession, named: Sequence[Any]) -> dict[str, Tally]:
        """Add up what the tasks have seen, and the names of pages and redirects."""
        found = {wiki.language: Tally() for wiki in self._wikis}
        rows = spark.sql("SELECT language, task, tally FROM harvest WHERE kind = 'tallies'")
        for row in sorted(rows.collect(), key=lambda row: row.task):
            found[row.language].add(Tally.from_json(row.tally))
        names = {(row.language, row.redirects): row.seen for row in named}
        for language, tally in found.items():
            if self._options.titles:
                tally.seen["page titles"] = names.get((language, False), 0)
            if self._options.redirect_titles:
                tally.seen["redirect titles"] = names.get((language, True), 0)
        return found

    def _sums(self, spark: SparkSession) -> Sequence[Any]:
        spark.read.schema(_PAIRS).parquet(str(self._folder / "pairs")).createOrReplaceTempView(
            "made"
        )
        query = """
        SELECT language, fold, reason, count(*) AS pairs, sum(count) AS occurrences
        FROM made GROUP BY language, fold, reason
        """
        found: Sequence[Any] = spark.sql(query).collect()
        return found

    def _finish(self, spark: SparkSession, reports: Sequence[Report]) -> None:
        """Copy Spark's files into such as `extract` writes, with the report as metadata."""
        work = list(finishings(self._folder, reports, self._options))
        spark.sparkContext.parallelize(work, len(work)).foreach(finish)

    @contextmanager
    def _watched(self, spark: SparkSession, doing: str) -> Iterator[None]:
        """Tell, again and again, how far the newest stage of Spark is."""
        over = threading.Event()
        tracker = spark.sparkContext.statusTracker()

        def watch() -> None:
            while not over.wait(_SECONDS):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                share = max((s.numCompletedTasks / s.numTasks for s in stages if s), default=0.0)
                self._progress(Progress(doing, round(share * self._size), self._size))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


# Rows for Spark


def _ddl() -> str:
    kinds = {"int8": "tinyint", "int32": "int", "int64": "bigint", "bool": "boolean"}
    return ", ".join(f"{f.name} {kinds.get(str(f.type), str(f.type))}" for f in ROWS)


class _Harvest(DataSource):  # type: ignore[misc]  # PySpark's types are not asked for
    """The rows of all tasks of a plan, a partition each."""

    @classmethod
    def name(cls) -> str:
        return "candgen"

    def schema(self) -> str:
        return _ddl()

    def reader(self, schema: object) -> "_HarvestReader":  # noqa: ARG002
        return _HarvestReader(self.options["path"])


class _HarvestReader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, plan: str) -> None:
        self._plan = plan

    def partitions(self) -> list[InputPartition]:
        plan = json.loads(Path(self._plan).read_text(encoding="utf-8"))
        return [InputPartition(json.dumps([task, plan["options"]])) for task in plan["tasks"]]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        task, options = json.loads(partition.value)
        lists = {name: tuple(v) for name, v in options.items() if isinstance(v, list)}
        return rows(Task(*task), Options(**(options | lists)))


# The session


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Use a session that is there, without changing its settings, or start and end one."""
    active = SparkSession.getActiveSession()
    if active is not None:
        if master not in (None, active.sparkContext.master):
            raise ParameterError(
                f"the master is {master}, but Spark runs here already, on "
                f"{active.sparkContext.master}: stop that session, or leave the master out"
            )
        yield active.newSession()
        return
    spark = _started(master)
    try:
        yield spark
    finally:
        spark.stop()


def _started(master: str | None) -> SparkSession:
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.appName("candgen extract")
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):  # nobody else need reach it
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
        }
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise CandgenError(
            f"Spark cannot be started on {master or 'its own machine'} ({reason}): it needs "
            "Java 17 or newer, and a master that answers"
        ) from error
    if "PYSPARK_PYTHON" not in os.environ and spark.sparkContext.master.startswith("local"):
        spark.sparkContext.pythonExec = sys.executable  # not whatever python3 is
    return spark


@contextmanager
def _told() -> Iterator[None]:
    """Turn Spark's errors, which are pages long, into a sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _OURS.findall(str(error))
        if ours:
            raise TableError(ours[-1][1]) from error
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise CandgenError(
            f"Spark has given up: {lines[0] if lines else type(error).__name__}; "
            "its own log tells more"
        ) from error
