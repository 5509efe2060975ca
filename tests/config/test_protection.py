"""Test self-protection over what a call does, in every agent's format, and with undeclared tools."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.actions.action import PathContext
from hookline.actions.kinds import KINDS
from hookline.actions.standard_tools import CANONICAL, STANDARD
from hookline.actions.translate import ReadCall
from hookline.config.protection.calls import CallReader, CallReaders
from hookline.config.protection.protected_paths import Protected, protected_in
from hookline.dialects.registry import every_dialect
from hookline.guards.runner import GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo
from hookline.shell import ShellReader
from tests.every import every

_FILE = ".hookline/hooks.toml"
#: What the call does to a protected file, by kind.
_CHANGES: Mapping[str, dict[str, Any]] = {
    "shell": {"command": f"rm {_FILE}"},
    "write": {"file_path": _FILE, "content": "x"},
    "edit": {"file_path": _FILE, "old_string": "a", "new_string": "b"},
    "notebook": {"notebook_path": ".claude/x.ipynb", "new_source": "x"},
    "delete": {"file_path": _FILE},
    "move": {"source": "a", "destination": _FILE},
    "code": {"language": "python", "code": f"open({_FILE!r}, 'w')"},
}
_LOOKS: Mapping[str, dict[str, Any]] = {
    "shell": {"command": f"cat {_FILE}"},
    "read": {"file_path": _FILE},
    "list": {"path": ".hookline"},
    "glob": {"pattern": f"{_FILE}*"},
    "grep": {"pattern": _FILE, "path": ".hookline"},
    "write": {"file_path": "notes.md", "content": _FILE},
    "agent": {"prompt": f"look at {_FILE}", "description": "look", "subagent_type": "x"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".hookline").mkdir()
    (tmp_path / _FILE).write_text("")
    (tmp_path / "link.toml").symlink_to(_FILE)
    return tmp_path


def calls_of(kinds: Mapping[str, dict[str, Any]], project: Path) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """The calls by which each agent does this with its own tools."""
    for dialect in every_dialect():
        for kind, given in kinds.items():
            path_context = PathContext(str(project), str(project), str(project))
            for way in ReadCall(CANONICAL, KINDS[kind].tool, given, path_context).ways(dialect.tools)[0]:
                if len(way) == 1 and way[0].tool is not None and way[0].similar is None:
                    yield dialect, way[0].tool_name, way[0].arguments


def written(project: Path, tool: str, arguments: Any, tools: Any = None) -> str:
    home = str(project.parent)
    reader = CallReader(lambda: protected_in([str(project)], {"HOME": home}), home, ShellReader)
    hit = reader.written_by_call(tool, arguments, str(project), tools=tools)
    return hit.path if hit is not None else ""


def test_every_way_of_every_agent_to_change_a_protected_file_is_seen(project: Path) -> None:
    calls = list(calls_of(_CHANGES, project))
    assert len({dialect.name for dialect, _tool, _arguments in calls}) > 6
    unseen = [
        (dialect.name, tool, arguments)
        for dialect, tool, arguments in calls
        if not written(project, tool, arguments, dialect.own_tools)
    ]
    assert unseen == []


def test_no_way_of_an_agent_to_look_at_one_is_stopped(project: Path) -> None:
    calls = list(calls_of(_LOOKS, project))
    assert len(calls) > 30
    stopped = [
        (dialect.name, tool, arguments)
        for dialect, tool, arguments in calls
        if written(project, tool, arguments, dialect.own_tools)
    ]
    assert stopped == []


def test_arguments_that_came_as_json_are_read(project: Path) -> None:
    assert written(project, "Write", f'{{"file_path": "{_FILE}"}}') == _FILE


def test_calls_inside_a_call_that_cannot_be_read_are_searched(project: Path) -> None:
    parallel = next(
        (dialect, name)
        for dialect in every_dialect()
        for name, tool in dialect.tools.tools.items()
        if tool.calls is not None and tool.calls.key
    )
    given = {"tool_uses": {"later": [{"path": _FILE}]}}
    assert written(project, parallel[1], given, parallel[0].own_tools) == _FILE


def said(project: Path, tool: str, **arguments: Any) -> bool:
    """Return True if the guard stops a call in canonical terms."""
    readers = CallReaders({"HOME": str(project.parent)}, ShellReader)
    runner = GuardRunner(lambda actions, cwd: readers.changes_guards(actions, cwd, ()))
    info = SessionInfo(cwd=str(project), project_dir=str(project))
    call = ToolCall(tool_name=tool, tool_input=arguments)
    return runner.decision("self-protection", (), call, info) is not None


@every(
    ("tool", "arguments"),
    [
        ("BashInput", {"task_id": "1", "input": f"rm {_FILE}\n"}),
        ("Code", {"language": "python", "code": "open('link.toml', 'w')"}),
        ("MultiEdit", {"file_path": [_FILE]}),
        ("Move", {"source": _FILE, "destination": "x"}),
        ("mcp__any__save", {"to": _FILE}),
    ],
)
def test_the_guard_sees_what_an_act_changes(tool: str, arguments: dict[str, Any], project: Path) -> None:
    assert said(project, tool, **arguments)


@every(
    ("tool", "arguments"),
    [
        ("LS", {"path": ".hookline"}),
        ("BashInput", {"task_id": "1", "input": f"cat {_FILE}\n"}),
        ("mcp__filesystem__list_directory", {"path": ".hookline"}),
    ],
)
def test_the_guard_lets_looking_pass(tool: str, arguments: dict[str, Any], project: Path) -> None:
    assert not said(project, tool, **arguments)


def test_standard_names_are_read_without_a_table(project: Path) -> None:
    for kind, given in _CHANGES.items():
        tool = KINDS[kind].tool
        if STANDARD.tool(tool) is not None:
            assert written(project, tool, given)


@every("piece", ["a/", "é/", "../"])
def test_a_long_path_takes_no_squares_of_its_length(piece: str, project: Path) -> None:
    def seconds(length: int) -> float:
        path = "/" + piece * (length // len(piece))
        before = time.process_time()
        written(project, "Write", {"file_path": path, "content": "x"})
        return time.process_time() - before

    seconds(1000)  # read once
    # Squares would be 64 times as much.
    assert seconds(80_000) < 16 * (seconds(10_000) + 0.01)


def test_a_long_path_that_ends_at_a_protected_file_is_seen(project: Path) -> None:
    path = f"{project}/" + "a/../" * 3000 + _FILE
    assert written(project, "Write", {"file_path": path, "content": "x"})


@every("line", ["ls -la src", "git status", "grep -rn TODO src tests", "cd src && cat a.py | sort"])
def test_a_line_that_only_reads_does_not_need_the_protected_files(line: str, project: Path) -> None:
    def find_protected() -> Protected:
        raise AssertionError(f"{line} writes nothing")

    reader = CallReader(find_protected, str(project.parent), ShellReader)
    assert reader.written_by_call("Bash", {"command": line}, str(project)) is None


@every("line", ["ruff format .", "black .", "npx prettier --write ."])
def test_a_formatter_is_not_taken_for_a_command_that_changes_everything(line: str, project: Path) -> None:
    assert written(project, "Bash", {"command": line}) == ""
