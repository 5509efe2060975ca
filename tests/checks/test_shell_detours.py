"""Test the finding about guards of files that the shell goes around."""

from pathlib import Path

from hookline.checks.commands.shell_detours import shell_detours
from hookline.checks.context import CheckContext
from hookline.config.engine import Engine
from hookline.shell import ShellReader

_SETTINGS = """{"hooks": {
  "PreToolUse": [
    {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "./edits"}]},
    {"matcher": "Read", "hooks": [{"type": "command", "command": "./reads"}]},
    {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "./both"}]},
    {"matcher": "WebFetch", "hooks": [{"type": "command", "command": "./web"}]},
    {"hooks": [{"type": "command", "command": "./all"}]}
  ],
  "PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "./format"}]}]
}}"""


def _found(project: Path, native: str) -> list[tuple[str | None, str]]:
    (project / ".claude").mkdir(exist_ok=True)
    (project / ".claude" / "settings.json").write_text(_SETTINGS)
    (project / ".hookline").mkdir(exist_ok=True)
    (project / ".hookline" / "hooks.toml").write_text(native)
    loader = Engine().loader
    loaded = loader.directory(str(project))
    context = CheckContext(str(project), {}, ShellReader(), loader)
    return [(one.hook, one.message.split("`")[1]) for one in shell_detours(loaded, context)]


def test_guards_of_files_alone_are_found(tmp_path: Path) -> None:
    assert _found(tmp_path, "") == [("edits", "echo x > FILE"), ("reads", "cat FILE")]


def test_the_setting_ends_it(tmp_path: Path) -> None:
    assert _found(tmp_path, 'actions = "all"') == []
    assert _found(tmp_path, 'actions = ["reads"]') == [("edits", "echo x > FILE")]
