"""Tools that nobody declared: what a call of one may do, by the names of the tool and of its arguments."""

from typing import Any

from hookline.tools.acts import Place
from hookline.tools.by_names import may_do, read_widely, reads_only
from hookline.tools.standard import STANDARD
from tests.every import every

_DIFF = "--- a/x.py\n+++ b/y.py\n@@ -1 +1 @@\n"
_MAY_DO: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("save", {"path": "a", "content": "b"}, [("write", "a")]),
    ("save", {"where": {"deep": ["a"]}, "size": 3}, [("write", "a")]),
    ("save", {"arguments": '{"path": "a"}'}, [("write", "a")]),
    ("run", {"cmd": "rm a"}, [("shell", "rm a")]),
    ("run", {"command": ["rm", "a b"]}, [("shell", "a b"), ("shell", "rm"), ("shell", "rm 'a b'")]),
    ("py", {"code": "x"}, [("code", "x"), ("write", "x")]),
    ("py", {"code": "x\ny"}, [("code", "x\ny")]),
    ("x", {"diff": _DIFF}, [("edit", "a/x.py"), ("edit", "x.py"), ("edit", "b/y.py"), ("edit", "y.py")]),
    ("x", {"note": _DIFF}, []),
    ("editor", {"command": "view", "path": "a"}, []),
    ("editor", {"command": "insert", "path": "a"}, [("write", "a"), ("shell", "insert")]),
    ("get_file", {"path": "a"}, []),
    ("x", {"path": "a\0b"}, []),
    ("x", {}, []),
]


@every(("tool", "arguments", "acts"), _MAY_DO)
def test_what_a_call_may_do(tool: str, arguments: dict[str, Any], acts: list[tuple[str, str]]) -> None:
    found = [(act.kind, act.line or "".join(act.paths), act.doubt) for act in may_do(tool, arguments)]
    assert [(kind.name if kind else "", value) for kind, value, _doubt in found] == acts
    assert all(doubt for _kind, _value, doubt in found)


def test_a_command_runs_where_another_argument_says() -> None:
    acts = list(may_do("run", {"command": "rm a", "cwd": "b"}))
    assert [(act.line, act.cwd) for act in acts] == [("rm a", "b")]


def test_a_name_excuses_nothing_that_is_known_to_change_something() -> None:
    assert list(may_do("get_file", {"path": "a"})) == []
    assert [act.paths for act in may_do("get_file", {"path": "a"}, changes=True)] == [["a"]]


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
    return [path for act in read_widely(STANDARD, tool, arguments, Place()) for path in act.paths]


def test_arguments_that_no_row_declares_are_read_by_their_names() -> None:
    assert _paths("Write", {"file_path": "a", "content": "b"}) == ["a"]
    assert _paths("Write", {"file_path": "a", "backup": "b"}) == ["a", "b"]
    assert _paths("Read", {"file_path": "a", "backup": "b"}) == ["a"]


def test_a_call_that_cannot_be_read_may_do_all_that_its_arguments_say() -> None:
    assert _paths("Write", {"file_path": ["a"]}) == ["a", "a"]
    assert _paths("Write", '{"file_path": "a"}') == ["a"]
    assert _paths("Write", "no object") == []
