"""Connect to one MCP server: start it on first use, call it with time limits, close it with the session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from hookline.agent.mcp.config import ServerSpec
from hookline.agent.mcp.elicitation import ElicitationHandler, PendingQuestions
from hookline.agent.mcp.server_process import ServerEndedError, ServerProcess
from hookline.extras import how_to_add
from hookline.handlers.command import project_environment
from hookline.handlers.failures import described, shortened
from hookline.handlers.process.watchdog import Watchdog
from hookline.model.raw import Failed

if TYPE_CHECKING:
    from hookline.agent.mcp.client import OfferedTool, ServerSession


T = TypeVar("T")
State = Literal["waiting", "connecting", "ready", "failed", "closed"]

#: Seconds that closing a server may take, and that its exit may take to become known.
_LONGEST_END = 4.0
_MOMENT = 1.0
#: The error code of the package.
_CONNECTION_CLOSED = -32000


class ServerError(Exception):
    """A sentence for the model and the user: which server, what happened, what to do."""


class ServerResult(Struct, frozen=True):
    """Result of a tool call: text for the model, content blocks for hooks."""

    text: str
    #: As the server sent them.
    blocks: tuple[dict[str, Any], ...] = ()
    is_error: bool = False


class ServerSetup(Struct, frozen=True, kw_only=True, eq=False):
    """Settings that the servers of a session share."""

    env: Mapping[str, str]
    cwd: str
    watchdog: Watchdog
    #: Answers their questions.
    answers: ElicitationHandler
    #: Called with problems, for the user to see.
    report: Callable[[str], None]


class ServerConnection:
    """Connection to the server of one entry. A problem is reported once."""

    def __init__(self, spec: ServerSpec, setup: ServerSetup) -> None:
        self.spec = spec
        self.state: State = "waiting"
        self.tools: tuple[OfferedTool, ...] = ()
        #: Why it cannot be called.
        self.why = ""
        self.report = setup.report
        self._setup = setup
        self._questions = PendingQuestions(setup.answers)
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[ServerSession] | None = None
        #: Set when the client package is loaded, or is not needed any more.
        self.client_loaded = asyncio.Event()
        self._closing = asyncio.Event()
        self._process: ServerProcess | None = None
        self._stray = ""

    def begin(self) -> "asyncio.Future[ServerSession]":
        """Start it, unless it was started. The future is done when it can be called or has failed."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(_mark_seen)
            self.state = "connecting"
            self._task = asyncio.create_task(self._hold_open(self._ready))
        return self._ready

    @property
    def asking(self) -> bool:
        """True if one of its questions is open."""
        return self._questions.open

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ServerResult:
        """Call a tool. Raises ServerError, at the latest when the time limit of a call is over."""
        if self.state in {"failed", "closed"}:
            raise ServerError(self.why)
        session = await asyncio.shield(self.begin())
        what = f"{tool} of the MCP server {self.spec.name}"
        try:
            return await self._in_time(session.call(tool, arguments), what)
        except ServerError:
            raise
        except Exception as error:  # noqa: BLE001 - the package and the server may raise anything
            if getattr(error, "code", None) == _CONNECTION_CLOSED:
                await self._wait_for_exit()
            if self._process is not None and self._process.ended.done():
                raise ServerError(self._ended_message(self._process)) from None
            raise ServerError(f"{what} failed: {self._innermost(error)}") from None

    async def close(self) -> None:
        if self._task is None or self.state == "closed":
            self.state, self.why = "closed", self._closed_message()
            return
        self.state, self.why = "closed", self._closed_message()
        self._closing.set()
        await asyncio.wait({self._task}, timeout=_LONGEST_END)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_LONGEST_END)
        if self._process is not None:
            self._process.kill()

    # -- the task that holds the connection ---------------------------------------------------------------

    async def _hold_open(self, ready: "asyncio.Future[ServerSession]") -> None:
        try:
            await self._connect(ready)
        except asyncio.CancelledError:
            self._failed(ready, self._closed_message())
            raise
        except BaseException as error:  # noqa: BLE001 - a group of whatever the package's tasks raised
            if not isinstance(error, ServerError):
                await self._wait_for_exit()
            self._failed(ready, self._failure(error))
        finally:
            self.client_loaded.set()
            if self._process is not None:
                try:
                    await self._process.end()
                finally:
                    self._process.release()

    async def _connect(self, ready: "asyncio.Future[ServerSession]") -> None:
        self._check_trust()
        if self.spec.kind == "stdio":
            self._process = self._start_process()
        # In a thread, while the server starts: loading the packages takes a second.
        client: Any = await asyncio.to_thread(_client_module)
        self.client_loaded.set()
        stray = client.StrayOutput(self.spec.hide)
        try:
            limit = asyncio.timeout(self.spec.startup_timeout)
            async with limit:
                context = client.connect(self.spec, self._process, stray, self._questions)
                session: ServerSession = await context.__aenter__()
        except TimeoutError:
            self._stray = stray.first
            raise ServerError(self._silent_message()) from None
        except BaseException:
            self._stray = stray.first
            raise
        try:
            self.tools = tuple(
                await self._in_time(session.tools(), f"the MCP server {self.spec.name}: its tools")
            )
            self.state = "ready"
            ready.set_result(session)
            await self._wait_for_close()
        finally:
            self._stray = stray.first
            await context.__aexit__(None, None, None)
        self._failed(ready, self._failure(None))

    def _check_trust(self) -> None:
        """Check trust again: files that it names may have changed since its entry was read."""
        if self.spec.trusted is not None and not self.spec.trusted():
            what = "it or a file that it names changed since you trusted it"
            raise ServerError(
                f"{self._named} is not started: {what}; run `hookline trust` ({self.spec.where})"
            )

    def _start_process(self) -> ServerProcess:
        env = project_environment(self._setup.env, {})
        if isinstance(env, Failed):
            raise ServerError(env.detail)
        try:
            return ServerProcess.begin(
                self.spec.command,
                {**env, **self.spec.env},
                self.spec.cwd or self._setup.cwd,
                self._setup.watchdog,
            )
        except ServerEndedError as problem:
            hint = "install it, or correct `command`"
            why = self.spec.hide(str(problem))
            raise ServerError(f"{self._named} cannot be started: {why}; {hint} ({self.spec.where})") from None

    async def _wait_for_exit(self) -> None:
        """Wait briefly for the end of the process, whose output closes a little earlier."""
        if self._process is not None:
            await asyncio.wait({self._process.ended}, timeout=_MOMENT)

    async def _wait_for_close(self) -> None:
        closing = asyncio.ensure_future(self._closing.wait())
        waited: set[asyncio.Future[Any]] = {closing}
        if self._process is not None:
            waited.add(self._process.ended)
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()

    async def _in_time(self, work: Awaitable[T], what: str) -> T:
        """Await a result within the time limit of a call. While a question is open, the clock is stopped."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=self.spec.timeout)
                if task.done():
                    break
                if not self._questions.open:
                    raise ServerError(
                        f"{what} did not answer within {self.spec.timeout:g} s; "
                        "`timeout` of its entry sets the limit"
                    )
                await asyncio.wait({task, self._questions.answered()}, return_when=asyncio.FIRST_COMPLETED)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                self._questions.withdraw()

    # -- messages -----------------------------------------------------------------------------------------

    @property
    def _named(self) -> str:
        return f"the MCP server {self.spec.name} ({shortened(self.spec.reached, 120)})"

    def _failed(self, ready: "asyncio.Future[ServerSession]", why: str) -> None:
        if self.state != "closed":
            self.state, self.why = "failed", why
            self.report(why)
        if not ready.done():
            ready.set_exception(ServerError(why))

    def _failure(self, error: BaseException | None) -> str:
        if isinstance(error, ServerError):
            return str(error)
        if self._process is not None and self._process.ended.done():
            return self._ended_message(self._process)
        if self.spec.kind != "stdio":
            why = self._innermost(error)
            return f"{self._named} cannot be reached: {why}; check `url` and that it runs ({self.spec.where})"
        return f"{self._named} cannot be used: {self._innermost(error)} ({self.spec.where})"

    def _innermost(self, error: BaseException | None) -> str:
        """Return the first error that is not a group. It may contain the whole address, or data sent to the server."""
        while isinstance(error, BaseExceptionGroup):
            inner: tuple[BaseException, ...] = cast("BaseExceptionGroup[BaseException]", error).exceptions
            error = inner[0]
        return described(error, self.spec.hide) if error is not None else "the connection was closed"

    def _ended_message(self, process: ServerProcess) -> str:
        status = process.ended.result()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
        last = self.spec.hide(process.last_stderr) or self._stray
        said = f"; its last output: {shortened(last, 200)}" if last else ""
        lost = "its tools fail from now on" if self.tools else "its tools are missing"
        return f"{self._named} {how}{said}; {lost}: fix it and restart the session"

    def _silent_message(self) -> str:
        said = f"; it printed {self._stray!r}, which is not a message" if self._stray else ""
        return (
            f"{self._named} did not answer within {self.spec.startup_timeout:g} s{said}; "
            f"`startup_timeout` of its entry sets the limit ({self.spec.where})"
        )

    def _closed_message(self) -> str:
        return f"the MCP server {self.spec.name} was closed: the session is over"


def _client_module() -> Any:
    try:
        return import_module("hookline.agent.mcp.client")
    except ModuleNotFoundError as missing:
        raise ServerError(
            f"MCP servers need the package {missing.name}, which is not installed: {how_to_add('agent')}"
        ) from None


def _mark_seen(future: "asyncio.Future[Any]") -> None:
    """Mark the error as seen, so that asyncio does not log it."""
    if not future.cancelled():
        future.exception()


def call_result(answered: Any) -> ServerResult:
    """Convert the package's CallToolResult, of which only the JSON form is used."""
    document: dict[str, Any] = answered.model_dump(mode="json", by_alias=True, exclude_none=True)
    blocks: tuple[dict[str, Any], ...] = tuple(document.get("content", ()))
    text = "\n".join(filter(None, map(_text, blocks)))
    structured = document.get("structuredContent")
    if not text and structured is not None:
        text = msgspec.json.encode(structured).decode()
    return ServerResult(text, blocks, bool(document.get("isError")))


def _text(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            size = len(str(block.get("data", ""))) * 3 // 4
            return f"[{kind} of type {block.get('mimeType', 'unknown')}, {size} bytes, not shown]"
        case "resource":
            resource: dict[str, Any] = block.get("resource", {})
            return str(resource.get("text") or f"[resource {resource.get('uri', '')}, not shown]")
        case "resource_link":
            return f"[{block.get('name', 'resource')}]({block.get('uri', '')})"
        case other:
            return f"[content of type {other}, not shown]"
