"""Turn an engine's notifications into spans and metrics of OpenTelemetry.

The span of a dispatch is a child of the host's current span, and is itself current while hooks run: spans
that a hook in this process makes are its children. Spans of hooks are made from the records of their runs.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter, time_ns
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation, get_meter_provider
from opentelemetry.trace import Span, SpanContext, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from hookline import __version__
from hookline.handlers.http.handler import TRACE_PARENT
from hookline.journal.observer import Ended
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.telemetry import vocabulary as words
from hookline.telemetry.facts import Facts
from hookline.telemetry.instruments import Instruments

_SCOPE = "hookline"


class Telemetry:
    """An observer for `Engine(observer=Telemetry())`.

    Without providers it uses the global ones, so that a program which has OpenTelemetry needs nothing else. `content`
    also sends the arguments of tools, reasons and error texts, with secrets taken out. ::

        engine = Engine(observer=Telemetry(content=False))
    """

    def __init__(
        self,
        tracers: TracerProvider | None = None,
        meters: MeterProvider | None = None,
        *,
        content: bool = False,
        send_rest: Callable[[float], None] | None = None,
        close_seconds: float | None = None,
        parent: str = "",
    ) -> None:
        provider = tracers if tracers is not None else trace.get_tracer_provider()
        self._tracer = provider.get_tracer(_SCOPE, __version__)
        self._meter = (meters if meters is not None else get_meter_provider()).get_meter(_SCOPE, __version__)
        self._facts = Facts(os.environ, content=content)
        self._send_rest = send_rest
        self._close_seconds = close_seconds
        #: The default parent span, as W3C `traceparent`.
        self._parent = parent
        self._propagator = TraceContextTextMapPropagator()
        self._instruments = Instruments(self._meter)

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        """Start a span that is current until the returned function is called."""
        found = self._facts.at_beginning(session, event, payload)
        started, around = perf_counter(), self._around()
        span = self._tracer.start_span(words.DISPATCH_SPAN.format(event=event.name), around, attributes=found)
        token = contexts.attach(trace.set_span_in_context(span, around))
        trace_token = TRACE_PARENT.set(_traceparent(span.get_span_context()))

        def ended(outcome: Outcome | None) -> None:
            try:
                self._end(span, event.name, outcome, perf_counter() - started)
            finally:
                TRACE_PARENT.reset(trace_token)
                contexts.detach(token)

        return ended

    def _around(self) -> Context:
        """Return the parent context: the host's, or that of the process or caller that this one works for."""
        current = contexts.get_current()
        if trace.get_current_span(current).get_span_context().is_valid:
            return current
        parent = TRACE_PARENT.get() or self._parent
        return self._propagator.extract({"traceparent": parent}, current) if parent else current

    def _end(self, span: Span, event: str, outcome: Outcome | None, seconds: float) -> None:
        said: dict[str, Any] = {}
        if outcome is None:
            span.set_attribute(words.ERROR, "cancelled")
            span.set_status(Status(StatusCode.ERROR))
        else:
            said = self._facts.at_end(outcome)
            span.set_attributes(said)
        span.end()
        self._instruments.dispatched({words.EVENT: event, **said}, seconds)

    def ran(self, run: Run) -> None:
        """Record a hook's run as a finished span, and in the metrics."""
        found = self._facts.of_run(run)
        if found is None:
            return
        end = time_ns()
        span = self._tracer.start_span(
            words.HOOK_SPAN.format(hook=run.hook),
            self._around(),
            attributes=found,
            start_time=end - int((run.duration_ms + run.queue_ms) * 1e6),
        )
        if run.cause is not None:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)
        self._instruments.ran(found, run.duration_ms / 1e3)

    def closed(self) -> None:
        """Send pending data when the engine closes, if this process ends with it."""
        if self._close_seconds is not None:
            self.flush(self._close_seconds)

    def flush(self, seconds: float) -> None:
        """Send pending data within this time. Providers of a host are not flushed."""
        if self._send_rest is not None:
            self._send_rest(seconds)

    def watch_server(self, status: Callable[[], tuple[int, int, Mapping[str, int]]]) -> None:
        """Add metrics of a server: decisions that wait, decisions being made, and refusals by reason."""

        def gauge(place: int) -> Callable[[CallbackOptions], list[Observation]]:
            return lambda _options: [Observation(status()[place])]  # pyright: ignore[reportArgumentType] the first two

        def refused(_options: CallbackOptions) -> list[Observation]:
            return [Observation(count, {"hookline.refused": why}) for why, count in status()[2].items()]

        for index, metric in enumerate((words.SERVE_WAITING, words.SERVE_UNDER_WAY)):
            self._meter.create_observable_gauge(metric.name, [gauge(index)], metric.unit, metric.meaning)
        metric = words.SERVE_REFUSED
        self._meter.create_observable_counter(metric.name, [refused], metric.unit, metric.meaning)

    def watch_machine(self, facts: Callable[[], Iterable[tuple[words.Metric, float]]]) -> None:
        """Add metrics of a machine in a fleet. `facts` is called by the thread that sends them."""

        def observed(metric: words.Metric) -> Callable[[CallbackOptions], list[Observation]]:
            def values(_options: CallbackOptions) -> list[Observation]:
                try:
                    return [Observation(value) for each, value in facts() if each is metric]
                except HooklineError:  # the worker reports its own problems
                    return []

            return values

        create = {
            "gauge": self._meter.create_observable_gauge,
            "counter": self._meter.create_observable_counter,
        }
        for metric in words.FLEET:
            create[metric.kind](metric.name, [observed(metric)], metric.unit, metric.meaning)


def _traceparent(found: SpanContext) -> str:
    if not found.is_valid:
        return ""
    return f"00-{found.trace_id:032x}-{found.span_id:016x}-{int(found.trace_flags):02x}"
