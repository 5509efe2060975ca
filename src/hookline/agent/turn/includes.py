"""Read files that a text of the project or the user names, as the model would read them: by a Read call.

Trust comes first: a project that the user has not trusted includes no other file. Then deny rules, PreToolUse hooks
and permission rules decide about the call, and PostToolUse hooks see its result.
"""

import asyncio
import os
import shlex
import uuid
from collections.abc import Callable

from msgspec.structs import replace

from hookline.agent.include_items import inside
from hookline.agent.safe_files import UnusableFileError
from hookline.agent.tools.read import FileLines, read_response, read_tool
from hookline.agent.turn.calls import AgentPorts
from hookline.agent.turn.checks import CallBudget, CallRules, arguments_of, facts_of
from hookline.agent.turn.turn import AgentParts
from hookline.engine.host.tool_call import ToolReply, run_tool_call
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.hook import Scope
from hookline.model.messages import ToolUse
from hookline.model.safe_text import one_line
from hookline.permissions.decide import denied_by_rule
from hookline.trust.items import TrustItem
from hookline.trust.project import is_inside
from hookline.trust.trust import Trust

_WIDEST = 300
_TOOL = "Read"


class Includes:
    """Includes of one agent."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts
        self._tools = {_TOOL: read_tool()}

    @property
    def trust(self) -> Trust:
        return self._parts.trust

    def denied(self, path: str) -> str | None:
        """Return why a deny rule keeps the agent from this file, or None."""
        use = _use(path)
        decision = denied_by_rule(facts_of(use, self._rules(self._parts)), self._parts.permissions)
        return None if decision is None else decision.reason

    async def read(self, path: str, within: str, read: Callable[[str], str]) -> str:
        """Return the text of a file below `within`, as hooks left it. Raises UnreadableError.

        `read` is called with the real path in a thread, once the call is permitted.
        """
        real = inside(path, within)
        if real != path and (why := self.denied(path)) is not None:
            raise UnusableFileError(f"was left out: {one_line(why, _WIDEST)}")
        parts = self._reaching(within)
        use = _use(real)
        call = p.ToolCall(
            tool_name=_TOOL, tool_input=arguments_of(use), tool_use_id=use.id, tool_category="safe"
        )
        ports = _ReadPorts(parts, use, call, self._rules(parts))
        ports.reading = lambda given: read(inside(given, within))
        result = await run_tool_call(parts.hooks, call, ports)
        why = result.refused or result.stop
        if why is not None:
            raise UnusableFileError(f"was left out: {one_line(why, _WIDEST)}")
        if result.exception is not None:
            raise UnusableFileError(one_line(str(result.exception), _WIDEST))
        parts.conversation.place(result.context)
        return result.text

    def untrusted(self, file: str, scope: Scope, item: TrustItem, near: str) -> str | None:
        """Return why a file may not include what the item lists, and what to do; None if the user trusts it.

        `hookline trust` lists the item when run in the directory `near` or below.
        """
        trust, cwd = self._parts.trust, self._parts.workplace.cwd
        if not trust.is_foreign(file, scope) or trust.allows(item):
            return None
        command = "hookline trust" if is_inside(cwd, near) else f"hookline trust --cwd {shlex.quote(near)}"
        return f"{trust.item_status(item).why}; run `{one_line(command, _WIDEST)}` to see it and decide"

    def _reaching(self, within: str) -> AgentParts:
        """Return the parts of an agent that may read in this directory without a question."""
        permissions = self._parts.permissions.child()
        permissions.add_directory(os.path.realpath(within))
        return replace(self._parts, permissions=permissions)

    def _rules(self, parts: AgentParts) -> CallRules:
        workplace = parts.workplace
        return CallRules(
            tools=self._tools,
            permissions=parts.permissions,
            cwd=workplace.cwd,
            caller=workplace.caller,
            worktree=workplace.worktree,
            budget=CallBudget(1),
        )


def _use(path: str) -> ToolUse:
    return ToolUse(id=f"include_{uuid.uuid4().hex}", name=_TOOL, input={"file_path": path})


class _ReadPorts(AgentPorts):
    """Ports of a Read call whose result is not for a conversation, so it has no line numbers and is not shown."""

    reading: Callable[[str], str]

    async def run(self, call: p.ToolCall) -> ToolReply:
        path = str(call.tool_input["file_path"])
        try:
            text = await asyncio.to_thread(self.reading, path)
        except UnusableFileError as problem:
            raise ToolError(str(problem)) from None
        lines = tuple(text.split("\n"))
        return ToolReply(response=read_response(path, FileLines(lines, len(lines))), text=text)
