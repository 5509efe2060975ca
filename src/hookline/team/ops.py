"""Answer the questions of the people who operate a server: is it alive, is it ready, what has it counted?

`/healthz`, `/readyz` and `/metrics` (Prometheus text) on a port of their own, without a token: no payload and no
name of a hook is in them. Enough of HTTP for that and no more.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final, Literal

from msgspec import Struct

from hookline.telemetry import vocabulary

#: Bytes of a request, seconds in which it must arrive, and connections at once.
_MOST_HEAD: Final = 8_192
_RECEIVE: Final = 5.0
_CONNECTIONS: Final = 16


class OperationsMetric(Struct, frozen=True):
    """One figure, or one for each value of a label."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    value: float = 0.0
    #: The name of the label and its values, instead of the one figure.
    label: str = ""
    values: Mapping[str, float] = {}


class Operations(Struct, frozen=True):
    """A server's report about itself."""

    #: Return why it cannot do its work now; empty if it can.
    not_ready: Callable[[], str]
    metrics: Callable[[], Iterable[OperationsMetric]]


#: Units that are part of a metric's name in Prometheus.
_UNITS: Final = {"By": "_bytes", "s": "_seconds"}


def measured(metric: vocabulary.Metric, value: float) -> OperationsMetric:
    """Return a figure of OpenTelemetry's table under the name that it has in Prometheus."""
    total = "_total" if metric.kind == "counter" else ""
    name = f"{metric.name.replace('.', '_')}{_UNITS.get(metric.unit, '')}{total}"
    return OperationsMetric(name, "counter" if total else "gauge", metric.meaning, value)


def prometheus(metrics: Iterable[OperationsMetric]) -> str:
    """Format metrics as Prometheus text."""
    lines: list[str] = []
    for each in metrics:
        lines += [f"# HELP {each.name} {each.help}", f"# TYPE {each.name} {each.kind}"]
        if each.label:
            lines += [
                f'{each.name}{{{each.label}="{_label(key)}"}} {value:g}'
                for key, value in sorted(each.values.items())
            ]
        else:
            lines.append(f"{each.name} {each.value:g}")
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


@asynccontextmanager
async def operating(host: str, port: int | None, operations: Operations) -> AsyncGenerator[int | None]:
    """Answer for as long as the block lasts, and yield the port; without a port, do nothing. Raises OSError."""
    if port is None:
        yield None
        return
    slots = asyncio.Semaphore(_CONNECTIONS)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_RECEIVE), slots:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_answer(head, operations))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass

    answering: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def over(task: asyncio.Task[None]) -> None:
            answering.discard(task)
            writer.close()

        # asyncio's own task for a coroutine reports its cancellation as an error, and leaves the connection open.
        task = asyncio.create_task(answer(reader, writer))
        answering.add(task)
        task.add_done_callback(over)

    server = await asyncio.start_server(connected, host, port, limit=_MOST_HEAD)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in answering:
            task.cancel()


def _answer(head: bytes, operations: Operations) -> bytes:
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    status, text = "404 Not Found", "ask for /healthz, /readyz or /metrics\n"
    if method not in (b"GET", b"HEAD"):
        status, text = "405 Method Not Allowed", "only GET\n"
    elif path == b"/healthz":
        status, text = "200 OK", "ok\n"
    elif path == b"/readyz":
        why = operations.not_ready()
        status, text = ("503 Service Unavailable", f"{why}\n") if why else ("200 OK", "ready\n")
    elif path == b"/metrics":
        status, text = "200 OK", prometheus(operations.metrics())
    body = text.encode()
    lines = (
        f"HTTP/1.1 {status}", "Content-Type: text/plain; version=0.0.4; charset=utf-8", f"Content-Length: {len(body)}",
        "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Connection: close", "", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode() + (b"" if method == b"HEAD" else body)
