"""The tables of the dialects, and what can be declared beside names and arguments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline import Engine
from hookline.actions.action import Action, PathContext
from hookline.actions.kinds import KINDS
from hookline.actions.standard_tools import CANONICAL, STANDARD
from hookline.actions.table import ToolTable
from hookline.actions.translate import ReadCall
from hookline.dialects.codewhale.tools import TABLE as CODEWHALE
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from hookline.dialects.gemini_cli.tools import TABLE as GEMINI
from hookline.dialects.reasonix.tools import TABLE as REASONIX
from hookline.dialects.registry import every_dialect
from hookline.engine.memory import tool_table_of
from tests.actions.other_agents import COPILOT, KIMI, QWEN
from tests.every import every

PLACE = PathContext("/p", "/p", "/home/me")


def _does(table: ToolTable, name: str, arguments: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    actions = ReadCall(table, name, arguments, PLACE).actions
    assert not any(action.doubt for action in actions)
    return [(action.tool_name, action.arguments) for action in actions]


def _action(table: ToolTable, name: str, arguments: Mapping[str, Any]) -> Action:
    (action,) = ReadCall(table, name, arguments, PLACE).actions
    return action


def _names(table: ToolTable, name: str, arguments: Mapping[str, Any], target: ToolTable) -> list[str]:
    """Return the names by which hooks of the other agent may match the first action of a call."""
    return [view.tool_name for way in ReadCall(table, name, arguments, PLACE).ways(target)[0] for view in way]


def test_a_table_is_called_like_its_dialect() -> None:
    tables = {
        dialect.name: dialect.tools.agent for dialect in every_dialect() if dialect.own_tools is not None
    }

    # Kilo is a fork: its tools are OpenCode's, by the same names.
    assert tables == {name: "opencode" if name == "kilo" else name for name in tables}
    assert {"codewhale", "codex", "docker-agent", "reasonix", "gemini-cli", "cursor", "grok"} <= set(tables)


@every("kind", ["shell", "read", "write", "edit", "list", "glob", "grep", "fetch", "agent"])
@every("table", [CODEWHALE, DOCKER, REASONIX, STANDARD])
def test_every_agent_has_the_usual_kinds(table: ToolTable, kind: str) -> None:
    assert table.tools_of(kind)


def test_hooks_are_told_the_agents_own_tools_first_and_older_names_last() -> None:
    shell = [[name for name, _ in table.tools_of("shell")] for table in (CODEWHALE, DOCKER, REASONIX)]

    assert shell == [
        ["bash", "Bash", "exec_shell"],
        ["shell", "run_background_job"],
        ["bash", "pwsh", "run_command", "run_background"],
    ]


def test_a_hook_for_a_narrow_tool_is_not_asked_about_every_call_of_its_kind() -> None:
    assert _does(DOCKER, "create_directory", {"paths": ["a", "b"]}) == [
        ("Write", {"file_path": "/p/a"}),
        ("Write", {"file_path": "/p/b"}),
    ]
    assert _names(STANDARD, "Write", {"file_path": "/p/a", "content": ""}, DOCKER) == ["write_file"]
    assert _does(CODEWHALE, "tasks", {"action": "gate_run", "command": "rm x"}) == [
        ("Bash", {"command": "rm x"})
    ]
    assert _does(STANDARD, "PowerShell", {"command": "rm x"}) == [("Bash", {"command": "rm x"})]
    assert _names(STANDARD, "PowerShell", {"command": "rm x"}, DOCKER) == ["shell"]
    assert "PowerShell" not in _names(DOCKER, "shell", {"cmd": "rm x"}, STANDARD)
    assert "tasks" not in _names(STANDARD, "Bash", {"command": "rm x"}, CODEWHALE)


def test_a_tool_whose_name_says_that_it_runs_in_the_background() -> None:
    line = {"command": "make", "run_in_background": True}

    assert _does(DOCKER, "run_background_job", {"cmd": "make"}) == [("Bash", line)]
    assert _names(STANDARD, "Bash", line, DOCKER) == ["shell", "run_background_job"]
    assert _names(STANDARD, "Bash", {"command": "make"}, DOCKER) == ["shell"]
    assert _names(STANDARD, "Bash", line, QWEN)[-1] == "monitor"


def test_what_is_true_beside_the_arguments() -> None:
    written = {"path": "a", "content": "x"}

    assert _action(KIMI, "Write", {**written, "mode": "append"}).extra == {"append": True}
    assert _action(KIMI, "Write", written).extra == {"append": False}
    assert _action(COPILOT, "create", {"path": "a", "file_text": "x"}).extra == {"must_be_new": True}
    assert _action(STANDARD, "Write", {"file_path": "/p/a", "content": "x"}).extra == {}


def test_what_a_command_gets_on_its_input_is_told_too() -> None:
    assert _does(CODEWHALE, "Bash", {"command": "sh", "stdin": "rm -rf x"}) == [
        ("Bash", {"command": "sh"}),
        ("BashInput", {"input": "rm -rf x"}),
    ]


def test_a_file_that_is_named_beside_a_patch() -> None:
    patch = "@@ -1 +1 @@\n-a\n+b\n"
    other = f"--- a/x\n+++ b/x\n{patch}"

    assert _does(CODEWHALE, "apply_patch", {"patch": patch, "path": ".env"}) == [
        ("Edit", {"file_path": "/p/.env"})
    ]
    both = _does(CODEWHALE, "apply_patch", {"patch": other, "path": ".env"})
    assert [arguments["file_path"] for _, arguments in both] == ["/p/.env", "/p/x"]


def test_a_tool_with_alternatives() -> None:
    assert _does(CODEWHALE, "rlm", {"action": "open", "url": "http://a.x"}) == [
        ("WebFetch", {"url": "http://a.x"})
    ]
    assert _does(CODEWHALE, "rlm_open", {"file_path": ".env"}) == [("Read", {"file_path": "/p/.env"})]
    assert _does(CODEWHALE, "rlm_open", {"content": "x"}) == [("rlm_open", {"content": "x"})]
    assert _does(CODEWHALE, "rlm", {"action": "eval", "code": "1"}) == [
        ("Code", {"language": "python", "code": "1"})
    ]
    assert _does(CODEWHALE, "Git", {"action": "status"}) == [("Git", {"action": "status"})]


def test_searches_read_files() -> None:
    action = _action(CODEWHALE, "grep_files", {"pattern": "x", "path": "src", "include": ["*.env", "*.key"]})

    assert action.arguments == {"pattern": "x", "path": "/p/src", "glob": "{*.env,*.key}"}
    assert action.kind is not None
    assert action.kind.access == "read"
    several = _does(COPILOT, "grep", {"pattern": "x", "paths": ["a", "b"]})
    assert [arguments["path"] for _, arguments in several] == ["/p/a", "/p/b"]
    assert _does(COPILOT, "grep", {"pattern": "x", "path": "a"}) == [
        ("Grep", {"pattern": "x", "path": "/p/a"})
    ]


def test_lists_of_tasks() -> None:
    (translated,) = ReadCall(DOCKER, "create_todos", {"descriptions": ["a", "b"]}, PLACE).ways(KIMI)[0][0]
    assert translated.arguments == {"todos": [{"title": "a"}, {"title": "b"}]}

    todos = [{"content": "a", "status": "done"}]
    ways = ReadCall(STANDARD, "TodoWrite", {"todos": todos}, PLACE).ways(DOCKER)[0][0][0]
    assert (ways.arguments, ways.lost) == ({"descriptions": ["a"]}, ("todos: only the texts are passed",))
    assert _does(REASONIX, "parallel_tasks", {"tasks": [{"prompt": "a"}, {"prompt": "b"}]}) == [
        ("Agent", {"prompt": "a"}),
        ("Agent", {"prompt": "b"}),
    ]


def test_a_wrapper_that_only_asks_about_a_tool_makes_no_call() -> None:
    assert (
        _does(REASONIX, "use_capability", {"action": "describe", "capability_id": "bash"})[0][0]
        == "use_capability"
    )
    inner = {"action": "run", "capability_id": "bash", "arguments": {"command": "rm x"}}
    assert _does(REASONIX, "use_capability", inner) == [("Bash", {"command": "rm x"})]


def test_a_tool_without_a_counterpart_keeps_its_name() -> None:
    call = ReadCall(REASONIX, "job_output", {"job_id": "1"}, PLACE)
    ((view,),) = call.ways(KIMI)[0]
    assert (view.tool_name, view.arguments) == ("TaskOutput", {"task_id": "1"})
    ((view,),) = call.ways(GEMINI)[0]
    assert (view.tool_name, view.arguments) == ("job_output", {"job_id": "1"})
    # Unless that name means something else there.
    interact = ReadCall(CODEWHALE, "Bash", {"action": "interact", "task_id": "1", "input": "y"}, PLACE)
    ((view,),) = interact.ways(STANDARD)[0]
    assert (view.tool_name, view.arguments) == ("BashInput", {"task_id": "1", "input": "y"})


def test_native_hooks_may_name_a_tool_as_its_agent_does() -> None:
    inner = {"tool_uses": [{"recipient_name": "functions.read_file", "parameters": {"path": "a"}}]}
    ((view,),) = ReadCall(CODEWHALE, "multi_tool_use.parallel", inner, PLACE).ways(CANONICAL)[0]

    assert (view.tool_name, view.also) == ("Read", ("read_file", "multi_tool_use.parallel"))


def test_the_declarations_on_the_page_mean_what_it_says() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/embed.md").read_text()
    block = next(each for each in page.split("```python\n")[1:] if "tools={" in each).partition("```")[0]
    names: dict[str, Any] = {"Engine": Engine}
    exec(block, names)
    table = tool_table_of(names["engine"].session("x"))

    call = ReadCall(table, "sandbox", {"script": "ls", "max_seconds": 5}, PLACE)
    ((view,),) = call.ways(STANDARD)[0]
    assert (view.tool_name, view.arguments) == ("Bash", {"command": "ls", "timeout": 5000})
    new = {"command": "ls -a", "timeout": 7000}
    assert call.rewritten(view, new, call.arguments).arguments == {"script": "ls -a", "max_seconds": 7}
    assert _does(table, "open_page", {"name": "a", "first": 0}) == [
        ("Read", {"file_path": "/p/a", "offset": 1})
    ]
    assert _does(table, "save", {"name": "", "path": "a", "text": "x"}) == [
        ("Write", {"file_path": "/p/a", "content": "x"})
    ]


def test_every_canonical_name_is_of_one_kind() -> None:
    names = [name for kind in KINDS.values() for name in (kind.tool, *kind.also)]

    assert len(names) == len(set(names))
    assert {kind.needs for kind in KINDS.values()} - {""} <= {
        name for kind in KINDS.values() for name in kind.arguments
    }
