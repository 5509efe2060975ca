"""However a session ends, its SessionEnd hooks run, once, and are seen while they do."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent.tui.memory_screen import Project
from tests.waiting import waits_for


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def _ends(command: str = "true", **more: Any) -> dict[str, Any]:
    """A hook that notes the reason, and does something else then."""
    line = f"cat >> ends.jsonl; echo >> ends.jsonl; {command}"
    return {"SessionEnd": [{"hooks": [{"type": "command", "command": line, "name": "bye", **more}]}]}


def _reasons(project: Project) -> list[str]:
    lines = (project.root / "ends.jsonl").read_text().split("\n")
    return [json.loads(line)["reason"] for line in lines if line.strip()]


def test_sessions_that_are_cleared_resumed_and_left_by_commands(project: Project) -> None:
    async def main() -> None:
        async with project.agent([{"text": "First."}], _ends(), "one", "/exit") as one:
            assert await one.left() == 0
        script = [{"text": "Second."}, {"text": "Third."}]
        async with project.agent(script, _ends(), trusted=False) as one:  # it is already
            await one.until("Enter sends")
            one.types("two\r")
            await one.until("Second.")
            one.types("/clear\r")
            await one.until("a new conversation")
            one.types("/resume last\r")
            await one.until("continues an earlier session")
            assert _reasons(project) == ["prompt_input_exit", "clear", "resume"]
            # The text it continues with is shown.
            assert one.text.index("> one") < one.text.index("First.")
            one.types("three\r")
            await one.until("Third.")
            one.types("/exit\r")
            assert await one.left() == 0
        assert _reasons(project) == ["prompt_input_exit", "clear", "resume", "prompt_input_exit"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("/logout\r", "logout"), ("\x04", "prompt_input_exit"), ("\x03\x03", "prompt_input_exit")],
)
def test_a_session_that_is_left(project: Project, typed: str, reason: str) -> None:
    """Check that the hook is visible, and that its failure is reported but blocks no one."""
    go = project.root / "go"
    hooks = _ends(f"{waits_for(go)}; exit 7", statusMessage="Saying goodbye")

    async def main() -> None:
        async with project.agent([], hooks) as one:
            await one.until("Enter sends")
            await one.idle()
            one.types(typed)
            await one.until("Saying goodbye")
            await one.until_words("(SessionEnd: bye · .hookline/hooks.json:")
            # The agent is leaving: another prompt does not begin.
            one.types("hello\r")
            go.touch()
            assert await one.left() == 0
            assert _reasons(project) == [reason]
            assert "hook bye gave no answer: exit 7" in one.words
            assert "> hello" not in one.everything.replace("─\n> hello", "")

    asyncio.run(main())
