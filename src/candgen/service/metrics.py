"""What Prometheus reads: requests, latencies, batches, candidates and indexes."""

import os
from collections.abc import Iterable
from pathlib import Path

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

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable, of prometheus_client, that names the folder through which workers share counts."""
__all__ = ["CONTENT_TYPE", "SHARED", "Metrics", "forget"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class Metrics:
    """The counts of one service; those of all its workers together where they share a folder."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._shown: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.requests = Counter(
            "candgen_requests",
            "Requests, by what answered them.",
            ["route", "method", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "candgen_request_seconds",
            "Time from the request's beginning to the answer's end.",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.batch = Histogram(
            "candgen_batch_size",
            "Mentions of a request.",
            ["index"],
            buckets=_SIZES,
            registry=registry,
        )
        self.candidates = Counter(
            "candgen_candidates", "Candidates that were answered.", ["index"], registry=registry
        )
        self.running = Gauge(
            "candgen_requests_in_progress",
            "Requests that are worked on or wait.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.index = Gauge(
            "candgen_index_info",
            "1 for an index that answers, 0 if it does so no longer.",
            ["index", "kind", "language", "version"],
            registry=registry,
            multiprocess_mode="livemin",
        )
        self.entities = Gauge(
            "candgen_index_entities",
            "Entities of an index.",
            ["index"],
            registry=registry,
            multiprocess_mode="livemax",
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        key = route, method, status
        if key not in self._known:  # looking them up by their labels takes longer than counting
            counter = self.requests.labels(route, method, str(status))
            self._known[key] = counter, self.seconds.labels(route)
        counter, latency = self._known[key]
        counter.inc()
        latency.observe(seconds)

    def show_indexes(self, indexes: Iterable[tuple[str, str, str | None, int | None]]) -> None:
        """Tell which indexes answer: name, kind, language, number of entities."""
        before, self._shown = self._shown, set()
        for name, kind, language, entities in indexes:
            self._shown.add((name, kind, language or "", version()))
            self.entities.labels(name).set(entities or 0)
        for labels in sorted(before | self._shown):
            self.index.labels(*labels).set(labels in self._shown)

    def text(self) -> bytes:
        """All counts, as Prometheus reads them."""
        registry = self._registry
        if Path(os.environ.get(SHARED, "-")).is_dir():
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def forget(worker: int | None) -> None:
    """A worker has died: what it has done stays counted, what it was at is over."""
    multiprocess.mark_process_dead(worker)  # type: ignore[no-untyped-call]
