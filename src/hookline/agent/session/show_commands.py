"""Carry out local commands that show something of the session: its context, tasks, MCP servers, changed files."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from hookline.agent.call_text import near, patch_lines
from hookline.agent.conversation import Conversation, estimated, message_tokens
from hookline.agent.mcp.servers import McpServers
from hookline.agent.session.changes import ChangeLog
from hookline.agent.session.session import Agent, Command, PromptTurn
from hookline.agent.tools.base import AgentTool
from hookline.agent.tools.edit import structured_patch
from hookline.agent.tools.files import LARGEST_EDITED, TooLargeError, read_regular
from hookline.agent.tools.off_loop import off_loop
from hookline.agent.tools.tasks import Tasks
from hookline.model.errors import ToolError
from hookline.model.messages import Assistant, Message, User
from hookline.model.safe_text import one_line

_TAIL = 20
_WIDEST = 160
#: Larger files are named, not compared.
_LARGEST_COMPARED = 1 << 20
#: What takes a part of the context.
_PARTS = {"prompts": "your prompts", "hooks": "added by hooks", "summary": "summary",
          "answers": "answers and calls", "results": "results of tools"}  # fmt: skip


def show_commands(tasks: Tasks, servers: McpServers, changes: ChangeLog) -> Mapping[str, Command]:
    async def show_tasks(agent: Agent, argument: str) -> PromptTurn:
        """List background tasks; with an id, show the end of its output; `kill ID` ends one."""
        words = argument.split()
        try:
            if not words:
                lines = [f"{task.id}  {task.status:9}  {one_line(task.subject, 100)}" for task in tasks.all]
                return _say(agent, "\n".join(lines) or "there are no background tasks")
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


async def context(agent: Agent, argument: str) -> PromptTurn:
    """Show how much of the model's context window the conversation takes, and what takes it."""
    del argument
    return _say(agent, "\n".join(_context_lines(agent)))


def _context_lines(agent: Agent) -> Iterator[str]:
    conversation, compaction = agent.conversation, agent.compaction
    size, window = conversation.size, compaction.window(agent.model_name)
    known = (
        f" of {window:,} ({100 * size / window:.0f} %)"
        if window
        else "; the model's window is not known: set context_window"
    )
    limit = compaction.limit(agent.model_name)
    yield f"{size:,} tokens{known}" + (f"; compaction at {limit:,}" if limit else "; no automatic compaction")
    rows = {**_fixed(conversation, tuple(agent.tools.values())), **_messages(conversation.messages)}
    for name, tokens in rows.items():
        if tokens:
            yield f"  {name:20} {tokens:>9,}"
    yield "Parts are estimated: four characters a token."


def _fixed(conversation: Conversation, tools: tuple[AgentTool, ...]) -> dict[str, int]:
    instructions = sum(map(estimated, conversation.instructions.values()))
    schemas = (msgspec.json.encode(tool.schema).decode() for tool in tools)
    return {
        "system text": estimated(conversation.system) - instructions,
        "instruction files": instructions,
        f"{len(tools)} tools": sum(map(estimated, (*schemas, *(tool.description for tool in tools)))),
    }


def _messages(messages: list[Message]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for message in messages:
        counts[_kind(message)] += message_tokens(message)
    return {text: counts[name] for name, text in _PARTS.items()}


def _kind(message: Message) -> str:
    if isinstance(message, User):
        return "prompts" if not message.by else "summary" if message.by == "compaction" else "hooks"
    return "answers" if isinstance(message, Assistant) else "results"
