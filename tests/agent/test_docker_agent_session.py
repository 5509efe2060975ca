"""Docker Agent's hooks in a running agent: what only shows beside the scenarios `seed004_*`."""

import asyncio
from pathlib import Path

from hookline.model.messages import User
from tests.agent.dialect_session import DialectSession
from tests.agent.scripted_session import call, calls, says

_AGENT = """\
agents:
  root:
    model: openai/gpt-5
    hooks:
      user_prompt_submit:
        - {type: command, command: "cat >/dev/null; echo for the whole turn"}
      turn_start:
        - {type: command, command: "cat >/dev/null; echo for this request"}
"""


def test_what_is_added_to_a_prompt_is_there_for_its_whole_turn_and_never_stored(tmp_path: Path) -> None:
    async def main() -> None:
        script = [calls(call("Read", file_path="agent.yaml")), says("done"), says("again")]
        scripted = DialectSession(
            tmp_path, script, dialect="docker-agent", config="agent.yaml", files={"agent.yaml": _AGENT}
        )
        async with scripted:
            await scripted.play("one")
            stored = list(scripted.agent.conversation.messages)
            await scripted.play("two")
        added = [
            [message.text for message in request.messages if isinstance(message, User) and message.by]
            for request in scripted.requests
        ]
        assert added == [["for the whole turn", "for this request"]] * 3
        assert [message.text for message in stored if isinstance(message, User)] == ["one"]

    asyncio.run(main())
