"""A collector that prints what it is sent by OTLP over http: python examples/collector.py [PORT]

To see what telemetry has in it. For anything else take a real one: they speak the same protocol. Needs hookline[otel].
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def values(attributes: Any) -> dict[str, Any]:
    return {each.key: value(each.value) for each in attributes}


def value(found: Any) -> Any:
    kind = found.WhichOneof("value")
    return (
        [value(each) for each in found.array_value.values] if kind == "array_value" else getattr(found, kind)
    )


def print_spans(body: bytes) -> None:
    spans = [
        span
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    here = {span.span_id for span in spans}
    for span in sorted(spans, key=lambda span: (span.parent_span_id in here, span.start_time_unix_nano)):
        took = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6
        under = "  under " + span.parent_span_id.hex() if span.parent_span_id else ""
        print(f"span {span.name}  {took:.1f} ms  {span.span_id.hex()}{under}")
        for name, found in sorted(values(span.attributes).items()):
            print(f"     {name} = {found}")


def print_metrics(body: bytes) -> None:
    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in sorted(scope.metrics, key=lambda metric: metric.name):
                kind: str = metric.WhichOneof("data") or "sum"
                for point in getattr(metric, kind).data_points:
                    number = point.count if kind == "histogram" else point.as_int or point.as_double
                    print(f"{kind} {metric.name} = {number:g}")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        (print_spans if self.path == "/v1/traces" else print_metrics)(body)
        sys.stdout.flush()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 its name there
        """Log nothing: the collector prints only what it receives."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 4318), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
