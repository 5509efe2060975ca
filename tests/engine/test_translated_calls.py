"""Test hooks of several agents on one call: the names that each gets, and what kinds of hooks do with it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hookline import Outcome, deny, rewrite
from hookline.config.engine import Engine as FullEngine
from hookline.engine.run_hook import Admission
from hookline.events import (
    PERMISSION_DENIED,
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PRE_TOOL_USE,
    SHELL_ENV,
    EventSpec,
    PermissionAsked,
    PermissionRefused,
    ShellStart,
    ToolCall,
    ToolResult,
)
from hookline.extending import Exited, Hook, SessionInfo
from tests.engine.translating_hooks import (
    NO,
    OWN,
    PASS,
    Host,
    allowed,
    dialect_of,
    hook,
    updated,
)
from tests.every import every

# Who sees which names


def test_a_function_sees_the_programs_names_and_a_native_hook_canonical_ones_beside_them():
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", Exited(0), log=log), tools=OWN)
    seen: list[ToolCall] = []
    host.engine.add(PRE_TOOL_USE, seen.append, "run_shell")
    host.engine.add(PRE_TOOL_USE, seen.append, "Bash")
    host.engine.add(PRE_TOOL_USE, seen.append, "Read")
    host.call("run_shell", cmd="ls")
    assert [(call.tool_name, call.tool_input, call.original_call) for call in seen] == [
        ("run_shell", {"cmd": "ls"}, None)
    ] * 2
    ((_, translated),) = log
    assert (translated.tool_name, translated.tool_input) == ("Bash", {"command": "ls"})
    assert translated.original_call == {"agent": "", "tool_name": "run_shell", "tool_input": {"cmd": "ls"}}


def test_a_function_is_asked_once_about_a_call_with_several_acts_and_rewrites_it_as_it_is():
    host = Host(caller="docker-agent")
    seen: list[ToolCall] = []

    def fewer(call: ToolCall) -> Outcome:
        seen.append(call)
        return rewrite(paths=["a"])

    host.engine.add(PRE_TOOL_USE, fewer, "read_multiple_files")
    assert host.call("read_multiple_files", paths=["a", "b"]).updated_input == {"paths": ["a"]}
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        ("run_shell(rm *)", "cd x && rm y", True),
        ("run_shell(rm *)", "echo rm y", False),
        ("Bash(rm *)", "cd x && rm y", True),
        ("bash(rm *)", "cd x && rm y", False),
        ("save(rm *)", "rm y", False),
    ],
)
def test_rules_may_have_the_callers_name_and_read_the_command(rule: str, command: str, denied: bool):
    assert (
        Host(hook("native", NO, condition=rule), tools=OWN).call("run_shell", cmd=command).blocked is denied
    )
    host = Host(tools=OWN)
    host.engine.add(PRE_TOOL_USE, lambda _call: deny("no"), condition=rule)
    assert host.call("run_shell", cmd=command).blocked is denied


@every("rule", ["open_file(.env)", "Read(.env)", "Read(/p/.env)", "open_file(./.env)"])
@every("path", [".env", "/p/.env", "src/../.env"])
def test_file_rules_see_relative_and_absolute_paths_alike(rule: str, path: str):
    host = Host(hook("native", NO, condition=rule), tools=OWN)
    assert host.call("open_file", where=path).blocked
    assert not host.call("open_file", where="/p/.env.example").blocked


class AllBut(Struct, frozen=True):
    """As Claude Code's files say it: `^(?!Edit$).*`."""

    text: str

    def matches(self, subject: str) -> bool:
        return subject != self.text


EDITS = {"path": "a", "edits": [{"oldText": "a", "newText": "b"}]}


@pytest.mark.parametrize(
    ("dialect", "matcher", "tool", "arguments", "translated"),
    [
        ("reasonix", AllBut("bash"), "shell", {"cmd": "ls"}, None),
        ("reasonix", AllBut("read_file"), "shell", {"cmd": "ls"}, "bash"),
        ("reasonix", "pwsh", "shell", {"cmd": "ls"}, "pwsh"),
        ("claude-code", AllBut("Edit"), "edit_file", EDITS, None),
        ("claude-code", AllBut("Read"), "edit_file", EDITS, "Edit"),
        ("claude-code", "MultiEdit", "edit_file", EDITS, "MultiEdit"),
        ("codewhale", "exec_.*", "shell", {"cmd": "ls"}, "exec_shell"),
    ],
)
def test_a_hook_for_all_tools_but_some_is_not_told_another_name_of_those(
    dialect: str, matcher: AllBut | str, tool: str, arguments: Mapping[str, Any], translated: str | None
):
    asked = hook(dialect, NO, matcher if isinstance(matcher, str) else None)
    host = Host(asked if isinstance(matcher, str) else replace(asked, matcher=matcher), caller="docker-agent")
    assert host.call(tool, **arguments).blocked is (translated is not None)
    assert host.translated == ([] if translated is None else [translated])


@pytest.mark.parametrize(
    ("tool", "arguments", "translated"),
    [
        ("Bash", {"command": ["rm", "a b"]}, {"command": "rm 'a b'"}),
        ("Bash", {"cmd": "rm x"}, {"command": "rm x"}),
        ("Read", {"file_path": None, "path": ".env"}, {"file_path": "/p/.env"}),
        ("Write", {"path": "a", "content": "x"}, {"file_path": "/p/a", "content": "x"}),
    ],
)
def test_a_program_may_give_a_tool_of_a_canonical_name_other_arguments(
    tool: str, arguments: Mapping[str, Any], translated: Mapping[str, Any]
):
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", PASS, log=log), hook("claude-code", PASS, log=log))
    assert not host.call(tool, **arguments).blocked
    assert [(payload.tool_name, payload.tool_input) for _, payload in log] == [(tool, translated)] * 2


@pytest.mark.parametrize("given", [{"command": 3}, ["rm", "x"], "rm x"])
def test_arguments_of_another_shape_do_not_pass_a_guard(given: Any):
    outcome = Host(hook("claude-code", PASS, "Bash")).fire(
        PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input=given)
    )
    assert outcome.blocked


# Everything that a hook can be


def test_once_is_once_however_many_acts_there_are():
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", Exited(0), once=True, log=log), caller="docker-agent")
    host.call("read_multiple_files", paths=["a", "b"])
    host.call("shell", cmd="ls")
    assert [payload.tool_name for _, payload in log] == ["Read", "Read"]


def test_a_shadow_hook_is_told_and_recorded_and_does_not_count():
    host = Host(hook("claude-code", NO, "Bash", mode="shadow"), caller="docker-agent")
    assert not host.call("shell", cmd="ls").votes
    assert not host.call("shell", cmd=3).votes
    assert [(run.translated_tool, run.decision, run.mode) for run in host.runs] == [
        ("Bash", "deny", "shadow")
    ] * 2


def test_a_hook_that_is_switched_off_is_not_told():
    host = Host(hook("claude-code", NO, "Bash", mode="off"), caller="docker-agent")
    assert not host.call("shell", cmd="ls").votes
    assert host.runs == []


def test_a_hook_in_the_background_is_told_each_act():
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", Exited(0), waiting="async", log=log), caller="docker-agent")
    assert not host.call("read_multiple_files", paths=["a", "b"]).votes
    assert [payload.tool_input["file_path"] for _, payload in log] == ["/p/a", "/p/b"]


def test_a_hook_that_wakes_the_agent_is_told_too():
    host = Host(hook("claude-code", NO, "Bash", event=POST_TOOL_USE, waiting="rewake"), caller="docker-agent")
    host.fire(POST_TOOL_USE, ToolResult(tool_name="shell", tool_input={"cmd": "make"}, tool_response="x"))
    (late,) = host.session.inbox.take_all()
    assert (late.kind, late.text) == ("wake", "not here")


def test_a_required_hook_that_may_not_run_closes_the_calls_that_concern_it():
    def refuse(_hook: Hook, _info: SessionInfo) -> Admission:
        return Admission(admitted=False, reason="not trusted")

    host = Host(hook("claude-code", Exited(0), "Bash", required=True), caller="docker-agent", admit=refuse)
    assert host.call("shell", cmd="ls").blocked
    assert not host.call("write_file", path="a", content="x").blocked


def test_an_untrusted_hook_tightens_and_its_rewrite_and_allow_do_not_count():
    def tighten(_hook: Hook, _info: SessionInfo) -> Admission:
        return Admission(only_tightens=True)

    host = Host(hook("claude-code", NO, "Bash"), caller="docker-agent", admit=tighten)
    outcome = host.call("shell", cmd="ls")
    assert outcome.blocked
    assert "not here" not in (outcome.reason or "")
    for answer in (allowed(), updated(command="rm x")):
        outcome = Host(hook("claude-code", answer, "Bash"), caller="docker-agent", admit=tighten).call(
            "shell", cmd="ls"
        )
        assert (outcome.permission, outcome.updated_input) == (None, None)


def test_a_condition_that_fails_is_a_hook_that_failed():
    class Breaks:
        text = "breaks"

        def holds(self, event: Any, payload: Any, info: Any) -> bool:
            raise RuntimeError("no")

    broken = replace(hook("native", Exited(0)), condition=Breaks())
    outcome = Host(broken, caller="docker-agent").call("shell", cmd="ls")
    assert outcome.blocked
    assert "its matcher or condition failed: RuntimeError: no" in (outcome.reason or "")


def test_the_session_of_a_sub_agent_has_the_same_tools():
    host = Host(hook("claude-code", NO, "Bash"), caller="docker-agent")
    child = host.engine.session("child", host.session)
    outcome = asyncio.run(child.dispatch(PRE_TOOL_USE, ToolCall(tool_name="shell", tool_input={"cmd": "ls"})))
    assert outcome.blocked


# Other events


def test_the_other_events_about_tools_are_told_alike():
    def payload(kind: type[Any], **more: Any) -> Any:
        return kind(tool_name="shell", tool_input={"cmd": "make"}, **more)

    fired: list[tuple[EventSpec[Any], Any]] = [
        (PERMISSION_REQUEST, payload(PermissionAsked)),
        (PERMISSION_DENIED, payload(PermissionRefused, reason="no")),
        (POST_TOOL_USE, payload(ToolResult, tool_response="made")),
    ]
    for event, made in fired:
        log: list[tuple[str, Any]] = []
        Host(hook("claude-code", Exited(0), "Bash", event=event, log=log), caller="docker-agent").fire(
            event, made
        )
        ((_, translated),) = log
        assert (translated.tool_name, translated.tool_input) == ("Bash", {"command": "make"}), event.name
        assert getattr(translated, "tool_response", "made") == "made"


def test_the_variables_of_a_command_are_asked_for_under_the_hooks_names():
    log: list[tuple[str, Any]] = []
    env = hook("codewhale", Exited(0, b"A=1\n"), "bash", event=SHELL_ENV, log=log)
    outcome = Host(env).fire(SHELL_ENV, ShellStart(tool_name="Bash", command="make"))
    ((_, translated),) = log
    assert (translated.tool_name, translated.command) == ("bash", "make")
    assert outcome.env_items == (("A", "1"),)


def test_a_new_result_of_a_tool_is_the_callers():
    said = {"hookEventName": "PostToolUse", "updatedToolOutput": "[hidden]"}
    answer = Exited(0, json.dumps({"hookSpecificOutput": said}).encode())
    host = Host(hook("claude-code", answer, "Read", event=POST_TOOL_USE), caller="docker-agent")
    made = ToolResult(tool_name="read_file", tool_input={"path": "a"}, tool_response="secret")
    assert host.fire(POST_TOOL_USE, made).updated_output == "[hidden]"


# Explanations


def test_an_explanation_says_how_a_call_is_told():
    host = Host(
        hook("claude-code", NO, "Bash"), hook("native", NO, condition="Bash(rm *)"), caller="docker-agent"
    )
    payload = ToolCall(tool_name="shell", tool_input={"cmd": "rm x"})
    decisions = host.session.explain(PRE_TOOL_USE, payload)
    assert [decision.selected for decision in decisions] == [True, True]
    assert decisions[0].why == 'matched: matcher "Bash" is "Bash"'
    translated = [
        action.payload
        for decision in decisions
        if decision.translated
        for action in decision.translated.actions
    ]
    assert [(one.tool_name, one.tool_input) for one in translated] == [("Bash", {"command": "rm x"})] * 2


# A process


@pytest.mark.parametrize("told_cwd", ["sub", "/nonexistent/place"])
def test_a_process_starts_where_the_session_is(tmp_path: Path, told_cwd: str):
    (tmp_path / "sub").mkdir()
    config = tmp_path / "hooks.json"
    script = 'read -r line; printf "%s\\n%s" "$PWD" "$line" > seen'
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": script}]}
    config.write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    engine = FullEngine()
    engine.load(str(tmp_path), [str(config)])

    async def main() -> Outcome:
        session = engine.session("s", cwd=str(tmp_path), project_dir=str(tmp_path))
        session.tools = dialect_of("docker-agent").tools
        payload = ToolCall(tool_name="shell", tool_input={"cmd": "ls", "cwd": told_cwd})
        outcome = await session.dispatch(PRE_TOOL_USE, payload)
        await engine.close()
        return outcome

    assert not asyncio.run(main()).votes
    directory, _, line = (tmp_path / "seen").read_text().partition("\n")
    assert directory == str(tmp_path)
    assert json.loads(line)["cwd"] == str(tmp_path / told_cwd)
