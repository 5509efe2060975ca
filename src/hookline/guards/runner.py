"""Guards as builtins run them: a call is read as what it does, and judged."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from hookline.guards.judge import Judge, Protects, reason_for
from hookline.guards.registry import policy_of
from hookline.guards.settings import problem, read_settings
from hookline.matching.shell import ShellReader
from hookline.model.scene import Scene
from hookline.tools.acts import Place
from hookline.tools.read_call import read_call
from hookline.tools.standard import CANONICAL
from hookline.tools.table import ToolTable, folded

_MOST_JUDGES = 256
#: Tools whose lines are of a shell that is not read.
_NOT_READ = frozenset(("powershell", "pwsh"))


class Verdict(NamedTuple):
    answer: Literal["deny", "ask"]
    reason: str
    #: What could not be told, where the guard is not sure.
    doubt: str = ""


class GuardRunner:
    """All guards of one engine: they share what was read of a line."""

    def __init__(self, protects: Protects | None = None, reader: ShellReader | None = None) -> None:
        self._protects = protects
        self._reader = reader if reader is not None else ShellReader()
        self._judges: dict[tuple[str, tuple[str, ...]], Judge] = {}

    def problem(self, name: str, args: Sequence[str]) -> str | None:
        """Why a guard with these options cannot work."""
        policy = policy_of(name)
        if policy.protects and self._protects is None:
            return f"{name} needs an engine that says what is protected; standard_handlers has the way to it"
        return problem(policy, args)

    def verdict(
        self,
        name: str,
        args: tuple[str, ...],
        payload: Any,
        scene: Scene,
        tools: ToolTable | None = None,
        in_doubt: str = "match",
    ) -> Verdict | None:
        """What a guard says to a call that is told in the terms of these tools; None: nothing."""
        tool: Any = getattr(payload, "tool_name", None)
        if not isinstance(tool, str):
            return None
        judge = self._judge(name, args)
        cwd = scene.cwd or os.getcwd()
        place = Place(cwd, scene.project_dir or cwd, os.environ.get("HOME") or os.path.expanduser("~"))
        acts = read_call(tools or CANONICAL, tool, _arguments(payload), place)
        found = judge.finding(acts, place, searched=_called(payload, tool) in _NOT_READ)
        if found is None:
            return None
        settings, reason = judge.settings, reason_for(judge.policy, found)
        if not found.doubt:
            return Verdict(settings.answer, reason)
        counts_as = settings.in_doubt or in_doubt
        if counts_as == "pass":
            return None
        return Verdict("ask" if counts_as == "ask" else settings.answer, reason, found.doubt)

    def _judge(self, name: str, args: tuple[str, ...]) -> Judge:
        key = name, args
        judge = self._judges.get(key)
        if judge is None:
            policy = policy_of(name)
            if len(self._judges) >= _MOST_JUDGES:
                self._judges.clear()
            judge = self._judges[key] = Judge(
                policy, read_settings(policy, args), self._reader, self._protects
            )
        return judge


def _called(payload: Any, tool: str) -> str:
    """The tool's name as the agent has it."""
    made: Any = getattr(payload, "called_as", None)
    name = cast("Mapping[str, Any]", made).get("tool_name") if isinstance(made, Mapping) else None
    return folded(name if isinstance(name, str) else tool)


def _arguments(payload: Any) -> Any:
    """At some events the line of a shell is a field of its own."""
    arguments = getattr(payload, "tool_input", None)
    line = getattr(payload, "command", None)
    if not arguments and isinstance(line, str):
        return {"command": line}
    return cast("Mapping[str, Any]", arguments) if arguments is not None else {}
