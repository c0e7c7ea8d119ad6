"""A folder of dumps of many wikis to one data set, on Spark.

Tasks read ranges of dumps with the same functions as the engine on one machine; Spark's SQL follows
redirects, finds entities and sums counts. Only this file needs PySpark, which is optional.
"""

import json
import os
import re
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from candgen.dumps.workspace import Workspace
from candgen.errors import (
    CandgenError,
    MissingExtraError,
    ParameterError,
    TableError,
    check_whole_number,
)
from candgen.storage.atomic import write_text
from candgen.wikipedia.extract import make_plan
from candgen.wikipedia.options import Options
from candgen.wikipedia.read_parts import ProgressCallback, ReadingProgress
from candgen.wikipedia.report import Report
from candgen.wikipedia.spark import outputs, tasks
from candgen.wikipedia.spark.dump_folder import Wiki, find_wikis
from candgen.wikipedia.spark.queries import define_views
from candgen.wikipedia.statistics import PageStatistics

try:
    from py4j.protocol import Py4JError  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as error:
    raise MissingExtraError("this needs PySpark: pip install 'candgen[spark]'") from error

TASKS = "tasks.json"
"""In the work folder: the plan, from which Spark's partitions are made."""

_PAIRS = "language string, fold tinyint, mention string, entity string, reason string, count bigint"
_PARTITION_BYTES = 64 << 20
_MAX_PARTITIONS = 10_000
_OUR_ERROR = re.compile(r"candgen\.errors\.(\w+): (.+)")
_POLL_SECONDS = 0.5


def extract_with_spark(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    master: str | None = None,
    languages: Collection[str] | None = None,
    options: Options | None = None,
    resume: bool = False,
    part_size: int = tasks.PART_BYTES,
    progress: ProgressCallback = lambda _progress: None,
) -> list[Report]:
    """Write the mention tables of all wikis whose dumps are in a folder; return their reports.

    The output is a folder with one folder for each language, ``language=fo``, which
    `MentionTable.read` reads; with ``options.split`` there are three such, ``train``, ``dev`` and
    ``test``. Both folders must have the same name on every machine. ``master`` is Spark's, such as
    ``spark://host:7077``; without it the active session is used, or Spark's configuration.
    ``resume`` continues an interrupted run that had read all dumps.
    """
    options = options or Options()
    # Other machines, and the JVM of this one, have other working folders.
    output = Path(os.path.abspath(output))  # noqa: PTH100
    check_whole_number("part_size", part_size)
    outputs.check_output(output)
    wikis = find_wikis(Path(folder).absolute(), languages=languages)
    for wiki in wikis:
        tasks.read_site(wiki)  # an invalid dump is reported before the long work
    workspace = Workspace(output)
    plan = _plan(wikis, options, part_size)
    workspace.begin(plan, resume=resume)
    write_text(workspace.folder / TASKS, json.dumps(plan))
    job = _Job(wikis, options, workspace.folder, progress)
    try:
        with _session(master) as spark, _shorten_errors():
            reports = job.run(spark)
        outputs.publish(workspace, output, reports)
    except BaseException:
        if not job.has_read_dumps:
            workspace.discard()
        raise
    finally:
        workspace.release()
    return reports


def _plan(wikis: Sequence[Wiki], options: Options, part_size: int) -> dict[str, Any]:
    files = [path for wiki in wikis for path in wiki.sources.files]
    return make_plan(files, options, tasks=tasks.cut_into_tasks(wikis, options, size=part_size))


class _Job:
    """The steps of an extraction; each writes its result to a folder of the workspace."""

    def __init__(
        self, wikis: Sequence[Wiki], options: Options, folder: Path, progress: ProgressCallback
    ) -> None:
        self._wikis = wikis
        self._options = options
        self._folder = folder
        self._progress = progress
        self._size = sum(Path(dump).stat().st_size for w in wikis for dump in w.sources.dumps)

    @property
    def has_read_dumps(self) -> bool:
        """Whether all dumps have been read; then Spark has written this file."""
        return (self._folder / "rows" / "_SUCCESS").is_file()

    def run(self, spark: SparkSession) -> list[Report]:
        least = spark.sparkContext.defaultParallelism
        partitions = min(max(least, self._size // _PARTITION_BYTES), _MAX_PARTITIONS)
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        if not self.has_read_dumps:
            with self._show_progress(spark, "reading pages"):
                self._read_dumps(spark)
        with self._show_progress(spark, "following redirects and adding up"):
            names = self._resolve(spark)
        with self._show_progress(spark, "writing tables"):
            reports = self._make_reports(spark, names)
            # Spark's files are copied into such as `extract` writes, with the report as metadata.
            jobs = list(outputs.plan_tables(self._folder, reports, self._options))
            spark.sparkContext.parallelize(jobs, len(jobs)).foreach(tasks.write_table)
        return reports

    def _read_dumps(self, spark: SparkSession) -> None:
        spark.dataSource.register(_TaskRows)
        found = spark.read.format(_TaskRows.name()).load(str(self._folder / TASKS))
        found.write.partitionBy("kind").parquet(str(self._folder / "rows"), mode="overwrite")

    def _resolve(self, spark: SparkSession) -> list[Any]:
        """Make the pairs; return the numbers of pages and redirects whose names are mentions."""
        rows = spark.read.schema(_ddl()).parquet(str(self._folder / "rows"))
        rows.createOrReplaceTempView("task_rows")
        with_ids = {wiki.language for wiki in self._wikis if wiki.sources.has_ids}
        frames: dict[str, DataFrame] = {}
        for name, query in define_views(self._options, with_ids).items():
            frames[name] = spark.sql(query)
            if name == "redirects":  # many others use it
                frames[name].persist()
            frames[name].createOrReplaceTempView(name)
        try:
            output = frames["pairs"].write.partitionBy("language", "fold")
            output.parquet(str(self._folder / "pairs"), mode="overwrite")
            names = self._options.titles or self._options.redirect_titles
            return frames["named"].collect() if names else []
        finally:
            frames["redirects"].unpersist()

    def _make_reports(self, spark: SparkSession, names: Sequence[Any]) -> list[Report]:
        statistics = self._add_up(spark, names)
        tables: dict[str, dict[str, dict[str, int]]] = {
            language: {
                name: {"pairs": 0, "occurrences": 0}
                for name in outputs.name_folders(language, self._options)
            }
            for language in statistics
        }
        for row in self._sum_pairs(spark):
            if row.reason is not None:
                statistics[row.language].dropped[row.reason] += row.occurrences
            else:
                name = outputs.name_folders(row.language, self._options)[row.fold]
                tables[row.language][name] = {"pairs": row.pairs, "occurrences": row.occurrences}
        return [
            outputs.make_report(
                wiki, self._options, statistics[wiki.language], tables[wiki.language]
            )
            for wiki in self._wikis
        ]

    def _add_up(self, spark: SparkSession, names: Sequence[Any]) -> dict[str, PageStatistics]:
        """Add up the statistics of the tasks, and the names of pages and redirects."""
        found = {wiki.language: PageStatistics() for wiki in self._wikis}
        query = "SELECT language, task, statistics FROM task_rows WHERE kind = 'statistics'"
        for row in sorted(spark.sql(query).collect(), key=lambda row: row.task):
            found[row.language].add(PageStatistics.from_json(row.statistics))
        numbers = {(row.language, row.redirects): row.seen for row in names}
        for language, each in found.items():
            if self._options.titles:
                each.seen["page titles"] = numbers.get((language, False), 0)
            if self._options.redirect_titles:
                each.seen["redirect titles"] = numbers.get((language, True), 0)
        return found

    def _sum_pairs(self, spark: SparkSession) -> Sequence[Any]:
        pairs = spark.read.schema(_PAIRS).parquet(str(self._folder / "pairs"))
        pairs.createOrReplaceTempView("made")
        query = """
        SELECT language, fold, reason, count(*) AS pairs, sum(count) AS occurrences
        FROM made GROUP BY language, fold, reason
        """
        found: Sequence[Any] = spark.sql(query).collect()
        return found

    @contextmanager
    def _show_progress(self, spark: SparkSession, doing: str) -> Iterator[None]:
        """Show how many tasks of Spark's newest stage are done, until the step ends."""
        over = threading.Event()
        tracker = spark.sparkContext.statusTracker()

        def watch() -> None:
            while not over.wait(_POLL_SECONDS):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                fraction = max((s.numCompletedTasks / s.numTasks for s in stages if s), default=0.0)
                done = round(fraction * self._size)
                self._progress(ReadingProgress(doing, done, self._size))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _ddl() -> str:
    kinds = {"int8": "tinyint", "int32": "int", "int64": "bigint", "bool": "boolean"}
    return ", ".join(f"{f.name} {kinds.get(str(f.type), str(f.type))}" for f in tasks.ROWS)


class _TaskRows(DataSource):  # type: ignore[misc]  # PySpark need not be installed
    """The rows of all tasks of a plan, one partition for each task."""

    @classmethod
    def name(cls) -> str:
        return "candgen"

    def schema(self) -> str:
        return _ddl()

    def reader(self, schema: object) -> "_TaskRowsReader":  # noqa: ARG002
        return _TaskRowsReader(self.options["path"])


class _TaskRowsReader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, plan: str) -> None:
        self._plan = plan

    def partitions(self) -> list[InputPartition]:
        plan = json.loads(Path(self._plan).read_text(encoding="utf-8"))
        return [InputPartition(json.dumps([task, plan["options"]])) for task in plan["tasks"]]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        task, options = json.loads(partition.value)
        lists = {name: tuple(v) for name, v in options.items() if isinstance(v, list)}
        return tasks.run_task(tasks.Task(*task), Options(**(options | lists)))


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Use the active session, without changing its settings, or start and stop one."""
    active = SparkSession.getActiveSession()
    if active is not None:
        if master not in (None, active.sparkContext.master):
            raise ParameterError(
                f"the master is {master}, but a session is active on "
                f"{active.sparkContext.master}: stop it, or leave the master out"
            )
        yield active.newSession()
        return
    spark = _start_session(master)
    try:
        yield spark
    finally:
        spark.stop()


def _start_session(master: str | None) -> SparkSession:
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.appName("candgen extract")
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):  # no other machine connects
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
            f"Spark cannot be started on {master or 'this machine'} ({reason}): it needs "
            "Java 17 or newer, and a running master"
        ) from error
    if "PYSPARK_PYTHON" not in os.environ and spark.sparkContext.master.startswith("local"):
        spark.sparkContext.pythonExec = sys.executable  # not the python3 on PATH
    return spark


@contextmanager
def _shorten_errors() -> Iterator[None]:
    """Replace Spark's errors, which are pages long, by one sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _OUR_ERROR.findall(str(error))
        if ours:
            raise TableError(ours[-1][1]) from error
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise CandgenError(
            f"Spark has failed: {lines[0] if lines else type(error).__name__}; see its log"
        ) from error
