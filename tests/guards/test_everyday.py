"""Guards over everyday lines: they stop those that are marked with their names, and next to none of the others."""

import pytest

from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.scene import Scene
from tests.permissions.permission_cases import PROJECT, corpus

EVERYDAY = list(corpus("everyday.txt"))
#: Of all lines.
MOST_FALSE_ALARMS = 0.01
#: One for all: a line is read once for all guards.
RUNNER = GuardRunner(lambda _tool, _arguments, _cwd: None)
SCENE = Scene(cwd=PROJECT, project_dir=PROJECT)
#: What is protected, only an engine knows: tests/guards/test_formats.py.
NAMES = [name for name in GUARD_NAMES if name != "self-protection"]


def stops(name: str, line: str) -> bool:
    call = ToolCall(tool_name="Bash", tool_input={"command": line})
    return RUNNER.verdict(name, (), call, SCENE) is not None


def test_everyday_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.delenv("TMPDIR", raising=False)
    missed: list[tuple[str, str]] = []
    false: dict[str, list[str]] = {name: [] for name in NAMES}
    for entry in EVERYDAY:
        for name in NAMES:
            if stops(name, entry.line):
                false[name] += [entry.line] if entry.false_alarm(name) else []
            elif name in entry.hits:
                missed.append((name, entry.line))
    assert missed == []
    most = MOST_FALSE_ALARMS * len(EVERYDAY)
    assert {name: lines for name, lines in false.items() if len(lines) > most} == {}
