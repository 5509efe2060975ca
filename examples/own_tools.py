"""Declare what a program's own tools do, so that guards written for other agents see them."""

import asyncio
import os
from typing import Any

from hookline import Engine, Outcome, deny
from hookline.actions import fetch, many, nothing, read, seconds, shell, write
from hookline.events import PRE_TOOL_USE, ToolCall

engine = Engine(
    tools={
        "run_in_box": shell("line", timeout=seconds("wait")),
        "show": read("name"),
        "save": write("name", content="text"),
        "download": fetch(many("addresses")),
        # It carries out a plan. Without this line its name would be taken for a shell's.
        "execute": nothing(),
    }
)


@engine.on(PRE_TOOL_USE, "Bash(rm *)")
def no_rm(call: ToolCall) -> Outcome | None:
    # Functions see the call as it was made.
    return deny(f"{call.tool_name} may not delete: {call.tool_input['line']}")


# Hooks that are commands, also those in files, get it in canonical terms: Read, with file_path.
engine.add(PRE_TOOL_USE, 'echo "keys stay where they are" >&2; exit 2', "Read(/keys/**)")
engine.add(PRE_TOOL_USE, 'echo "not from there" >&2; exit 2', "WebFetch(domain:example.org)")

CALLS: dict[str, dict[str, Any]] = {
    "run_in_box": {"line": "cd app && rm -rf build", "wait": 10},
    "show": {"name": "/keys/id"},
    "save": {"name": "notes.md", "text": "hello"},
    "download": {"addresses": ["https://example.com/a", "https://example.org/b"]},
    "execute": {"command": "rm"},
}


async def main() -> None:
    session = engine.session("me", cwd=os.getcwd())
    for name, arguments in CALLS.items():
        outcome = await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=name, tool_input=arguments))
        print(f"{name}: {f'denied: {outcome.reason}' if outcome.blocked else 'go ahead'}")
    await engine.close()


asyncio.run(main())
