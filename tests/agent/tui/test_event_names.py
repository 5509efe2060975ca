"""Events on the screen: `/hooks events` in the words of the hooks that are there, and one name for one event."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.agent.tui.memory_screen import Project
from tests.waiting import waits_for

PREFIX = """
[[hooks.hooks]]
name = "prefix"
event = "message_submit"
command = '''{command}; echo '{{"text": "[hooked] hello"}}' '''
"""
LABEL = "message_submit [UserPromptSubmit]"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def configure(project: Project, command: str = "true") -> None:
    file = project.home / ".codewhale/config.toml"
    file.parent.mkdir()
    file.write_text(PREFIX.format(command=command))


def test_the_events_of_the_agents_whose_hooks_are_there_are_listed_in_their_words(project: Project) -> None:
    configure(project)

    async def main() -> None:
        async with project.agent([], None, "--dialect", "codewhale", rows=60, columns=100) as one:
            await one.until("Enter sends")
            one.types("/hooks events\r")
            await one.until_words("/hooks events EVENT shows what its hooks get")
            for each in (
                "CodeWhale: session_start [SessionStart]: observe",
                f"{LABEL}: block, rewrite when the user submits a message",
                "tool_call_before [PreToolUse]: block, permit, rewrite, context",
                "turn_end [TurnSettled]: observe",
            ):
                assert each in one.words
            one.types("/hooks events message_submit\r")
            await one.until_words("cannot start is reported")
            for each in (
                f"{LABEL} of CodeWhale",
                '{"text":"Fix the login form. Do not touch the database."}',
                "DEEPSEEK_MESSAGE",
                "exit 2 blocks: the prompt is rejected",
            ):
                assert each in one.words
            one.types("/hooks events mesage\r")
            await one.until_words("no event is called 'mesage'; /hooks events lists them")

    asyncio.run(main())


def test_without_hooks_the_events_are_hooklines_own(project: Project) -> None:
    async def main() -> None:
        async with project.agent([], None, rows=60, columns=100) as one:
            await one.until("Enter sends")
            one.types("/hooks events Stop\r")
            await one.until_words("Stop of Hookline Fires when a turn is about to end")

    asyncio.run(main())


def test_an_event_has_one_name_while_its_hook_runs_and_afterwards(project: Project) -> None:
    """The hook's own, with Hookline's in brackets: in the row of a running hook, in notes, and in the inspector."""
    go = project.root / "go"
    configure(project, waits_for(go))

    async def main() -> None:
        async with project.agent([{"text": "Hi."}], None, "--dialect", "codewhale", columns=160) as one:
            await one.until("Enter sends")
            one.types("\x1bOQ")
            await one.until("prefix")
            one.types("\r")
            await one.until(f"no {LABEL} has happened yet")
            one.types("qq")
            await one.until("idle ·")
            one.types("hello\r")
            await one.until(LABEL)
            go.touch()
            await one.until("Hi.")
            await one.idle()
            (note,) = [row for row in one.text.splitlines() if "a hook changed prompt" in row]
            assert f"hook prefix · {LABEL}" in note
            one.types("/hooks extra\r")
            await one.until_words("/hooks shows the active hooks, /hooks events lists the events")
            one.types("\x1bOQ")
            await one.until("prefix")
            one.types("\r")
            await one.until(f"at the last {LABEL}: it ran")
            assert f"{LABEL}: prefix" in one.text
            one.types("qq")

    asyncio.run(main())


def test_a_gate_that_sends_the_agent_back_is_named_as_its_agent_does(project: Project) -> None:
    command = "test -e sent || { touch sent; echo run the tests first >&2; exit 2; }"
    entry = {"type": "command", "command": command, "name": "tests"}
    project.write(".gemini/settings.json", json.dumps({"hooks": {"AfterAgent": [{"hooks": [entry]}]}}))

    async def main() -> None:
        script = [{"text": "Done."}, {"text": "Tested."}]
        async with project.agent(script, None, "--dialect", "gemini-cli", columns=160) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until("Tested.")
            assert "! AfterAgent [Stop] hook: run the tests first" in one.words

    asyncio.run(main())
