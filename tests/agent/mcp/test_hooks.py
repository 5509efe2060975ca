"""Hooks of type mcp_tool call the servers of the session."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.agent.mcp.server_sessions import configure, entry, session_with
from tests.agent.scripted_session import call, calls, says


def _hook(tool: str, server: str = "hk", **more: Any) -> list[Mapping[str, Any]]:
    text = "${tool_input.command}|${nope.x}|${hook_event_name}"
    return [
        {"hooks": [{"type": "mcp_tool", "server": server, "tool": tool, "input": {"text": text}, **more}]}
    ]


def test_the_answer_of_the_tool_is_read_like_that_of_any_hook(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        script = (calls(call("Bash", command="touch ran")), says("done"))
        async with session_with(
            tmp_path, *script, hooks={"PreToolUse": _hook("deny")}, mode="bypass"
        ) as scripted:
            await scripted.play("go")
            assert scripted.results() == ["denied: touch ran||PreToolUse"]
            assert not (scripted.project / "ran").exists()

    asyncio.run(main())


def test_a_server_is_there_for_hooks_of_the_very_first_event(tmp_path: Path):
    configure(tmp_path, hk=entry())

    async def main() -> None:
        async with session_with(tmp_path, says("done"), hooks={"SessionStart": _hook("echo")}) as scripted:
            await scripted.play("go")
            assert any("echo ||SessionStart" in message.text for message in scripted.requests[0].messages)

    asyncio.run(main())


def test_an_error_of_the_tool_and_a_server_nobody_configured_are_failures_with_words(tmp_path: Path):
    configure(tmp_path, notes=entry())

    async def main() -> None:
        servers = {"fail": "notes", "echo": "note", "deny": "elsewhere"}
        hooks = {"PostToolUse": [each for tool, server in servers.items() for each in _hook(tool, server)]}
        script = (calls(call("Bash", command="true")), says("done"))
        async with session_with(tmp_path, *script, hooks=hooks, mode="bypass") as scripted:
            await scripted.play("go")
            (fired,) = scripted.events("PostToolUse")
            assert [(run.status, run.cause) for run in fired.runs] == [("failed", "transport")] * 3
            said = {run.detail.partition(":")[0]: run.detail for run in fired.runs}
            assert "it went wrong" in said["notes/fail reports an error"]
            assert "did you mean 'notes'?" in said["note/echo"]
            unknown = "the MCP server 'elsewhere' is not configured; configured: notes"
            assert unknown in said["elsewhere/deny"]

    asyncio.run(main())


def test_a_guard_whose_server_died_closes_the_way(tmp_path: Path):
    configure(tmp_path, hk=entry("dies"))

    async def main() -> None:
        script = (calls(call("Bash", command="touch ran")), says("done"))
        async with session_with(
            tmp_path, *script, hooks={"PreToolUse": _hook("deny")}, mode="bypass"
        ) as scripted:
            await scripted.play("go")
            assert scripted.results()[0] == "hook hk/deny gave no answer: hk/deny: ServerError"
            assert not (scripted.project / "ran").exists()

    asyncio.run(main())
