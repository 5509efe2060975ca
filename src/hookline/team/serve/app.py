"""Bound and check requests before any hook runs.

`POST /v1/decide` takes what an HTTP hook posts, `GET /v1/status` reports the server's state. Every refusal
has a body that says why, and is counted.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from time import perf_counter, time
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.handlers.http.handler import TRACE_PARENT
from hookline.team.ops import OperationsMetric
from hookline.team.serve.access import Headers, from_browser, has_token
from hookline.team.serve.decide import VERSION, Decider, ServedDecision

#: In the scope of a request: when its first bytes arrived, by `perf_counter`.
ARRIVED: Final = "hookline.arrived"
DECIDE: Final = f"/v{VERSION}/decide"
STATUS: Final = f"/v{VERSION}/status"

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Any], Awaitable[None]]


class ServerLimits(Struct, frozen=True):
    """Limits of what the server accepts at once."""

    #: Decisions that are being made, and that wait for their turn. Beyond that the answer is 503.
    at_once: int = 64
    queue: int = 256
    #: Bytes of one payload, and of all that are being received.
    body: int = 8 << 20
    bodies: int = 256 << 20
    #: Seconds in which a request must arrive, and the TLS handshake too.
    receive: float = 5.0
    connections: int = 1024
    #: Seconds from the arrival of a request to the answer.
    deadline: float = 0.2
    #: Requests of one caller, by its address, that run or wait. Beyond that the answer is 429.
    per_caller: int = 128


class ServerCounts(Struct):
    """Counts since the start."""

    decisions: int = 0
    denied: int = 0
    timed_out: int = 0
    #: Requests that were not decided, by reason.
    refused: Counter[str] = msgspec.field(default_factory=Counter[str])
    #: The most that waited at the same time.
    longest_queue: int = 0


class ServerStatus(Struct, frozen=True, kw_only=True):
    """Document of `/v1/status`."""

    version: int
    revision: str
    hooks: int
    since: float
    under_way: int
    waiting: int
    longest_queue: int
    decisions: int
    denied: int
    timed_out: int
    #: Decisions in which a hook of this server gave no answer and something went ahead.
    failed_open: int
    refused: dict[str, int]
    journal_problems: tuple[str, ...]


class RefusedError(Exception):
    """A request that is refused before any hook runs."""

    def __init__(self, status: int, kind: str, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.kind = kind


class DecisionApp:
    """The ASGI application, without a framework, which would cost more than the decision."""

    def __init__(self, decider: Decider, tokens: Sequence[bytes], bounds: ServerLimits) -> None:
        self.counts = ServerCounts()
        #: Callers send one of them; they may be replaced at any time.
        self.tokens = tokens
        #: False while it ends: callers should ask another server.
        self.accepting = True
        self._decider = decider
        self._callers: Counter[str] = Counter()
        self._bounds = bounds
        self._slots = asyncio.Semaphore(bounds.at_once)
        self._pending = 0
        self._receiving = 0
        self._since = time()

    @property
    def waiting(self) -> int:
        return max(self._pending - self._bounds.at_once, 0)

    @property
    def under_way(self) -> int:
        return min(self._pending, self._bounds.at_once)

    def status(self) -> ServerStatus:
        counts, journal = self.counts, self._decider.engine.journal
        return ServerStatus(
            version=VERSION,
            revision=self._decider.revision,
            hooks=len(self._decider.engine.hooks),
            since=self._since,
            under_way=self.under_way,
            waiting=self.waiting,
            longest_queue=counts.longest_queue,
            decisions=counts.decisions,
            denied=counts.denied,
            timed_out=counts.timed_out,
            failed_open=journal.failed_open,
            refused=dict(counts.refused),
            journal_problems=journal.problems,
        )

    def metrics(self) -> Iterator[OperationsMetric]:
        """Yield the counts as metrics."""
        status = self.status()
        for name, value, about in (
            ("decisions", status.decisions, "Decisions that were made."),
            ("denied", status.denied, "Decisions that denied."),
            ("timed_out", status.timed_out, "Decisions that were not made by the deadline."),
            (
                "failed_open",
                status.failed_open,
                "Decisions in which a hook gave no answer and something went ahead.",
            ),
        ):
            yield OperationsMetric(f"hookline_serve_{name}_total", "counter", about, value)
        about = "Requests that were refused, by reason."
        yield OperationsMetric(
            "hookline_serve_refused_total", "counter", about, label="reason", values=status.refused
        )
        for name, value, about in (
            ("under_way", status.under_way, "Decisions that are being made."),
            ("waiting", status.waiting, "Decisions that wait for their turn."),
            ("longest_queue", status.longest_queue, "The most that waited at the same time."),
            ("hooks", status.hooks, "Hooks that decide."),
            ("start_time_seconds", status.since, "When it started, in seconds since the epoch."),
            ("journal_problems", len(status.journal_problems), "Problems of its journal."),
        ):
            yield OperationsMetric(f"hookline_serve_{name}", "gauge", about, value)

    def not_ready(self) -> str:
        """Return why callers should ask another server now; empty if they need not."""
        if not self.accepting:
            return "it is ending"
        return "its queue is full" if self.waiting >= self._bounds.queue else ""

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        arrived: float = scope.get(ARRIVED) or perf_counter()
        caller: str = (scope.get("client") or ("", 0))[0]
        self._callers[caller] += 1
        try:
            self._check(scope)
            if scope["path"] == STATUS:
                await _answer(send, 200, msgspec.json.encode(self.status()))
                return
            if self._decider.engine.observer is not None:
                _go_on_with_trace(scope["headers"])
            self._check_caller(caller)
            body = await self._body(scope["headers"], receive)
            decision = await self._decided(body, arrived)
        except RefusedError as refused:
            self.counts.refused[refused.kind] += 1
            decision = self._decider.failed(refused.status, str(refused), "")
        except Exception as problem:  # noqa: BLE001 a server that breaks on one request must answer the next
            self.counts.refused["broke"] += 1
            decision = self._decider.failed(500, f"it broke: {type(problem).__name__}: {problem}", "")
        finally:
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]
        if decision is not None:
            await _answer(send, decision.status, decision.body, decision)

    def _check(self, scope: Mapping[str, Any]) -> None:
        headers: Headers = scope["headers"]
        if from_browser(headers):
            raise RefusedError(403, "browser", "pages in a browser are not answered")
        if self.tokens and not has_token(headers, self.tokens):
            # Not the literal header: callers' journals would redact what follows it as a secret.
            raise RefusedError(
                401, "token", "the token in the header Authorization is missing, doubled or wrong"
            )
        path, method = scope["path"], scope["method"]
        if path not in (DECIDE, STATUS):
            raise RefusedError(404, "path", f"ask for {DECIDE} or {STATUS}")
        if method != ("POST" if path == DECIDE else "GET"):
            raise RefusedError(405, "method", f"{DECIDE} takes a payload by POST, {STATUS} by GET")
        if any(name == b"content-encoding" for name, _ in headers):
            raise RefusedError(415, "encoding", "a packed payload is not read")

    def _check_caller(self, caller: str) -> None:
        most = self._bounds.per_caller
        if self._callers[caller] > most:
            raise RefusedError(429, "caller", f"{most} requests of {caller} are open: try again later")

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """Return the payload, or None if the caller disconnected. The protocol bounds how long this takes."""
        said = next((value for name, value in headers if name == b"content-length"), b"0")
        if len(said) > 15 or int(said) > self._bounds.body:
            raise self._too_big()
        parts: list[bytes] = []
        size = 0
        try:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    self.counts.refused["vanished"] += 1
                    return None
                part: bytes = message.get("body", b"")
                size += len(part)
                self._receiving += len(part)
                parts.append(part)
                if size > self._bounds.body:
                    raise self._too_big()
                if self._receiving > self._bounds.bodies:
                    raise RefusedError(503, "memory", "too many payloads are being received; try again")
                if not message.get("more_body"):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            self._receiving -= size

    def _too_big(self) -> RefusedError:
        return RefusedError(413, "body", f"a payload may have {self._bounds.body:,} bytes")

    async def _decided(self, body: bytes | None, arrived: float) -> ServedDecision | None:
        if body is None:
            return None
        counts = self.counts
        late = perf_counter() - arrived
        if late > self._bounds.deadline:
            # Nobody waits for it any more: deciding it would only make the next one late, too.
            old = f"it was {late:.2f} s old before its turn, and {self._bounds.deadline:g} s are allowed"
            raise RefusedError(504, "late", old)
        if self.waiting >= self._bounds.queue:
            raise RefusedError(
                503,
                "queue",
                f"{self.under_way} decisions are being made and {self.waiting} wait: try again later, or start "
                "another server",
            )
        self._pending += 1
        counts.longest_queue = max(counts.longest_queue, self.waiting)
        try:
            decision = await self._decider.decide(body, arrived, self._slots)
        finally:
            self._pending -= 1
        if decision.status == 400:
            counts.refused["payload"] += 1
        else:
            counts.decisions += 1
            counts.denied += decision.denied
            counts.timed_out += decision.status == 504
        return decision


def _go_on_with_trace(headers: Headers) -> None:
    """Make the request's spans children of the caller's span. Each request has its own context."""
    found = next((value for name, value in headers if name == b"traceparent"), b"")
    TRACE_PARENT.set(found.decode("latin-1") if len(found) < 100 else "")


async def _answer(send: Send, status: int, body: bytes, decision: ServedDecision | None = None) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    seconds = decision.repeatable if decision is not None else 0
    headers.append((b"cache-control", f"private, max-age={seconds}".encode() if seconds else b"no-store"))
    if decision is not None and decision.id:
        headers.append((b"hookline-decision-id", decision.id.encode()))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (429, 503):
        headers.append((b"retry-after", b"1"))
    if status in (401, 403, 404, 405, 413, 415):
        # Do not wait for a request that is still arriving.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
