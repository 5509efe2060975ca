"""Make the spans and metrics of calls that have ended, from what they wrote (`hookline.telemetry.spool`)."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from hookline import __version__
from hookline.telemetry.instruments import Instruments
from hookline.telemetry.spool import SpanRecord

if TYPE_CHECKING:
    from hookline.telemetry.setup import Providers


class SpanIds(IdGenerator):
    """Random ids, or those of a `traceparent` for the next span: it had them in the process that made it."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._next = ("", "")

    def use(self, traceparent: str) -> None:
        """Set the ids of the next span."""
        _, trace, span, _ = traceparent.split("-")
        self._next = (trace, span)

    def generate_trace_id(self) -> int:
        return int(self._next[0], 16) if self._next[0] else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        found, self._next = self._next[1], (self._next[0], "")
        return int(found, 16) if found else self._random.generate_span_id()


class Replay:
    """The spans of other processes, made with the ids that they had there."""

    def __init__(self, providers: "Providers") -> None:
        self._ids = providers.ids
        self._tracer = providers.tracers.get_tracer("hookline", __version__)
        self._instruments = Instruments(providers.meters.get_meter("hookline", __version__))
        self._propagator = TraceContextTextMapPropagator()

    def add(self, lines: bytes) -> None:
        for record in _records(lines):
            self._add(record)

    def _add(self, record: SpanRecord) -> None:
        self._ids.use(record.own)
        around = Context()
        if record.parent:
            around = self._propagator.extract({"traceparent": record.parent}, around)
        span = self._tracer.start_span(
            record.name, around, attributes=record.attributes, start_time=record.start
        )
        if record.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(record.end)
        count = self._instruments.dispatched if record.kind == "dispatch" else self._instruments.ran
        count(record.attributes, record.seconds)


def _records(lines: bytes) -> Iterator[SpanRecord]:
    for line in lines.splitlines():
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # of another version, or not whole
            yield msgspec.json.decode(line, type=SpanRecord)
