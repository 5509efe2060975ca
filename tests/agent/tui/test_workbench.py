"""Test the workbench as a hook's author uses it: a guard that denies wrongly is found, mended, replayed and tested."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.tui import screens
from tests.agent.tui.memory_screen import OnScreen, Project

F3 = "\x1bOR"
UP, DOWN = "\x1b[A", "\x1b[B"
_GUARD = """import json, sys
call = json.load(sys.stdin)
if "--force" in call["tool_input"]["command"]:
    print("force pushes rewrite history", file=sys.stderr)
    sys.exit(2)
"""
_MENDED = _GUARD.replace('["command"]:', '["command"].split():')
_PUSH = {"name": "Bash", "input": {"command": "git push --force-with-lease"}}
_SCRIPT = [{"text": "I push.", "tool_calls": [_PUSH]}, {"text": "It was denied."}]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Generator[Project]:
    with tempfile.TemporaryDirectory(prefix="hl-", dir="/tmp") as directory:
        project = Project(Path(directory), monkeypatch)
        project.write(".hookline/guard.py", _GUARD)
        monkeypatch.delenv("VISUAL", raising=False)
        yield project


def _hooks(command: str = "python3 .hookline/guard.py", **more: Any) -> dict[str, Any]:
    guard = {"type": "command", "command": command, "name": "no force push", **more}
    audit = {"type": "command", "command": "echo seen >&2; exit 2", "name": "audit", "mode": "shadow"}
    reads = {"type": "command", "command": "true", "name": "secrets"}
    return {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [guard]},
            {"hooks": [audit]},
            {"matcher": "Read", "hooks": [reads]},
        ]
    }


def _editor(project: Project, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Use an editor that does this to the file it is given, named `file`."""
    editor = project.home / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys, pathlib\nfile = pathlib.Path(sys.argv[-1])\n{code}\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))


async def _trusts(one: OnScreen) -> None:
    """Trust exactly what is asked about; once more if it was too long to be shown at once."""
    dialog = one.screen.dialog
    while "Enter sends" not in one.text:
        await one.until(lambda: dialog.open is not None or "Enter sends" in one.text)
        if (asked := dialog.open) is not None:
            await one.answers("1")
            await one.until(lambda asked=asked: dialog.open is not asked)


def _pane(one: OnScreen) -> str:
    """Return the pane: how much the conversation beside it shows of the question before depends on the machine."""
    left = one.screen.layout.columns
    assert "It was denied." in one.text
    return "\n".join(line[left:].rstrip() for line in one.text.split("\n")).rstrip() + "\n"


async def _denied(one: OnScreen) -> None:
    await one.until("Enter sends")
    one.types("push\r")
    await one.until("It was denied.")
    await one.idle()


def test_a_guard_that_denies_wrongly_is_mended_without_leaving_the_screen(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys: F3, Enter on the run, x, r by itself, t. What was saved runs without a further question."""
    _editor(project, monkeypatch, f"file.write_text({_MENDED!r})")

    async def main() -> None:
        async with project.agent(
            _SCRIPT, _hooks(), "--mode", "bypass", columns=180, rows=40, trusted=False
        ) as one:
            await _trusts(one)
            await _denied(one)
            one.types(F3)
            await one.until("not matched: matcher")
            screens.check("workbench", _pane(one))
            one.types(UP + UP + "\r")
            await one.until("understood as")
            # The variables are those of the machine.
            screens.check("workbench-run", "\n".join(_pane(one).split("\n")[:26]) + "\n")
            one.types("x")
            await one.until("guard.py saved")
            await one.until("before")
            screens.check("workbench-replay", _pane(one))
            one.types("t")
            await one.until("wrote tests/test_hooks.py for pytest; it expects: passed")
            one.types("\x1b")
            await one.until("understood as")

    asyncio.run(main())
    assert (project.root / ".hookline/guard.py").read_text() == _MENDED
    written = (project.root / "tests/test_hooks.py").read_text()
    assert 'hooks.tool("Bash", command="git push --force-with-lease")' in written
    assert "assert said.allowed" in written
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "tests/test_hooks.py",
    ]
    tested = subprocess.run(line, cwd=project.root, env=env, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_a_narrow_terminal_has_the_pane_on_the_whole_screen(project: Project) -> None:
    async def main() -> None:
        async with project.agent(_SCRIPT, _hooks(), "--mode", "bypass", columns=80, rows=14) as one:
            await _denied(one)
            one.types(F3)
            await one.until("not matched: matcher")
            screens.check("workbench-narrow", one.text)
            one.types("c")
            await one.until("copied: hookline fire PreToolUse Bash")
            assert "\x1b]52;c;" in one.emulator.raw
            one.types("q")
            await one.until("idle ·")

    asyncio.run(main())


def test_an_entry_is_mended_and_reloaded_without_a_question(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended = json.dumps({"hooks": _hooks("python3 .hookline/guard.py; true")}, indent=1)
    _editor(project, monkeypatch, f"file.write_text({mended!r})")

    async def main() -> None:
        async with project.agent(_SCRIPT, _hooks(), "--mode", "bypass", columns=140, trusted=False) as one:
            await _trusts(one)
            await _denied(one)
            one.types(F3)
            await one.until("not matched: matcher")
            one.types("\x1b[H" + DOWN + "X")
            await one.until("hooks.json:")
            await one.until("now")
            assert one.screen.dialog.open is None
            await one.until("≠ outcome")

    asyncio.run(main())


def test_an_edit_of_untrusted_bytes_is_asked_about(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script changed before: what is saved on top of it is not the user's alone."""
    _editor(project, monkeypatch, f"file.write_text({_MENDED!r})")

    async def main() -> None:
        async with project.agent(
            _SCRIPT, _hooks(), "--mode", "bypass", columns=140, rows=40, trusted=False
        ) as one:
            await _trusts(one)
            await _denied(one)
            project.write(".hookline/guard.py", f"# slipped in\n{_GUARD}")
            await one.until("May this change take effect?")
            await one.answers("2")
            await one.until("does not run until")
            one.types(F3)
            await one.until("not matched: matcher")
            one.types("\x1b[H" + DOWN + "x")
            await one.until("it was not trusted before")
            await one.until("May this change take effect?")
            assert "split()" in one.text

    asyncio.run(main())


def test_what_the_agent_writes_while_the_editor_is_open_is_not_trusted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user saves nothing; somebody else writes the file meanwhile."""
    guard = project.root / ".hookline/guard.py"
    _editor(project, monkeypatch, f"pathlib.Path({str(guard)!r}).write_text('pass')")

    async def main() -> None:
        async with project.agent(
            _SCRIPT, _hooks(), "--mode", "bypass", columns=140, rows=40, trusted=False
        ) as one:
            await _trusts(one)
            await _denied(one)
            one.types(F3)
            await one.until("not matched: matcher")
            one.types("\x1b[H" + DOWN + "x")
            await one.until("nothing changed")
            await one.until("May this change take effect?")
            one.types("\t")
            await one.answers("2")
            await one.until("does not run until")

    asyncio.run(main())


def test_a_running_hook_is_skipped_once(project: Project) -> None:
    script = [{"tool_calls": [{"name": "Bash", "input": {"command": "echo hi"}}]}, {"text": "Done."}]
    slow = {"type": "command", "command": "sleep 600", "name": "slow", "timeout": 900}
    required = {**slow, "name": "law", "required": True}

    project.trust()

    async def main(*hooks: dict[str, Any], said: str) -> None:
        event = {"PreToolUse": [{"hooks": list(hooks)}]}
        async with project.agent(script, event, "--mode", "bypass", columns=140, trusted=False) as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until(lambda: bool(one.screen.channel.running_hooks()))
            one.types(F3)
            await one.until("k skips it")
            one.types("k")
            await one.until(said)
            if hooks[0] is slow:
                await one.until("Done.")
                await one.until("skipped by the user while it ran")

    asyncio.run(main(slow, said="slow was skipped, this once"))
    asyncio.run(main(required, said="law is required: it stays active"))
    [journal] = (project.home / ".local/state/hookline").glob("journal*.jsonl")
    assert "skipped by the user while it ran" in journal.read_text()


def test_switching_a_hook_off_ends_its_run(project: Project) -> None:
    script = [{"tool_calls": [{"name": "Bash", "input": {"command": "echo hi"}}]}, {"text": "Done."}]
    slow = {"type": "command", "command": "sleep 600", "name": "slow", "timeout": 900}

    async def main() -> None:
        event = {"PreToolUse": [{"hooks": [slow]}]}
        async with project.agent(script, event, "--mode", "bypass") as one:
            await one.until("Enter sends")
            one.types("go\r")
            await one.until(lambda: bool(one.screen.channel.running_hooks()))
            one.types("\x1bOQ")
            await one.until("decided")
            one.types("o")
            await one.until("until this session ends")
            one.types("q")
            await one.until("Done.")

    asyncio.run(main())


def test_hooks_skipped_for_lack_of_trust_are_one_line_each_time(project: Project) -> None:
    script = [{"text": "One."}, {"text": "Two."}]
    logs = {"Stop": [{"hooks": [{"type": "command", "command": "true", "name": "log", "async": True}]}]}

    async def main() -> None:
        async with project.agent(script, logs, trusted=False) as one:
            await one.answers("3")
            await one.until("Enter sends")
            one.types("first\r")
            await one.until("One.")
            await one.idle()
            one.types("second\r")
            await one.until("Two.")
            await one.until(lambda: one.words.count("hook log did not run") == 2)

    asyncio.run(main())
