"""`hookline hook --print-config`: what it prints is read by the agent's own reader, and works in a real shell."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from hookline import Engine
from hookline.cli.commands.hook.run import entries_text, hookline_command
from hookline.config.install.self_calls import calls_hookline_hook
from hookline.dialects.registry import standard_dialects
from hookline.extending import Dialect, Hook
from hookline.resident.call.payload import CallError
from tests.cli.golden import check_golden
from tests.cli.run_cli import clean_env, place, run_cli
from tests.every import every
from tests.homes import NOBODYS_HOME
from tests.vouching import vouch_for

NAMES = list(standard_dialects())
FILES = {
    "claude-code": ".claude/settings.json",
    "gen-code": ".gen/settings.json",
    "codewhale": ".codewhale/hooks.toml",
    "reasonix": ".reasonix/settings.json",
    "docker-agent": "agent.yaml",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "native": ".hookline/hooks.toml",
}
#: What each agent calls the moment before a tool runs.
GATES = {"codewhale": "tool_call_before", "docker-agent": "pre_tool_use", "gemini-cli": "BeforeTool"}


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print for a user whose home is in the user database."""
    monkeypatch.setenv("HOME", NOBODYS_HOME)


def dialect(name: str) -> Dialect:
    return Engine().loader.dialect(name)


def read_back(name: str, text: str, folder: Path) -> tuple[Hook, ...]:
    """The hooks as the agent's own reader has them; a mistake in them is ours."""
    file = folder / FILES[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    loaded = Engine().loader.files([str(file)], name)
    assert [str(one) for one in loaded.diagnostics] == []
    return loaded.hooks


@pytest.mark.parametrize("name", NAMES)
def test_the_agents_own_reader_takes_what_is_printed(name: str, tmp_path: Path) -> None:
    hooks = read_back(name, entries_text(dialect(name), (), "hookline"), tmp_path)
    assert {hook.policy.event_name for hook in hooks} >= {GATES.get(name, "PreToolUse")}
    for hook in hooks:
        assert calls_hookline_hook(hook, [])
        called, _, closes = hook.spec.command.removeprefix("sh -c '").partition(" || ")
        assert called == f"hookline hook --dialect {name} {hook.policy.event_name}"
        guards = dict.fromkeys(("codex", "gemini-cli"), hook.event.guard)
        closed = {"claude-code": hook.event.name == "PreToolUse", **guards}
        assert bool(closes) == closed.get(name, False)
        about_tools = hook.event.subject == "tool_name"
        assert not about_tools or hook.matcher is None or hook.matcher.matches("AnyTool")
        longest = 600 if hook.event.name != "SessionEnd" else 2 if name == "codex" else 59
        assert hook.timeout > longest


@pytest.mark.parametrize("name", NAMES)
def test_every_event_can_be_printed(name: str, tmp_path: Path) -> None:
    whole = dialect(name)
    hooks = read_back(name, entries_text(whole, tuple(whole.events), "hookline"), tmp_path)
    assert {hook.policy.event_name for hook in hooks} == set(whole.events)


@every("name", NAMES)
def test_every_guard_is_among_what_is_printed_unasked(name: str) -> None:
    text = entries_text(dialect(name), (), "hookline")
    for event in dialect(name).events.values():
        # Other names of Docker Agent for the moment before a tool runs would ask every hook twice.
        twice = event.name in ("tool_input_transform", "tool_guard")
        deaf = (name, event.name) == ("reasonix", "PermissionRequest")
        if event.guards and not twice and not deaf:
            assert f"{event.name}" in text


def test_an_event_the_agent_does_not_have_is_named() -> None:
    with pytest.raises(CallError, match="there it is called tool_call_before"):
        entries_text(dialect("codewhale"), ("PreToolUse",), "hookline")


def test_where_no_shell_finds_it_the_whole_path_is_printed(tmp_path: Path) -> None:
    assert hookline_command({"PATH": str(tmp_path)}).endswith(" -I -m hookline")
    (tmp_path / "hookline").write_text("#!/bin/sh\n")
    (tmp_path / "hookline").chmod(0o755)
    assert hookline_command({"PATH": str(tmp_path)}) == "hookline"


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_works_in_a_real_shell(name: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "deny"\nargs = ["not here"]\n'
    )
    vouch_for(home, project)
    gate = GATES.get(name, "PreToolUse")
    printed = run_cli(["hook", "--print-config", name, gate], project, home)
    assert (printed.status, FILES[name] in printed.stderr or name == "docker-agent") == (0, True)
    (hook,) = {one.spec.command for one in read_back(name, printed.stdout, tmp_path / "elsewhere")}
    told = {
        "cwd": str(project),
        "hook_event_name": gate,
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }
    if name == "reasonix":
        told = {"event": gate, "cwd": str(project), "toolName": "Bash", "toolArgs": {"command": "ls"}}
    env = {
        "DEEPSEEK_TOOL_NAME": "Bash",
        "DEEPSEEK_TOOL_ARGS": '{"command": "ls"}',
        "DEEPSEEK_WORKSPACE": str(project),
    }
    ran = subprocess.run(
        ["/bin/sh", "-c", hook],
        cwd=project, env=clean_env(home, env if name == "codewhale" else None), capture_output=True, text=True,
        input="" if name == "codewhale" else json.dumps(told), check=False,
    )  # fmt: skip
    assert "not here" in ran.stdout + ran.stderr
    assert ran.returncode in (0, 2)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
@pytest.mark.parametrize(
    ("program", "code", "stdout", "stderr"),
    [
        (None, 2, "", "hookline could not be run"),
        ("exit 1", 2, "", "hookline could not be run"),
        ("kill -9 $$", 2, "", "hookline could not be run"),
        # What it said before that is still said, and its own codes keep their meaning.
        ("echo '{}'; exit 1", 2, "{}", "hookline could not be run"),
        ("echo '{}'; echo psst >&2", 0, "{}", "psst"),
        ("echo because >&2; exit 2", 2, "", "because"),
    ],
)
def test_an_entry_closes_in_the_shell(
    name: str, program: str | None, code: int, stdout: str, stderr: str, tmp_path: Path
) -> None:
    if program is not None:
        (tmp_path / "hookline").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "hookline").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    gate = GATES.get(name, "PreToolUse")
    (hook,) = read_back(name, entries_text(dialect(name), [gate], "hookline"), tmp_path)
    ran = subprocess.run(
        ["/bin/sh", "-c", hook.spec.command],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.strip()) == (code, stdout)
    assert ran.stderr.splitlines()[-1].startswith(stderr)


def test_what_is_printed_is_as_it_was_approved() -> None:
    with place() as where:
        for name in ("claude-code", "docker-agent"):
            printed = run_cli(["hook", "--print-config", name], where.project, Path(NOBODYS_HOME))
            check_golden(f"hook-print-config-{name}.txt", printed.stderr + printed.stdout)
        check_golden("hook-help.txt", run_cli(["hook", "--help"], where.project, where.home).stdout)


def test_a_wrong_name_says_the_nearest(tmp_path: Path) -> None:
    ran = run_cli(["hook", "--print-config", "claud"], tmp_path, tmp_path)
    assert (ran.status, ran.stdout) == (1, "")
    assert "did you mean 'claude-code'?" in ran.stderr
    assert os.listdir(tmp_path) == []
