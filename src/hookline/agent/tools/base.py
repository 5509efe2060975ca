"""Define a tool, where it runs, and how one is made of a record of its arguments."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct

from hookline.actions.kinds import Category
from hookline.agent.hooks import SessionHooks
from hookline.matching.nearest import nearest
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.messages import Usage
from hookline.permissions.rules import RuleSet

if TYPE_CHECKING:
    from hookline.agent.tools.exec_guard import CommandGuard
    from hookline.agent.tools.shell import Streams

#: The caller that is not a subagent.
MAIN = "main"

A = TypeVar("A", bound=Struct)
#: A part of a change: where it is, and its lines with ` `, `-` or `+` before them.
Hunk = dict[str, Any]

_LONGEST_NAME = 80


class ToolOutput(Struct, frozen=True, kw_only=True):
    """Result of a call: text for the model, and data for hooks."""

    text: str
    #: `tool_response` of PostToolUse; None for the text.
    response: Any = None
    #: The working directory after the call, if it changed. The agent moves there once all calls are done.
    moved_to: str | None = None


class ShellError(ToolError):
    """A failure of a shell command, which may have changed the working directory before."""

    moved_to: str | None = None


class WatchedFiles(Protocol):
    """Files whose changes hooks want to know."""

    def add(self, paths: Sequence[str]) -> None: ...

    def hold(self, file: str) -> None:
        """Stay silent about a file until `seen`: a tool changed it and notifies hooks itself."""
        ...

    def seen(self, file: str) -> None: ...

    def watches(self, file: str) -> bool: ...


class UnwatchedFiles:
    """Files of a workplace that are not watched."""

    def add(self, paths: Sequence[str]) -> None: ...

    def hold(self, file: str) -> None: ...

    def seen(self, file: str) -> None: ...

    def watches(self, file: str) -> bool:
        del file
        return False


class Workplace:
    """Directory, environment and hooks of one agent's tools. A subagent has its own."""

    def __init__(
        self,
        hooks: SessionHooks,
        cwd: str,
        *,
        env: Mapping[str, str] | None = None,
        files: WatchedFiles | None = None,
        agent_id: str | None = None,
        agent_type: str | None = None,
    ) -> None:
        self.hooks = hooks
        self.cwd = os.path.abspath(cwd)
        #: A snapshot: later changes to this process's environment do not reach the session.
        self.env: dict[str, str] = dict(os.environ if env is None else env)
        self.files: WatchedFiles = files if files is not None else UnwatchedFiles()
        self.agent_id = agent_id
        self.agent_type = agent_type
        #: The top of the git worktree it works in, if it entered one.
        self.worktree = ""
        #: Files the model has read, and their modification time then: other files may not be edited.
        self.read_files: dict[str, float] = {}
        #: `allowed-tools` of the current turn. They hold for the subagents it starts, too.
        self.allowed: RuleSet | None = None
        #: Outputs of running commands by the id of their call; subagents share their caller's.
        self.outputs: dict[str, Streams] = {}
        #: The exec guard of its shell commands.
        self.guard: CommandGuard | None = None
        self._spent = Usage()
        self._touched: list[str] = []

    @property
    def caller(self) -> str:
        return self.agent_type or MAIN

    @property
    def guarded_tool(self) -> str:
        """The tool whose commands run under the exec guard; empty without."""
        return "Bash" if self.guard is not None and self.guard.is_active else ""

    def path(self, given: str) -> str:
        """Return an absolute path for the model's text."""
        return os.path.normpath(os.path.join(self.cwd, os.path.expanduser(given)))

    def spend(self, usage: Usage) -> None:
        """Count a request to a model that is not one of the turn's own."""
        self._spent += usage

    def take_spent(self) -> Usage:
        taken, self._spent = self._spent, Usage()
        return taken

    def touch(self, arguments: Mapping[str, Any]) -> None:
        """Note the files that a call named."""
        for field in ("file_path", "notebook_path", "path"):
            given = arguments.get(field)
            if isinstance(given, str) and given:
                self._touched.append(self.path(given))

    def take_touched(self) -> tuple[str, ...]:
        """Return the files noted since the last time, each once."""
        taken, self._touched = tuple(dict.fromkeys(self._touched)), []
        return taken

    def watch(self, paths: Sequence[str]) -> None:
        """Watch paths for hooks that want to know their changes."""
        self.files.add([self.path(path) for path in paths])

    async def shell_env(self, tool_name: str, command: str, tool_input: Mapping[str, Any]) -> dict[str, str]:
        """Return the environment of a command, with what ShellEnv hooks add."""
        outcome = await self.hooks.dispatch(
            e.SHELL_ENV, p.ShellStart(tool_name=tool_name, command=command, tool_input=tool_input)
        )
        return {**self.env, **outcome.env}

    async def move(self, where: str) -> None:
        """Work in another directory from now on, and notify hooks."""
        old, self.cwd = self.cwd, where
        self.hooks.update(cwd=where)
        outcome = await self.hooks.dispatch(e.CWD_CHANGED, p.CwdMove(old_cwd=old, new_cwd=where))
        self.watch(outcome.watch_paths)

    async def wrote(self, file: str, event: Literal["add", "change", "unlink"]) -> None:
        """Report that a tool of this agent changed a file, to hooks that watch it or expect all such changes."""
        if not self.files.watches(file) and not self.hooks.report_own_writes:
            return
        self.files.hold(file)
        try:
            outcome = await self.hooks.dispatch(e.FILE_CHANGED, p.FileEdit(file_path=file, event=event))
        finally:
            self.files.seen(file)
        self.watch(outcome.watch_paths)


class AgentTool(Protocol):
    """A tool that the model can call. It keeps no state of a conversation: that belongs to the workplace."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its arguments."""
        ...

    @property
    def category(self) -> Category: ...

    @property
    def callers(self) -> frozenset[str] | None:
        """The allowed callers: "main" or types of subagents; None for everyone."""
        ...

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        """Return why these arguments do not fit, or None. Called again when a hook changed them."""
        ...

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        """Run the tool. Raises ToolError; cancelling it ends everything it started."""
        ...


def is_listed(name: str, names: Sequence[str] | None) -> bool:
    """Return True if a list of tools includes this one. `mcp__server__*` is all of a server; None is all there are."""
    if names is None or name in names:
        return True
    return any(each.endswith("*") and name.startswith(each[:-1]) for each in names)


class RecordTool(Generic[A]):
    """A tool whose arguments are a record: schema, validation and run all use the same one."""

    def __init__(
        self,
        name: str,
        description: str,
        category: Category,
        shape: type[A],
        work: Callable[[A, Workplace], Awaitable[ToolOutput]],
        callers: frozenset[str] | None = None,
        preview: "Callable[[A, Workplace], Awaitable[list[Hunk]]] | None" = None,
        *,
        modes: frozenset[str] | None = None,
        asks: str = "",
    ) -> None:
        self.name = name
        self.description = description
        self.category: Category = category
        self.callers = callers
        #: The permission modes in which it can be called; None for all.
        self.modes = modes
        #: The question to the user who must approve a call; empty for the usual one.
        self.asks = asks
        self._shape = shape
        self._work = work
        self._preview = preview
        self._schema: Mapping[str, Any] | None = None

    @property
    def schema(self) -> Mapping[str, Any]:
        if self._schema is None:
            self._schema = schema_of(self._shape)
        return self._schema

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return problem_of(self._shape, arguments)

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        return await self._work(msgspec.convert(_whole_numbers(arguments), self._shape), workplace)

    async def preview(self, arguments: Mapping[str, Any], workplace: Workplace) -> list[Hunk]:
        """Return the changes that a call would make, for the question to the user; empty where that is unknown."""
        if self._preview is None:
            return []
        return await self._preview(msgspec.convert(_whole_numbers(arguments), self._shape), workplace)


def schema_of(shape: type[Struct]) -> Mapping[str, Any]:
    """Return a JSON Schema without references: not every provider follows them."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="{name}")
    return _inlined(reference, components)


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, components) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = cast("dict[str, Any]", schema)
    if "$ref" in fields:
        found = _inlined(components[fields["$ref"]], components)
        return {key: value for key, value in found.items() if key != "title"}
    return {key: _inlined(value, components) for key, value in fields.items()}


def problem_of(shape: type[Struct], arguments: Mapping[str, Any]) -> str | None:
    """Describe everything that is wrong with the arguments in one sentence, or return None."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    given = _whole_numbers(arguments)
    found = [f"{name} is missing" for name, field in fields.items() if field.required and name not in given]
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            found.append(_unknown(name, fields))
        elif (wrong := _misfit(value, field.type)) is not None:
            found.append(f"{name}: {wrong}")
    return "; ".join(found) + "." if found else None


def _misfit(value: Any, kind: Any) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        said = str(problem)
        return said[:1].lower() + said[1:]
    return None


def _unknown(name: Any, fields: Mapping[str, Any]) -> str:
    shown = str(name)[:_LONGEST_NAME]
    close = nearest(shown, fields)
    return f"unknown argument {shown!r}" + (f" (did you mean {close!r}?)" if close else "")


def _whole_numbers(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Convert whole floats to integers: some providers send every number as a float."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else cast("Any", value)
        for name, value in arguments.items()
    }
