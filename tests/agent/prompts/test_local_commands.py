"""Local commands: read from what the user typed, whatever hooks of prompts make of it, on every front."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from hookline.agent.prompts.local_commands import LOCAL_COMMANDS, LocalCommand, local_command
from tests.agent.hook_entries import command, on
from tests.agent.scripted_session import ScriptedSession, says
from tests.agent.terminal import Terminal
from tests.agent.tui.real_terminal import RealTerminal
from tests.cli.run_cli import clean_env, run_cli
from tests.trusting import trust_all_of

#: The hook of the RFC's manual smoke test: it prepends to every message.
_PREPENDS = """\
[[hooks.hooks]]
event = "message_submit"
command = '''python3 -c 'import json, sys; print(json.dumps({"text": "[hooked] " + json.load(sys.stdin)["text"]}))' '''
"""
_BLOCKS = """\
[[hooks.hooks]]
event = "message_submit"
command = "echo not today >&2; exit 2"
"""
HOOKS = pytest.mark.parametrize("hooks", [_PREPENDS, _BLOCKS], ids=["prepends", "exit_2"])
_WORDS = ("agent", "--model", "scripted:script.json", "--dialect", "codewhale", "--config", "config.toml")


def _project(directory: Path, hooks: str) -> Path:
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    trust_all_of(project.parent, project)
    (project / "config.toml").write_text(hooks)
    (project / "script.json").write_text(json.dumps([says("an answer")]))
    return project


@HOOKS
def test_seed000_local_commands_work_with_print(hooks: str, tmp_path: Path) -> None:
    project = _project(tmp_path, hooks)
    ran = run_cli([*_WORDS, "--print", "/mode plan", "/cost", "/exit", "never"], project, project.parent)
    assert (ran.status, ran.stdout) == (0, "")
    assert ran.stderr.splitlines() == ["note: permission mode: plan", "note: 0 tokens in, 0 out"]


@HOOKS
def test_seed000_local_commands_work_by_lines_at_a_terminal(hooks: str, tmp_path: Path) -> None:
    project = _project(tmp_path, hooks)
    terminal = Terminal([*_WORDS, "--plain"], project, project.parent)
    terminal.until("/help lists commands")
    terminal.types("/mode plan\n")
    terminal.until("note: permission mode: plan")
    terminal.types("/cost\n")
    terminal.until("note: 0 tokens in, 0 out")
    terminal.types("/exit\n")
    assert terminal.status() == 0


@HOOKS
def test_seed000_local_commands_work_on_the_screen(hooks: str, tmp_path: Path) -> None:
    project = _project(tmp_path, hooks)
    line = [sys.executable, "-m", "hookline.app", *_WORDS]
    terminal = RealTerminal(line, project, clean_env(project.parent))
    try:
        terminal.until("Enter sends")
        terminal.types("/mode plan\r")
        terminal.until("permission mode: plan")
        terminal.types("/cost\r")
        terminal.until("0 tokens in, 0 out")
        terminal.types("/exit\r")
        assert terminal.status() == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("made", ["/exit", "/mode bypass", "/clear", "/exit now"])
def test_a_text_that_a_hook_makes_never_becomes_a_local_command(made: str, tmp_path: Path) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "updatedPrompt": made}}
    line = f"grep -q hello && printf '%s' '{json.dumps(answer)}' || true"
    hooks = on("UserPromptSubmit", command(line, rewrites=True, name="maker"))

    async def main() -> None:
        async with ScriptedSession(tmp_path, [says("one")], hooks=hooks) as scripted:
            result = await scripted.play("hello")
            name = made.split(maxsplit=1)[0]
            assert result is not None
            # The user's own text is given back: to press Enter again must not run what the hook wrote.
            assert (result.status, result.rejected_text) == ("blocked", "hello")
            assert result.why == f"a hook made the prompt {name}, which only the user may type"
            (shown,) = [each for each in scripted.seen.all if each.kind == "blocked"]
            assert (shown.hook, shown.text) == ("maker", result.why)
            assert (scripted.requests, scripted.agent.leaving) == ([], None)
            assert scripted.agent.permissions.mode == "default"
            assert await scripted.play("go on") is not None
            assert len(scripted.requests) == 1

    asyncio.run(main())


def test_a_local_command_fires_no_prompt_event(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, [says("one")], hooks=on("UserPromptSubmit", command("true"))
        ) as scripted:
            await scripted.play("/cost", "/add-dir", "/clear all of it", "hello", "/mode plan")
            assert [fired.payload.prompt for fired in scripted.events("UserPromptSubmit")] == ["hello"]
            assert scripted.seen.texts("warning") == [
                "/add-dir needs an argument: /add-dir DIR",
                "/clear takes no argument; it was not run",
            ]

    asyncio.run(main())


def test_a_local_command_wins_over_a_command_of_the_project(tmp_path: Path) -> None:
    async def main() -> None:
        async with ScriptedSession(tmp_path, []) as scripted:
            file = scripted.project / ".hookline/commands/cost.md"
            file.parent.mkdir(parents=True)
            file.write_text("never sent")
            await scripted.play("/cost")
            assert scripted.seen.texts("notice") == ["0 tokens in, 0 out"]

    asyncio.run(main())


@pytest.mark.parametrize("name", LOCAL_COMMANDS)
def test_a_local_command_is_read_with_its_argument(name: str) -> None:
    argument = {"none": "", "optional": "", "required": "some thing"}[LOCAL_COMMANDS[name].argument]
    assert local_command(f"/{name} {argument}\n") == LocalCommand(name, argument)


def test_an_argument_that_is_optional_is_taken_whole() -> None:
    command = local_command("/compact keep  the plan\nand the tests")
    assert command == LocalCommand("compact", "keep  the plan\nand the tests")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("/add-dir", "/add-dir needs an argument: /add-dir DIR"),
        ("/worktree  ", "/worktree needs an argument: /worktree NAME"),
        ("/clear everything", "/clear takes no argument; it was not run"),
    ],
)
def test_a_local_command_typed_wrongly_says_what_is_wrong(text: str, problem: str) -> None:
    assert local_command(text) == problem


@pytest.mark.parametrize("text", ["hello", "", "/", " /clear", "/etc/hosts is wrong", "\n/exit", "/exits"])
def test_other_texts_are_no_local_command(text: str) -> None:
    assert local_command(text) is None
