"""A minimal example: a guard and a function decide about three commands."""

import asyncio

from hookline import Engine, Outcome, ask
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.guards import guard

engine = Engine()
engine.add(PRE_TOOL_USE, guard("force-push"))


@engine.on(PRE_TOOL_USE, "Bash(git push *)")
def release_day(call: ToolCall) -> Outcome | None:
    return ask("is it time for a release?") if "release" in call.tool_input["command"] else None


async def main() -> None:
    session = engine.session("me")
    for command in ("git push", "git push origin release", "cd app && git push -uf"):
        outcome = await session.dispatch(
            PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": command})
        )
        print(command, "->", f"{outcome.permission}: {outcome.reason}" if outcome.permission else "go ahead")
    await engine.close()


asyncio.run(main())
