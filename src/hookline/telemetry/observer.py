"""Turn an engine's notifications into spans and metrics of OpenTelemetry.

The span of a dispatch is a child of the host's current span, and is itself current while hooks run: spans
that a hook in this process makes are its children. Spans of hooks are made from the records of their runs.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter, time_ns
from typing import Any

import msgspec
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation, get_meter_provider
from opentelemetry.trace import Span, SpanContext, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from hookline import __version__
from hookline.engine.translate_calls import call_of
from hookline.handlers.http.handler import TRACE_PARENT
from hookline.journal.observer import Ended
from hookline.journal.redaction import Redactor
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.telemetry import vocabulary as words

_SCOPE = "hookline"
_MOST_TEXT = 4096
#: Records that are no run of a hook: one that was not selected, and the start of one that ends later.
_NO_RUN = frozenset({"skipped", "background"})


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
        self._content = content
        self._send_rest = send_rest
        self._close_seconds = close_seconds
        #: The default parent span, as W3C `traceparent`.
        self._parent = parent
        self._redactor = Redactor(dict(os.environ)) if content else None
        self._propagator = TraceContextTextMapPropagator()
        meter = self._meter
        self._runs = meter.create_counter(words.RUNS.name, words.RUNS.unit, words.RUNS.meaning)
        self._decisions = meter.create_counter(
            words.DECISIONS.name, words.DECISIONS.unit, words.DECISIONS.meaning
        )
        self._open = meter.create_counter(words.OPEN.name, words.OPEN.unit, words.OPEN.meaning)
        self._durations = self._histogram(words.DURATION)
        self._queues = self._histogram(words.QUEUE)
        self._dispatches = self._histogram(words.DISPATCHES)

    def _histogram(self, metric: words.Metric) -> Any:
        # From a tenth of a millisecond, as functions take, to minutes.
        bounds = [
            0.0001,
            0.0005,
            0.001,
            0.0025,
            0.005,
            0.01,
            0.025,
            0.05,
            0.1,
            0.25,
            0.5,
            1,
            2.5,
            10,
            60,
            600,
        ]
        return self._meter.create_histogram(
            metric.name, metric.unit, metric.meaning, explicit_bucket_boundaries_advisory=bounds
        )

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        """Start a span that is current until the returned function is called."""
        begun = words.Begun(
            event.name,
            payload,
            session.info,
            session.engine.journal.caller,
            _kinds(session, payload),
            self._text(getattr(payload, "tool_input", None)) if self._content else "",
        )
        found = words.attributes(words.AT_BEGINNING, begun, content=self._content)
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
            said = words.attributes(words.AT_END, outcome, content=self._content)
            span.set_attributes(self._cleaned(said))
        span.end()
        self._dispatches.record(seconds, words.narrowed({words.EVENT: event, **said}, words.DISPATCHES))

    def ran(self, run: Run) -> None:
        """Record a hook's run as a finished span, and in the metrics."""
        if run.status in _NO_RUN:
            return
        found = self._cleaned(words.attributes(words.OF_HOOK, run, content=self._content))
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
        self._runs.add(1, words.narrowed(found, words.RUNS))
        self._durations.record(run.duration_ms / 1e3, words.narrowed(found, words.DURATION))
        if run.queue_ms:
            self._queues.record(run.queue_ms / 1e3, words.narrowed(found, words.QUEUE))
        if run.decision is not None:
            self._decisions.add(1, words.narrowed(found, words.DECISIONS))
        if run.failed_open:
            self._open.add(1, words.narrowed(found, words.OPEN))

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

    def _text(self, value: Any) -> str:
        """Redact a text, then cut it: half a secret would not be found."""
        if value is None or self._redactor is None:
            return ""
        try:
            text = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return ""
        return self._redactor.redact(text)[:_MOST_TEXT]

    def _cleaned(self, found: dict[str, Any]) -> dict[str, Any]:
        if self._redactor is not None:
            for name in ("hookline.reason", "hookline.detail"):
                if name in found:
                    found[name] = self._redactor.redact(found[name])[:_MOST_TEXT]
        return found


def _kinds(session: Any, payload: Any) -> list[str]:
    """Return the kinds of action of a call, whatever its agent calls the tool."""
    if not isinstance(getattr(payload, "tool_name", None), str):
        return []
    kinds = (action.kind for action in call_of(payload, session).actions)
    return list(dict.fromkeys(kind.name for kind in kinds if kind is not None))


def _traceparent(found: SpanContext) -> str:
    if not found.is_valid:
        return ""
    return f"00-{found.trace_id:032x}-{found.span_id:016x}-{int(found.trace_flags):02x}"
