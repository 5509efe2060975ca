"""Test undeclared tools: what a call of one may do, by the names of the tool and of its arguments."""

from typing import Any

from hookline.actions.action import PathContext
from hookline.actions.by_names import may_do, read_widely, reads_only
from hookline.actions.declare import nothing
from hookline.actions.standard_tools import STANDARD, host_table
from tests.every import every

_DIFF = "--- a/x.py\n+++ b/y.py\n@@ -1 +1 @@\n"
_MAY_DO: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("save", {"path": "a", "content": "b"}, [("write", "a"), ("read", "a")]),
    ("save", {"where": {"deep": ["a"]}, "size": 3}, [("write", "a")]),
    ("save", {"arguments": '{"path": "a"}'}, [("write", "a"), ("read", "a")]),
    ("run", {"cmd": "rm a"}, [("shell", "rm a")]),
    ("run", {"command": ["rm", "a b"]}, [("shell", "a b"), ("shell", "rm"), ("shell", "rm 'a b'")]),
    ("py", {"code": "x"}, [("code", "x"), ("write", "x")]),
    ("py", {"code": "x\ny"}, [("code", "x\ny")]),
    ("x", {"diff": _DIFF}, [("edit", "a/x.py"), ("edit", "x.py"), ("edit", "b/y.py"), ("edit", "y.py")]),
    ("x", {"note": _DIFF}, []),
    ("editor", {"command": "view", "path": "a"}, [("read", "a")]),
    ("editor", {"command": "insert", "path": "a"}, [("write", "a"), ("shell", "insert"), ("read", "a")]),
    ("get_file", {"path": "a", "x": "b"}, [("read", "a")]),
    ("get_page", {"url": "https://x.test"}, [("fetch", "https://x.test")]),
    (
        "run",
        {"command": "git", "args": ["push", "a b"]},
        [("write", "a b"), ("write", "push"), ("shell", "git"), ("shell", "git push 'a b'")],
    ),
    ("run", {"command": "git", "args": "push"}, [("write", "push"), ("shell", "git"), ("shell", "git push")]),
    ("x", {"path": "a\0b"}, []),
    ("x", {}, []),
]


@every(("tool", "arguments", "actions"), _MAY_DO)
def test_what_a_call_may_do(tool: str, arguments: dict[str, Any], actions: list[tuple[str, str]]) -> None:
    found = [
        (action.kind, action.line or action.arguments.get("url") or "".join(action.paths), action.doubt)
        for action in may_do(tool, arguments)
    ]
    assert [(kind.name if kind else "", value) for kind, value, _doubt in found] == actions
    assert all(doubt for _kind, _value, doubt in found)


def test_a_command_runs_where_another_argument_says() -> None:
    actions = list(may_do("run", {"command": "rm a", "cwd": "b"}))
    assert [(action.line, action.cwd) for action in actions] == [("rm a", "b")]


def test_a_name_excuses_nothing_that_is_known_to_change_something() -> None:
    assert [action.tool_name for action in may_do("get_file", {"path": "a"})] == ["Read"]
    assert [action.tool_name for action in may_do("get_file", {"path": "a"}, changes=True)] == [
        "Write",
        "Read",
    ]


def test_only_names_of_arguments_make_more_than_a_guess() -> None:
    actions = may_do("save", {"path": "a", "label": "b"})
    assert [(action.tool_name, *action.paths, action.guess) for action in actions] == [
        ("Write", "b", True),
        ("Write", "a", False),
        ("Read", "a", False),
    ]


@every(
    ("tool", "guess"),
    [("save", False), ("lookup", True), ("LSP", True), ("mcp__files__write_file", True), ("bash", False)],
)
def test_what_a_declared_tool_does_beside_is_a_guess(tool: str, guess: bool) -> None:
    actions = read_widely(host_table({"lookup": nothing()}), tool, {"path": "/x"}, PathContext())
    assert {action.guess for action in actions if action.doubt} == {guess}


@every(
    ("name", "only"),
    [
        ("mcp__fs__read_text_file", True), ("mcp_fs_read_file", True), ("readTextFile", True), ("GetInfo", True),
        ("mcp__read__save", False), ("mcp_read_save", False), ("read_and_update", False), ("thing", False),
    ],
)  # fmt: skip
def test_a_name_that_says_that_it_only_reads(name: str, only: bool) -> None:
    assert reads_only(name) is only


def _paths(tool: str, arguments: Any) -> list[str]:
    return [path for action in read_widely(STANDARD, tool, arguments, PathContext()) for path in action.paths]


def test_arguments_that_no_row_declares_are_read_by_their_names() -> None:
    assert _paths("Write", {"file_path": "a", "content": "b"}) == ["a"]
    assert _paths("Write", {"file_path": "a", "backup": "b"}) == ["a", "b"]
    assert _paths("Read", {"file_path": "a", "backup": "b"}) == ["a"]


def test_a_call_that_cannot_be_read_may_do_all_that_its_arguments_say() -> None:
    assert set(_paths("Write", {"file_path": ["a"]})) == {"a"}
    assert _paths("Write", '{"file_path": "a"}') == ["a"]
    assert _paths("Write", "no object") == []
