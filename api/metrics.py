"""What Prometheus asks: the counts and the state that the store has, the same from whichever API process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from threading import Lock
from time import monotonic

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from sqlalchemy import Engine

from unjam.store.overview import Overview, overview
from unjam.store.tally import BOUNDS, Count, totals

KEEP_SECONDS = 1.0  # several scrapers, or an impatient one, cost one look

log = structlog.get_logger(__name__)


class StoreMetrics(Collector):
    """Metrics read from the store when they are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._read = -KEEP_SECONDS
        self._metrics: list[Metric] = []

    def describe(self) -> Iterable[Metric]:
        return ()  # registering asks the store nothing

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            if monotonic() - self._read >= KEEP_SECONDS:
                self._metrics = self._ask()
                self._read = monotonic()
            return self._metrics

    def _ask(self) -> list[Metric]:
        up = GaugeMetricFamily("unjam_store_up", "Whether the store answers; if not, its metrics are missing.")
        try:
            metrics = [*_now(overview(self._engine)), *_since_ever(totals(self._engine))]
        except Exception as error:  # whatever the driver raises: the metrics of the process are told all the same
            log.warning("no metrics of the store", error=str(error).partition("\n")[0])
            metrics = []
        up.add_metric((), float(bool(metrics)))
        return [up, *metrics]


def _now(view: Overview) -> Iterator[Metric]:
    waiting = GaugeMetricFamily("unjam_chunks_waiting", "Chunks that wait for a worker.", labels=("queue",))
    running = GaugeMetricFamily("unjam_chunks_running", "Chunks that workers have.", labels=("queue",))
    oldest = GaugeMetricFamily(
        "unjam_oldest_waiting_seconds", "Age of the oldest chunk that waits; 0 if none does.", labels=("queue",)
    )
    for each in view.queues:
        waiting.add_metric((each.queue,), each.waiting)
        running.add_metric((each.queue,), each.running)
        age = 0.0 if each.oldest_waiting is None else (view.now - each.oldest_waiting).total_seconds()
        oldest.add_metric((each.queue,), max(age, 0.0))
    yield from (waiting, running, oldest)
    yield GaugeMetricFamily("unjam_batches_running", "Batches that are not done.", value=view.running)
    yield GaugeMetricFamily(
        "unjam_workers", "Worker processes that have a chunk or were seen within a minute.", value=len(view.workers)
    )


def _since_ever(counts: list[Count]) -> Iterator[Metric]:
    sums: dict[tuple[str, str], float] = defaultdict(float)
    outcomes: dict[tuple[str, str], float] = defaultdict(float)
    buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for one in counts:
        sums[one.name, one.family] += one.amount
        if one.name == "attempts":
            outcomes[one.family, one.outcome] += one.amount
            buckets[one.family][one.le] += one.amount
    attempts = CounterMetricFamily("unjam_attempts", "Searches that ended, by outcome.", labels=("family", "outcome"))
    for (family, outcome), amount in outcomes.items():
        attempts.add_metric((family, outcome), amount)
    seconds = HistogramMetricFamily("unjam_attempt_seconds", "What searches took.", labels=("family",))
    for family, by_bound in buckets.items():
        so_far, cumulative = 0.0, []
        for bound in sorted({*BOUNDS, *by_bound, float("inf")}):
            so_far += by_bound[bound]
            cumulative.append((floatToGoString(bound), so_far))  # type: ignore[no-untyped-call]
        seconds.add_metric((family,), cumulative, sums["attempt_seconds", family])
    yield from (attempts, seconds)
    for name in ("expanded", "generated"):
        nodes = CounterMetricFamily(f"unjam_nodes_{name}", f"Nodes {name} by searches.", labels=("family",))
        for (what, family), amount in sums.items():
            if what == name:
                nodes.add_metric((family,), amount)
        yield nodes
    for name, meaning in (
        ("leases_lost", "Chunks whose worker died or made no progress."),
        ("late_writes", "Answers refused because their worker had lost its lease."),
    ):
        yield CounterMetricFamily(f"unjam_{name}", meaning, value=sums[name, ""])
