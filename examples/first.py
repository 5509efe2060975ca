"""A minimal example: a guard and a function decide which commands of an agent run."""

import asyncio
from typing import Any

from hookline import Engine, Outcome, ask
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.guards import guard

engine = Engine()  # Engine(approve=...) says who answers when a hook asks; without it an ask is a denial
engine.add(PRE_TOOL_USE, guard("force-push"))


@engine.on(PRE_TOOL_USE, "Bash(git push *)", quick=True)
def release_day(call: ToolCall) -> Outcome | None:
    return ask("is it time for a release?") if "release" in call.tool_input["command"] else None


def run_command(arguments: dict[str, Any]) -> str:
    return f"(your tool runs {arguments})"


async def main() -> None:
    async with engine, engine.session("me") as session:
        for command in ("git push", "git push origin release", "cd app && git push -uf"):
            done = await session.tool("Bash", {"command": command}, run=run_command)
            print(f"{command} -> {done.text}")  # done.text is what the model reads


if __name__ == "__main__":
    asyncio.run(main())
