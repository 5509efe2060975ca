"""Add hooks to agents of Google's Antigravity SDK::

    from hookline.adapters.antigravity import TOOLS, with_hooks
    engine = Engine(tools=TOOLS)
    async with Agent(with_hooks(engine, LocalAgentConfig(...))) as agent: ...

The SDK runs a program of its own, which calls us before and after calls, before a turn and at its end. It has no event
for requests to the model; a prompt can be blocked, but neither rewritten nor added to; and the results of its own tools
stay as they are. An agent that runs inside a tool of another one is its subagent, if both have hooks.
"""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, NamedTuple, Self, TypeVar, Unpack, cast, get_type_hints
from uuid import uuid4

from google.antigravity import types
from google.antigravity.connections.connection import AgentConfig
from google.antigravity.hooks import hooks as sdk_hooks
from google.antigravity.hooks.hooks import HookContext
from google.antigravity.tools.tool_runner import ToolRunner, ToolWithSchema
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from hookline import Engine, HooklineError, Session
from hookline.actions.declare import Tool, edit, read, shell, write
from hookline.adapters.sessions import AdapterSessions, sub_agent, warn_once
from hookline.adapters.tool_calls import call_tool
from hookline.events import PRE_TOOL_USE
from hookline.host import CallResult, HostCall
from hookline.model.errors import EngineClosedError
from hookline.model.session_info import SessionOptions

#: The program's own tools, for `Engine(tools=TOOLS)`: guards for files and for lines of a shell see their calls.
TOOLS: Mapping[str, Tool] = {
    "run_command": shell("CommandLine", cwd="Cwd"),
    "view_file": read("AbsolutePath"),
    "create_file": write("TargetFile", content="CodeContent"),
    "edit_file": edit("TargetFile", old_string="TargetContent", new_string="ReplacementContent"),
}

C = TypeVar("C", bound=AgentConfig)

#: The events that hooks get here.
_FIRED = frozenset({
    "SessionStart", "UserPromptSubmit", "TurnStart", "PreToolUse", "PermissionRequest",
    "PermissionDenied", "PostToolUse", "PostToolUseFailure", "TurnEnd", "Stop", "TurnSettled", "StopFailure", "Error",
    "SubagentStart", "SubagentStop",
})  # fmt: skip
#: Where the SDK's context of a session keeps ours.
_KEY = "hookline.session"
#: Tools that start agents inside the program, which does not ask hooks about the calls of those.
_STARTING = frozenset({"invoke_subagent", "run_workflow"})
_UNJUDGED = "hooks guard this agent, and this SDK does not ask them about the calls of a subagent"
_NO_REWRITE = "a hook rewrote the prompt, and this SDK cannot send another one"


def with_hooks(
    engine: Engine, config: C, session_id: str = "", name: str = "", **info: Unpack[SessionOptions]
) -> C:
    """Return the configuration of an agent with Hookline's hooks after its own. Call it for each agent.

    A session has an id of its own, or `session_id`. `name` is what hooks read about the agent where it is a
    subagent. A call that a hook asks about goes to `approve` of the engine, and is denied without one.
    """
    if engine.closed:
        raise EngineClosedError
    if places := getattr(config, "workspaces", None):
        info = {"cwd": places[0], **info}
    ours = _SdkHooks(engine, session_id, name, info)
    made: dict[int, Callable[..., Any]] = {}

    def wrapped(tools: Any) -> list[Any]:
        return [
            made.setdefault(id(tool), ours.around(tool)) if callable(tool) else tool for tool in tools or ()
        ]

    subagents = [each.model_copy(update={"tools": wrapped(each.tools)}) for each in config.subagents or ()]
    given: Any = config
    changes: dict[str, Any] = {
        "hooks": [*given.hooks, *ours.hooks()], "tools": wrapped(config.tools), "subagents": subagents,
    }  # fmt: skip
    return cast("C", config.model_copy(update=changes))


class _PermittedCall(NamedTuple):
    """A call that hooks have let pass."""

    session: Session
    call: HostCall
    name: str
    #: As the program passes them to the tool.
    arguments: dict[str, Any]


class _SdkHooks:
    def __init__(self, engine: Engine, session_id: str, name: str, info: SessionOptions) -> None:
        self._engine, self._session_id, self._name = engine, session_id, name
        self._sessions = AdapterSessions(engine, info, _FIRED)
        #: The tools that are functions of this program, by their names.
        self._own: dict[str, Callable[..., Any]] = {}
        #: Calls without a result so far, by their ids.
        self._open: dict[str, _PermittedCall] = {}
        self._latest: Session | None = None

    def __deepcopy__(self, _memo: object) -> Self:
        return self  # the SDK copies the configuration with all that is in it

    def hooks(self) -> list[Any]:
        """Return the hooks of the SDK. One for the end of a session would let it wait for ever after a failed turn."""
        made: Any = sdk_hooks
        return [
            made.on_session_start(self.started), made.pre_turn(self.prompted),
            made.pre_tool_call_decide(self.before), made.post_tool_call(self.after),
            made.on_tool_error(self.failed), made.stop(self.stopping),
        ]  # fmt: skip

    def _session(self, context: HookContext) -> Session:
        session: Session | None = context.get_state(_KEY)
        if session is None:
            session = sub_agent(self._name or "agent") or self._sessions.of(self._session_id or uuid4().hex)
            top: Any = context
            while top.parent is not None:
                top = top.parent
            top.set_state(_KEY, session)
            self._latest = session
        return session

    async def started(self, context: HookContext) -> None:
        self._session(context)  # SessionStart fires with the first prompt

    async def prompted(self, context: HookContext, data: types.Content) -> types.HookResult:
        parts = data if isinstance(data, list | tuple) else [data]
        session = self._session(context)
        prompt = await session.prompt("\n".join(part for part in parts if isinstance(part, str)))
        blocked = prompt.blocked
        if blocked is None and prompt.rewritten:
            blocked = _NO_REWRITE
            await session.cancelled()
        elif blocked is None and prompt.changed:
            self._lost("a prompt")
        return types.HookResult(allow=blocked is None, message=blocked or "")

    def _lost(self, where: str) -> None:
        warn_once(self._engine, f"a hook has text for the model about {where}: this SDK cannot pass it on")

    async def before(self, context: HookContext, data: types.ToolCall) -> types.HookResult:
        name, session = str(data.name), self._session(context)
        if name in _STARTING and session.has(PRE_TOOL_USE):
            return types.HookResult(allow=False, message=_UNJUDGED)
        server = {"name": data.server_name} if data.server_name else None
        check = partial(_problem, self._own[name]) if name in self._own else None
        call = await session.open_tool(name, data.args, id=data.id, mcp_server=server, check=check)
        if call.refused is not None:
            return types.HookResult(allow=False, message=_texts(call.refused))
        gone = sorted(data.args.keys() - call.arguments.keys())
        if gone and name not in self._own:
            problem = HooklineError(
                f"a hook removed {', '.join(gone)}, and this SDK can only replace arguments"
            )
            return types.HookResult(allow=False, message=_texts(await call.failed(problem)))
        merged = {**data.args, **call.arguments}
        self._open[data.id or data.step_id or ""] = _PermittedCall(session, call, name, merged)
        return types.HookResult(
            allow=True, modified_args=call.arguments if call.arguments != data.args else None
        )

    async def after(self, _context: HookContext, data: types.ToolResult) -> None:
        opened = self._open.pop(data.id or data.step_id or "", None)
        if opened is not None:
            failure = None if data.error is None else HooklineError(data.error)
            call = opened.call
            self._observed(await (call.returned(data.result) if failure is None else call.failed(failure)))

    def _observed(self, done: CallResult) -> None:
        if done.rewritten or done.text != done.plain_text or done.context:
            self._lost("the result of a tool of the program")

    async def failed(self, _context: HookContext, data: Exception) -> str | None:
        about: Any = data
        opened = self._open.pop(about.call_id or about.step_id or "", None)
        return None if opened is None else _texts(await opened.call.failed(data))

    async def stopping(self, context: HookContext, data: types.StopArgs) -> types.StopHookResult:
        session = self._session(context)
        self._open.clear()  # calls that were given up
        if data.error_message:
            await session.failed(data.error_message)
            return types.StopHookResult()
        end = await session.end(data.response_text)
        if end.texts:
            return types.StopHookResult(decision=types.StopDecision.CONTINUE, reason="\n\n".join(end.texts))
        return types.StopHookResult()

    def around(self, tool: Callable[..., Any]) -> Callable[..., Any]:
        """Return a tool of this program, as it is run with hooks: they may change what it returns."""
        name = str(getattr(tool, "__name__", "") or type(tool).__name__)
        self._own[name] = tool
        run = self._run(name, tool.fn if isinstance(tool, ToolWithSchema) else tool)
        return ToolWithSchema(run, tool.input_schema) if isinstance(tool, ToolWithSchema) else run

    def _run(self, name: str, tool: Callable[..., Any]) -> Callable[..., Any]:

        @wraps(tool)
        async def run(**given: Any) -> Any:
            opened = self._taken(name, given) or await self._judged(name, given)
            kept = opened.call.arguments.keys()
            left = {key: value for key, value in given.items() if key in kept or key not in opened.arguments}

            async def invoke(_arguments: dict[str, Any]) -> Any:
                if inspect.iscoroutinefunction(tool):
                    return await tool(**left)
                value = await asyncio.to_thread(tool, **left)
                return await value if inspect.isawaitable(value) else value

            call = (name, opened.call.arguments, None)
            done = await call_tool(opened.session, call, invoke, check=_no_check, opened=opened.call)
            if done.done.is_error:
                raise done.error or HooklineError(_texts(done.done))
            return _texts(done.done) if done.done.context else done.output

        return run

    def _taken(self, name: str, given: Mapping[str, Any]) -> _PermittedCall | None:
        """Return the call that this is: the SDK does not say its id. None for that of a subagent of the program."""
        known = {key: each for key, each in self._open.items() if each.name == name}
        if not known:
            return None
        plain = cast("dict[str, Any]", to_jsonable_python(given, fallback=str))
        same = (key for key, each in known.items() if each.arguments.items() <= plain.items())
        return self._open.pop(next(same, next(iter(known))))

    async def _judged(self, name: str, given: Mapping[str, Any]) -> _PermittedCall:
        """Return a call that the program did not ask about."""
        if self._latest is None or self._latest.has(PRE_TOOL_USE):
            raise HooklineError(_UNJUDGED)
        plain = cast("dict[str, Any]", to_jsonable_python(given, fallback=str))
        call = await self._latest.open_tool(name, plain)
        if call.refused is not None:
            raise HooklineError(_texts(call.refused))
        return _PermittedCall(self._latest, call, name, plain)


def _texts(done: CallResult) -> str:
    """Return what the model reads: there is no other place for text that belongs beside a result."""
    return "\n\n".join([done.text, *(item.text for item in done.context)])


def _no_check(_arguments: dict[str, Any]) -> None:
    """Accept all arguments: they were checked when the call was judged."""


def _problem(tool: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """Return why these arguments do not fit: the SDK passes them on as they are."""
    if isinstance(tool, ToolWithSchema):
        missing = [key for key in tool.input_schema.get("required", ()) if key not in arguments]
        return f"{', '.join(missing)}: missing" if missing else None
    public = ToolRunner([tool]).get_public_callable(str(getattr(tool, "__name__", "") or type(tool).__name__))
    try:
        bound = inspect.signature(public).bind(**arguments)
        hints = get_type_hints(tool)
        for key, value in bound.arguments.items():
            if key in hints and value is not None:
                TypeAdapter[Any](hints[key]).validate_python(value)
    except (TypeError, ValidationError) as error:
        return str(error)
    return None
