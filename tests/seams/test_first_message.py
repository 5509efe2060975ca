"""A first message beside context, in every format that has it: both reach the model, and hooks get it as the prompt."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from hookline.agent.models.port import RequestLog
from hookline.dialects.registry import standard_dialects
from hookline.events import Capability
from tests.agent.dialect_session import DialectSession
from tests.agent.hook_entries import answers, command, on
from tests.agent.models import provider_answers
from tests.agent.models.loopback_server import Loopback
from tests.agent.models.provider_ports import CHAT, port_to
from tests.agent.scripted_session import says
from tests.seams import test_claude_code, test_gencode, test_native
from tests.seams.compare import Seam
from tests.seams.played import KINDS, ModelKind

SEAMS = {each.SEAM.dialect: each.SEAM for each in (test_claude_code, test_gencode, test_native)}
CONTEXT, MESSAGE, PROMPT, DONE = "it rains", "look outside", "stay inside", "I looked."
NOT_USED = "a hook's first message was not used: there is a prompt already"
SAID = {
    "one hook": [answers("SessionStart", additionalContext=CONTEXT, initialUserMessage=MESSAGE)],
    "two hooks": [
        answers("SessionStart", initialUserMessage=MESSAGE),
        answers("SessionStart", additionalContext=CONTEXT),
    ],
}


def test_every_format_with_a_first_message_is_here() -> None:
    found = {
        name
        for name, each in standard_dialects().items()
        for one in each.build().events.values()
        if Capability.SEED in one.policy.may & one.event.may
    }
    assert set(SEAMS) == found


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", SEAMS)
def test_the_model_gets_the_context_and_then_the_message(
    dialect: str, kind: ModelKind, said: str, tmp_path: Path
) -> None:
    sent, prompts, notices = _play(tmp_path, SEAMS[dialect], kind, SAID[said], ())
    assert sent == [CONTEXT, MESSAGE]
    assert prompts == [MESSAGE]
    assert NOT_USED not in notices


@pytest.mark.parametrize("dialect", SEAMS)
def test_where_the_user_typed_a_prompt_the_context_stays_and_the_message_is_said_not_to_be_used(
    dialect: str, tmp_path: Path
) -> None:
    sent, prompts, notices = _play(tmp_path, SEAMS[dialect], "scripted", SAID["one hook"], (PROMPT,))
    assert sent == [CONTEXT, PROMPT]
    assert prompts == [PROMPT]
    assert notices == [NOT_USED]


def _play(
    directory: Path, seam: Seam, kind: ModelKind, hooks: list[dict[str, Any]], typed: tuple[str, ...]
) -> tuple[list[str], list[str], list[str]]:
    """Return the texts of the only request, the prompts that a hook got, and the notices."""
    dump = command(f"cat >> {directory}/prompts; echo >> {directory}/prompts")
    text = json.dumps({"hooks": on("SessionStart", *hooks) | on("UserPromptSubmit", dump)})

    async def main(port: RequestLog | None) -> tuple[list[str], list[str]]:
        scripted = DialectSession(
            directory, [says(DONE)], dialect=seam.dialect, config=seam.config, files={seam.config: text}
        )
        if port is not None:
            scripted.model = cast("Any", port)
        async with scripted:
            assert scripted.diagnostics == ()
            for each in typed:
                scripted.agent.submit(each)
            await scripted.play()
            (request,) = scripted.model.requests
            return [message.text for message in request.messages], scripted.seen.texts("notice")

    async def provided() -> tuple[list[str], list[str]]:
        async with Loopback(provider_answers.chat(DONE)) as server:
            port = RequestLog(port_to(CHAT, server))
            try:
                return await main(port)
            finally:
                await port.close()

    sent, notices = asyncio.run(main(None) if kind == "scripted" else provided())
    lines = (directory / "prompts").read_text().splitlines()
    return sent, [json.loads(line)["prompt"] for line in lines if line], notices
