"""A host without an event loop: `Blocking` runs the same engine."""

from hookline import Blocking, Engine
from hookline.events import PRE_TOOL_USE, ToolCall

engine = Engine()
engine.add(
    PRE_TOOL_USE, 'grep -q "rm -rf" && { echo "too dangerous" >&2; exit 2; } || exit 0', name="no rm -rf"
)

with Blocking(engine) as hooks:
    session = hooks.session("me")
    for command in ("ls", "rm -rf /"):
        outcome = session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": command}))
        print(f"{command}: {outcome.reason or 'go ahead'}")
