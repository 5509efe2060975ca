"""Hooks in the front matter of commands and skills join the session with their first use."""

import asyncio
import json
from pathlib import Path

import pytest

from hookline import Engine
from hookline.agent.prompts.prompt import PreparedPrompt
from hookline.agent.session_hooks import CommandHooks
from tests.agent.dialect_session import DialectSession
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says

_SKILL = """\
---
name: careful
description: deny what is careless
hooks:
  PreToolUse:
    - matcher: Probe
      hooks:
        - type: command
          command: 'echo asked >>asked.txt; echo "not while we are careful" >&2; exit 2'
          %s
---
Be careful.
"""


def _stage(place: Path, skill: str, turns: int, directory: str = ".claude", **files: str) -> DialectSession:
    script = [step for _ in range(turns) for step in (calls(call("Probe", what="it")), says("done"))]
    return DialectSession(
        place,
        script,
        dialect="claude-code",
        config=".claude/settings.json",
        files={".claude/settings.json": "{}", f"{directory}/skills/careful/SKILL.md": skill, **files},
        tools=(Probe(),),
    )


@pytest.mark.parametrize("directory", [".claude", ".hookline"])
def test_they_are_asked_from_the_first_use_to_the_end_of_the_session(tmp_path: Path, directory: str) -> None:
    async def main() -> None:
        async with _stage(tmp_path, _SKILL % "", 5, directory) as scripted:
            await scripted.play("before", "/careful", "after it", "/careful", "/clear", "after all")
        assert scripted.text("asked.txt") == "asked\n" * 3
        ran = [len(fired.runs) for fired in scripted.events("PreToolUse")]
        assert ran == [0, 1, 1, 1, 0]

    asyncio.run(main())


def test_a_second_use_adds_nothing(tmp_path: Path) -> None:
    entry = {"hooks": [{"type": "command", "command": "true"}]}
    used = PreparedPrompt(
        shown="/x", command_file=f"{tmp_path}/.hookline/skills/x/SKILL.md", hooks={"Stop": [entry]}
    )

    async def main() -> None:
        async with Engine() as engine:
            session = engine.session("s")
            joining = CommandHooks(engine, session, str(tmp_path))
            assert [await joining.join(used), await joining.join(used)] == [(), ()]
            assert [hook.event.name for hook in session.hooks] == ["Stop"]

    asyncio.run(main())


def test_once_counts_there(tmp_path: Path) -> None:
    async def main() -> None:
        async with _stage(tmp_path, _SKILL % "once: true", 2) as scripted:
            await scripted.play("/careful", "after it")
        assert scripted.text("asked.txt") == "asked\n"
        assert scripted.seen.texts("warning") == []

    asyncio.run(main())


def test_a_bad_entry_is_told_with_its_file_and_line_and_its_neighbour_runs(tmp_path: Path) -> None:
    async def main() -> None:
        async with _stage(tmp_path, _SKILL % "\n        - type: telegram", 1) as scripted:
            await scripted.play("/careful")
        assert scripted.text("asked.txt") == "asked\n"
        line = (_SKILL % "\n        - type: telegram").splitlines().index("        - type: telegram") + 1
        warnings = scripted.seen.texts("warning")
        assert any(f"SKILL.md:{line}:" in text and "telegram" in text for text in warnings)

    asyncio.run(main())


def test_settings_that_switch_all_hooks_off_switch_these_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    user = tmp_path / "home" / ".claude" / "settings.json"
    user.parent.mkdir(parents=True)
    user.write_text(json.dumps({"disableAllHooks": True}))

    async def main() -> None:
        async with _stage(tmp_path, _SKILL % "", 1) as scripted:
            await scripted.play("/careful")
        assert scripted.text("asked.txt") == ""
        assert scripted.results() == ["done: it"]

    asyncio.run(main())


def test_a_blocked_expansion_brings_no_hooks_in(tmp_path: Path) -> None:
    async def main() -> None:
        block = {"type": "command", "command": "exit 2"}
        settings = json.dumps({"hooks": {"UserPromptExpansion": [{"hooks": [block]}]}})
        files = {".claude/settings.json": settings}
        async with _stage(tmp_path, _SKILL % "", 1, **files) as scripted:
            await scripted.play("/careful", "after it")
        assert scripted.text("asked.txt") == ""
        assert scripted.results() == ["done: it"]

    asyncio.run(main())


def test_without_an_engine_it_is_said_that_they_do_not_run(tmp_path: Path) -> None:
    async def main() -> None:
        scripted = ScriptedSession(tmp_path, [says("done")], engine=False)
        skill = scripted.project / ".claude/skills/careful/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(_SKILL % "")
        async with scripted:
            await scripted.play("/careful")
        assert "/careful: its hooks do not run: this agent runs without hooks" in scripted.seen.texts(
            "warning"
        )

    asyncio.run(main())
