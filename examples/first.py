"""A minimal example: one function decides about two commands."""

import asyncio

from hookline import Engine, Outcome, deny
from hookline.events import PRE_TOOL_USE, ToolCall

engine = Engine()


@engine.on(PRE_TOOL_USE, "Bash(git push *)")
def no_force_push(call: ToolCall) -> Outcome | None:
    return deny("force pushes rewrite history") if "--force" in call.tool_input["command"] else None


async def main() -> None:
    session = engine.session("me")
    for command in ("git push", "cd app && git push --force"):
        outcome = await session.dispatch(
            PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": command})
        )
        print(f"{command}: {f'denied: {outcome.reason}' if outcome.blocked else 'go ahead'}")
    await engine.close()


asyncio.run(main())
