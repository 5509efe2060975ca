"""Test which hooks are ours to run: never one that would call us again, however it is written."""

import asyncio
from typing import Any

from msgspec.structs import replace

from hookline import Engine
from hookline.config.install.self_calls import calls_hookline_hook
from hookline.events import PRE_TOOL_USE
from hookline.extending import CommandSpec, Hook
from hookline.hook.call.answer import DEEPEST, DEPTH, AgentCall
from tests.every import every

BASE = Engine().make_hook(PRE_TOOL_USE, "true")


def of(spec: Any, kind: str = "command") -> Hook:
    return replace(BASE, spec=spec, kind=kind)


@every(
    "command",
    [
        "hookline hook --dialect claude-code",
        "hookline hook --dialect claude-code PreToolUse",
        "hookline-relay hook --dialect claude-code PreToolUse",
        "/opt/tools/bin/hookline-relay --daemon /tmp/x hook --dialect claude-code",
        "env A=1 hookline-relay --daemon '/a b' hook",
        "sh -c 'exec hookline-relay hook --dialect native || exit 2'",
        "uvx --from hookline hookline-relay hook --dialect claude-code",
        "$(command -v hookline-relay) --daemon /x hook --dialect claude-code",
        "/opt/tools/bin/hookline hook --dialect gen-code",
        "  'hookline'   hook --dialect native",
        '"$HOME"/.venv/bin/hookline hook --dialect reasonix',
        "python -m hookline hook --dialect claude-code",
        "python -m hookline.app hook --dialect claude-code",
        "/usr/bin/python3.12 -I -m hookline.app hook --dialect claude-code",
        "/usr/bin/python3.12 -P -m hookline hook --dialect claude-code",
        "python3 /opt/bin/hookline hook",
        "sh -c 'hookline hook --dialect codewhale turn_end'",
        'bash -lc "cd /x && exec hookline hook --dialect claude-code"',
        "env A=1 B=2 hookline hook --dialect claude-code",
        "env -i PATH=/bin sh -c 'hookline hook'",
        "timeout 10 hookline hook --dialect claude-code",
        "uv run hookline hook --dialect claude-code",
        "uvx hookline hook --dialect claude-code",
        "cat | hookline hook --dialect claude-code",
        "test -d .hookline && hookline hook --dialect claude-code || true",
        "A=1 hookline hook",
        'out=$(hookline hook --dialect claude-code); echo "$out"',
        "$(command -v hookline) hook --dialect claude-code",
    ],
)
def test_a_line_that_runs_us_is_left_out(command: str) -> None:
    assert calls_hookline_hook(of(CommandSpec(command)), [])


@every(
    "command",
    [
        "true",
        "hookline fire PreToolUse Bash command=ls",
        "hookline log --since 2h",
        "hookline",
        "grep hookline hook.txt",
        "./hookline-guard hook",
        "hookline-relay fire PreToolUse",
        "hookline-relay --daemon hook fire",
        "hookline-relayed hook",
        "echo 'hookline hook was here'",
        "python -m hookline_extras hook",
        "python hooks/guard.py hookline.toml",
        "logger hookline hook",
    ],
)
def test_other_lines_are_not(command: str) -> None:
    assert not calls_hookline_hook(of(CommandSpec(command)), [])


def test_programs_without_a_shell_are_known_too() -> None:
    assert calls_hookline_hook(of(CommandSpec("/x/hookline", args=("hook", "--dialect", "native"))), [])
    assert calls_hookline_hook(of(CommandSpec("python3", args=("-m", "hookline.app", "hook"))), [])
    assert calls_hookline_hook(of(CommandSpec("/x/hookline-relay", args=("--daemon", "/x", "hook"))), [])
    assert calls_hookline_hook(of(CommandSpec("uv", args=("run", "hookline", "hook"))), [])
    assert not calls_hookline_hook(of(CommandSpec("/x/hookline", args=("fire", "Stop"))), [])
    assert not calls_hookline_hook(of(None, kind="function"), [])


CALL = b'{"hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_input": {}}'


def told_at(depth: str | None) -> tuple[Any, dict[str, str]]:
    env = {} if depth is None else {DEPTH: depth}
    answering = AgentCall(Engine(), "claude-code", "PreToolUse", files=(), env=env)
    return asyncio.run(answering.answer(CALL)), env


def test_each_level_is_counted_and_the_last_one_says_so() -> None:
    assert told_at(None)[1] == {DEPTH: "1"}
    assert told_at("1")[1] == {DEPTH: "2"}
    assert told_at("nonsense")[1] == {DEPTH: "1"}
    translated, env = told_at(str(DEEPEST))
    assert "remove that call from the hook" in translated.stdout
    assert env == {DEPTH: str(DEEPEST)}
