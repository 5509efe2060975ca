"""Hooks of several agents are asked about one call: what each is told, and what its answer makes of the call."""

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hookline import Engine, Outcome, deny, rewrite
from hookline.config.engine import Engine as FullEngine
from hookline.dialects.registry import standard_dialects
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
from hookline.extending import Dialect, Exited, Hook, Scene
from hookline.tools import read, shell, write
from tests.engine.scripted_hooks import ScriptedHost, scripted

#: The tools of a program that has names of its own.
OWN = {"run_shell": shell("cmd"), "open_file": read("where"), "save": write("where", content="text")}
NO, PASS = Exited(2, b"", b"not here"), Exited(0)


@cache
def dialect_of(name: str) -> Dialect:
    return standard_dialects()[name].build()


@cache
def _matching() -> Engine:
    return FullEngine()


def hook(
    dialect: str,
    answer: Any,
    matcher: str | None = None,
    condition: str | None = None,
    event: EventSpec[Any] = PRE_TOOL_USE,
    **options: Any,
) -> Hook:
    """A hook of a dialect whose answer the test writes."""
    agent = dialect_of(dialect)
    policy = next(own.policy for own in agent.events.values() if own.event is event)
    matches, holds = _matching().home.match(event, matcher, condition)
    name = options.pop("name", dialect)
    return scripted(
        name, event, policy, agent.wire, answer, matcher=matches, condition=holds, dialect=dialect, **options
    )


class Host(ScriptedHost):
    """Somebody who makes calls: an agent with its own tools, or a program that declares them."""

    def __init__(self, *hooks: Hook, caller: str = "", **more: Any) -> None:
        super().__init__(hooks, cwd="/p", project_dir="/p", **more)
        self.session.tools = dialect_of(caller).own_tools if caller else None

    def call(self, tool: str, event: EventSpec[Any] = PRE_TOOL_USE, **arguments: Any) -> Outcome:
        return self.fire(event, ToolCall(tool_name=tool, tool_input=arguments))

    @property
    def told(self) -> list[str]:
        return [str(run.told_as) for run in self.runs]


def updated(**value: Any) -> Exited:
    """As Claude Code's hooks and native ones say it."""
    said = {"hookEventName": "PreToolUse", "updatedInput": value}
    return Exited(0, json.dumps({"hookSpecificOutput": said}).encode())


def allowed() -> Exited:
    said = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    return Exited(0, json.dumps({"hookSpecificOutput": said}).encode())


def where(field: str, value: str, then: Exited, otherwise: Exited = PASS) -> Callable[[Any], Exited]:
    """Answers by an argument of the call as it is told."""
    return lambda payload: then if payload.tool_input.get(field) == value else otherwise


def parallel(*paths: str) -> list[dict[str, Any]]:
    return [{"recipient_name": "functions.read_file", "parameters": {"path": path}} for path in paths]


# One call, several acts


def test_a_call_is_denied_if_one_of_its_acts_is():
    host = Host(hook("native", where("file_path", "/p/b", NO)), caller="codewhale")
    outcome = host.call("multi_tool_use.parallel", tool_uses=parallel("a", "b", "c"))
    assert (outcome.permission, outcome.reason) == ("deny", "not here")
    assert host.told == ["Read", "Read", "Read"]
    assert [run.status for run in host.runs] == ["ok", "blocked", "ok"]
    assert not host.call("multi_tool_use.parallel", tool_uses=parallel("a", "c")).votes


@pytest.mark.parametrize(
    ("paths", "permission"), [(["a", "a"], "allow"), (["a"], "allow"), (["a", "b"], None), (["b", "a"], None)]
)
def test_an_allow_counts_only_for_every_act(paths: list[str], permission: str | None):
    host = Host(hook("claude-code", where("file_path", "/p/a", allowed())), caller="docker-agent")
    assert host.call("read_multiple_files", paths=paths).permission == permission


def test_an_allow_by_a_hook_that_is_not_asked_about_every_act_does_not_count():
    host = Host(hook("native", allowed(), condition="Read(/p/a)"), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a"]).permission == "allow"
    assert host.call("read_multiple_files", paths=["a", "b"]).permission is None


def test_an_allow_of_one_act_does_not_hide_that_another_is_asked_about():
    asks = Exited(0, b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}')
    host = Host(hook("native", where("file_path", "/p/a", allowed(), asks)), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a", "b"]).permission == "ask"


def test_what_a_hook_says_about_every_act_is_said_once():
    said = {"hookEventName": "PreToolUse", "additionalContext": "mind the keys"}
    host = Host(
        hook("native", Exited(0, json.dumps({"hookSpecificOutput": said}).encode())), caller="docker-agent"
    )
    assert host.call("read_multiple_files", paths=["a", "b", "c"]).context == ("mind the keys",)


def test_a_grant_that_comes_with_an_allow_of_one_act_does_not_count():
    rule = {"toolName": "Read", "ruleContent": "/p/a"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    said = {"hookEventName": "PermissionRequest", "decision": decision}
    answer = Exited(0, json.dumps({"hookSpecificOutput": said}).encode())
    grants = hook("claude-code", where("file_path", "/p/a", answer), event=PERMISSION_REQUEST)
    host = Host(grants, caller="docker-agent")

    def asked(*paths: str) -> Outcome:
        made = PermissionAsked(tool_name="read_multiple_files", tool_input={"paths": [*paths]})
        return host.fire(PERMISSION_REQUEST, made)

    assert (asked("a").permission, len(asked("a").permission_updates)) == ("allow", 1)
    assert (asked("a", "b").permission, asked("a", "b").permission_updates) == (None, ())


def test_a_hook_cannot_change_what_the_next_one_is_told():
    def changes(payload: Any) -> Exited:
        payload.tool_input["command"] = "rm -rf /"
        return PASS

    log: list[tuple[str, Any]] = []
    host = Host(hook("native", changes), hook("claude-code", PASS, "Bash", log=log), caller="docker-agent")
    assert host.call("shell", cmd="ls").updated_input is None
    assert [payload.tool_input for _, payload in log] == [{"command": "ls"}]


def test_the_parts_of_a_patch_are_told_as_what_they_do():
    host = Host(hook("claude-code", where("file_path", "/p/.env", NO), "Write"), caller="codewhale")
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: .env\n*** End Patch\n"
    assert host.call("apply_patch", patch=patch).reason == "not here"
    assert host.told == ["Write"]


# Rewrites


def test_a_rewrite_is_put_into_the_callers_keys_and_units():
    asked = hook("claude-code", updated(command="ls", timeout=7000), "Bash")
    host = Host(asked, caller="docker-agent")
    outcome = host.call("shell", cmd="rm x", timeout=5, cwd="src")
    assert outcome.updated_input == {"cmd": "ls", "timeout": 7, "cwd": "src"}


def test_a_rewrite_by_a_hook_of_another_agent_reaches_a_standard_call():
    answer = Exited(0, b'{"updatedInput": {"command": "ls", "timeout": 3}}')
    outcome = Host(hook("codewhale", answer, "bash")).call(
        "Bash", command="rm x", timeout=1000, description="d"
    )
    assert outcome.updated_input == {"command": "ls", "timeout": 3000, "description": "d"}


def test_each_act_may_be_rewritten():
    def renamed(payload: Any) -> Exited:
        return updated(file_path=payload.tool_input["file_path"] + ".txt")

    host = Host(hook("native", renamed), caller="docker-agent")
    assert host.call("read_multiple_files", paths=["a", "b"]).updated_input == {
        "paths": ["/p/a.txt", "/p/b.txt"]
    }


def test_a_rewrite_that_cannot_be_put_back_is_a_denial_that_says_so():
    host = Host(hook("native", updated(file_path="/p/other", content="x"), "Write"), caller="codewhale")
    outcome = host.call("apply_patch", patch="*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n")
    assert (outcome.permission, outcome.updated_input) == ("deny", None)
    assert outcome.reason == (
        "the rewrite by native cannot be put into the call of apply_patch: it is one part of a patch"
    )
    assert [(run.status, run.decision, run.reason) for run in host.runs] == [
        ("blocked", "deny", outcome.reason)
    ]


def test_an_argument_that_the_caller_does_not_have_is_a_denial():
    host = Host(hook("native", updated(command="ls", run_in_background=True)), tools=OWN)
    outcome = host.call("run_shell", cmd="ls")
    assert outcome.permission == "deny"
    assert "the rewrite by native cannot be put into the call of run_shell" in (outcome.reason or "")


def test_the_next_hook_is_told_what_the_one_before_rewrote():
    log: list[tuple[str, Any]] = []
    first = hook("claude-code", updated(command="echo safe"), "Bash")
    second = hook("codewhale", Exited(0), "bash", log=log)
    outcome = Host(first, second, caller="docker-agent").call("shell", cmd="rm x")
    assert [payload.tool_input for _, payload in log] == [{"command": "echo safe"}]
    assert outcome.updated_input == {"cmd": "echo safe"}


def test_a_guard_is_asked_again_when_another_lane_rewrote_the_call():
    guard = hook("claude-code", where("command", "rm -rf x", NO), "Bash")
    rewriter = hook("codewhale", Exited(0, b'{"updatedInput": {"command": "rm -rf x"}}'), "bash")
    host = Host(guard, rewriter, caller="docker-agent")
    assert host.call("shell", cmd="ls").reason == "not here"
    assert [(run.hook, run.recheck) for run in host.runs] == [
        ("claude-code", False), ("codewhale", False), ("claude-code", True),
    ]  # fmt: skip


def test_a_guard_that_the_first_form_did_not_concern_is_asked_about_the_last():
    guard = hook("native", NO, condition="Bash(rm *)")
    rewriter = hook("codewhale", Exited(0, b'{"updatedInput": {"command": "rm x"}}'), "bash")
    host = Host(guard, rewriter, caller="docker-agent")
    assert host.call("shell", cmd="ls").blocked
    assert [(run.hook, run.recheck) for run in host.runs] == [("codewhale", False), ("native", True)]


# What cannot be read


@pytest.mark.parametrize("arguments", [{"cmd": 3}, {"cmd": ["rm", "x"]}, {}])
def test_a_call_that_cannot_be_read_is_denied_at_a_guard(arguments: Mapping[str, Any]):
    log: list[tuple[str, Any]] = []
    host = Host(hook("claude-code", Exited(0), "Bash", log=log), caller="docker-agent")
    outcome = host.call("shell", **arguments)
    assert outcome.permission == "deny"
    assert "the call of shell cannot be judged by claude-code: " in (outcome.reason or "")
    assert log == []
    assert [run.decision for run in host.runs] == ["deny"]


def test_a_call_that_cannot_be_read_is_told_to_those_who_only_watch():
    log: list[tuple[str, Any]] = []
    watches = hook("claude-code", Exited(0), "Bash", event=POST_TOOL_USE, log=log)
    host = Host(watches, caller="docker-agent")
    host.fire(POST_TOOL_USE, ToolResult(tool_name="shell", tool_input={"cmd": 3}, tool_response="done"))
    assert [(payload.tool_name, payload.tool_response) for _, payload in log] == [("Bash", "done")]


@pytest.mark.parametrize("given", ["everything", [{"recipient_name": 3, "parameters": {}}], [{}]])
def test_a_tool_that_makes_calls_may_be_anything_if_they_cannot_be_read(given: Any):
    host = Host(hook("claude-code", PASS, "Write", "Write(/etc/**)"), caller="codewhale")
    assert host.call("multi_tool_use.parallel", tool_uses=given).blocked
    log: list[tuple[str, Any]] = []
    watches = hook("claude-code", PASS, "Write", event=POST_TOOL_USE, log=log)
    made = ToolResult(tool_name="multi_tool_use.parallel", tool_input={"tool_uses": given}, tool_response="x")
    Host(watches, caller="codewhale").fire(POST_TOOL_USE, made)
    assert log == []


def test_what_comes_after_too_many_acts_may_be_anything():
    uses = [{"recipient_name": "functions.list_dir", "parameters": {"path": "."}}] * 200
    host = Host(hook("claude-code", where("file_path", "/p/key", NO), "Read"), caller="codewhale")
    assert not host.call("multi_tool_use.parallel", tool_uses=uses).blocked
    outcome = host.call("multi_tool_use.parallel", tool_uses=[*uses, *parallel("key")])
    assert outcome.blocked
    assert "it does more than 200 things" in (outcome.reason or "")


def test_a_guard_that_does_not_concern_the_tool_says_nothing_about_a_call_that_cannot_be_read():
    assert not Host(hook("claude-code", NO, "Write"), caller="docker-agent").call("shell", cmd=3).votes


# Who sees which names


def test_a_function_sees_the_programs_names_and_a_native_hook_canonical_ones_beside_them():
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", Exited(0), log=log), tools=OWN)
    seen: list[ToolCall] = []
    host.engine.add(PRE_TOOL_USE, seen.append, "run_shell")
    host.engine.add(PRE_TOOL_USE, seen.append, "Bash")
    host.engine.add(PRE_TOOL_USE, seen.append, "Read")
    host.call("run_shell", cmd="ls")
    assert [(call.tool_name, call.tool_input, call.called_as) for call in seen] == [
        ("run_shell", {"cmd": "ls"}, None)
    ] * 2
    ((_, told),) = log
    assert (told.tool_name, told.tool_input) == ("Bash", {"command": "ls"})
    assert told.called_as == {"agent": "", "tool_name": "run_shell", "tool_input": {"cmd": "ls"}}


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


@pytest.mark.parametrize("rule", ["open_file(.env)", "Read(.env)", "Read(/p/.env)", "open_file(./.env)"])
@pytest.mark.parametrize("path", [".env", "/p/.env", "src/../.env"])
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
    ("dialect", "matcher", "tool", "arguments", "told"),
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
    dialect: str, matcher: AllBut | str, tool: str, arguments: Mapping[str, Any], told: str | None
):
    asked = hook(dialect, NO, matcher if isinstance(matcher, str) else None)
    host = Host(asked if isinstance(matcher, str) else replace(asked, matcher=matcher), caller="docker-agent")
    assert host.call(tool, **arguments).blocked is (told is not None)
    assert host.told == ([] if told is None else [told])


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("Bash", {"command": ["rm", "a b"]}, {"command": "rm 'a b'"}),
        ("Bash", {"cmd": "rm x"}, {"command": "rm x"}),
        ("Read", {"file_path": None, "path": ".env"}, {"file_path": "/p/.env"}),
        ("Write", {"path": "a", "content": "x"}, {"file_path": "/p/a", "content": "x"}),
    ],
)
def test_a_program_may_give_a_tool_of_a_canonical_name_other_arguments(
    tool: str, arguments: Mapping[str, Any], told: Mapping[str, Any]
):
    log: list[tuple[str, Any]] = []
    host = Host(hook("native", PASS, log=log), hook("claude-code", PASS, log=log))
    assert not host.call(tool, **arguments).blocked
    assert [(payload.tool_name, payload.tool_input) for _, payload in log] == [(tool, told)] * 2


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
    assert [(run.told_as, run.decision, run.mode) for run in host.runs] == [("Bash", "deny", "shadow")] * 2


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
    def refuse(_hook: Hook, _scene: Scene) -> Admission:
        return Admission(admitted=False, reason="not trusted")

    host = Host(hook("claude-code", Exited(0), "Bash", required=True), caller="docker-agent", admit=refuse)
    assert host.call("shell", cmd="ls").blocked
    assert not host.call("write_file", path="a", content="x").blocked


def test_an_untrusted_hook_tightens_and_its_rewrite_and_allow_do_not_count():
    def tighten(_hook: Hook, _scene: Scene) -> Admission:
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

        def holds(self, event: Any, payload: Any, scene: Any) -> bool:
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
        ((_, told),) = log
        assert (told.tool_name, told.tool_input) == ("Bash", {"command": "make"}), event.name
        assert getattr(told, "tool_response", "made") == "made"


def test_the_variables_of_a_command_are_asked_for_under_the_hooks_names():
    log: list[tuple[str, Any]] = []
    env = hook("codewhale", Exited(0, b"A=1\n"), "bash", event=SHELL_ENV, log=log)
    outcome = Host(env).fire(SHELL_ENV, ShellStart(tool_name="Bash", command="make"))
    ((_, told),) = log
    assert (told.tool_name, told.command) == ("bash", "make")
    assert outcome.env_items == (("A", "1"),)


def test_a_new_result_of_a_tool_is_the_callers():
    said = {"hookEventName": "PostToolUse", "updatedToolOutput": "[hidden]"}
    answer = Exited(0, json.dumps({"hookSpecificOutput": said}).encode())
    host = Host(hook("claude-code", answer, "Read", event=POST_TOOL_USE), caller="docker-agent")
    made = ToolResult(tool_name="read_file", tool_input={"path": "a"}, tool_response="secret")
    assert host.fire(POST_TOOL_USE, made).updated_output == "[hidden]"


# Who allows what


_MOVED = "rename from ok/a\nrename to ok/b\n"
_CHANGED = "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+x\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "permission"),
    [
        ("apply_patch", {"patch": _MOVED}, "allow"),
        ("apply_patch", {"patch": _MOVED + _CHANGED}, None),
        ("apply_patch", {"patch": _MOVED.replace("from ok/a", "from /etc/a")}, None),
    ],
)
def test_an_allow_for_what_a_move_writes_is_not_one_for_all_of_the_call(
    tool: str, arguments: dict[str, Any], permission: str | None
):
    host = Host(hook("native", allowed(), condition="Write(/p/ok/**)"), caller="codewhale")
    assert host.call(tool, **arguments).permission == permission


@pytest.mark.parametrize("dialect", ["native", "claude-code"])
def test_who_is_not_told_that_a_call_leaves_the_sandbox_cannot_allow_it(dialect: str):
    host = Host(hook(dialect, allowed(), "Bash"), caller="codewhale")
    assert host.call("bash", command="ls").permission == "allow"
    assert host.call("bash", command="ls", sandbox_permissions="use_default").permission == "allow"
    assert host.call("bash", command="ls", sandbox_permissions="require_escalated").permission is None


@pytest.mark.parametrize("dialect", ["native", "claude-code"])
def test_who_allows_a_tool_of_a_server_allows_what_it_does(dialect: str):
    host = Host(hook(dialect, allowed(), "mcp__filesystem__.*"), caller="reasonix")
    assert host.call("mcp__filesystem__write_file", path="a", content="x").permission == "allow"
    assert host.told == ["mcp__filesystem__write_file"]
    host = Host(hook("native", allowed(), "Write"), caller="reasonix")
    assert host.call("mcp__filesystem__write_file", path="a", content="x").permission is None


def test_a_rewrite_of_a_servers_tool_has_the_keys_that_it_has():
    host = Host(hook("native", updated(path="/p/b"), "mcp__filesystem__.*"), caller="reasonix")
    assert host.call("mcp__filesystem__read_file", path="a").edits[0].value == {"path": "/p/b"}
    host = Host(hook("native", updated(file_path="/p/b"), "Read"), caller="reasonix")
    assert host.call("mcp__filesystem__read_file", path="a", head=3).edits[0].value == {
        "path": "/p/b",
        "head": 3,
    }


# Tools that only one agent has, and programs with unusual keys


@pytest.mark.parametrize("tool", ["Monitor", "PowerShell"])
def test_a_tool_of_the_hooks_own_agent_keeps_its_name(tool: str):
    assert Host(hook("claude-code", NO, tool)).call(tool, command="rm x").blocked
    assert Host(hook("claude-code", NO, "Bash")).call(tool, command="rm x").blocked
    observer = Host(hook("claude-code", PASS))
    observer.call(tool, command="ls")
    assert observer.told == [tool]


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "ls", "cmd": "rm x"},
        {"command": "rm x", "cmd": "ls"},
        {"command": None, "cmd": "rm x"},
        {"command": "", "input": "rm x"},
        {"command": 5, "cmd": "rm x"},
        {"command": {"line": "ls"}, "cmd": "rm x", "input": "rm x"},
        {"command": ["rm", "x"]},
        {"command": "ls", "script": {"rm": "x"}, "cmd": ["rm", "x"]},
    ],
)
@pytest.mark.parametrize("tool", ["Bash", "run_shell"])
def test_another_key_does_not_hide_a_command(tool: str, arguments: dict[str, Any]):
    for guard in (
        hook("native", NO, condition="Bash(rm *)"),
        hook("claude-code", where("command", "rm x", NO), "Bash"),
        hook("docker-agent", where("cmd", "rm x", NO), "shell"),
    ):
        assert Host(guard).call(tool, **arguments).blocked, guard.name
        assert not Host(guard).call(tool, command="ls", description="rm x").blocked


def test_a_tool_of_the_same_name_in_another_agent_does_not_hide_a_file():
    host = Host(hook("docker-agent", where("path", "/etc/x", NO), "read_file"))
    assert host.call("read_file", file_path="/etc/x", path="ok").blocked
    assert host.call("read_file", file="ok", path="/etc/x").blocked


@pytest.mark.parametrize(
    ("tool", "given", "new"),
    [
        ("Bash", {"cmd": "make"}, {"cmd": "ls"}),
        ("run_shell", {"script": "make", "note": 1}, {"script": "ls", "note": 1}),
        ("run_shell", {"input": ["make"]}, {"input": ["ls"]}),
        ("run_shell", {"command": "make", "cmd": "made"}, {"command": "ls", "cmd": "ls"}),
    ],
)
def test_a_rewrite_goes_into_the_key_that_the_program_uses(tool: str, given: Any, new: dict[str, Any]):
    for dialect in ("native", "claude-code"):
        assert Host(hook(dialect, updated(command="ls"), "Bash")).call(tool, **given).edits[0].value == new


@pytest.mark.parametrize(
    ("caller", "tool", "given"),
    [
        ("docker-agent", "shell", {"cmd": "ls", "Cmd": "rm x"}),
        ("reasonix", "bash", {"command": "ls", "COMMAND": "rm x"}),
        (
            "reasonix",
            "use_capability",
            {"capability_id": "bash", "arguments": {"command": "ls", "Command": "rm x"}},
        ),
    ],
)
def test_a_key_of_another_case_hides_nothing(caller: str, tool: str, given: Any):
    """Their JSON readers find a key whatever its case, and the last one counts."""
    guard = hook("native", NO, condition="Bash(rm *)")
    assert "another case" in (Host(guard, caller=caller).call(tool, **given).reason or "")
    assert not Host(guard, caller="docker-agent").call("shell", cmd="ls", Other="rm x").blocked


@pytest.mark.parametrize("guard", ["write", "write_file", "File", "read_file", "read"])
def test_a_move_is_told_to_hooks_for_any_tool_that_writes_or_reads(guard: str):
    host = Host(hook("codewhale", NO, guard), caller="reasonix")
    assert host.call("move_file", source_path="a", destination_path="b").blocked


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("NotebookEdit", {"notebook_path": "/etc/x", "new_source": ""}),
        ("MultiEdit", {"file_path": "/etc/x", "edits": [{"old_string": "a", "new_string": "b"}]}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: /etc/x\n-a\n+b\n*** End Patch"}),
        ("apply_patch", {"type": "update_file", "path": "/etc/x", "diff": "@@\n-a\n+b"}),
    ],
)
def test_a_rule_about_edits_is_about_all_of_them(tool: str, given: Any):
    assert Host(hook("native", NO, condition="Edit(/etc/**)")).call(tool, **given).blocked
    assert not Host(hook("native", NO, condition="Edit(/usr/**)")).call(tool, **given).blocked


def test_a_programs_own_delete_and_move_are_writes_if_they_are_about_files():
    for guard in (hook("native", NO, condition="Write(/etc/**)"), hook("claude-code", NO, "Write")):
        assert Host(guard).call("Delete", path="/etc/x").blocked
        assert Host(guard).call("Delete", file_path="/etc/x").blocked
        assert Host(guard).call("Move", source="/etc/x", destination="/p/a").blocked
        assert not Host(guard).call("Delete", id=5).blocked
        assert not Host(guard).call("Move", direction="north").blocked


def test_a_search_in_several_folders_is_one_in_each():
    guard = hook("native", NO, condition="Read(/p/secret/**)")
    assert Host(guard).call("grep", pattern="x", path=["/p/a", "/p/secret"]).blocked
    assert Host(guard).call("grep", pattern="x", path="/p/a", directory="/p/secret").blocked
    assert not Host(guard).call("grep", pattern="x", path=["/p/a", "/p/b"]).blocked


def test_who_searches_in_a_file_reads_it():
    guard = hook("native", NO, condition="Read(**/.env)")
    assert Host(guard).call("Grep", pattern="x", path=".env").blocked
    assert Host(guard, caller="docker-agent").call("search_files_content", query="x", path=".env").blocked
    assert not Host(guard).call("Grep", pattern="x", path="/p").blocked
    assert not Host(guard).call("Grep", pattern="x").blocked


def test_a_blank_command_does_not_bring_up_another_one():
    host = Host(hook("native", updated(command=" "), "Bash"), caller="docker-agent")
    assert host.call("shell", cmd="make", command="rm x").blocked


def test_a_call_that_does_nothing_is_not_refused():
    host = Host(hook("claude-code", PASS), hook("native", PASS))
    assert not host.call("read_files", paths=[]).votes
    assert not host.call("fetch", urls=[]).votes
    assert host.told == ["read_files", "read_files", "fetch", "fetch"]


def test_who_looks_on_is_told_once_of_a_name_that_can_be_read_in_several_ways():
    host = Host(hook("claude-code", PASS, event=POST_TOOL_USE), caller="codewhale")
    host.fire(POST_TOOL_USE, ToolResult(tool_name="mcp_a_b_c", tool_input={}, tool_response="x"))
    assert host.told == ["mcp__a__b_c"]
    guard = Host(hook("claude-code", NO, "mcp__a_b__.*"), caller="codewhale")
    assert guard.call("mcp_a_b_c").blocked


# Explanations


def test_an_explanation_says_how_a_call_is_told():
    host = Host(
        hook("claude-code", NO, "Bash"), hook("native", NO, condition="Bash(rm *)"), caller="docker-agent"
    )
    payload = ToolCall(tool_name="shell", tool_input={"cmd": "rm x"})
    verdicts = host.session.explain(PRE_TOOL_USE, payload)
    assert [verdict.selected for verdict in verdicts] == [True, True]
    assert verdicts[0].why == 'matched: matcher "Bash" is "Bash"'
    told = [act.payload for verdict in verdicts if verdict.told for act in verdict.told.acts]
    assert [(one.tool_name, one.tool_input) for one in told] == [("Bash", {"command": "rm x"})] * 2


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
