"""Calls that were made to be misread: whatever they are, they are read in bounded time, and doubt is not silence."""

from collections.abc import Mapping
from contextlib import suppress
from random import Random
from time import process_time
from typing import Any

import pytest

from hookline.actions.action import Action, PathContext
from hookline.actions.rewrite import IrreversibleError
from hookline.actions.standard_tools import CANONICAL, STANDARD, host_table
from hookline.actions.table import ToolTable
from hookline.actions.translate import ReadCall
from hookline.dialects.codewhale.tools import TABLE as CODEWHALE
from hookline.dialects.codex.tools import TABLE as CODEX
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from hookline.dialects.gemini_cli.tools import TABLE as GEMINI
from hookline.dialects.reasonix.tools import TABLE as REASONIX
from tests.actions.other_agents import COPILOT, KIMI, PROGRAM, QWEN, REASONIX_0
from tests.every import every

PLACE = PathContext("/p", "/p", "/home/me")
HOST = host_table()
TABLES = (
    CODEWHALE,
    DOCKER,
    REASONIX,
    STANDARD,
    CODEX,
    COPILOT,
    GEMINI,
    KIMI,
    PROGRAM,
    QWEN,
    REASONIX_0,
    HOST,
)
#: Seconds of the processor's time. A full reading takes a hundredth of that.
_LONG = 1.0


def _actions(table: ToolTable, name: str, arguments: Any) -> tuple[Action, ...]:
    began = process_time()
    actions = ReadCall(table, name, arguments, PLACE).actions
    assert process_time() - began < _LONG
    return actions


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def _calls_in_calls(depth: int) -> dict[str, Any]:
    call: dict[str, Any] = {"name": "run_shell_command", "arguments": {"command": "rm x"}}
    for _ in range(depth):
        call = {"name": "tool_call", "arguments": call}
    return call


_TEN_MEGABYTES = "*** Begin Patch\n*** Update File: a\n" + "-x\n+y\n" * 1_700_000 + "*** End Patch"
_NO_ARGUMENTS: dict[str, Any] = {}
_DOUBTFUL: Mapping[str, tuple[ToolTable, str, Any]] = {
    "no arguments": (STANDARD, "Bash", None),
    "arguments that are a list": (STANDARD, "Bash", ["command", "rm x"]),
    "arguments that are no JSON": (CODEWHALE, "bash", '{"command": "rm x'),
    "arguments of a search that are no JSON": (CODEWHALE, "grep_files", '{"pattern": "x", "pa'),
    "arguments of an unknown tool that are no JSON": (CODEWHALE, "mcp_a_b", '{"pattern": "x", "pa'),
    "a command that is an object": (STANDARD, "Bash", {"command": {"rm": "x"}}),
    "a command that is a list": (STANDARD, "Bash", {"command": ["rm", "x"]}),
    "words that are not all texts": (PROGRAM, "local_shell", {"command": ["rm", 5]}),
    "a path that is a number": (STANDARD, "Read", {"file_path": 5}),
    "a path of a search that is a list": (STANDARD, "Grep", {"pattern": "x", "path": ["/etc"]}),
    "a directory that is a number": (DOCKER, "shell", {"cmd": "ls", "cwd": 5}),
    "a list of paths with a number": (DOCKER, "read_multiple_files", {"paths": ["a", 5]}),
    "an empty list of paths": (DOCKER, "read_multiple_files", {"paths": []}),
    "a long list of paths": (DOCKER, "read_multiple_files", {"paths": ["a"] * 1_000_000}),
    "a long list of edits": (DOCKER, "edit_file", {"path": "a", "edits": [{"oldText": "a"}] * 100_000}),
    "a long list of files": (CODEWHALE, "apply_patch", {"replace": [{"path": "a", "content": ""}] * 100_000}),
    "edits that are a number": (DOCKER, "edit_file", {"path": "a", "edits": 5}),
    "edits that are texts": (DOCKER, "edit_file", {"path": "a", "edits": ["x"]}),
    "edits of JSON too deep to be read": (DOCKER, "edit_file", {"path": "a", "edits": "[" * 100_000}),
    "files that are texts": (CODEWHALE, "File", {"action": "patch", "changes": ["x"]}),
    "a patch of nothing": (CODEX, "apply_patch", {"command": "*** Begin Patch\n*** End Patch"}),
    "a patch that is a list": (CODEX, "apply_patch", {"command": ["x"]}),
    "a patch of ten megabytes": (CODEX, "apply_patch", {"command": _TEN_MEGABYTES}),
    "a patch in a line, spelt in another way": (CODEX, "Bash", {"command": "apply_patch $'*** Begin Patch\\n*** Add"}),
    "calls in calls": (QWEN, "tool_call", _calls_in_calls(60)["arguments"]),
    "calls that are a text": (CODEWHALE, "multi_tool_use.parallel", {"tool_uses": "read_file"}),
    "a call without a name": (CODEWHALE, "multi_tool_use.parallel", {"tool_uses": [{"parameters": _NO_ARGUMENTS}]}),
    "a call with arguments that are no object": (QWEN, "tool_call", {"name": "edit", "arguments": "rm x"}),
    "ten thousand calls": (
        CODEWHALE, "multi_tool_use.parallel",
        {"tool_uses": [{"recipient_name": "read_file", "parameters": {"path": "a"}}] * 10_000},
    ),
    "a text without an address": (GEMINI, "web_fetch", {"prompt": "the first page of example dot com"}),
    "a text of ten megabytes": (GEMINI, "web_fetch", {"prompt": "a." * 5_000_000}),
    "a name that can be split in too many ways": (GEMINI, "mcp_" + "a_" * 1000, _NO_ARGUMENTS),
    "the same with other signs": (COPILOT, "a-" * 1000, _NO_ARGUMENTS),
    "a call of a family that is not text": (CODEWHALE, "Bash", {"action": 5, "command": 5}),
    "a million words": (HOST, "shell", {"command": ["rm"] * 1_000_000}),
    "a name that nobody has": (GEMINI, "mcp_" + "a" * 1_000_000 + "_b", _NO_ARGUMENTS),
    "a list of commands that cannot be read": (HOST, "shell", {"command": [{"command": "rm x"}]}),
}  # fmt: skip


@every("which", _DOUBTFUL)
def test_what_cannot_be_read_is_doubtful(which: str) -> None:
    table, name, arguments = _DOUBTFUL[which]
    actions = _actions(table, name, arguments)

    assert any(action.doubt for action in actions)
    assert len(actions) <= 220


def test_hooks_are_told_what_is_doubtful_and_cannot_rewrite_it() -> None:
    for table, name, arguments in _DOUBTFUL.values():
        call = ReadCall(table, name, arguments, PLACE)
        for target in (CANONICAL, STANDARD, DOCKER, CODEX):
            for action, ways in zip(call.actions, call.ways(target), strict=True):
                view = ways[0][0]
                assert view.tool_name
                if action.doubt and action.kind is not None:
                    with pytest.raises(IrreversibleError):
                        call.rewritten(view, {**view.arguments, "command": "ls"}, arguments)
            if len(call.actions) > 50:
                break


def test_long_paths_take_no_time() -> None:
    (action,) = _actions(DOCKER, "read_file", {"path": "./" * 1_000_000 + ".//a"})
    assert action.arguments == {"file_path": "/p/a"}


def test_long_lines_of_addresses_and_names_take_no_time() -> None:
    text = "see " + "a.b-c+d" * 60_000 + " https://x.y"
    assert [action.arguments["url"] for action in _actions(GEMINI, "web_fetch", {"prompt": text})] == [
        "https://x.y"
    ]

    several = _actions(GEMINI, "mcp_" + "_".join("abcdefghij" * 3), {"x": 1})
    assert len(several) == 29
    assert not any(action.doubt for action in several)


def test_a_number_that_no_agent_can_mean_is_left_out_and_said() -> None:
    for timeout in (float("nan"), float("inf"), 10**400, "5", True, [5]):
        (action,) = _actions(DOCKER, "shell", {"cmd": "ls", "timeout": timeout})
        assert action.arguments == {"command": "ls"}
        assert action.lost[0].startswith("timeout: it is")
    for lines in ("a-b", "5-", "5", "9-5", "1-2-3", [1], [1, "x"], "1" * 5000 + "-2"):
        (action,) = _actions(REASONIX_0, "read_file", {"path": "a", "range": lines})
        assert action.arguments.get("limit") is None
        assert action.lost


def test_a_file_is_read_in_full_where_its_first_line_is_unknown() -> None:
    (action,) = _actions(QWEN, "read_file", {"file_path": "/p/a", "offset": "x", "limit": 3})

    assert action.arguments == {"file_path": "/p/a"}


def test_paths() -> None:
    def path(written: str, path_context: PathContext = PLACE) -> Any:
        return (
            ReadCall(STANDARD, "Read", {"file_path": written}, path_context).actions[0].arguments["file_path"]
        )

    assert [path(each) for each in ("a", "./a", ".//./a", ".", "/a", "~/a", "~", "~root/a")] == [
        "/p/a", "/p/a", "/p/a", "/p", "/a", "/home/me/a", "/home/me", "/p/~root/a",
    ]  # fmt: skip
    # The part before the dots may be a link, so they stay.
    assert path("b/../../etc/passwd") == "/p/b/../../etc/passwd"
    assert path("a", PathContext()) == "a"
    (action,) = _actions(REASONIX_0, "read_file", {"path": "//etc/passwd"})
    assert action.arguments["file_path"] == "/p/etc/passwd"


def test_any_arguments_are_read_told_and_rewritten_without_an_exception() -> None:
    random = Random(12)
    values: list[Any] = [
        None, True, 0, -1, 2**70, 1.5, float("nan"), "", " ", "x", "a-b", "1-2", "/x", "~", "[]", "{}", '{"a":', "\0",
        "\ud800", "http://a.b", [], [1], ["a", 2], [None], [{}], [["x"]], {}, {"path": 5}, {"a": {"b": []}},
        _nested(40), _PATCHES[0], _PATCHES[1], b"bytes", ("a", "b"), {1: 2},
    ]  # fmt: skip
    for _ in range(1500):
        table = random.choice(TABLES)
        name = random.choice((*table.tools, *table.aliases, "unknown", "mcp__filesystem__edit_file", ""))
        tool = table.tool(name)
        keys = (*(tool.own_keys if tool is not None else ()), "x")
        arguments: Any = {key: random.choice(values) for key in sorted(keys) if random.random() < 0.7}
        if random.random() < 0.05:
            arguments = random.choice(values)
        call = ReadCall(table, name, arguments, PLACE)
        assert call.actions
        for ways in call.ways(random.choice((*TABLES, CANONICAL)))[:3]:
            view = random.choice(random.choice(ways))
            changed = {**view.arguments, random.choice(sorted(map(str, keys))): random.choice(values)}
            with suppress(IrreversibleError):
                call.rewritten(view, changed, arguments)


def test_nothing_is_done_by_a_wrapper_around_nothing() -> None:
    (action,) = _actions(CODEWHALE, "multi_tool_use.parallel", {"tool_uses": []})

    assert (action.kind, action.doubt) == (None, "")


_PATCHES = (
    "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
)
