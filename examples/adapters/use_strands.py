"""Hooks in an agent of Strands, on a model that is scripted: it needs no key and no network."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent, tool  # pyright: ignore[reportUnknownVariableType]
from strands.models import Model

from hookline import Engine, Outcome, deny, rewrite
from hookline.adapters.strands import HooklinePlugin
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult

engine = Engine()


@engine.on(PRE_TOOL_USE, "deploy")
async def no_deploy(_call: ToolCall) -> Outcome:
    return deny("deploy is for people: ask one")


@engine.on(POST_TOOL_USE, "run_shell")
async def marked(result: ToolResult) -> Outcome:
    return rewrite(f"(sandbox) {result.tool_response}")


class ScriptedModel(Model):
    """Calls two tools, shows what it reads of them, and is done."""

    def update_config(self, **_options: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_given: Any, **_options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_given: Any, **_options: Any) -> AsyncGenerator[Any, None]:
        results = [block["toolResult"] for block in messages[-1]["content"] if "toolResult" in block]
        for result in results:
            print(result["content"][0]["text"])
        yield {"messageStart": {"role": "assistant"}}
        if results:
            yield {"contentBlockDelta": {"delta": {"text": "Done."}}}
            yield {"contentBlockStop": {}}
        for name, given in () if results else (("deploy", {}), ("run_shell", {"command": "ls"})):
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": name, "name": name}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(given)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if results else "tool_use"}}


@tool
def deploy() -> str:
    """Put it into production."""
    return "deployed"


@tool
def run_shell(command: str) -> str:
    """Run a line in a shell."""
    return command


def main() -> None:
    hooks = HooklinePlugin(engine)
    agent = Agent(ScriptedModel(), tools=[deploy, run_shell], plugins=[hooks], callback_handler=None)
    print(str(agent("ship it")).strip())


if __name__ == "__main__":
    main()
