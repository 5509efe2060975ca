"""Run guards as builtins: read a call as its actions, and judge it."""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from hookline.guards.rows import NOT_READ, GuardLineReader
from hookline.guards.spec import policy_of
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader

if TYPE_CHECKING:
    from hookline.actions.action import Action, PathContext
    from hookline.actions.table import ToolTable
    from hookline.guards.judge import GuardJudge, Protects

_MOST_JUDGES = 256
#: The tool whose commands run under the exec guard.
_GUARDED = "Bash"
_PLAIN = frozenset((str, int, float, bool, type(None)))


class GuardDecision(NamedTuple):
    answer: Literal["deny", "ask"]
    reason: str
    #: The reason for doubt, where the guard is not sure.
    doubt: str = ""


class _LastCall(NamedTuple):
    """The last call, and what was read of it."""

    payload: Any
    info: SessionInfo
    tools: "ToolTable | None"
    tool: str
    arguments: dict[str, Any] | None
    actions: "tuple[Action, ...]"
    path_context: "PathContext"
    #: Its line is of a shell that is not read.
    searched: bool


class GuardRunner:
    """All guards of one engine: they share the reading of a call and of its line."""

    def __init__(
        self,
        protects: "Protects | None" = None,
        env: Mapping[str, str] = os.environ,
        reader: ShellReader | None = None,
        *,
        past: bool = False,
    ) -> None:
        """Make guards for calls that are about to be made, or for `past` ones."""
        self._protects = protects
        self._env = env
        self._reader = GuardLineReader(reader if reader is not None else ShellReader(), past=past)
        self._judges: dict[tuple[str, tuple[str, ...]], GuardJudge] = {}
        self._last: _LastCall | None = None

    def problem(self, name: str, args: Sequence[str]) -> str | None:
        """Return why a guard with these options cannot work, or None."""
        policy = policy_of(name)
        if policy.protects and self._protects is None:
            return f"{name} needs an engine with a list of protected files; use standard_handlers"
        if not args:
            return None
        from hookline.guards.settings import problem  # noqa: PLC0415 most guards have no options

        return problem(policy, args)

    def decision(
        self,
        name: str,
        args: tuple[str, ...],
        payload: Any,
        info: SessionInfo,
        tools: "ToolTable | None" = None,
        in_doubt: str = "match",
        *,
        at_exec: bool = False,
    ) -> GuardDecision | None:
        """Return the decision of a guard about a call in the terms of these tools; None if it has none.

        With `at_exec` the same guard judges the programs of shell commands when they start, so doubt may pass.
        """
        tool: Any = getattr(payload, "tool_name", None)
        if not isinstance(tool, str):
            return None
        judge = self._judge(name, args)
        call = self._read(tool, payload, info, tools)
        found = judge.finding(
            call.actions, call.path_context, searched=call.searched, unseen_input=info.unseen_input
        )
        if found is None:
            return None
        from hookline.guards.judge import reason_for  # noqa: PLC0415 as below

        settings, reason = judge.settings, reason_for(judge.policy, found)
        if found.asks or not found.doubt:
            return GuardDecision(settings.code_answer if found.asks else settings.answer, reason)
        if at_exec and tool == _GUARDED and judge.policy.holds_at_exec:
            return None
        counts_as = settings.in_doubt or in_doubt
        if counts_as == "pass":
            return None
        return GuardDecision("ask" if counts_as == "ask" else settings.answer, reason, found.doubt)

    def _read(self, tool: str, payload: Any, info: SessionInfo, tools: "ToolTable | None") -> _LastCall:
        """Read a call. The guards of an engine judge it one after another, so it is read once."""
        arguments, last = getattr(payload, "tool_input", None) or _arguments(payload), self._last
        if (
            last is not None
            and (last.payload is payload and last.info is info and last.tools is tools)
            # The caller may have changed it meanwhile.
            and (last.tool == tool and last.arguments == arguments)
        ):
            return last
        self._reader.run.clear()
        place_of, read_call, says_all, canonical, folded = _tools()
        cwd = info.cwd or os.getcwd()
        home = self._env.get("HOME") or os.path.expanduser("~")
        place = place_of(cwd, info.project_dir or cwd, home, self._env.get("TMPDIR", ""))
        table = tools or canonical
        actions = read_call(table, tool, arguments, place)
        if not says_all(table, tool, arguments, actions):
            from hookline.actions.by_names import read_widely  # noqa: PLC0415 most calls say all that they do

            actions = tuple(read_widely(table, tool, arguments, place))
        kept = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else None
        if kept is not None:
            # A value that can be changed in place could not be compared later.
            kept = dict(kept) if all(type(value) in _PLAIN for value in kept.values()) else None
        searched = folded(_called(payload, tool)) in NOT_READ
        last = self._last = _LastCall(payload, info, tools, tool, kept, actions, place, searched)
        return last

    def _judge(self, name: str, args: tuple[str, ...]) -> "GuardJudge":
        key = name, args
        judge = self._judges.get(key)
        if judge is None:
            from hookline.guards.judge import GuardJudge  # noqa: PLC0415 as above
            from hookline.guards.settings import read_settings  # noqa: PLC0415 as above

            policy = policy_of(name)
            if len(self._judges) >= _MOST_JUDGES:
                self._judges.clear()
            judge = self._judges[key] = GuardJudge(
                policy, read_settings(policy, args), self._reader, self._protects
            )
        return judge


@cache
def _tools():
    """Import the reader of calls on demand: most calls pass plainly, and need none of it."""
    from hookline.actions.action import PathContext  # noqa: PLC0415 see above
    from hookline.actions.parse_call import read_call, says_all  # noqa: PLC0415 see above
    from hookline.actions.standard_tools import CANONICAL  # noqa: PLC0415 see above
    from hookline.actions.table import folded  # noqa: PLC0415 see above

    return PathContext, read_call, says_all, CANONICAL, folded


def _called(payload: Any, tool: str) -> str:
    """Return the tool's name as the agent has it."""
    made: Any = getattr(payload, "original_call", None)
    name = cast("Mapping[str, Any]", made).get("tool_name") if isinstance(made, Mapping) else None
    return name if isinstance(name, str) else tool


def _arguments(payload: Any) -> Any:
    """Return the arguments; at some events the line of a shell is a separate field."""
    arguments = getattr(payload, "tool_input", None)
    line = getattr(payload, "command", None)
    if not arguments and isinstance(line, str):
        return {"command": line}
    return cast("Mapping[str, Any]", arguments) if arguments is not None else {}
