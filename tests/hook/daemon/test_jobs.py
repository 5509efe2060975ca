"""Test that the daemon runs durable hooks of other processes, and the next call of their session gets the result."""

import asyncio
import json

from hookline import Engine
from hookline.events import POST_TOOL_USE
from hookline.model.payloads import ToolResult
from tests.hook.daemon.daemons import Daemons
from tests.waiting import wait_until


def test_what_a_process_left_is_run_and_told_at_the_next_call_of_the_session(daemons: Daemons) -> None:
    done = daemons.home / "done"
    entry = {
        "command": f"touch {done}; echo the scan found it >&2; exit 2",
        "asyncRewake": True,
        "durable": True,
    }
    daemons.write(
        "~/.config/hookline/hooks.json", json.dumps({"hooks": {"PostToolUse": [{"hooks": [entry]}]}})
    )

    async def leave() -> None:
        engine = Engine(env=daemons.env)
        engine.load(daemons.project)
        engine.background.closed = True  # so that it is accepted and not begun
        result = ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response={})
        await engine.session("s-1", cwd=daemons.project).dispatch(POST_TOOL_USE, result)
        await engine.close(0)

    asyncio.run(leave())
    daemons.start()
    wait_until(done.exists)
    replies: list[str] = []

    def received() -> bool:
        replies.append(daemons.call("UserPromptSubmit", prompt="go on").stdout.decode())
        return "the scan found it" in replies[-1]

    wait_until(received)
    assert "the scan found it" not in daemons.call("UserPromptSubmit", prompt="and on").stdout.decode()
