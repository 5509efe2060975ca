"""Guards as builtins run them: a call is read as what it does, and judged."""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from hookline.guards.policy import policy_of
from hookline.guards.rows import LineReader
from hookline.matching.shell import ShellReader
from hookline.model.scene import Scene

if TYPE_CHECKING:
    from hookline.guards.judge import Judge, Protects
    from hookline.tools.acts import Act, Place
    from hookline.tools.table import ToolTable

_MOST_JUDGES = 256
#: Tools whose lines are of a shell that is not read.
_NOT_READ = frozenset(("powershell", "pwsh"))
_PLAIN = frozenset((str, int, float, bool, type(None)))


class Verdict(NamedTuple):
    answer: Literal["deny", "ask"]
    reason: str
    #: What could not be told, where the guard is not sure.
    doubt: str = ""


class _LastCall(NamedTuple):
    """A call as it was asked about, and what was read of it."""

    payload: Any
    scene: Scene
    tools: "ToolTable | None"
    tool: str
    arguments: dict[str, Any] | None
    acts: "tuple[Act, ...]"
    place: "Place"
    #: Its line is of a shell that is not read.
    searched: bool


class GuardRunner:
    """All guards of one engine: they share what was read of a call and of its line."""

    def __init__(
        self,
        protects: "Protects | None" = None,
        env: Mapping[str, str] = os.environ,
        reader: ShellReader | None = None,
    ) -> None:
        self._protects = protects
        self._env = env
        self._reader = LineReader(reader if reader is not None else ShellReader())
        self._judges: dict[tuple[str, tuple[str, ...]], Judge] = {}
        self._last: _LastCall | None = None

    def problem(self, name: str, args: Sequence[str]) -> str | None:
        """Why a guard with these options cannot work."""
        policy = policy_of(name)
        if policy.protects and self._protects is None:
            return f"{name} needs an engine that says what is protected; standard_handlers has the way to it"
        if not args:
            return None
        from hookline.guards.settings import problem  # noqa: PLC0415 most guards have no options

        return problem(policy, args)

    def verdict(
        self,
        name: str,
        args: tuple[str, ...],
        payload: Any,
        scene: Scene,
        tools: "ToolTable | None" = None,
        in_doubt: str = "match",
    ) -> Verdict | None:
        """What a guard says to a call that is told in the terms of these tools; None: nothing."""
        tool: Any = getattr(payload, "tool_name", None)
        if not isinstance(tool, str):
            return None
        judge = self._judge(name, args)
        call = self._read(tool, payload, scene, tools)
        found = judge.finding(call.acts, call.place, searched=call.searched)
        if found is None:
            return None
        from hookline.guards.judge import reason_for  # noqa: PLC0415 as below

        settings, reason = judge.settings, reason_for(judge.policy, found)
        if not found.doubt:
            return Verdict(settings.answer, reason)
        counts_as = settings.in_doubt or in_doubt
        if counts_as == "pass":
            return None
        return Verdict("ask" if counts_as == "ask" else settings.answer, reason, found.doubt)

    def _read(self, tool: str, payload: Any, scene: Scene, tools: "ToolTable | None") -> _LastCall:
        """What a call does. The guards of an engine are asked about it one after another, so it is read once."""
        arguments, last = _arguments(payload), self._last
        if (
            last is not None
            and (last.payload is payload and last.scene is scene and last.tools is tools)
            # Whoever made the call may have changed it meanwhile.
            and (last.tool == tool and last.arguments == arguments)
        ):
            return last
        place_of, read_call, canonical, folded = _tools()
        cwd = scene.cwd or os.getcwd()
        home = self._env.get("HOME") or os.path.expanduser("~")
        place = place_of(cwd, scene.project_dir or cwd, home, self._env.get("TMPDIR", ""))
        acts = read_call(tools or canonical, tool, arguments, place)
        kept = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else None
        if kept is not None:
            # What could be changed in place could not be compared later.
            kept = dict(kept) if all(type(value) in _PLAIN for value in kept.values()) else None
        searched = folded(_called(payload, tool)) in _NOT_READ
        last = self._last = _LastCall(payload, scene, tools, tool, kept, acts, place, searched)
        return last

    def _judge(self, name: str, args: tuple[str, ...]) -> "Judge":
        key = name, args
        judge = self._judges.get(key)
        if judge is None:
            from hookline.guards.judge import Judge  # noqa: PLC0415 as above
            from hookline.guards.settings import read_settings  # noqa: PLC0415 as above

            policy = policy_of(name)
            if len(self._judges) >= _MOST_JUDGES:
                self._judges.clear()
            judge = self._judges[key] = Judge(
                policy, read_settings(policy, args), self._reader, self._protects
            )
        return judge


@cache
def _tools():
    """How calls are read: most pass plainly, and need none of it."""
    from hookline.tools.acts import Place  # noqa: PLC0415 see above
    from hookline.tools.read_call import read_call  # noqa: PLC0415 see above
    from hookline.tools.standard import CANONICAL  # noqa: PLC0415 see above
    from hookline.tools.table import folded  # noqa: PLC0415 see above

    return Place, read_call, CANONICAL, folded


def _called(payload: Any, tool: str) -> str:
    """The tool's name as the agent has it."""
    made: Any = getattr(payload, "called_as", None)
    name = cast("Mapping[str, Any]", made).get("tool_name") if isinstance(made, Mapping) else None
    return name if isinstance(name, str) else tool


def _arguments(payload: Any) -> Any:
    """At some events the line of a shell is a field of its own."""
    arguments = getattr(payload, "tool_input", None)
    line = getattr(payload, "command", None)
    if not arguments and isinstance(line, str):
        return {"command": line}
    return cast("Mapping[str, Any]", arguments) if arguments is not None else {}
