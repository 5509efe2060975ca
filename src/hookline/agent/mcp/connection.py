"""One server of the session: started when somebody wants it, called, and told apart from one that is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from hookline.agent.mcp.config import ServerSpec
from hookline.agent.mcp.elicitation import Answers, PendingQuestions
from hookline.agent.mcp.server_process import ServerEndedError, ServerProcess
from hookline.handlers.command import project_environment
from hookline.handlers.failures import described, shortened
from hookline.handlers.process.watchdog import Watchdog
from hookline.model.raw import Broke

if TYPE_CHECKING:
    from hookline.agent.mcp.client import Offered, Talk


class CallResult(Struct, frozen=True):
    text: str
    #: As the server sent them.
    blocks: tuple[dict[str, Any], ...] = ()
    is_error: bool = False


def call_result(answered: Any) -> CallResult:
    """`answered` is the package's CallToolResult; only what it can be written down as is looked at."""
    document: dict[str, Any] = answered.model_dump(mode="json", by_alias=True, exclude_none=True)
    blocks: tuple[dict[str, Any], ...] = tuple(document.get("content", ()))
    text = "\n".join(filter(None, map(_text, blocks)))
    structured = document.get("structuredContent")
    if not text and structured is not None:
        text = msgspec.json.encode(structured).decode()
    return CallResult(text, blocks, bool(document.get("isError")))


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
            return f"[a part of type {other}, not shown]"


T = TypeVar("T")
State = Literal["waiting", "connecting", "ready", "failed", "closed"]

#: However a server behaves, closing it takes no longer.
_LONGEST_END = 4.0
_MOMENT = 1.0
#: As the package calls it.
_CONNECTION_CLOSED = -32000


class ServerError(Exception):
    """A sentence for the model and the user: which server, what happened, what to do."""


class Surroundings:
    """What servers are started in."""

    def __init__(self, env: Mapping[str, str], cwd: str, watchdog: Watchdog) -> None:
        self.env = env
        self.cwd = cwd
        self.watchdog = watchdog


class Connection:
    """The server of one entry. Everything it tells is told once, through `report`."""

    def __init__(
        self, spec: ServerSpec, surroundings: Surroundings, answers: Answers, report: Callable[[str], None]
    ) -> None:
        self.spec = spec
        self.state: State = "waiting"
        self.tools: tuple[Offered, ...] = ()
        #: Why it cannot be called.
        self.why = ""
        self._around = surroundings
        self._report = report
        self._asking = PendingQuestions(answers)
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Talk] | None = None
        #: Set when the client package is loaded, or is not needed any more.
        self.client_loaded = asyncio.Event()
        self._over = asyncio.Event()
        self._process: ServerProcess | None = None
        self._heard = ""

    def begin(self) -> "asyncio.Future[Talk]":
        """Start it, if nobody has; settled when it can be called or when it is known that it cannot."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(_look_at)
            self.state = "connecting"
            self._task = asyncio.create_task(self._hold(self._ready))
        return self._ready

    @property
    def asking(self) -> bool:
        """Whether a question of it waits for an answer."""
        return self._asking.open

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallResult:
        """Raises ServerError, at the latest when the time of one call is over."""
        if self.state in {"failed", "closed"}:
            raise ServerError(self.why)
        talk = await asyncio.shield(self.begin())
        what = f"{tool} of the MCP server {self.spec.name}"
        try:
            return await self._in_time(talk.call(tool, arguments), what)
        except ServerError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the package or the server made of it
            if getattr(error, "code", None) == _CONNECTION_CLOSED:
                await self._surely_ended()
            if self._process is not None and self._process.ended.done():
                raise ServerError(self._ended_words(self._process)) from None
            raise ServerError(f"{what} failed: {_leaf(error)}") from None

    async def close(self) -> None:
        if self._task is None or self.state == "closed":
            self.state, self.why = "closed", self._closed_words()
            return
        self.state, self.why = "closed", self._closed_words()
        self._over.set()
        await asyncio.wait({self._task}, timeout=_LONGEST_END)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_LONGEST_END)
        if self._process is not None:
            self._process.kill()

    # -- the task that holds the connection ---------------------------------------------------------------

    async def _hold(self, ready: "asyncio.Future[Talk]") -> None:
        try:
            await self._held(ready)
        except asyncio.CancelledError:
            self._failed(ready, self._closed_words())
            raise
        except BaseException as error:  # noqa: BLE001 - a group of whatever broke in the package's tasks
            if not isinstance(error, ServerError):
                await self._surely_ended()
            self._failed(ready, self._sentence(error))
        finally:
            self.client_loaded.set()
            if self._process is not None:
                try:
                    await self._process.end()
                finally:
                    self._process.release()

    async def _held(self, ready: "asyncio.Future[Talk]") -> None:
        if self.spec.kind == "stdio":
            self._process = self._started()
        # In a thread, while the server starts: the packages take a second to load.
        client: Any = await asyncio.to_thread(_client_module)
        self.client_loaded.set()
        heard = client.Heard()
        try:
            limit = asyncio.timeout(self.spec.startup_timeout)
            async with limit:
                context = client.talk(self.spec, self._process, heard, self._asking)
                talk: Talk = await context.__aenter__()
        except TimeoutError:
            self._heard = heard.garbage
            raise ServerError(self._silent_words()) from None
        except BaseException:
            self._heard = heard.garbage
            raise
        try:
            self.tools = tuple(
                await self._in_time(talk.tools(), f"the MCP server {self.spec.name}: its tools")
            )
            self.state = "ready"
            ready.set_result(talk)
            await self._until_over()
        finally:
            self._heard = heard.garbage
            await context.__aexit__(None, None, None)
        self._failed(ready, self._sentence(None))

    def _started(self) -> ServerProcess:
        env = project_environment(self._around.env, {})
        if isinstance(env, Broke):
            raise ServerError(env.detail)
        try:
            return ServerProcess.begin(
                self.spec.command,
                {**env, **self.spec.env},
                self.spec.cwd or self._around.cwd,
                self._around.watchdog,
            )
        except ServerEndedError as problem:
            hint = "install it, or mend `command`"
            raise ServerError(
                f"{self._named} cannot be started: {problem}; {hint} ({self.spec.where})"
            ) from None

    async def _surely_ended(self) -> None:
        """Its output closes a moment before it is known to have ended."""
        if self._process is not None:
            await asyncio.wait({self._process.ended}, timeout=_MOMENT)

    async def _until_over(self) -> None:
        over = asyncio.ensure_future(self._over.wait())
        waited: set[asyncio.Future[Any]] = {over}
        if self._process is not None:
            waited.add(self._process.ended)
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()

    async def _in_time(self, work: Awaitable[T], what: str) -> T:
        """Its result, within the time of one call; while a question waits for an answer no time passes."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=self.spec.timeout)
                if task.done():
                    break
                if not self._asking.open:
                    raise ServerError(
                        f"{what} gave no answer within {self.spec.timeout:g} s; "
                        "`timeout` of its entry sets how long it may take"
                    )
                await asyncio.wait({task, self._asking.answered()}, return_when=asyncio.FIRST_COMPLETED)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                self._asking.forget()

    # -- words --------------------------------------------------------------------------------------------

    @property
    def _named(self) -> str:
        return f"the MCP server {self.spec.name} ({shortened(self.spec.reached, 120)})"

    def _failed(self, ready: "asyncio.Future[Talk]", why: str) -> None:
        if self.state != "closed":
            self.state, self.why = "failed", why
            self._report(why)
        if not ready.done():
            ready.set_exception(ServerError(why))

    def _sentence(self, error: BaseException | None) -> str:
        if isinstance(error, ServerError):
            return str(error)
        if self._process is not None and self._process.ended.done():
            return self._ended_words(self._process)
        if self.spec.kind != "stdio":
            return f"{self._named} cannot be reached: {_leaf(error)}; check `url` and that it runs ({self.spec.where})"
        return f"{self._named} cannot be used: {_leaf(error)} ({self.spec.where})"

    def _ended_words(self, process: ServerProcess) -> str:
        status = process.ended.result()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
        last = process.words or self._heard
        said = f"; the last it said: {shortened(last, 200)}" if last else ""
        lost = "its tools fail from now on" if self.tools else "its tools are not there"
        return f"{self._named} {how}{said}; {lost}: mend it and start the session anew"

    def _silent_words(self) -> str:
        said = f"; it printed {self._heard!r}, which is no message" if self._heard else ""
        return (
            f"{self._named} did not answer within {self.spec.startup_timeout:g} s{said}; "
            f"`startup_timeout` of its entry sets how long it may take ({self.spec.where})"
        )

    def _closed_words(self) -> str:
        return f"the MCP server {self.spec.name} was closed: the session is over"


def _client_module() -> Any:
    try:
        return import_module("hookline.agent.mcp.client")
    except ModuleNotFoundError as missing:
        raise ServerError(
            f"MCP servers need the package {missing.name}, which is not installed: pip install 'hookline[agent]'"
        ) from None


def _leaf(error: BaseException | None) -> str:
    """The first real error inside of groups of groups."""
    while isinstance(error, BaseExceptionGroup):
        inner: tuple[BaseException, ...] = cast("BaseExceptionGroup[BaseException]", error).exceptions
        error = inner[0]
    return described(error) if error is not None else "the connection was closed"


def _look_at(future: "asyncio.Future[Any]") -> None:
    """So that nobody is told of an error that nobody waited for."""
    if not future.cancelled():
        future.exception()
