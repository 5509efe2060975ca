"""Test what hooks may do about permissions: PreToolUse, PermissionRequest and PermissionDenied."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.ports import PermissionReply
from hookline.agent.session.session import PromptTurn
from tests.agent.hook_entries import answers, command, denies, on
from tests.agent.scripted_session import Answers, Probe, Say, ScriptedSession, call, calls, says

_ASKED = on("PermissionRequest", answers("PermissionRequest", decision={"behavior": "allow"}))
_ADD_RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}],
    "behavior": "allow",
    "destination": "session",
}


def _played(scripted: ScriptedSession, *prompts: str) -> PromptTurn:
    async def main() -> PromptTurn:
        async with scripted:
            received = await scripted.play(*prompts or ("go",))
            assert received is not None
            return received

    return asyncio.run(main())


def _request(**decision: Any) -> dict[str, Any]:
    return on("PermissionRequest", answers("PermissionRequest", decision=decision))


# -- PreToolUse ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decisions", "comes_to"),
    [
        (["allow", "ask"], "ask"),
        (["ask", "deny"], "deny"),
        (["deny", "allow"], "deny"),
        (["allow"], "allow"),
    ],
)
def test_seed001_the_most_restrictive_decision_wins(
    decisions: list[str], comes_to: str, tmp_path: Path
) -> None:
    hooks = on("PreToolUse", *(answers("PreToolUse", permissionDecision=each) for each in decisions))
    asker, probe = Answers(PermissionReply(allow=True)), Probe()
    _played(ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe], asker=asker, allow=()))
    assert len(asker.questions) == (comes_to == "ask")
    assert len(probe.calls) == (comes_to != "deny")


def test_seed001_pre_tool_use_may_not_change_permissions_and_its_run_says_so(tmp_path: Path) -> None:
    hooks = on(
        "PreToolUse",
        answers("PreToolUse", permissionDecision="allow", updatedPermissions=[_ADD_RULE]),
    )
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()], allow=())
    _played(scripted)
    fired = scripted.events("PreToolUse")[0]
    assert fired.outcome.permission_updates == ()
    assert "permission_updates" in " ".join(fired.runs[0].dropped)
    assert probe.calls, "the rest of what it said counts"
    assert scripted.agent.permissions.hook_rules.allow == ()


@pytest.mark.parametrize(
    ("rule", "asked"), [({"deny": ("Probe",)}, 0), ({"ask": ("Probe",)}, 1)], ids=["deny", "ask"]
)
def test_seed001_a_hooks_allow_loosens_no_rule(rule: dict[str, Any], asked: int, tmp_path: Path) -> None:
    hooks = on("PreToolUse", answers("PreToolUse", permissionDecision="allow"))
    asker = Answers()
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()], asker=asker, **rule)
    _played(scripted)
    assert probe.calls == []
    assert len(asker.questions) == asked


@pytest.mark.parametrize(
    ("becomes", "says_then"),
    [
        ({"what": 7}, "a hook changed the input, and then: The arguments do not fit Probe"),
        ({}, "a hook changed the input, and then: The arguments do not fit Probe"),
    ],
)
def test_seed001_what_pre_tool_use_makes_of_the_input_is_checked_again(
    becomes: dict[str, Any], says_then: str, tmp_path: Path
) -> None:
    hooks = on("PreToolUse", answers("PreToolUse", permissionDecision="allow", updatedInput=becomes))
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()])
    _played(scripted)
    assert probe.calls == []
    assert says_then in scripted.results()[0]


def test_seed001_an_input_rewritten_into_a_denied_one_is_denied(tmp_path: Path) -> None:
    hooks = on(
        "PreToolUse",
        answers("PreToolUse", permissionDecision="allow", updatedInput={"command": "curl example.invalid"}),
    )
    scripted = ScriptedSession(
        tmp_path, _bash("ls"), hooks=hooks, allow=("Bash(ls:*)",), deny=("Bash(curl:*)",)
    )
    _played(scripted)
    assert "was denied by the rule Bash(curl:*)" in scripted.results()[0]
    assert scripted.fired.count("PermissionDenied") == 1
    assert scripted.events("PermissionDenied")[0].payload.tool_input == {"command": "curl example.invalid"}


def test_seed001_an_allowed_input_that_was_rewritten_runs_as_it_was_rewritten(tmp_path: Path) -> None:
    hooks = on("PreToolUse", answers("PreToolUse", updatedInput={"what": "better"}))
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()])
    _played(scripted)
    assert probe.calls == [{"what": "better"}]
    assert scripted.events("PostToolUse")[0].payload.tool_input == {"what": "better"}


# -- PermissionRequest --------------------------------------------------------------------------------------


def test_seed001_hooks_are_asked_before_the_user_and_may_answer_for_the_user(tmp_path: Path) -> None:
    asker, probe = Answers(), Probe()
    scripted = ScriptedSession(tmp_path, _one(), hooks=_ASKED, tools=[probe], asker=asker, allow=())
    _played(scripted)
    assert probe.calls
    assert asker.questions == []
    assert "Notification" not in scripted.fired
    assert "UserInputWaiting" not in scripted.fired


def test_seed001_a_hook_may_say_no_for_the_user_and_the_turn_goes_on(tmp_path: Path) -> None:
    hooks = _request(behavior="deny", message="ask me tomorrow")
    scripted = ScriptedSession(
        tmp_path, _one(), hooks=hooks, tools=[probe := Probe()], asker=Answers(), allow=()
    )
    received = _played(scripted)
    assert received.status == "completed"
    assert scripted.results() == ["ask me tomorrow"]
    assert probe.calls == []


def test_seed001_without_an_answer_of_a_hook_the_user_is_asked(tmp_path: Path) -> None:
    hooks = on("PermissionRequest", command("true"))
    asker = Answers(PermissionReply(allow=True))
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()], asker=asker, allow=())
    _played(scripted)
    assert probe.calls
    among = ("PermissionRequest", "Notification", "UserInputWaiting", "PostToolUse")
    assert [name for name in scripted.fired if name in among] == list(among)


def test_seed001_a_rule_of_a_hook_answers_the_next_question_too(tmp_path: Path) -> None:
    hooks = _request(behavior="allow", updatedPermissions=[_ADD_RULE])
    script = [*_bash("ls"), *_bash("ls -a")]
    scripted = ScriptedSession(tmp_path, script, hooks=hooks, allow=())
    _played(scripted, "one", "two")
    assert scripted.fired.count("PermissionRequest") == 1
    assert scripted.fired.count("PostToolUse") == 2


def test_seed001_a_mode_of_a_hook_holds_from_then_on_and_is_told(tmp_path: Path) -> None:
    update = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    hooks = _request(behavior="allow", updatedPermissions=[update])
    script = [
        calls(call("Write", file_path="a.txt", content="a")),
        calls(call("Write", file_path="b.txt", content="b")),
        says("written"),
    ]
    scripted = ScriptedSession(tmp_path, script, hooks=hooks)
    _played(scripted)
    assert scripted.fired.count("PermissionRequest") == 1
    changed = scripted.events("ModeChanged")[0].payload
    assert (changed.old_mode, changed.new_mode) == ("default", "acceptEdits")
    assert (scripted.project / "b.txt").read_text() == "b"


def test_seed001_a_directory_of_a_hook_is_in_reach_from_then_on(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("far away")
    update = {"type": "addDirectories", "directories": [str(outside)], "destination": "session"}
    hooks = _request(behavior="allow", updatedPermissions=[update])
    read = calls(call("Read", file_path=str(outside / "a.txt")))
    scripted = ScriptedSession(tmp_path, [read, says("one"), read, says("two")], hooks=hooks)
    _played(scripted, "one", "two")
    assert scripted.fired.count("PermissionRequest") == 1
    assert all("far away" in text for text in scripted.results())


@pytest.mark.parametrize(
    ("update", "why"),
    [
        ({"type": "setMode", "mode": "bypassPermissions"}, "a hook may not switch permissions off"),
        (
            {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"},
            "everything Bash can do",
        ),
        ({"type": "addRules", "rules": [{"toolName": "*"}], "behavior": "allow"}, "more than one tool"),
        ({"type": "setMode", "mode": "yolo"}, "no permission mode is called 'yolo'"),
        ({"type": "forgetRules"}, "is not a kind of permission update"),
    ],
)
def test_seed001_what_a_hook_may_not_have_is_refused_and_said(
    update: dict[str, Any], why: str, tmp_path: Path
) -> None:
    hooks = _request(behavior="allow", updatedPermissions=[update])
    scripted = ScriptedSession(tmp_path, [*_bash("ls"), *_bash("ls")], hooks=hooks, allow=())
    _played(scripted, "one", "two")
    assert scripted.fired.count("PermissionRequest") == 2, "the second call is asked about as well"
    assert any(why in text for text in scripted.seen.texts("warning"))
    assert scripted.agent.permissions.mode == "default"


@pytest.mark.parametrize(
    ("becomes", "reason"),
    [
        ({"command": "ls", "cmd": 1}, "a hook changed the input, and then: The arguments do not fit Bash"),
        ({"command": "curl example.invalid"}, "was denied by the rule Bash(curl:*)"),
    ],
)
def test_seed001_what_permission_request_makes_of_the_input_is_checked_again(
    becomes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    hooks = _request(behavior="allow", updatedInput=becomes)
    scripted = ScriptedSession(tmp_path, _bash("ls"), hooks=hooks, allow=(), deny=("Bash(curl:*)",))
    _played(scripted)
    assert reason in scripted.results()[0]
    assert "PostToolUse" not in scripted.fired


def test_seed001_a_stop_of_permission_request_ends_the_turn_before_the_call_runs(tmp_path: Path) -> None:
    said = '{"continue": false, "stopReason": "that is enough", "hookSpecificOutput": {"hookEventName": '
    said += '"PermissionRequest", "decision": {"behavior": "allow"}}}'
    hooks = on("PermissionRequest", command(f"printf '%s' '{said}'"))
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[probe := Probe()], allow=())
    received = _played(scripted)
    assert probe.calls == []
    assert (received.status, received.why) == ("blocked", "that is enough")


# -- PermissionDenied ---------------------------------------------------------------------------------------


def test_seed001_a_users_no_ends_the_turn(tmp_path: Path) -> None:
    asker = Answers(PermissionReply(allow=False, message="not that one"))
    scripted = ScriptedSession(tmp_path, _one(), tools=[Probe()], asker=asker, allow=())
    received = _played(scripted)
    assert received.status == "blocked"
    assert "not that one" in received.why
    assert scripted.fired.count("PermissionDenied") == 1
    assert len(scripted.requests) == 1
    assert "Stop" not in scripted.fired
    assert scripted.fired[-2:] == ["TurnSettled", "SessionEnd"]


def test_seed001_after_a_users_no_a_hook_may_ask_the_agent_to_go_on(tmp_path: Path) -> None:
    hooks = on("PermissionDenied", answers("PermissionDenied", retry=True))
    asker = Answers(PermissionReply(allow=False, message="not that one"))
    scripted = ScriptedSession(tmp_path, _one(), hooks=hooks, tools=[Probe()], asker=asker, allow=())
    received = _played(scripted)
    assert received.status == "completed"
    assert scripted.results() == ["not that one"]
    assert len(scripted.requests) == 2


@pytest.mark.parametrize("settings", [{"deny": ("Probe",)}, {"mode": "dontAsk", "allow": ()}, {"allow": ()}])
def test_seed001_a_denial_that_is_nobodys_no_fires_the_event_and_the_turn_goes_on(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    scripted = ScriptedSession(tmp_path, _one(), tools=[probe := Probe()], **settings)
    received = _played(scripted)
    assert received.status == "completed"
    assert probe.calls == []
    denied = scripted.events("PermissionDenied")
    assert len(denied) == 1
    assert denied[0].payload.tool_name == "Probe"
    assert denied[0].payload.reason == scripted.results()[0]


def test_seed001_a_hooks_denial_is_not_told_to_the_hooks_of_denials(tmp_path: Path) -> None:
    scripted = ScriptedSession(tmp_path, _one(), hooks=on("PreToolUse", denies("no")), tools=[Probe()])
    _played(scripted)
    assert "PermissionDenied" not in scripted.fired


def _one() -> list[Say]:
    return [calls(call("Probe", what="this")), says("done")]


def _bash(line: str) -> list[Say]:
    return [calls(call("Bash", command=line)), says("done")]


# -- Links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (call("Glob", pattern="link/*"), True),
        (call("Glob", pattern="link/key.txt"), True),
        (call("Glob", pattern="src/deep/*/*"), True),
        (call("Glob", pattern="*", path="link"), True),
        (call("Glob", pattern="inner/*", path="link"), True),
        (call("Grep", pattern="secret", path="link"), True),
        (call("Grep", pattern="secret", path="link/key.txt"), True),
        (call("Glob", pattern="src/*"), False),
        (call("Glob", pattern="own/*"), False),
        (call("Glob", pattern="**/*"), False),
        (call("Glob", pattern="l*k/*"), False),
        (call("Grep", pattern="secret"), False),
        (call("Grep", pattern="secret", glob="link/*"), False),
    ],
)
def test_what_a_link_leads_to_outside_is_listed_and_searched_only_if_the_user_says_so(
    given: Say, asked: bool, tmp_path: Path
) -> None:
    outside, project = tmp_path / "outside", tmp_path / "home" / "project"
    (outside / "inner").mkdir(parents=True)
    (project / "src").mkdir(parents=True)
    for file in (outside / "key.txt", outside / "hidden.txt", outside / "inner" / "hidden.txt"):
        file.write_text("secret\n")
    (project / "src" / "main.py").write_text("ours\n")
    (project / "link").symlink_to(outside)
    (project / "src" / "deep").symlink_to(outside)
    (project / "own").symlink_to("src")
    asker = Answers()
    scripted = ScriptedSession(tmp_path, [calls(given), says("done")], asker=asker, allow=())
    _played(scripted)
    assert len(asker.questions) == asked
    assert "hidden.txt" not in str(scripted.model.requests[-1].messages)
