"""Test the model's thinking: asked for by /effort, shown, and handed back to the provider with results of calls."""

import asyncio
import json
from pathlib import Path

from msgspec.structs import replace

from hookline.agent.models.port import CompletionResponse, ThoughtPiece
from hookline.model.messages import Assistant, ToolMessage, User
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback
from tests.agent.models.provider_ports import ANTHROPIC, BASH, CHAT, pieces_of, port_to, request_to
from tests.agent.scripted_session import ScriptedSession, says


def test_thoughts_before_calls_are_handed_back_with_their_results() -> None:
    async def main() -> None:
        call = ("c1", "Bash", json.dumps({"command": "ls"}))
        first = provider_answers.anthropic(thinking="I had better look.", calls=[call])
        async with Loopback(first, provider_answers.anthropic("Done.")) as server:
            port = port_to(ANTHROPIC, server)
            asked = request_to(ANTHROPIC, tools=[BASH])
            pieces = await pieces_of(port, replace(asked, effort="high"))
            assert ThoughtPiece("I had better look.") in pieces
            answer = pieces[-1]
            assert isinstance(answer, CompletionResponse)
            results = (
                User(text="hello"),
                Assistant(tool_calls=answer.tool_calls),
                ToolMessage(tool_use_id="c1", name="Bash", text="a.txt"),
            )
            await pieces_of(port, replace(asked, effort="high", messages=results))
            # A port that has forgotten them, after a restart, does not ask for thoughts within these calls.
            await port.close()
            other = port_to(ANTHROPIC, server)
            await pieces_of(other, replace(asked, effort="high", messages=results))
            await other.close()
            one, two, three = (each.body for each in server.asked)
            assert "thinking" in one
            assert two["messages"][1]["content"][0] == {
                "type": "thinking", "thinking": "I had better look.", "signature": "s",
            }  # fmt: skip
            assert "thinking" not in three
            assert "thinking" not in str(three["messages"])

    asyncio.run(main())


def test_a_server_that_knows_no_thinking_still_answers() -> None:
    async def main() -> None:
        async with Loopback(provider_answers.chat("hi")) as server:
            port = port_to(CHAT, server)
            await pieces_of(port, replace(request_to(CHAT), effort="low"))
            await port.close()

    asyncio.run(main())


def test_effort_is_a_command_and_thoughts_are_shown_once(tmp_path: Path) -> None:
    async def main() -> None:
        script = [{"reasoning": "First this.\nThen that.", "text": "Done."}, says("ok")]
        async with ScriptedSession(tmp_path, script) as scripted:
            await scripted.play("/effort high", "go")
            assert scripted.requests[0].effort == "high"
            assert scripted.seen.texts("thinking") == ["First this.\n", "Then that."]
            assert scripted.seen.texts("thought") == ["First this.\nThen that."]
            kinds = [one.kind for one in scripted.seen.all if one.kind in ("thought", "delta")]
            assert kinds == ["thought", "delta"]
            wrong = await scripted.play("/effort huge")
            assert wrong is not None
            assert wrong.status == "failed"
            await scripted.play("/effort auto", "go")
            assert scripted.requests[1].effort == ""

    asyncio.run(main())
