"""Count dispatches and runs in the metrics of OpenTelemetry."""

from collections.abc import Mapping
from typing import Any

from opentelemetry.metrics import Meter

from hookline.telemetry import vocabulary as words

#: In seconds, from a tenth of a millisecond, as functions take, to minutes.
_BOUNDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]


class Instruments:
    """The metrics of hooks. What they count is in the attributes of a dispatch or a run."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._runs = self._counter(words.RUNS)
        self._decisions = self._counter(words.DECISIONS)
        self._open = self._counter(words.OPEN)
        self._durations = self._histogram(words.DURATION)
        self._queues = self._histogram(words.QUEUE)
        self._dispatches = self._histogram(words.DISPATCHES)

    def dispatched(self, found: Mapping[str, Any], seconds: float) -> None:
        self._dispatches.record(seconds, words.narrowed(found, words.DISPATCHES))

    def ran(self, found: Mapping[str, Any], seconds: float) -> None:
        """Count a run that took so long, without waiting."""
        self._runs.add(1, words.narrowed(found, words.RUNS))
        self._durations.record(seconds, words.narrowed(found, words.DURATION))
        if words.QUEUE_TIME in found:
            self._queues.record(found[words.QUEUE_TIME], words.narrowed(found, words.QUEUE))
        if words.DECISION in found:
            self._decisions.add(1, words.narrowed(found, words.DECISIONS))
        if words.FAILED_OPEN in found:
            self._open.add(1, words.narrowed(found, words.OPEN))

    def _counter(self, metric: words.Metric) -> Any:
        return self._meter.create_counter(metric.name, metric.unit, metric.meaning)

    def _histogram(self, metric: words.Metric) -> Any:
        return self._meter.create_histogram(
            metric.name, metric.unit, metric.meaning, explicit_bucket_boundaries_advisory=_BOUNDS
        )
