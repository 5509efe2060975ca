"""Carry out local commands that show something of the session: background tasks, MCP servers, changed files."""

import os
from collections.abc import Mapping, Sequence

from hookline.agent.call_text import near, patch_lines
from hookline.agent.mcp.servers import McpServers
from hookline.agent.session.changes import ChangeLog
from hookline.agent.session.session import Agent, Command, PromptTurn
from hookline.agent.tools.edit import structured_patch
from hookline.agent.tools.files import LARGEST_EDITED, TooLargeError, read_regular
from hookline.agent.tools.off_loop import off_loop
from hookline.agent.tools.tasks import Tasks
from hookline.model.errors import ToolError
from hookline.model.safe_text import one_line

_TAIL = 20
_WIDEST = 160
#: Larger files are named, not compared.
_LARGEST_COMPARED = 1 << 20


def show_commands(tasks: Tasks, servers: McpServers, changes: ChangeLog) -> Mapping[str, Command]:
    async def show_tasks(agent: Agent, argument: str) -> PromptTurn:
        """List background tasks; with an id, show the end of its output; `kill ID` ends one."""
        words = argument.split()
        try:
            if not words:
                return _say(agent, "\n".join(_task_lines(tasks)) or "there are no background tasks")
            task = tasks.find(words[-1])
            if words[0] == "kill":
                await tasks.kill(task)
            return _say(agent, "\n".join([task.summary, *task.streams.tail(_TAIL)]))
        except ToolError as problem:
            return _say(agent, str(problem), failed=True)

    async def show_servers(agent: Agent, argument: str) -> PromptTurn:
        del argument
        lines = [
            one_line(f"{each.spec.name}: {each.state}, {len(each.tools)} tools {each.why}".rstrip(), _WIDEST)
            for each in servers.connections
        ]
        lines += [f"{name}: not trusted, so not started (/trust)" for name in sorted(servers.untrusted)]
        return _say(agent, "\n".join(lines) or "no MCP server is configured")

    async def show_changes(agent: Agent, argument: str) -> PromptTurn:
        """Show what Edit and Write have changed in this run."""
        del argument
        lines = await off_loop(lambda _limit: _differences(changes))
        return _say(agent, "\n".join(lines) or "Edit and Write have changed no file in this run")

    return {"tasks": show_tasks, "mcp": show_servers, "diff": show_changes}


def _say(agent: Agent, text: str, *, failed: bool = False) -> PromptTurn:
    agent.user.show("warning" if failed else "notice", text)
    return PromptTurn(status="failed" if failed else "completed", why=text if failed else "")


def _task_lines(tasks: Tasks) -> Sequence[str]:
    return [f"{task.id}  {task.status:9}  {one_line(task.subject, 100)}" for task in tasks.all]


def _differences(changes: ChangeLog) -> list[str]:
    """Compare each file with what it was before its first change. Reads files."""
    lines: list[str] = []
    for path, before in changes.originals.items():
        try:
            now = read_regular(path, LARGEST_EDITED).content if os.path.lexists(path) else b""
        except (OSError, TooLargeError) as problem:
            lines.append(f"{near(path)}: {problem}")
            continue
        old = b"" if before is None else before.content
        if old == now:
            continue
        lines.append(f"{near(path)}{' (new)' if before is None else ''}")
        if max(len(old), len(now)) > _LARGEST_COMPARED:
            lines.append("  (too large to be compared)")
            continue
        patch = structured_patch(old.decode("utf-8", "replace"), now.decode("utf-8", "replace"))
        lines += [f"  {line}" for line in patch_lines(patch)]
    return lines
