"""Does the agent in `agent.py` do what its hooks say? Run this file to play the conformance suite with it."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from agent import Agent, Message

from hookline import Engine
from hookline.testing.conformance import (
    ConversationPlan,
    KnownLimit,
    Said,
    ShownOutput,
    UnplayableError,
    each_prompt,
    report,
)


class AgentHarness:
    name = "my agent"
    #: What the agent cannot do. It is tried all the same: what works must not be listed.
    cannot: Mapping[str, KnownLimit] = {
        "sync": KnownLimit("none", "the loop is async only", "agent.py:23"),
        "stream": KnownLimit("none", "the model answers as a whole", "agent.py:10"),
        "subagent": KnownLimit("none", "there are no subagents", "agent.py:12"),
    }

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        if conversation.entry != "async" or conversation.helper is not None:
            raise UnplayableError("the agent has no such thing")

        def model(messages: Sequence[Message]) -> tuple[str, list[Message]]:
            said = [Said(each["role"], each["content"], each.get("id", "")) for each in messages]
            answer = conversation.script.answer(said)
            return answer.text, [{"id": c.id, "name": c.name, "input": dict(c.input)} for c in answer.calls]

        tools: dict[str, tuple[Any, Any]] = {
            tool.name: (tool.call, tool.problem) for tool in conversation.tools
        }
        if engine is None:
            return await each_prompt(conversation, Agent(model, tools, None).ask)
        async with engine.session(conversation.id, cwd=conversation.cwd) as session:
            return await each_prompt(conversation, Agent(model, tools, session).ask)


if __name__ == "__main__":
    result = report(AgentHarness())
    print(result)
    sys.exit(not result.ok)
