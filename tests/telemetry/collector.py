"""Run a collector on loopback: it receives OTLP over http, and reads it as the protocol says."""

import contextlib
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.waiting import wait_until


@dataclass
class ReceivedSpan:
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    failed: bool
    seconds: float
    resource: dict[str, Any]


@dataclass
class Collector:
    url: str
    status: int = 200
    requests: int = 0
    spans: list[ReceivedSpan] = field(default_factory=list[ReceivedSpan])
    #: By name, the data points: attributes, and the sum or count.
    metrics: dict[str, list[tuple[dict[str, Any], float]]] = field(default_factory=dict[str, Any])
    #: By name: 1 for differences, 2 for sums since the start of the process, 0 for neither.
    temporality: dict[str, int] = field(default_factory=dict[str, int])
    #: Of the last metrics.
    resource: dict[str, Any] = field(default_factory=dict[str, Any])
    bodies: list[bytes] = field(default_factory=list[bytes])
    #: Where it is given, requests hang until it is set.
    wait: threading.Event | None = None

    @property
    def env(self) -> dict[str, str]:
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url}

    def span(self, name: str) -> ReceivedSpan:
        wait_until(lambda: any(each.name == name for each in self.spans))
        return next(each for each in self.spans if each.name == name)

    def take(self, path: str, body: bytes) -> None:
        self.requests += 1
        self.bodies.append(body)
        if path == "/v1/traces":
            self._take_spans(ExportTraceServiceRequest.FromString(body))
        elif path == "/v1/metrics":
            self._take_metrics(ExportMetricsServiceRequest.FromString(body))

    def _take_spans(self, request: Any) -> None:
        for resource in request.resource_spans:
            about = _values(resource.resource.attributes)
            for scope in resource.scope_spans:
                for span in scope.spans:
                    took = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9
                    failed = span.status.code == 2
                    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                    self.spans.append(
                        ReceivedSpan(span.name, *ids, _values(span.attributes), failed, took, about)
                    )

    def _take_metrics(self, request: Any) -> None:
        for resource in request.resource_metrics:
            self.resource = _values(resource.resource.attributes)
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    data = getattr(metric, metric.WhichOneof("data"))
                    self.temporality[metric.name] = getattr(data, "aggregation_temporality", 0)
                    self.metrics[metric.name] = [
                        (_values(point.attributes), float(getattr(point, "count", 0) or _number(point)))
                        for point in data.data_points
                    ]


def _number(point: Any) -> float:
    kind = point.WhichOneof("value") if "value" in point.DESCRIPTOR.oneofs_by_name else None
    return getattr(point, kind) if kind else 0.0


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextlib.contextmanager
def collecting() -> Generator[Collector]:
    """For the length of a block."""
    found: list[Collector] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if found[0].wait is not None:
                found[0].wait.wait()
            found[0].take(self.path, body)
            self.send_response(found[0].status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 its name there
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.append(Collector(f"http://127.0.0.1:{server.server_address[1]}"))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield found[0]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
