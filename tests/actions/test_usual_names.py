"""Tools of programs that declare nothing: names that are usual are understood, others are left alone."""

from typing import Any

import pytest

from hookline.actions.action import PathContext
from hookline.actions.declare import read, shell
from hookline.actions.standard_tools import CANONICAL, STANDARD, host_table
from hookline.actions.translate import ReadCall
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from tests.every import every

PLACE = PathContext("/p", "/p", "/home/me")
HOST = host_table()

_RM = {"command": "rm -rf x"}
_ENV = {"file_path": "/p/.env"}
_USUAL: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    *((name, {"command": "rm -rf x"}, "Bash", _RM) for name in (
        "bash", "shell", "terminal", "execute", "run_command", "run_shell_command", "execute_command", "shell_exec",
        "run_in_terminal", "run_terminal_cmd", "exec_command", "execute_bash", "local_shell", "start_process",
    )),
    *((name, {"command": "rm -rf x"}, "Bash", _RM) for name in (
        "Shell", "run-command", "RunCommand", "functions.shell", "EXECUTE_BASH", "Run Shell",
    )),
    ("run_shell", {"cmd": "rm -rf x"}, "Bash", _RM),
    ("run_script", {"script": "rm -rf x", "cwd": "/etc"}, "Bash", _RM),
    ("local_shell", {"command": ["rm", "-rf", "x"], "working_directory": "/etc"}, "Bash", _RM),
    ("shell", {"commands": ["rm -rf x"]}, "Bash", _RM),
    ("terminal", {"commands": "rm -rf x"}, "Bash", _RM),
    *((name, {"path": ".env"}, "Read", _ENV) for name in (
        "read_file", "ReadFile", "file_read", "read_text_file", "open_file", "view_file", "cat", "get_file_contents",
    )),
    ("read_files", {"paths": [".env"]}, "Read", _ENV),
    *((name, {"file_path": ".env", "text": "x"}, "Write", {**_ENV, "content": "x"}) for name in (
        "write_file", "WriteFile", "create_file", "save_file", "write_to_file", "append_to_file",
    )),
    *((name, {"path": ".env", "old_str": "a", "new_str": "b"}, "Edit", {**_ENV, "old_string": "a", "new_string": "b"})
      for name in ("edit_file", "EditFile", "str_replace", "replace_in_file", "update_file")),
    ("str_replace_editor", {"command": "view", "path": ".env"}, "Read", _ENV),
    ("str_replace_editor", {"command": "create", "path": ".env", "file_text": "x"}, "Write", {**_ENV, "content": "x"}),
    ("editor", {"command": "insert", "path": ".env", "new_str": "x"}, "Edit", {**_ENV, "new_string": "x"}),
    ("file_editor", {"command": "undo_edit", "path": ".env"}, "Edit", _ENV),
    ("delete_file", {"path": ".env"}, "Delete", _ENV),
    ("file_delete", {"file_path": ".env"}, "Delete", _ENV),
    ("move_file", {"source": "a", "destination": ".env"}, "Move", {"source": "/p/a", "destination": "/p/.env"}),
    ("mv", {"src": "a", "dst": ".env"}, "Move", {"source": "/p/a", "destination": "/p/.env"}),
    ("copy_file", {"source_path": "a", "destination_path": ".env"}, "Write", _ENV),
    ("list_directory", {"dir_path": "a"}, "LS", {"path": "/p/a"}),
    ("find_files", {"pattern": "*.env", "path": "a"}, "Glob", {"pattern": "*.env", "path": "/p/a"}),
    ("grep", {"pattern": "x", "path": ".env"}, "Grep", {"pattern": "x", "path": "/p/.env"}),
    *((name, {"url": "http://a.x"}, "WebFetch", {"url": "http://a.x"}) for name in (
        "fetch", "visit_webpage", "http_request", "requests_get", "read_url", "scrape", "download",
    )),
    ("fetch", {"urls": ["http://a.x"]}, "WebFetch", {"url": "http://a.x"}),
    ("google_search", {"query": "x"}, "WebSearch", {"query": "x"}),
    *((name, {"code": "import os"}, "Code", {"code": "import os"}) for name in (
        "python", "python_repl", "execute_code", "code_interpreter", "run_python",
    )),
]  # fmt: skip

#: The same names with arguments that say they do something else, and names that only look like them.
_HARMLESS: list[tuple[str, dict[str, Any]]] = [
    ("execute", {"sql": "select 1"}),
    ("execute", {"input": {"rows": 5}}),
    ("command", {"name": "jump"}),
    ("system", {"message": "hello"}),
    ("shell", {"size": "large"}),
    ("terminal", {"gate": 5}),
    ("view", {"chart": "sales"}),
    ("create", {"ticket": "x"}),
    ("edit", {"message_id": 5}),
    ("delete", {"id": 5}),
    ("move", {"direction": "north"}),
    ("fetch", {"table": "users"}),
    ("download", {"id": 5}),
    ("replace", {"with": "x"}),
    ("python", {"length": 3}),
    ("bashful", {"command": "rm -rf x"}),
    ("search_orders", {"query": "x"}),
    ("read_file_count", {"path": "x"}),
    ("mcp__shop__bash", {"command": "rm -rf x"}),
]


def test_there_are_enough_of_them() -> None:
    assert len({name for name, *_ in _USUAL}) >= 40


@every(("name", "arguments", "does", "meaning"), _USUAL)
def test_usual_names_are_understood(
    name: str, arguments: dict[str, Any], does: str, meaning: dict[str, Any]
) -> None:
    action = ReadCall(HOST, name, arguments, PLACE).actions[0]

    assert (action.tool_name, action.arguments, action.doubt) == (does, meaning, "")
    assert action.cwd == ("/etc" if "/etc" in arguments.values() else "")


@every(("name", "arguments"), _HARMLESS)
def test_what_only_looks_like_one_keeps_its_name(name: str, arguments: dict[str, Any]) -> None:
    call = ReadCall(HOST, name, arguments, PLACE)

    assert [(action.kind, action.tool_name, action.arguments, action.doubt) for action in call.actions] == [
        (None, name, arguments, "")
    ]
    assert [(view.tool_name, view.arguments) for view in call.ways(STANDARD)[0][0]] == [(name, arguments)]


def test_what_a_program_declares_counts_more_than_the_usual() -> None:
    table = host_table({"execute": read("document"), "run_shell": shell("text")})

    assert ReadCall(table, "execute", {"document": "a"}, PLACE).actions[0].tool_name == "Read"
    assert ReadCall(table, "run_shell", {"text": "ls"}, PLACE).actions[0].arguments == {"command": "ls"}
    # Declared, it is not a guess: without its argument its effect is unknown.
    assert ReadCall(table, "run_shell", {"cmd": "ls"}, PLACE).actions[0].doubt


def test_hooks_of_an_agent_with_a_tool_of_that_name_see_the_call_as_it_is() -> None:
    call = ReadCall(HOST, "shell", {"cmd": "ls", "colour": True}, PLACE)

    (view,) = call.ways(DOCKER)[0][0]
    assert (view.tool_name, view.arguments) == ("shell", {"cmd": "ls", "colour": True})
    (native,) = call.ways(CANONICAL)[0][0]
    assert (native.tool_name, native.arguments, native.also) == ("Bash", {"command": "ls"}, ("shell",))


def test_declarations_say_what_is_wrong_with_them() -> None:
    with pytest.raises(ValueError, match=r'say which argument holds command: shell\("command"\)'):
        shell()
    with pytest.raises(
        ValueError, match="a tool of kind read has no argument 'content'; it has file_path, offset"
    ):
        read("path", content="x")
