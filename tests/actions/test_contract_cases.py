"""Test how calls are read, translated and rewritten, where agents' names, arguments, units and paths differ most.

Each case says what a call of an agent does (in canonical terms), how hooks of other agents see it, and the
call after such a hook rewrote it, or why the rewrite cannot be translated back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from hookline.actions.action import PathContext
from hookline.actions.rewrite import IrreversibleError
from hookline.actions.standard_tools import CANONICAL, STANDARD
from hookline.actions.table import ToolTable
from hookline.actions.translate import ReadCall, TranslatedAction
from hookline.dialects.codewhale.tools import TABLE as CODEWHALE
from hookline.dialects.codex.tools import TABLE as CODEX
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from hookline.dialects.gemini_cli.tools import TABLE as GEMINI
from hookline.dialects.reasonix.tools import TABLE as REASONIX
from tests.actions.other_agents import COPILOT, KIMI, PROGRAM, QWEN, REASONIX_0
from tests.every import every
from tests.matching.rules_on_calls import fires

PLACE = PathContext("/p", "/p", "/home/me")
Values = Mapping[str, Any]


class Translated(NamedTuple):
    """One action as hooks of an agent see it."""

    to: ToolTable
    name: str
    arguments: Values
    action: int = 0


class Rewritten(NamedTuple):
    """A hook of an agent changes translated arguments; the call becomes that, or it cannot."""

    by: ToolTable
    changes: Values
    becomes: Values | str
    action: int = 0
    lost: tuple[str, ...] = ()


class Case(NamedTuple):
    name: str
    agent: ToolTable
    tool: str
    arguments: Values
    does: Sequence[tuple[str, Values]]
    translated: Sequence[Translated] = ()
    rewritten: Sequence[Rewritten] = ()
    server: str = ""
    #: Facts of the actions, by their names; the last one counts for the rest.
    facts: Sequence[Values] = ()


_EDITED = {"file_path": "/p/f", "old_string": "a", "new_string": "b"}
_PATCH = """*** Begin Patch
*** Update File: a
*** Move to: .env
@@
-x
+y
*** Delete File: b
*** End Patch
"""
_IN_A_LINE = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\nE"
_ADDRESSES = "compare http://a.x and https://b.y."
_A_TO_B, _B_TO_C = {"oldText": "a", "newText": "b"}, {"oldText": "b", "newText": "c"}
_TWO_EDITS = [
    ("Edit", {"file_path": "/p/f", "old_string": "a", "new_string": "b"}),
    ("Edit", {"file_path": "/p/f", "old_string": "b", "new_string": "c"}),
]
_RM = {"command": "rm -rf x"}

CASES = [
    Case(
        "1: an agent that renames the tool and keeps its own arguments",
        COPILOT, "Edit", {"path": "f", "old_str": "a", "new_str": "b"},
        does=[("Edit", _EDITED)],
        translated=[
            Translated(STANDARD, "Edit", _EDITED),
            Translated(DOCKER, "edit_file", {"path": "/p/f", "edits": [{"oldText": "a", "newText": "b"}]}),
            Translated(REASONIX_0, "edit_file", {"path": "f", "search": "a", "replace": "b"}),
        ],
        rewritten=[
            Rewritten(STANDARD, {"new_string": "c"}, {"path": "f", "old_str": "a", "new_str": "c"}),
            Rewritten(
                DOCKER, {"edits": [{"oldText": "a", "newText": "c"}]},
                {"path": "f", "old_str": "a", "new_str": "c"},
            ),
            Rewritten(CANONICAL, {"file_path": "/p/g"}, {"path": "/p/g", "old_str": "a", "new_str": "b"}),
            Rewritten(STANDARD, {"old_str": "z"}, "no argument 'old_str'"),
            Rewritten(DOCKER, {"edits": [_A_TO_B, _B_TO_C]}, "it must stay one edit"),
        ],
    ),
    Case(
        "1, the other way: what it would be told of an edit",
        STANDARD, "Edit", _EDITED,
        does=[("Edit", _EDITED)],
        translated=[Translated(COPILOT, "edit", {"path": "/p/f", "old_str": "a", "new_str": "b"})],
        rewritten=[Rewritten(COPILOT, {"new_str": "c"}, {**_EDITED, "new_string": "c"})],
    ),
    Case(
        "2: a blank argument gives way to another name of it",
        DOCKER, "shell", {"cmd": " ", "command": "rm -rf x"},
        does=[("Bash", _RM)],
        translated=[Translated(STANDARD, "Bash", _RM), Translated(REASONIX, "bash", _RM)],
        rewritten=[Rewritten(STANDARD, {"command": "ls"}, {"cmd": "ls"})],
    ),
    Case(
        "2, the other way",
        STANDARD, "Bash", _RM,
        does=[("Bash", _RM)],
        translated=[Translated(DOCKER, "shell", {"cmd": "rm -rf x"})],
        rewritten=[
            Rewritten(DOCKER, {"cmd": "ls"}, {"command": "ls"}),
            Rewritten(DOCKER, {"cmd": "", "command": "ls"}, {"command": "ls"}),
        ],
    ),
    Case(
        "3: a patch is several acts, and only its whole text could be rewritten",
        CODEX, "apply_patch", {"command": _PATCH},
        does=[
            ("Edit", {"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            ("Move", {"source": "/p/a", "destination": "/p/.env"}),
            ("Delete", {"file_path": "/p/b"}),
        ],
        translated=[
            Translated(STANDARD, "Edit", {"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
            Translated(REASONIX, "move_file", {"source_path": "/p/a", "destination_path": "/p/.env"}, action=1),
            # Agents without such tools would write to those files.
            Translated(STANDARD, "Write", {"file_path": "/p/.env", "content": ""}, action=1),
            Translated(STANDARD, "Write", {"file_path": "/p/b", "content": ""}, action=2),
        ],
        rewritten=[
            Rewritten(STANDARD, {"new_string": "z"}, "one part of a patch"),
            Rewritten(CANONICAL, {"file_path": "/p/c"}, "one part of a patch", action=2),
        ],
    ),
    Case(
        "3, the other way: an edit told as a patch",
        STANDARD, "Edit", _EDITED,
        does=[("Edit", _EDITED)],
        translated=[
            Translated(
                CODEX, "apply_patch",
                {"command": "*** Begin Patch\n*** Update File: /p/f\n@@\n-a\n+b\n*** End Patch\n"},
            ),
        ],
        rewritten=[Rewritten(CODEX, {"command": "*** Begin Patch\n*** End Patch"}, "got it as one text")],
    ),
    Case(
        "4: a patch in a shell line",
        CODEX, "Bash", {"command": _IN_A_LINE},
        does=[("Bash", {"command": _IN_A_LINE}), ("Write", {"file_path": "/p/n", "content": "x"})],
        rewritten=[
            Rewritten(STANDARD, {"command": "true"}, {"command": "true"}),
            Rewritten(STANDARD, {"command": _IN_A_LINE.replace("n\n", "m\n", 1)}, "what else the call does"),
            Rewritten(STANDARD, {"content": "y"}, "one part of a patch", action=1),
        ],
    ),
    Case(
        "5: a directory of its own, which no hook can change",
        CODEX, "exec_command", {"cmd": "rm x", "workdir": "/etc"},
        does=[("Bash", {"command": "rm x"})],
        facts=[{"cwd": "/etc"}],
        translated=[
            Translated(DOCKER, "shell", {"cmd": "rm x", "cwd": "/etc"}),
            Translated(STANDARD, "Bash", {"command": "rm x"}),
        ],
        rewritten=[
            Rewritten(DOCKER, {"cwd": "/p"}, "the directory of a call cannot be changed"),
            Rewritten(DOCKER, {"cmd": "ls"}, {"cmd": "ls", "workdir": "/etc"}),
            Rewritten(STANDARD, {"command": "ls"}, {"cmd": "ls", "workdir": "/etc"}),
        ],
    ),
    Case(
        "6: edits as JSON in a text",
        DOCKER, "edit_file", {"path": "f", "edits": '[{"oldText":"a","newText":"b"},{"oldText":"b","newText":"c"}]'},
        does=_TWO_EDITS,
        facts=[{"extra": {"in_sequence": True}}],
        rewritten=[
            Rewritten(
                STANDARD, {"new_string": "z"},
                {"path": "f", "edits": [_A_TO_B, {"oldText": "b", "newText": "z"}]}, action=1,
            ),
        ],
    ),
    Case(
        "6, broken: it could be any edit",
        DOCKER, "edit_file", {"path": "f", "edits": '[{"oldText":"a'},
        does=[("Edit", {"file_path": "/p/f"})],
        facts=[{"doubt": "edits cannot be read"}],
        rewritten=[Rewritten(STANDARD, {"file_path": "/p/g"}, "edits cannot be read")],
    ),
    Case(
        "7: edits that are all made in the original text",
        CODEWHALE, "edit", {"path": "f", "edits": [_A_TO_B, _B_TO_C]},
        does=_TWO_EDITS,
        facts=[{"extra": {"in_sequence": False}}],
        rewritten=[
            Rewritten(
                REASONIX, {"new_string": "z"}, {"path": "f", "edits": [{"oldText": "a", "newText": "z"}, _B_TO_C]}
            ),
        ],
    ),
    Case(
        "7: edits that are made one after another",
        REASONIX, "multi_edit",
        {"path": "f", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]},
        does=_TWO_EDITS,
        facts=[{"extra": {"in_sequence": True}}],
        rewritten=[
            Rewritten(
                DOCKER, {"path": "/p/g"},
                # The file is one for all of them, so no hook can change it for one.
                "what else the call does",
            ),
        ],
    ),
    Case(
        "8: lines from 0",
        QWEN, "read_file", {"file_path": "/p/f", "offset": 0, "limit": 5},
        does=[("Read", {"file_path": "/p/f", "offset": 1, "limit": 5})],
        translated=[
            Translated(REASONIX, "read_file", {"path": "/p/f", "offset": 0, "limit": 5}),
            Translated(GEMINI, "read_file", {"file_path": "/p/f", "start_line": 1, "end_line": 5}),
            Translated(COPILOT, "view", {"path": "/p/f", "view_range": [1, 5]}),
            Translated(REASONIX_0, "read_file", {"path": "f", "range": "1-5"}),
        ],
        rewritten=[
            Rewritten(STANDARD, {}, {"file_path": "/p/f", "offset": 0, "limit": 5}),
            Rewritten(STANDARD, {"offset": 11}, {"file_path": "/p/f", "offset": 10, "limit": 5}),
            Rewritten(GEMINI, {"start_line": 11, "end_line": 12}, {"file_path": "/p/f", "offset": 10, "limit": 2}),
            Rewritten(COPILOT, {"view_range": [4, 4]}, {"file_path": "/p/f", "offset": 3, "limit": 1}),
        ],
    ),
    Case(
        "8: the last line instead of the number of lines",
        GEMINI, "read_file", {"file_path": "f", "start_line": 5, "end_line": 9},
        does=[("Read", {"file_path": "/p/f", "offset": 5, "limit": 5})],
        translated=[Translated(QWEN, "read_file", {"file_path": "/p/f", "offset": 4, "limit": 5})],
        rewritten=[
            Rewritten(QWEN, {"limit": 2}, {"file_path": "f", "start_line": 5, "end_line": 6}),
            # As many lines as before.
            Rewritten(QWEN, {"offset": 9}, {"file_path": "f", "start_line": 10, "end_line": 14}),
        ],
    ),
    Case(
        "8: lines from the end are read as the whole file",
        KIMI, "Read", {"path": "f", "line_offset": -20, "n_lines": 20},
        does=[("Read", {"file_path": "/p/f"})],
        facts=[{"lost": ("line_offset: it counts from the end of the file",)}],
        rewritten=[
            Rewritten(STANDARD, {"file_path": "/p/g"}, {"path": "/p/g", "line_offset": -20, "n_lines": 20}),
            Rewritten(STANDARD, {"limit": 3}, "limit would differ from what the hook asked for"),
        ],
    ),
    Case(
        "9: addresses in a text",
        GEMINI, "web_fetch", {"prompt": _ADDRESSES},
        does=[
            ("WebFetch", {"url": "http://a.x", "prompt": _ADDRESSES}),
            ("WebFetch", {"url": "https://b.y", "prompt": _ADDRESSES}),
        ],
        translated=[
            Translated(DOCKER, "fetch", {"urls": ["http://a.x"]}),
            Translated(REASONIX, "web_fetch", {"url": "https://b.y"}, action=1),
        ],
        rewritten=[Rewritten(STANDARD, {"url": "http://c.x"}, "its addresses are in a text", action=1)],
    ),
    Case(
        "9, the other way: a list of addresses",
        DOCKER, "fetch", {"urls": ["http://a.x", "http://b.y"]},
        does=[("WebFetch", {"url": "http://a.x"}), ("WebFetch", {"url": "http://b.y"})],
        translated=[Translated(GEMINI, "web_fetch", {"prompt": "http://b.y"}, action=1)],
        rewritten=[
            Rewritten(KIMI, {"url": "http://c.z"}, {"urls": ["http://a.x", "http://c.z"]}, action=1),
            Rewritten(GEMINI, {"prompt": "http://c.z"}, "got it as one text"),
        ],
    ),
    Case(
        "10: the words of a command",
        PROGRAM, "local_shell", {"command": ["sh", "-c", "rm -rf $HOME"]},
        does=[("Bash", {"command": "sh -c 'rm -rf $HOME'"})],
        translated=[Translated(DOCKER, "shell", {"cmd": "sh -c 'rm -rf $HOME'"})],
        rewritten=[
            Rewritten(STANDARD, {"command": "ls 'my file'"}, {"command": ["ls", "my file"]}),
            Rewritten(STANDARD, {"command": "ls && rm x"}, "needs a shell"),
            Rewritten(STANDARD, {"command": 'echo "$HOME"'}, "needs a shell"),
            Rewritten(STANDARD, {"command": "echo 'x"}, "a quote in the line is not closed"),
        ],
    ),
    Case(
        "10: words that only look like a second command",
        PROGRAM, "local_shell", {"command": ["echo", "a;rm b"]},
        does=[("Bash", {"command": "echo 'a;rm b'"})],
        rewritten=[Rewritten(DOCKER, {"cmd": "echo b"}, {"command": ["echo", "b"]})],
    ),
    Case(
        "11: files that a patch replaces",
        CODEWHALE, "File", {"action": "patch", "replace": [{"path": ".env", "content": "x"}]},
        does=[("Write", {"file_path": "/p/.env", "content": "x"})],
        translated=[Translated(STANDARD, "Write", {"file_path": "/p/.env", "content": "x"})],
        rewritten=[
            Rewritten(
                STANDARD, {"file_path": "/p/a"},
                {"action": "patch", "replace": [{"path": "/p/a", "content": "x"}]},
            ),
        ],
    ),
    Case(
        "11: a family without an action could be writing",
        CODEWHALE, "File", {"path": ".env"},
        does=[("Write", {"file_path": "/p/.env"})],
        translated=[
            Translated(CODEWHALE, "write", {"path": "/p/.env"}),
            Translated(DOCKER, "write_file", {"path": "/p/.env"}),
        ],
        rewritten=[Rewritten(DOCKER, {"path": "/p/a"}, {"path": "/p/a"})],
    ),
    Case(
        "11, the other way: every name a hook of the family may be written for",
        STANDARD, "Write", {"file_path": "/p/.env", "content": "x"},
        does=[("Write", {"file_path": "/p/.env", "content": "x"})],
        translated=[
            Translated(CODEWHALE, "write", {"path": "/p/.env", "content": "x"}),
            Translated(CODEWHALE, "File", {"action": "write", "path": "/p/.env", "content": "x"}),
            Translated(CODEWHALE, "apply_patch", {"patch": "--- /dev/null\n+++ /p/.env\n@@ -0,0 +1,1 @@\n+x\n"}),
        ],
        rewritten=[Rewritten(CODEWHALE, {"content": "y"}, {"file_path": "/p/.env", "content": "y"})],
    ),
    Case(
        "12: calls inside a call",
        CODEWHALE, "multi_tool_use.parallel",
        {
            "tool_uses": [
                {"recipient_name": "functions.list_dir", "parameters": {"path": "."}},
                {"recipient_name": "read_file", "parameters": {"path": ".env"}},
            ]
        },
        does=[("LS", {"path": "/p"}), ("Read", {"file_path": "/p/.env"})],
        translated=[Translated(STANDARD, "Read", {"file_path": "/p/.env"}, action=1)],
        rewritten=[
            Rewritten(
                STANDARD, {"file_path": "/p/a"},
                {
                    "tool_uses": [
                        {"recipient_name": "functions.list_dir", "parameters": {"path": "."}},
                        {"recipient_name": "read_file", "parameters": {"path": "/p/a"}},
                    ]
                },
                action=1,
            ),
        ],
    ),
    Case(
        "12: a call whose arguments are JSON in a text",
        QWEN, "tool_call", {"name": "read_file", "arguments": '{"file_path": ".env", "offset": 3}'},
        does=[("Read", {"file_path": "/p/.env", "offset": 4})],
        rewritten=[
            Rewritten(
                KIMI, {"path": "/p/a"}, {"name": "read_file", "arguments": {"file_path": "/p/a", "offset": 3}}
            ),
        ],
    ),
    Case(
        "13: paths that begin at the project",
        REASONIX_0, "read_file", {"path": "/etc/passwd"},
        does=[("Read", {"file_path": "/p/etc/passwd"})],
        translated=[Translated(REASONIX, "read_file", {"path": "/p/etc/passwd"})],
        rewritten=[
            Rewritten(REASONIX, {"path": "/p/a"}, {"path": "a"}),
            Rewritten(REASONIX, {"path": "/etc/passwd"}, "no file outside the project"),
            Rewritten(REASONIX, {"path": "/p/../etc/passwd"}, "no file outside the project"),
        ],
    ),
    Case(
        "13: paths that begin at the root",
        REASONIX, "read_file", {"path": "/etc/passwd"},
        does=[("Read", {"file_path": "/etc/passwd"})],
        # The other one has no way to say it: its hooks see the path that is read.
        translated=[Translated(REASONIX_0, "read_file", {"path": "/etc/passwd"})],
        rewritten=[Rewritten(STANDARD, {"file_path": "/p/a"}, {"path": "/p/a"})],
    ),
    Case(
        "14: seconds",
        KIMI, "Bash", {"command": "make", "timeout": 120},
        does=[("Bash", {"command": "make", "timeout": 120_000})],
        translated=[
            Translated(CODEWHALE, "bash", {"command": "make", "timeout": 120}),
            Translated(CODEWHALE, "Bash", {"action": "run", "command": "make", "timeout_ms": 120_000}),
        ],
        rewritten=[
            Rewritten(
                STANDARD, {"timeout": 1500}, {"command": "make", "timeout": 2}, lost=("timeout: 1500 ms are 2 s",)
            ),
            Rewritten(REASONIX, {"timeout_ms": 60_000}, {"command": "make", "timeout": 60}),
        ],
    ),
    Case(
        "14: the same name in milliseconds",
        CODEWHALE, "Bash", {"action": "run", "command": "make", "timeout_ms": 120},
        does=[("Bash", {"command": "make", "timeout": 120})],
        translated=[
            Translated(KIMI, "Bash", {"command": "make", "timeout": 1}),
            Translated(DOCKER, "shell", {"cmd": "make", "timeout": 1}),
        ],
        rewritten=[
            Rewritten(KIMI, {"timeout": 3}, {"action": "run", "command": "make", "timeout_ms": 3000}),
            # A value that it got in seconds and did not touch stays the same.
            Rewritten(KIMI, {"command": "ls"}, {"action": "run", "command": "ls", "timeout_ms": 120}),
        ],
    ),
    Case(
        "15: a tool of an MCP server whose name is known",
        GEMINI, "mcp_my_srv_run", {"a": 1}, server="my_srv",
        does=[("mcp__my_srv__run", {"a": 1})],
        translated=[
            Translated(STANDARD, "mcp__my_srv__run", {"a": 1}),
            Translated(COPILOT, "my_srv-run", {"a": 1}),
            Translated(CODEWHALE, "mcp_my_srv_run", {"a": 1}),
        ],
        rewritten=[Rewritten(STANDARD, {"a": 2}, {"a": 2})],
    ),
    Case(
        "15: a name that two servers could have",
        GEMINI, "mcp_my_srv_run", {"a": 1},
        does=[("mcp__my__srv_run", {"a": 1}), ("mcp__my_srv__run", {"a": 1})],
        translated=[Translated(STANDARD, "mcp__my_srv__run", {"a": 1}, action=1)],
        rewritten=[Rewritten(COPILOT, {"a": 2}, {"a": 2}, action=1)],
    ),
]  # fmt: skip
_NAMES = [case.name for case in CASES]


def _call(case: Case) -> ReadCall:
    return ReadCall(case.agent, case.tool, case.arguments, PLACE, case.server)


def _views(call: ReadCall, target: ToolTable, action: int) -> list[TranslatedAction]:
    return [view for way in call.ways(target)[action] for view in way]


@every("case", CASES)
def test_what_a_call_does(case: Case) -> None:
    actions = _call(case).actions

    assert [(action.tool_name, action.arguments) for action in actions] == [*case.does]
    for number, action in enumerate(actions):
        facts: Values = case.facts[min(number, len(case.facts) - 1)] if case.facts else {}
        assert {name: getattr(action, name) for name in facts} == facts
        assert bool(action.doubt) == ("doubt" in facts)


@every("case", CASES)
def test_what_hooks_of_other_agents_are_told(case: Case) -> None:
    call = _call(case)
    for number, (name, arguments) in enumerate(case.does):
        native = _views(call, CANONICAL, number)[0]
        assert (native.tool_name, native.arguments) == (name, arguments)
    for translated in case.translated:
        found = {
            view.tool_name: view.arguments
            for view in reversed(_views(call, translated.to, translated.action))
        }
        assert found[translated.name] == translated.arguments


@every("case", CASES)
def test_what_a_call_is_after_a_hook_rewrote_it(case: Case) -> None:
    call = _call(case)
    for rewrite in case.rewritten:
        view = _views(call, rewrite.by, rewrite.action)[0]
        new = {**view.arguments, **rewrite.changes}
        if isinstance(rewrite.becomes, str):
            with pytest.raises(IrreversibleError, match=rewrite.becomes):
                call.rewritten(view, new, case.arguments)
        else:
            translated = call.rewritten(view, new, case.arguments)
            assert (translated.arguments, translated.lost) == (rewrite.becomes, rewrite.lost)


def test_a_guard_sees_the_command_that_words_start_and_no_other() -> None:
    seen: list[bool] = []
    for words in (["sh", "-c", "rm -rf $HOME"], ["rm", "-rf", "x"], ["echo", "a;rm b"]):
        (action,) = ReadCall(PROGRAM, "local_shell", {"command": words}, PLACE).actions
        seen.append(fires("Bash(rm *)", action.tool_name, "/p", **action.arguments))

    assert seen == [True, True, False]


def test_every_case_goes_both_ways() -> None:
    numbers = {case.name.partition(":")[0].partition(",")[0] for case in CASES}

    assert numbers == {str(number) for number in range(1, 16)}
    assert all(case.rewritten for case in CASES)
