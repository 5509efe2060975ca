"""List the same actions as each supported agent makes them: with its own tools, arguments and payloads.

In arguments, `{home}` and `{project}` stand for the user's home and the project, which is below it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.actions import Tool, read, shell, write
from tests.agents import AGENTS


class Guard(Struct, frozen=True):
    """One of the three, and what it says when it stops something."""

    name: str
    says: str


RM, SSH, OUTSIDE = GUARDS = (
    Guard("no rm -rf", "folders are not deleted here"),
    Guard("no read below ~/.ssh", "keys are not read"),
    Guard("no write outside the project", "only files of the project are written"),
)


class MadeCall(Struct, frozen=True):
    """One call of a tool, and the guard that it concerns."""

    tool: str
    arguments: Mapping[str, Any]
    guard: Guard
    denied: bool = True
    #: The agent's own hooks get the call unchanged, and the guards here are not written for that.
    for_others: bool = False

    def at(self, home: str, project: str) -> dict[str, Any]:
        """Return the arguments, with real paths."""
        return _filled(self.arguments, {"{home}": home, "{project}": project})

    def __str__(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments)}"


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for mark, place in places.items():
            value = value.replace(mark, place)
        return value
    if isinstance(value, Mapping):
        return {key: _filled(each, places) for key, each in cast("Mapping[str, Any]", value).items()}
    return [_filled(each, places) for each in cast("list[Any]", value)] if isinstance(value, list) else value


class Caller(Struct, frozen=True):
    """Somebody who makes tool calls, and asks hooks about each."""

    name: str
    title: str
    calls: tuple[MadeCall, ...]
    #: Its dialect; empty for Hookline's own agent and for programs that embed Hookline.
    dialect: str = ""
    event: str = ""
    #: Its payload on standard input, and the variables it sets.
    payload: "Callable[[str, Mapping[str, Any], str], tuple[bytes, dict[str, str]]] | None" = None
    #: Other dialects whose files the agent reads, so that it runs those hooks itself.
    reads: tuple[str, ...] = ()
    #: What a program declares about its tools.
    tools: Mapping[str, Tool] = MappingProxyType({})


def _shell(tool: str, key: str, **more: Any) -> Iterator[MadeCall]:
    yield MadeCall(tool, {key: "rm -rf build", **more}, RM)
    yield MadeCall(tool, {key: "cd src && rm -rf ../build", **more}, RM)
    yield MadeCall(tool, {key: "rm build/old.txt", **more}, RM, denied=False)


def _read(tool: str, key: str, **more: Any) -> Iterator[MadeCall]:
    for path in ("{home}/.ssh/id", "../.ssh/id", "{project}/src/../../.ssh/id", "~/.ssh/id"):
        yield MadeCall(tool, {key: path, **more}, SSH)
    for path in ("{project}/README.md", "README.md"):
        yield MadeCall(tool, {key: path, **more}, SSH, denied=False)


def _write(tool: str, key: str, **more: Any) -> Iterator[MadeCall]:
    for path in ("{home}/.profile", "../other/notes.txt", "{project}/../notes.txt", "~/notes.txt"):
        yield MadeCall(tool, {key: path, **more}, OUTSIDE)
    for path in ("{project}/notes.txt", "src/notes.txt"):
        yield MadeCall(tool, {key: path, **more}, OUTSIDE, denied=False)


def _one_write(tool: str, key: str, *, for_others: bool = False, **more: Any) -> Iterator[MadeCall]:
    yield MadeCall(tool, {key: "../notes.txt", **more}, OUTSIDE, for_others=for_others)
    yield MadeCall(tool, {key: "notes.txt", **more}, OUTSIDE, denied=False, for_others=for_others)


# What each of them calls its tools

_STANDARD = (
    *_shell("Bash", "command", description="clean"),
    *_read("Read", "file_path"),
    *_write("Write", "file_path", content="x"),
    *_one_write("Edit", "file_path", old_string="a", new_string="b"),
)
_PATCH = """\
*** Begin Patch
*** Update File: {project}/src/a.py
@@
-a
+b
*** Add File: %s
+x
*** End Patch
"""
_DIFF = """\
--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ %s
@@ -0,0 +1 @@
+x
"""


def _parallel(*paths: str) -> dict[str, Any]:
    return {
        "tool_uses": [
            {"recipient_name": "functions.read_file", "parameters": {"path": path}} for path in paths
        ]
    }


_CODEWHALE = (
    *_shell("bash", "command"),
    *_shell("exec_shell", "command", timeout_ms=1000),
    *_shell("Bash", "command", action="run"),
    *_read("read_file", "path"),
    *_read("read", "path"),
    *_write("write", "path", content="x"),
    *_one_write("File", "path", action="write", content="x"),
    *_one_write("edit", "path", edits=[{"oldText": "a", "newText": "b"}]),
    # Its category is "other" in CodeWhale itself.
    *_one_write("write_file", "path", content="x", for_others=True),
    MadeCall("File", {"action": "read", "path": "~/.ssh/id"}, SSH, for_others=True),
    MadeCall("multi_tool_use.parallel", _parallel("README.md", "~/.ssh/id"), SSH, for_others=True),
    MadeCall(
        "multi_tool_use.parallel", _parallel("README.md", "src/a.py"), SSH, denied=False, for_others=True
    ),
    MadeCall("apply_patch", {"patch": _PATCH % "../notes.txt"}, OUTSIDE, for_others=True),
    MadeCall("apply_patch", {"patch": _PATCH % "notes.txt"}, OUTSIDE, denied=False, for_others=True),
    MadeCall("apply_patch", {"patch": _DIFF % "b/../notes.txt"}, OUTSIDE, for_others=True),
    MadeCall("apply_patch", {"replace": [{"path": "~/notes.txt", "content": "x"}]}, OUTSIDE, for_others=True),
)
_REASONIX = (
    *_shell("bash", "command", timeout_ms=1000),
    *_shell("run_command", "command"),
    *_read("read_file", "path", offset=0, limit=10),
    *_write("write_file", "path", content="x"),
    *_one_write("edit_file", "path", old_string="a", new_string="b"),
    *_one_write("multi_edit", "path", edits=[{"old_string": "a", "new_string": "b"}]),
    MadeCall("move_file", {"source_path": "a.py", "destination_path": "../a.py"}, OUTSIDE, for_others=True),
    MadeCall(
        "move_file",
        {"source_path": "a.py", "destination_path": "b.py"},
        OUTSIDE,
        denied=False,
        for_others=True,
    ),
    *_one_write("delete_range", "path", start_anchor="a", end_anchor="b", for_others=True),
)
_DOCKER = (
    *_shell("shell", "cmd", cwd="."),
    *_shell("run_background_job", "cmd"),
    # What runs when `cmd` is blank.
    MadeCall("shell", {"cmd": " ", "command": "rm -rf build"}, RM, for_others=True),
    *_read("read_file", "path"),
    MadeCall("read_multiple_files", {"paths": ["README.md", "../.ssh/id"]}, SSH),
    MadeCall("read_multiple_files", {"paths": ["README.md", "src/a.py"]}, SSH, denied=False),
    *_write("write_file", "path", content="x"),
    *_one_write("edit_file", "path", edits=[{"oldText": "a", "newText": "b"}]),
    *_one_write("edit_file", "path", edits='[{"oldText": "a", "newText": "b"}]'),
    MadeCall("remove_directory", {"paths": ["build", "../other"]}, OUTSIDE, for_others=True),
    MadeCall("remove_directory", {"paths": ["build"]}, OUTSIDE, denied=False, for_others=True),
)
_CODEX = (
    *_shell("Bash", "command"),
    *_read("view_image", "path"),
    *(
        MadeCall("apply_patch", {"command": _PATCH % path}, OUTSIDE, denied=denied)
        for path, denied in (("../notes.txt", True), ("{home}/.profile", True), ("notes.txt", False))
    ),
    MadeCall(
        "Bash", {"command": f"apply_patch <<'E'\n{_PATCH % '../notes.txt'}E\n"}, OUTSIDE, for_others=True
    ),
)
_GEMINI = (
    *_shell("run_shell_command", "command", description="clean"),
    MadeCall("run_shell_command", {"command": "rm -rf ../build", "dir_path": "src"}, RM),
    *_read("read_file", "file_path", start_line=1, end_line=9),
    MadeCall("read_many_files", {"include": ["README.md", "../.ssh/id"]}, SSH),
    MadeCall("read_many_files", {"include": ["README.md", "src/a.py"]}, SSH, denied=False),
    *_write("write_file", "file_path", content="x"),
    *_one_write("replace", "file_path", instruction="x", old_string="a", new_string="b"),
)
_CURSOR = (
    *_shell("Shell", "command"),
    *_read("Read", "file_path"),
    *_write("Write", "file_path", content="x"),
)
_COPILOT = (
    *_shell("bash", "command", description="clean"),
    *_read("view", "path"),
    *_write("create", "path", file_text="x"),
    *_one_write("edit", "path", old_str="a", new_str="b"),
    *_one_write("str_replace_editor", "path", command="create", file_text="x", for_others=True),
)
_GROK = (
    *_shell("run_terminal_command", "command", description="clean"),
    *_read("read_file", "target_file"),
    *_write("write_file", "file_path", content="x"),
    *_one_write("search_replace", "file_path", old_string="a", new_string="b"),
)
_QWEN = (
    *_shell("run_shell_command", "command", is_background=False),
    *_read("read_file", "file_path"),
    *_write("write_file", "file_path", content="x"),
    *_one_write("edit", "file_path", old_string="a", new_string="b"),
)
_KIMI = (
    *_shell("Bash", "command", timeout=60),
    *_read("Read", "path", n_lines=10),
    *_write("Write", "path", content="x"),
    *_one_write("Edit", "path", old_string="a", new_string="b"),
)
_DECLARED = (
    *_shell("run_shell", "cmd"),
    *_read("open_file", "where"),
    *_write("save", "where", text="x"),
)
_USUAL = (
    *_shell("execute_command", "command"),
    *_read("read_file", "path"),
    *_write("write_file", "path", content="x"),
    MadeCall("terminal", {"command": ["rm", "-rf", "build"]}, RM),
    MadeCall("local_shell", {"command": ["rm", "old.txt"]}, RM, denied=False),
    MadeCall("read_multiple_files", {"paths": ["README.md", "~/.ssh/id"]}, SSH),
)


# How they tell them to a hook


def _claude(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        session_id="s-1", transcript_path="/t.jsonl", cwd=project, permission_mode="default",
        hook_event_name="PreToolUse", tool_name=tool, tool_input=arguments, tool_use_id="toolu_1",
    )  # fmt: skip


def _codex(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        session_id="s-1", turn_id="t-1", transcript_path=None, cwd=project, hook_event_name="PreToolUse", model="m",
        permission_mode="default", tool_name=tool, tool_input=arguments, tool_use_id="call_1",
    )  # fmt: skip


def _docker(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    category = "shell" if "cmd" in arguments else "filesystem"
    return _json(
        session_id="s-1", cwd=project, hook_event_name="pre_tool_use", agent_name="root", tool_category=category,
        tool_name=tool, tool_use_id="call_1", tool_input=arguments,
    )  # fmt: skip


def _reasonix(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(event="PreToolUse", sessionId="s-1", cwd=project, toolName=tool, toolArgs=arguments)


def _gemini(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        session_id="s-1", transcript_path="/t.jsonl", cwd=project, hook_event_name="BeforeTool",
        timestamp="2026-09-30T10:15:42.123Z", tool_name=tool, tool_input=arguments,
    )  # fmt: skip


def _codewhale(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    """Only variables: its document comes with other events."""
    return b"", {
        "DEEPSEEK_SESSION_ID": "s-1",
        "DEEPSEEK_WORKSPACE": project,
        "DEEPSEEK_MODE": "agent",
        "DEEPSEEK_TOOL_NAME": tool,
        "DEEPSEEK_TOOL_ARGS": json.dumps(arguments),
    }


def _cursor(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        conversation_id="s-1", generation_id="g-1", hook_event_name="preToolUse", cursor_version="1.0.0",
        workspace_roots=[project], cwd=project, tool_name=tool, tool_input=arguments, tool_use_id="t-1",
    )  # fmt: skip


def _copilot(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        hook_event_name="preToolUse",
        sessionId="s-1",
        timestamp=1,
        cwd=project,
        toolName=tool,
        toolArgs=arguments,
    )


def _grok(tool: str, arguments: Mapping[str, Any], project: str) -> tuple[bytes, dict[str, str]]:
    return _json(
        hookEventName="pre_tool_use", hook_event_name="PreToolUse", session_id="s-1", sessionId="s-1", cwd=project,
        permission_mode="default", toolName=tool, tool_name=tool, toolInput=arguments, tool_input=arguments,
        tool_use_id="t-1",
    )  # fmt: skip


def _json(**fields: Any) -> tuple[bytes, dict[str, str]]:
    return json.dumps(fields).encode(), {}


AGENT = Caller("hookline agent", "`hookline agent`", _STANDARD)
DECLARED = Caller(
    "host",
    "a program with its own tools",
    _DECLARED,
    tools={"run_shell": shell("cmd"), "open_file": read("where"), "save": write("where", content="text")},
)
USUAL = Caller("usual host", "a program with usual names", _USUAL)
CALLERS: Mapping[str, Caller] = {
    caller.name: caller
    for caller in (
        Caller("claude-code", "Claude Code", _STANDARD, "claude-code", "PreToolUse", _claude),
        Caller("gen-code", "gen-code", _STANDARD, "gen-code", "PreToolUse", _claude, ("claude-code",)),
        Caller("codewhale", "CodeWhale", _CODEWHALE, "codewhale", "tool_call_before", _codewhale),
        Caller("reasonix", "Reasonix", _REASONIX, "reasonix", "PreToolUse", _reasonix),
        Caller("docker-agent", "Docker Agent", _DOCKER, "docker-agent", "pre_tool_use", _docker),
        Caller("codex", "Codex", _CODEX, "codex", "PreToolUse", _codex),
        Caller("gemini-cli", "Gemini CLI", _GEMINI, "gemini-cli", "BeforeTool", _gemini),
        Caller("cursor", "Cursor", _CURSOR, "cursor", "preToolUse", _cursor, ("claude-code",)),
        Caller("copilot-cli", "Copilot CLI", _COPILOT, "copilot-cli", "preToolUse", _copilot),
        Caller("grok", "Grok Build", _GROK, "grok", "PreToolUse", _grok),
        Caller("qwen-code", "Qwen Code", _QWEN, "qwen-code", "PreToolUse", _claude),
        Caller("kimi-code", "Kimi Code", _KIMI, "kimi-code", "PreToolUse", _claude),
        Caller(
            "native", "an agent that speaks Hookline's own format", _STANDARD, "native", "PreToolUse", _claude
        ),
        AGENT,
        DECLARED,
        USUAL,
    )
}

#: The file with the guards of each dialect, below its directory in guards/; scripts are beside it or near it.
FILES: Mapping[str, str] = {name: agent.file for name, agent in AGENTS.items()}


def calls_of(caller: Caller, dialect: str) -> tuple[MadeCall, ...]:
    """Yield the calls that the guards of a dialect see."""
    return tuple(call for call in caller.calls if caller.dialect != dialect or not call.for_others)


def sample(caller: Caller, dialect: str) -> tuple[MadeCall, ...]:
    """For each guard a call that it stops and one that it does not, at least; all of them over all dialects."""
    return tuple(
        call
        for guard in GUARDS
        for denied in (True, False)
        for call in _share(
            [c for c in caller.calls if c.guard is guard and c.denied is denied], caller, dialect
        )
    )


def _share(calls: Sequence[MadeCall], caller: Caller, dialect: str) -> list[MadeCall]:
    """Calls take turns; one that is not for the agent's own hooks goes to the next dialect instead."""
    dialects = list(FILES)
    own = dialects.index(caller.dialect) if caller.dialect else -1
    turn = dialects.index(dialect)
    found = [
        call
        for at, call in enumerate(calls)
        if (at + (call.for_others and at % len(dialects) == own)) % len(dialects) == turn
    ]
    fitting = [call for call in calls if turn != own or not call.for_others]
    return found or [fitting[turn % len(fitting)]]
