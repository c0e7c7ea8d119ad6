"""Metrics for Prometheus: requests, latencies, batch sizes, candidates and indexes."""

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE

from candgen.storage.versions import version

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client's variable for the folder through which worker processes share counts."""
__all__ = ["CONTENT_TYPE", "FOLDER_VARIABLE", "Metrics", "mark_worker_dead"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class Metrics:
    """The metrics of one process; in `text`, the sums over all workers that share a folder."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._published: set[tuple[str, ...]] = set()
        self._by_labels: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        self.requests = counter(
            "candgen_requests",
            "Requests by route, method and status.",
            ["route", "method", "status"],
        )
        self.seconds = histogram(
            "candgen_request_seconds",
            "Time from the start of a request to the end of its answer.",
            ["route"],
            buckets=_SECONDS,
        )
        self.batch = histogram(
            "candgen_batch_size", "Mentions in a request.", ["index"], buckets=_SIZES
        )
        self.candidates = counter("candgen_candidates", "Candidates in answers.", ["index"])
        self.running = gauge(
            "candgen_requests_in_progress", "Unfinished requests.", multiprocess_mode="livesum"
        )
        self.index = gauge(
            "candgen_index_info",
            "1 for an index that answers, 0 for one that no longer does.",
            ["index", "kind", "language", "version"],
            multiprocess_mode="livemin",
        )
        self.entities = gauge(
            "candgen_index_entities",
            "Entities of an index.",
            ["index"],
            multiprocess_mode="livemax",
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = route, method, status
        if key not in self._by_labels:  # looking them up by labels takes longer than counting
            counter = self.requests.labels(route, method, str(status))
            self._by_labels[key] = counter, self.seconds.labels(route)
        counter, latency = self._by_labels[key]
        counter.inc()
        latency.observe(seconds)

    def set_indexes(self, indexes: Iterable[Mapping[str, Any]]) -> None:
        """Publish which indexes answer, by their ``LoadedIndex.facts``."""
        before, self._published = self._published, set()
        for each in indexes:
            self._published.add((each["name"], each["kind"], each["language"] or "", version()))
            self.entities.labels(each["name"]).set(each["entities"] or 0)
        for labels in sorted(before | self._published):
            self.index.labels(*labels).set(labels in self._published)

    def text(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
        registry = self._registry
        if Path(os.environ.get(FOLDER_VARIABLE, "-")).is_dir():
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def mark_worker_dead(pid: int | None) -> None:
    """Keep the counts of a worker that died, and drop its gauges."""
    multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]
