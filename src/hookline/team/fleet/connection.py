"""Connect to the fleet's server and use its streams and buckets.

The server is a way to reach other machines, never the guarantee: anything it has acknowledged may be gone
later, and missing streams and buckets are created again. Every method raises FleetError when the server
cannot be reached or refuses; nothing is retried here, because only the caller knows if that is safe.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from hookline.team.fleet.access import FleetError, client_options, new_client, why_refused
from hookline.team.fleet.settings import FleetSettings

T = TypeVar("T")

#: Streams: jobs (`hl.job.<hook>.<session>`), wakes for sessions on other machines (`hl.wake.<session>`), and the runs
#: of all machines (`hl.run.<machine>`).
HOOKS: Final = "HOOKS"
WAKE: Final = "WAKE"
AUDIT: Final = "AUDIT"
#: Buckets: owners and results of jobs; owners of sessions and wakes; machines; bundles.
SETTLED: Final = "settled"
SESSIONS: Final = "sessions"
MACHINES: Final = "machines"
BUNDLES: Final = "bundle"
#: Questions (`q.<machine>.<id>`) and their answers (`a.<machine>.<id>`).
APPROVALS: Final = "approvals"

_DAY: Final = 86_400.0
#: Seconds after which the server forgets a consumer that nobody uses: its messages stay for the next one.
_FORGOTTEN: Final = 3 * _DAY
#: Seconds for which finished jobs are remembered, as in the file of the queue.
_REMEMBERED: Final = 7 * _DAY
#: Bytes of runs that are kept: the oldest go first.
_AUDIT_BYTES: Final = 8 << 30
#: Messages requested at once, and seconds after which the absence of any is an answer.
_AT_ONCE: Final = 64
_QUIET: Final = 2.0
#: Seconds after which no answer is expected any more, beyond the server's own time: for requests that wait for
#: something to happen, and for a client that ignores its timeout.
_WAITS: Final = 7.0
#: Seconds for closing a connection: data not sent by then is dropped.
_CLOSING: Final = 1.0
#: Error codes of the server: the key has another revision than the given one.
_OTHER_REVISION: Final = (10071, 10164)


class BucketEntry(Struct, frozen=True):
    """A value of a bucket."""

    key: str
    value: bytes
    revision: int
    #: When it was written, by the server's clock, in seconds since the epoch.
    written: float


class QueueMessage(Struct, frozen=True, eq=False):
    """A message of a work queue. The server sends it again if it is not acknowledged."""

    subject: str
    data: bytes
    headers: Mapping[str, str]
    #: How often it was delivered, this time included.
    delivered: int
    raw: Any
    #: Seconds to wait for the server.
    timeout: float

    async def acknowledge(self) -> None:
        """Acknowledge a message; the server has recorded it when this returns."""
        await _asked(self.raw.ack_sync(timeout=self.timeout))

    async def put_off(self, seconds: float) -> None:
        await _asked(self.raw.nak(delay=seconds))

    async def at_work(self) -> None:
        await _asked(self.raw.in_progress())


class StoredMessage(Struct, frozen=True):
    """A message that stays in its stream."""

    subject: str
    data: bytes
    #: Its number in the stream, and the number of later messages.
    number: int
    left: int
    #: When it was written, by the server's clock, in seconds since the epoch.
    written: float


class Fleet:
    """An open connection. If the server goes away it is lost, and a new one must be made."""

    def __init__(self, settings: FleetSettings, client: Any) -> None:
        self.settings = settings
        #: The client of nats-py, for what is not offered here.
        self.client = client
        self.streams: Any = client.jetstream(timeout=settings.timeout)
        self._puller: dict[tuple[str, str], Any] = {}
        #: Streams whose messages can be asked for by their subject, so that rights can name it.
        self._direct: set[str] = set()
        self.lost = asyncio.Event()
        #: The permission that the server denies; it does not answer such requests.
        self.denied = ""

    async def until_lost(self) -> None:
        """Wait until the connection ends, then raise FleetError: sooner than each request would notice."""
        await self.lost.wait()
        raise FleetError(self.denied or f"the connection to {', '.join(self.settings.servers)} was lost")

    def deny(self, problem: Exception) -> None:
        what = _why(problem).removeprefix("nats: ")
        self.denied = (
            f"the server of the fleet ({self.server}) denies this machine a permission: {what}; "
            "its rights must be those of `hookline fleet init --permissions machine`, "
            "and an administrator runs `hookline fleet init` once"
        )
        self.lost.set()

    @property
    def server(self) -> str:
        """The address of the connected server."""
        found = self.client.connected_url
        return found.netloc.rpartition("@")[2] if found is not None else ""

    @property
    def most_bytes(self) -> int:
        """The largest message that the server accepts."""
        return int(self.client.max_payload)

    async def prepare(self, *, update: bool = False) -> str:
        """Create missing streams and buckets. Existing ones stay as their administrator made them, but for `update`.

        The returned text changes when jobs, or the ledger of jobs, had to begin anew.
        """
        made: dict[str, str] = {}
        for stream, subjects, settings in self._wanted():
            made[stream] = await self._stream(stream, subjects, settings, update=update)
        return f"{made[HOOKS]} {made[f'KV_{SETTLED}']}"

    def _wanted(self) -> Iterator[tuple[str, list[str], dict[str, Any]]]:
        copies: dict[str, Any] = {"num_replicas": self.settings.replicas}
        yield HOOKS, ["hl.job.>"], {"retention": "workqueue", **copies}
        yield WAKE, ["hl.wake.>"], {"retention": "workqueue", **copies}
        age = {"max_age": self.settings.audit_days * _DAY, "max_bytes": _AUDIT_BYTES}
        yield AUDIT, ["hl.run.>"], {"allow_direct": True, **age, **copies}
        for bucket, seconds in (
            (SETTLED, _REMEMBERED), (SESSIONS, _REMEMBERED), (MACHINES, 0), (BUNDLES, 0), (APPROVALS, _DAY),
        ):  # fmt: skip
            settings = {
                "max_msgs_per_subject": 1, "max_age": seconds or None, "allow_rollup_hdrs": True, "deny_delete": True,
                "discard": "new",
                # Else read from the leader alone: a copy may be behind, and claims need the current value.
                "allow_direct": bucket in (MACHINES, APPROVALS),
            }  # fmt: skip
            yield f"KV_{bucket}", [f"$KV.{bucket}.>"], {**settings, **copies}

    async def _stream(
        self, stream: str, subjects: list[str], settings: dict[str, Any], *, update: bool
    ) -> str:
        """Create a stream if it is missing, and return when it was created."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 of the extra

        try:
            found = await self._ask(self.streams.stream_info(stream), NotFoundError)
            if update:
                found = await self._ask(self.streams.update_stream(found.config, **settings))
        except NotFoundError:
            found = await self._ask(self.streams.add_stream(name=stream, subjects=subjects, **settings))
        if found.config.allow_direct:
            self._direct.add(stream)
        return str(found.created)

    async def _ask(self, answer: Awaitable[T], *expected: type[Exception]) -> T:
        return await _asked(answer, *expected, seconds=self.settings.timeout + _WAITS)

    # -- streams

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> int:
        """Publish a message and return its number in the stream. The server has it, as long as it keeps its data."""
        found = await self._ask(
            self.streams.publish(subject, data, headers=dict(headers or {}), timeout=self.settings.timeout)
        )
        return int(found.seq)

    async def fetch(
        self, stream: str, subject: str, name: str, most: int, seconds: float
    ) -> list[QueueMessage]:
        """Fetch available messages of a work queue; wait for the first. `name` is that of the consumer."""
        puller = self._puller.get((stream, name))
        if puller is None:
            puller = self._puller[stream, name] = await self._pull(stream, subject, name)
        try:
            found = await _asked(
                puller.fetch(most, timeout=seconds),
                TimeoutError,
                seconds=seconds + self.settings.timeout + _WAITS,
            )
        except TimeoutError:
            return []
        except FleetError:
            self._puller.pop((stream, name), None)  # the consumer may be gone with the server's disk
            raise
        return [
            QueueMessage(
                each.subject,
                each.data,
                each.headers or {},
                each.metadata.num_delivered,
                each,
                self.settings.timeout,
            )
            for each in found
        ]

    async def _pull(self, stream: str, subject: str, name: str) -> Any:
        from nats.js.api import AckPolicy, ConsumerConfig  # noqa: PLC0415 of the extra

        config = ConsumerConfig(
            name=name, durable_name=name, filter_subject=subject, ack_policy=AckPolicy.EXPLICIT,
            ack_wait=self.settings.lease, max_ack_pending=100_000, inactive_threshold=_FORGOTTEN,
        )  # fmt: skip
        await self._ask(self.streams.add_consumer(stream, config))
        return await self._ask(self.streams.pull_subscribe_bind(consumer=name, stream=stream))

    async def read(
        self, stream: str, subject: str, *, headers_only: bool = False
    ) -> AsyncIterator[tuple[bytes, Mapping[str, str]]]:
        """Yield everything that a stream has now, oldest first, without removing it."""
        from nats.js.api import AckPolicy, ConsumerConfig  # noqa: PLC0415 of the extra

        config = ConsumerConfig(
            filter_subject=subject, ack_policy=AckPolicy.NONE, headers_only=headers_only, inactive_threshold=30.0,
            mem_storage=True,
        )  # fmt: skip
        made = await self._ask(self.streams.add_consumer(stream, config))
        left = int(made.num_pending or 0)
        puller = await self._ask(self.streams.pull_subscribe_bind(consumer=made.name, stream=stream))
        try:
            while left > 0:
                for each in await self._ask(puller.fetch(min(left, 256), timeout=self.settings.timeout)):
                    left -= 1
                    yield each.data, each.headers or {}
        finally:
            await _quietly(puller.unsubscribe())

    async def follow(self, stream: str, subject: str, after: int) -> AsyncIterator[list[StoredMessage]]:
        """Yield messages after a number, then new ones; an empty list from time to time if none arrive."""
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy  # noqa: PLC0415 of the extra

        config = ConsumerConfig(
            filter_subject=subject, ack_policy=AckPolicy.NONE, inactive_threshold=30.0, mem_storage=True,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=after + 1,
        )  # fmt: skip
        made = await self._ask(self.streams.add_consumer(stream, config))
        puller = await self._ask(self.streams.pull_subscribe_bind(consumer=made.name, stream=stream))
        try:
            while True:
                found: list[Any] = []
                try:
                    found = await self._ask(puller.fetch(_AT_ONCE, timeout=_QUIET), TimeoutError)
                except TimeoutError:
                    pass
                if not found:  # silence proves nothing: the server or the consumer may be gone
                    await self._ask(self.streams.consumer_info(stream, made.name))
                yield [
                    StoredMessage(
                        each.subject, each.data, each.metadata.sequence.stream, each.metadata.num_pending,
                        _seconds(each.metadata.timestamp),
                    )
                    for each in found
                ]  # fmt: skip
        finally:
            await _quietly(puller.unsubscribe())

    async def extent(self, stream: str) -> tuple[str, int, int]:
        """Return when a stream was created, and the numbers of its oldest and newest message."""
        found = await self._ask(self.streams.stream_info(stream))
        return str(found.created), int(found.state.first_seq), int(found.state.last_seq)

    async def last(self, stream: str, subject: str) -> Mapping[str, str] | None:
        """Return the headers of the last message of a subject; None if there is none."""
        found = await self._message(stream, subject)
        return None if found is None else found.headers or {}

    async def _message(self, stream: str, subject: str) -> Any:
        """Return the last message of a subject; None if there is none."""
        from nats.js.errors import NotFoundError  # noqa: PLC0415 of the extra

        asked = self.streams.get_msg(stream, subject=subject, direct=stream in self._direct)
        try:
            return await self._ask(asked, NotFoundError)
        except NotFoundError:
            return None

    # -- hints, which may be lost

    async def say(self, subject: str, data: bytes) -> None:
        await self._ask(self.client.publish(subject, data))

    @asynccontextmanager
    async def listening(self, subject: str, heard: Callable[[bytes], None]) -> AsyncGenerator[None]:
        """Call `heard` with messages on a subject as long as the block lasts."""

        async def called(message: Any) -> None:
            heard(message.data)

        subscription = await self._ask(self.client.subscribe(subject, cb=called))
        try:
            yield
        finally:
            await _quietly(subscription.unsubscribe())

    # -- buckets

    async def get(self, bucket: str, key: str) -> BucketEntry | None:
        found = await self._message(f"KV_{bucket}", f"$KV.{bucket}.{key}")
        if found is None or "KV-Operation" in (found.headers or {}):
            return None
        return BucketEntry(key, found.data or b"", int(found.seq), _seconds(found.time))

    async def put(self, bucket: str, key: str, value: bytes, revision: int | None = None) -> int | None:
        """Write a value and return its revision.

        With a revision to follow (0: a new key), return None if another write came first.
        """
        from nats.js.errors import APIError  # noqa: PLC0415 of the extra

        headers = {} if revision is None else {"Nats-Expected-Last-Subject-Sequence": str(revision)}
        write = self.streams.publish(
            f"$KV.{bucket}.{key}", value, headers=headers, timeout=self.settings.timeout
        )
        try:
            return int((await self._ask(write, APIError)).seq)
        except APIError as problem:
            if problem.err_code in _OTHER_REVISION:
                return None
            raise FleetError(_why(problem)) from problem

    async def time(self) -> float:
        """Return the time of the server's clock, in seconds since the epoch."""
        answer = await self._ask(
            self.client.request(f"$JS.API.STREAM.INFO.{HOOKS}", b"", timeout=self.settings.timeout)
        )
        found = msgspec.json.decode(answer.data)
        if "ts" not in found:
            raise FleetError(f"the server does not report its time: {found.get('error', 'it is too old')}")
        return msgspec.convert(found["ts"], datetime, strict=False).timestamp()

    async def purge(self, bucket: str, key: str) -> None:
        """Remove a value and what was there before it; only a mark stays."""
        headers = {"KV-Operation": "PURGE", "Nats-Rollup": "sub"}
        subject = f"$KV.{bucket}.{key}"
        await self._ask(self.streams.publish(subject, b"", headers=headers, timeout=self.settings.timeout))

    async def delete_runs(self, chosen: Callable[[str], bool]) -> int:
        """Delete the runs of workers from the audit, by their names; return how many messages that were.

        Only an administrator may.
        """
        begins = "hl.run."
        info = await self._ask(self.streams.stream_info(AUDIT, subjects_filter=f"{begins}>"))
        held: Mapping[str, int] = info.state.subjects or {}
        gone = [subject for subject in held if chosen(subject.removeprefix(begins))]
        for subject in gone:
            await self._ask(self.streams.purge_stream(AUDIT, subject=subject))
        return sum(held[subject] for subject in gone)

    async def version(self, bucket: str) -> str:
        """Return a text that changes when anything in a bucket does."""
        found = await self._ask(self.streams.stream_info(f"KV_{bucket}"))
        return f"{found.created} {found.state.last_seq} {found.state.messages}"

    async def names(self, bucket: str) -> list[str]:
        """List the keys of a bucket, without their values. Some may be removed."""
        # From the stream: the client's own list comes by a subscription, and may be empty when the loop is busy.
        begins = f"$KV.{bucket}."
        info = await self._ask(self.streams.stream_info(f"KV_{bucket}", subjects_filter=f"{begins}>"))
        return sorted(each.removeprefix(begins) for each in info.state.subjects or ())

    async def keys(self, bucket: str) -> list[BucketEntry]:
        """Return all values of a bucket."""
        return await self.values(bucket, await self.names(bucket))

    async def values(self, bucket: str, names: Sequence[str]) -> list[BucketEntry]:
        """Return the values of these keys, many requests at once; missing ones are left out."""
        found: list[BucketEntry] = []
        for start in range(0, len(names), _AT_ONCE):
            some = await asyncio.gather(*(self.get(bucket, each) for each in names[start : start + _AT_ONCE]))
            found += [each for each in some if each is not None]
        return found

    async def close(self) -> None:
        await _quietly(self.client.close(), _CLOSING)


@asynccontextmanager
async def connected(settings: FleetSettings) -> AsyncGenerator[Fleet]:
    """Yield a connection for as long as the block lasts."""
    fleet = await connect(settings)
    try:
        yield fleet
    except FleetError:
        if fleet.denied:  # more precise than "no answer"
            raise FleetError(fleet.denied) from None
        raise
    finally:
        await fleet.close()


async def connect(settings: FleetSettings) -> Fleet:
    """Connect. Raises FleetError if the server cannot be reached, MissingExtraError if the extra is not installed."""
    client = new_client(settings)
    fleet = Fleet(settings, client)
    problems: list[Exception] = []
    refused = asyncio.Event()

    async def failed(problem: Exception) -> None:
        """Record an error of the client. Later errors reach the callers of each request."""
        if "permissions violation" in str(problem).lower():
            fleet.deny(problem)
        elif not refused.is_set():
            problems.append(problem)
            if len(problems) >= len(settings.servers):
                refused.set()

    async def disconnected() -> None:
        fleet.lost.set()

    options: dict[str, Any] = {
        "servers": list(settings.servers), "name": f"hookline {settings.worker}", "connect_timeout": settings.timeout,
        "reconnect_time_wait": 0.25, "max_reconnect_attempts": 1, "error_cb": failed, "ping_interval": 10,
        "disconnected_cb": disconnected,
        "max_outstanding_pings": 2,
        # Of its own: with rights for this subject alone, no other machine reads the answers.
        **({"inbox_prefix": inbox_of(settings.worker)} if settings.name else {}),
        **client_options(settings),
    }  # fmt: skip
    try:
        await _connect(client, options, refused, settings.timeout * (len(settings.servers) + 1))
    except BaseException as problem:
        await fleet.close()  # also when cancelled: the client may have connected just then
        if not isinstance(problem, FleetError):
            raise
        # More precise than "no more servers to try", and in a stable order.
        found = problems or [problem]
        wanted = bool(client.wants_certificate)
        why = "; ".join(sorted({why_refused(each, settings, wants_certificate=wanted) for each in found}))
        servers = ", ".join(settings.servers)
        raise FleetError(f"the server of the fleet ({servers}) cannot be reached: {why}") from problem
    fleet.lost.clear()
    # If this connection is lost, the caller makes a new one. A client that is closed while it makes one itself leaves
    # that open.
    client.options["allow_reconnect"] = False
    return fleet


async def _connect(client: Any, options: Mapping[str, Any], refused: asyncio.Event, seconds: float) -> None:
    """Try each server once: the client would retry for long, and never recovers from a TLS failure."""
    connecting = asyncio.ensure_future(client.connect(**options))
    connecting.add_done_callback(_is_known)
    refusing = asyncio.ensure_future(refused.wait())
    try:
        await asyncio.wait({connecting, refusing}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not connecting.done():
            raise FleetError("it was refused" if refused.is_set() else "no answer in time")
        try:
            connecting.result()
        except Exception as problem:
            raise FleetError(_why(problem)) from problem
    finally:
        refusing.cancel()
        connecting.cancel()
        # Before the client is closed: it never ends tasks that it begins afterwards.
        await asyncio.wait({connecting}, timeout=_CLOSING)


def inbox_of(name: str) -> str:
    """Return the prefix of subjects on which the server answers a worker."""
    return f"_INBOX.{name}"


def token(text: str) -> str:
    """Encode a foreign id, such as a session's, as part of a subject or key."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]


async def _asked(answer: Awaitable[T], *expected: type[Exception], seconds: float = _WAITS) -> T:
    """Await the server's answer. Any other failure is a FleetError.

    The request is a separate task: the client uses `wait_for`, which before Python 3.12 swallows a
    cancellation when the answer arrives at the same time. The caller would then continue for ever.
    """
    task = asyncio.ensure_future(answer)
    task.add_done_callback(_is_known)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not task.done():
        raise FleetError(f"no answer in {seconds:g} seconds")
    try:
        return task.result()
    except expected:
        raise
    except asyncio.CancelledError:
        raise FleetError("the connection was closed") from None
    except Exception as problem:
        raise problem if isinstance(problem, FleetError) else FleetError(_why(problem)) from problem


def _is_known(task: "asyncio.Future[Any]") -> None:
    """Retrieve the exception of a request that no caller waits for any more."""
    if not task.cancelled():
        task.exception()


async def _quietly(end: Awaitable[object], seconds: float = _WAITS) -> None:
    """Close something; if the server is gone, there is nothing to report."""
    try:
        await _asked(end, seconds=seconds)
    except FleetError:
        pass


def _why(problem: Exception) -> str:
    if isinstance(problem, TimeoutError):
        return "the server of the fleet did not answer in time"
    if type(problem).__name__ == "ServiceUnavailableError":
        return "the server of the fleet has no JetStream (its option -js), or its cluster has no leader now"
    return str(problem).strip() or type(problem).__name__


def _seconds(found: Any) -> float:
    """Convert a time of the server, a datetime or nanoseconds, to seconds since the epoch."""
    if isinstance(found, datetime):
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return float(found or 0) / 1e9
