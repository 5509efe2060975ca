"""Run the daemon: it answers the calls of relays, and ends when it is idle, stopped, or outdated."""

import asyncio
import fcntl
import gc
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from hookline import __version__
from hookline.config.engine import Engine
from hookline.config.journals import user_journal
from hookline.dialects.registry import standard_dialects
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import standard_handlers
from hookline.hook.call.deduplicate import now, process_started
from hookline.hook.daemon import protocol
from hookline.hook.daemon.cache import DaemonCache
from hookline.hook.daemon.calls import DaemonCall, refusal
from hookline.hook.daemon.connection import RelayConnection, SocketListener, run_at_once
from hookline.hook.daemon.directory import SOCKET, TRIED, Directory
from hookline.hook.daemon.protocol import RelayReply, RelayRequest
from hookline.model.safe_text import one_line
from hookline.shell import ShellReader

if TYPE_CHECKING:
    from hookline.hook.daemon.http import HttpEndpoint
    from hookline.journal.observer import Observer

LOCK: Final = "lock"
#: A plugin inside an agent sets it for its first calls; later ones are requests, once it finds the address.
WANTS_HTTP: Final = "HOOKLINE_HTTP"
#: Calls at the same time; more are answered in the processes of their relays.
_MOST_CALLS: Final = 256
_BACKLOG: Final = 512
#: Seconds between two checks if it is time to end.
_LOOK_SECONDS: Final = 5.0

#: Modules that a separate process would load only when needed.
_NEEDED: Final = (
    "hookline.config.protection.calls",
    "hookline.config.protection.lines",
    "hookline.dialects.family.settings",
    "hookline.guards.commands",
    "hookline.guards.judge",
    "hookline.guards.runner",
    "hookline.handlers.builtin",
    "hookline.handlers.command",
    "hookline.journal.secret_shapes",
    "hookline.hook.call.background_results",
    "hookline.actions.parse_call",
    "hookline.actions.standard_tools",
)

Log = Callable[[str], None]


class DaemonSettings(Struct, frozen=True):
    """The daemon's idle time, and its optional endpoints."""

    idle_seconds: float = 1800.0
    #: A port of the http endpoint on loopback; 0: any; None: there is none.
    http_port: int | None = None
    #: The home directory that `--home` names.
    home: str | None = None


class DaemonStatus(Struct, frozen=True):
    """The output of `hookline daemon status`."""

    pid: int
    version: str
    since: float
    calls: int
    refused: int
    running: int
    sessions: int
    idle_seconds: float
    http: str | None = None
    draining: bool = False
    #: The home directory whose calls it answers; those of others start a process each.
    home: str = ""


class Daemon:
    """The server of one user."""

    def __init__(
        self,
        directory: Directory,
        processes: Processes,
        log: Log,
        settings: DaemonSettings = DaemonSettings(),  # noqa: B008 frozen
        observer: "Observer | None" = None,
    ) -> None:
        self.cache = DaemonCache(observer, settings.home)
        self.processes = processes
        self.settings = settings
        self._directory = directory
        self._log = log
        self._since = time.time()
        self._calls = 0
        self._refused = 0
        self._last_call = time.monotonic()
        #: Calls that are not over, background work included.
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener: SocketListener | None = None
        self._lock: int | None = None
        self._own_code = _code_mark()
        self._ended = asyncio.Event()
        self._http: HttpEndpoint | None = None
        self.http_address: str | None = None

    # -- its life

    async def run(self) -> bool:
        """Run until the end; return False if another one is running."""
        if not self._take_lock():
            return False
        _get_ready()
        if self.settings.http_port is not None:
            await self._listen_http(self.settings.http_port)
        self._listen()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.drain, f"signal {signal.Signals(number).name}")
        self._log(f"started, version {__version__}, pid {os.getpid()}, directory {self._directory.path}")
        # Hooks of jobs get the environment of this process.
        left = Engine(
            handlers=standard_handlers(processes=self.processes, env=os.environ),
            journal=user_journal(os.environ, caller="hookline daemon"),
            env=os.environ,
        )
        left.jobs.adopt()
        try:
            await self._until_ended()
        finally:
            self.drain("it ends")
            await left.close()
            await self._close()
            self._log("ended")
        return True

    async def _until_ended(self) -> None:
        while not self._ended.is_set() or self._tasks:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), min(_LOOK_SECONDS, self.settings.idle_seconds))
            if self._ended.is_set():
                if self._tasks:
                    await asyncio.wait(self._tasks)
            elif not self._tasks and time.monotonic() - self._last_call > self.settings.idle_seconds:
                self.drain(f"no call for {self.settings.idle_seconds:.0f} s")
            elif _code_mark() != self._own_code:
                self.drain("Hookline was installed anew")
            elif not self._can_be_found():
                self.drain("its socket is gone")

    def _can_be_found(self) -> bool:
        """Return False if the directory was removed or replaced: no relay could find it any more."""
        try:
            return os.path.samestat(os.stat(os.path.join(self._directory.path, SOCKET)), self._socket)
        except OSError:
            return False

    def drain(self, why: str) -> None:
        """Take no further calls, and end when the running ones are over."""
        if self._listener is None:
            return
        self._log(f"takes no more calls: {why}")
        listener, self._listener = self._listener, None
        listener.close()
        if self._http is not None:
            self._http.close()
            self._remove_address()
        with suppress(OSError):
            os.unlink(SOCKET, dir_fd=self._directory.descriptor)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        self._ended.set()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    def _take_lock(self) -> bool:
        """Return True if no other daemon is running in this directory. A process that ends loses the lock."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(LOCK, flags, 0o600, dir_fd=self._directory.descriptor)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    def _listen(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(SOCKET, dir_fd=self._directory.descriptor)  # of one that was killed
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.setblocking(False)
        before = os.umask(0o077)
        try:
            listening.bind(self._directory.address)
        finally:
            os.umask(before)
        self._socket = os.stat(SOCKET, dir_fd=self._directory.descriptor)
        listening.listen(_BACKLOG)
        with suppress(FileNotFoundError):
            os.unlink(
                TRIED, dir_fd=self._directory.descriptor
            )  # if this one ends, the next call starts another
        self._listener = SocketListener(listening, self.request, self._log)

    async def _listen_http(self, port: int = 0) -> None:
        from hookline.hook.daemon.http import HttpEndpoint, address_file, read_token, write_address

        try:
            endpoint = self._http = HttpEndpoint(self._answer_http, read_token(os.environ))
            await endpoint.listen(port)
            write_address(address_file(os.environ), endpoint.address)
        except OSError as problem:
            self._log(f"there is no http endpoint: {problem}")
            return
        self.http_address = endpoint.address.url
        self._log(f"listens on {self.http_address}")

    def _remove_address(self) -> None:
        from hookline.hook.daemon.http import address_file, remove_address

        if self._http is not None:
            remove_address(address_file(os.environ), self._http.address)

    async def _answer_http(
        self, words: tuple[str, ...], payload: bytes, send: Callable[[RelayReply], None]
    ) -> str | None:
        """Answer a request over http; return why there is no answer. The environment of the agent is not known
        here: hooks get the daemon's own."""
        own = ("--home", self.settings.home) if self.settings.home is not None else ()
        request = RelayRequest(__version__, os.sep, (*words, *own), dict(os.environ), payload)
        name = words[words.index("--dialect") + 1]
        dialect = self.cache.dialect(name)
        if dialect is None:
            return f"no agent is called {name!r}; there are {', '.join(standard_dialects())}"
        if dialect.payload_variables:
            return "it describes calls in variables, which a request does not have: use the relay"
        why = self._why_not(request)
        if why is not None:
            return why
        self._calls += 1
        self._last_call = time.monotonic()
        call = DaemonCall(self.cache, self.processes, request, _agreed, now)
        answered = asyncio.Event()

        def answer(reply: RelayReply) -> None:
            send(reply)
            answered.set()

        self._own(self._answer_to(call, answer))
        await answered.wait()
        return None

    # -- calls

    def request(self, connection: RelayConnection, request: RelayRequest, pid: int) -> None:
        """Handle a complete request of a relay."""
        self._last_call = time.monotonic()
        if request.words[:1] == ("daemon",):
            connection.finish(protocol.answer_frame(protocol.ANSWER, self._command(request.words[1:])))
            return
        why = self._why_not(request)
        if why is not None:
            self._refused += 1
            connection.finish(protocol.frame(protocol.REFUSED, why.encode()))
            return
        self._calls += 1
        if self._http is None and WANTS_HTTP in request.env:
            self._own(self._listen_http())
        call = connection.call = DaemonCall(
            self.cache,
            self.processes,
            request,
            connection.begin,
            partial(process_started, pid) if pid else now,
            pid or 0,
        )
        connection.task = self._own(self._answer_to(call, connection.answer))

    def _why_not(self, request: RelayRequest) -> str | None:
        if self._listener is None:
            return "it takes no more calls"
        if request.version != __version__:
            if _parts(request.version) > _parts(__version__):
                self.drain(f"a relay of version {request.version} has called")
            return f"version {__version__} runs here"
        if _code_mark() != self._own_code:
            self.drain("Hookline was installed anew")
            return "version: Hookline was installed anew"
        if len(self._tasks) >= _MOST_CALLS:
            return f"{_MOST_CALLS} calls are running"
        return refusal(request, self.cache)

    async def _answer_to(self, call: DaemonCall, send: Callable[[RelayReply], None]) -> None:
        try:
            reply = await call.answer()
            if len(call.engine.background):
                # They have effects as well: once the relay has its answer, it can no longer be asked.
                await call.begin()
        except BaseException:
            await call.close(cancelled=True)
            raise
        send(reply)
        await call.close()

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Run a coroutine; return None if it is over already."""
        try:
            rest = run_at_once(work)
        except Exception as problem:  # noqa: BLE001 as from a task
            self._log(_broken(problem))
            rest = None
        if rest is None:
            return None
        task = asyncio.get_running_loop().create_task(rest)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._last_call = time.monotonic()
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._log(_broken(problem))

    def _command(self, words: tuple[str, ...]) -> RelayReply:
        """Run `hookline daemon status` and `stop`."""
        if words == ("stop",):
            asyncio.get_running_loop().call_soon(self.drain, "hookline daemon stop")
        elif words != ("status",):
            return RelayReply(2, b"", b"it knows status and stop")
        return RelayReply(0, msgspec.json.encode(self.status))

    @property
    def status(self) -> DaemonStatus:
        return DaemonStatus(
            os.getpid(), __version__, self._since, self._calls, self._refused, len(self._tasks),
            self.cache.sessions, self.settings.idle_seconds, self.http_address, self._listener is None,
            os.environ.get("HOME", ""),
        )  # fmt: skip


async def _agreed() -> None:
    """Agree at once: an http request has no second process that would make the call again."""


def _get_ready() -> None:
    """Load what calls need, so that none has to wait for it, and exclude all of that from garbage collection."""
    for name in _NEEDED:
        import_module(name)
    ShellReader().read("git status && make")  # the tables of programs
    gc.collect()
    gc.freeze()


def _broken(problem: BaseException) -> str:
    return one_line(f"a call broke: {type(problem).__name__}: {problem}", 500)


def _parts(version: str) -> tuple[int, ...]:
    """Return the parts of a version such as 0.10.2, to be compared."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _code_mark() -> tuple[int, int] | None:
    """Return a mark of the code on disk: if it changes, other code was installed."""
    import hookline

    try:
        found = os.stat(hookline.__file__)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
