"""The resident runs durable hooks that other processes left, and the next call of their session hears of it."""

import asyncio
import json

from hookline import Engine
from hookline.events import POST_TOOL_USE
from hookline.model.payloads import ToolResult
from tests.resident.residents import Residents
from tests.waiting import wait_until


def test_what_a_process_left_is_run_and_told_at_the_next_call_of_the_session(residents: Residents) -> None:
    done = residents.home / "done"
    entry = {
        "command": f"touch {done}; echo the scan found it >&2; exit 2",
        "asyncRewake": True,
        "durable": True,
    }
    residents.write(
        "~/.config/hookline/hooks.json", json.dumps({"hooks": {"PostToolUse": [{"hooks": [entry]}]}})
    )

    async def leave() -> None:
        engine = Engine(env=residents.env)
        engine.load(residents.project)
        engine.background.closed = True  # so that it is accepted and not begun
        result = ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response={})
        await engine.session("s-1", cwd=residents.project).dispatch(POST_TOOL_USE, result)
        await engine.close(0)

    asyncio.run(leave())
    residents.start()
    wait_until(done.exists)
    replies: list[str] = []

    def told() -> bool:
        replies.append(residents.call("UserPromptSubmit", prompt="go on").stdout.decode())
        return "the scan found it" in replies[-1]

    wait_until(told)
    assert "the scan found it" not in residents.call("UserPromptSubmit", prompt="and on").stdout.decode()
