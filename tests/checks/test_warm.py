"""Test which Python hooks cannot run warm, as `doctor` reports it."""

from pathlib import Path

import pytest

from hookline.checks.commands.warm import can_run_warm, cold_scripts
from tests.checks.hooks import claude, here, native
from tests.every import every

pytestmark = pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no /usr/bin/python3")


@every(
    ("command", "why"),
    [
        ("python3 guard.py", None),
        ('python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.py"', None),
        ("python3 guard.py | tee log", "its line is more than one simple command"),
        ("cat | python3 guard.py", "its line is more than one simple command"),
        ("uv run guard.py", "uv is not a Python interpreter"),
        ("jq .", None),
        ("node guard.js", None),
    ],
)
def test_a_python_hook_that_cannot_run_warm_says_why(command: str, why: str | None, tmp_path: Path) -> None:
    found = list(cold_scripts(claude(tmp_path, "PreToolUse", {"command": command}), here(tmp_path)))
    assert [(each.code, each.severity, each.message) for each in found] == (
        [] if why is None else [("not-warm", "info", f"it cannot run warm: {why}")]
    )


def test_a_hook_that_opted_out_is_left_alone(tmp_path: Path) -> None:
    text = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'python3 a.py{}'\nwarm = {}\n"
    for pipe, warm, notes, can in (
        ("", "true", 0, True), (" | cat", "true", 1, False), (" | cat", "false", 0, False), ("", "false", 0, False),
    ):  # fmt: skip
        loaded = native(tmp_path, text.format(pipe, warm))
        assert loaded.diagnostics == ()
        assert len(list(cold_scripts(loaded, here(tmp_path)))) == notes
        assert [can_run_warm(hook, here(tmp_path)) for hook in loaded.hooks] == [can]


def test_warm_is_true_or_false(tmp_path: Path) -> None:
    text = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'python3 a.py'\nwarm = 'no'\n"
    assert [each.code for each in native(tmp_path, text).diagnostics] == ["wrong-type"]
