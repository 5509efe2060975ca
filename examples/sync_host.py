"""A host without an event loop: `Blocking` runs the same engine, and tools run in your thread."""

from typing import Any

from hookline import Blocking, Engine
from hookline.events import PRE_TOOL_USE

engine = Engine()
engine.add(
    PRE_TOOL_USE, 'grep -q "rm -rf" && { echo "too dangerous" >&2; exit 2; } || exit 0', name="no rm -rf"
)


def run_command(arguments: dict[str, Any]) -> str:
    return f"(output of {arguments['command']})"


with Blocking(engine) as hooks, hooks.session("me") as session:
    for command in ("ls", "rm -rf /"):
        done = session.tool("Bash", {"command": command}, run=run_command)
        print(f"{command}: {done.text}")
