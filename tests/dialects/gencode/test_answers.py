import json
from typing import Any

import pytest

from hookline import Outcome
from hookline.model.outcome import PermissionUpdate
from tests.dialects.gencode.hooks import PAYLOADS, agent_with_hooks, bash, prints, says
from tests.dialects.hooked_agent import HookedAgent


def fired(event: str, *answers: Any) -> tuple[Outcome, HookedAgent]:
    agent = agent_with_hooks(event, *(prints(answer) for answer in answers))
    return agent.fire(event, PAYLOADS[event]), agent


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"continue": False, "stopReason": "first", "reason": "second"}, "first"),
        ({"continue": False, "reason": "second"}, "second"),
        ({"continue": False, "stopReason": "", "reason": "second"}, "second"),
        ({"continue": False}, "Hook blocked execution"),
    ],
)
def test_continue_false_blocks_with_stop_reason_before_reason(answer: Any, reason: str) -> None:
    for event in ("UserPromptSubmit", "PreToolUse", "Stop"):
        outcome, _ = fired(event, answer)
        assert (outcome.blocked, outcome.reason, outcome.stop) == (True, reason, False)


def test_a_system_message_becomes_context_and_more_context_follows_it() -> None:
    outcome, _ = fired(
        "SessionStart",
        {"systemMessage": "one"},
        {"systemMessage": "two", **says("", additionalContext="three")},
    )
    assert outcome.context == ("one", "two\nthree")
    assert outcome.messages == ()
    assert {item.placement for item in outcome.context_items} == {"conversation"}


@pytest.mark.parametrize(("decision", "permission"), [("deny", "deny"), ("ask", "ask"), ("allow", "allow")])
def test_a_permission_decision_is_a_vote_with_its_reason(decision: str, permission: str) -> None:
    outcome, _ = fired(
        "PreToolUse", says("PreToolUse", permissionDecision=decision, permissionDecisionReason="so")
    )
    assert outcome.permission == permission
    assert outcome.votes[0].reason == "so"
    assert outcome.blocked is (decision == "deny")


@pytest.mark.parametrize(
    ("first", "second", "permission"),
    [("allow", "ask", "ask"), ("ask", "allow", "ask"), ("allow", "deny", "deny"), ("ask", "deny", "deny")],
)
def test_the_most_restrictive_decision_wins(first: str, second: str, permission: str) -> None:
    answers = [says("PreToolUse", permissionDecision=each) for each in (first, second)]
    assert fired("PreToolUse", *answers)[0].permission == permission


def test_a_permission_decision_other_than_no_counts_at_pre_tool_use_only() -> None:
    for decision in ("allow", "ask"):
        outcome, agent = fired("PermissionRequest", says("PermissionRequest", permissionDecision=decision))
        assert outcome.votes == ()
        assert agent.runs[0].dropped == ("hookSpecificOutput.permissionDecision",)
    assert fired("PermissionRequest", says("PermissionRequest", permissionDecision="deny"))[0].blocked


def test_a_decision_that_does_not_exist_is_passed_over_and_named() -> None:
    outcome, agent = fired("PreToolUse", says("PreToolUse", permissionDecision="Deny"))
    assert outcome.votes == ()
    assert agent.runs[0].dropped == ("hookSpecificOutput.permissionDecision",)


@pytest.mark.parametrize("named", ["PreToolUse", "PermissionRequest", ""])
def test_a_request_decision_at_pre_tool_use_is_ignored_and_named(named: str) -> None:
    outcome, agent = fired("PreToolUse", says(named, decision={"behavior": "deny", "message": "no"}))
    assert not outcome.blocked
    assert agent.runs[0].dropped == ("hookSpecificOutput.decision",)


def test_a_request_decision_must_name_its_event() -> None:
    outcome, agent = fired("PermissionRequest", says("PreToolUse", decision={"behavior": "allow"}))
    assert outcome.votes == ()
    assert agent.runs[0].dropped == ("hookSpecificOutput.decision",)


def test_a_request_is_allowed_with_rules_mode_directories_and_another_input() -> None:
    updates = [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {
            "type": "addRules",
            "behavior": "allow",
            "rules": [{"toolName": "Bash", "ruleContent": "npm test"}],
            "destination": "persistent",
        },
        {"type": "addDirectories", "directories": ["/data"]},
        "Bash(git status)",
    ]
    decision = {"behavior": "allow", "updatedInput": {"command": "ls -l"}, "updatedPermissions": updates}
    outcome, agent = fired("PermissionRequest", says("PermissionRequest", decision=decision))
    by = agent.runs[0].hook
    assert outcome.permission == "allow"
    assert outcome.updated_input == {"command": "ls -l"}
    assert outcome.permission_updates == (
        PermissionUpdate("setMode", mode="acceptEdits", destination="session", by=by),
        PermissionUpdate(
            "addRules",
            rules=({"toolName": "Bash", "ruleContent": "npm test"},),
            behavior="allow",
            destination="persistent",
            by=by,
        ),
        PermissionUpdate("addDirectories", directories=("/data",), by=by),
        PermissionUpdate(
            "addRules",
            rules=({"ruleContent": "Bash(git status)"},),
            behavior="allow",
            destination="session",
            by=by,
        ),
    )


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        ({"behavior": "deny", "message": "not today"}, "not today"),
        ({"behavior": "deny"}, "denied by hook"),
        ({"interrupt": True, "message": "stop it"}, "stop it"),
        (
            {"behavior": "deny", "message": "no", "updatedPermissions": ["Bash"], "updatedInput": {"a": 1}},
            "no",
        ),
    ],
)
def test_a_request_is_denied_with_its_message(decision: Any, reason: str) -> None:
    outcome, _ = fired("PermissionRequest", says("PermissionRequest", decision=decision))
    assert (outcome.blocked, outcome.reason) == (True, reason)
    assert outcome.permission_updates == outcome.edits == ()


def test_interrupt_does_not_take_an_allow_back() -> None:
    outcome, _ = fired(
        "PermissionRequest", says("PermissionRequest", decision={"behavior": "allow", "interrupt": True})
    )
    assert outcome.permission == "allow"


@pytest.mark.parametrize("inside_of", [None, "PermissionRequest", ""])
def test_a_request_may_be_answered_flat_as_the_document_writes_it(inside_of: str | None) -> None:
    """The document has `behavior` and `updatedPermissions` without an object around them."""

    def flat(**said: Any) -> dict[str, Any]:
        return said if inside_of is None else says(inside_of, **said)

    updates = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    said = flat(behavior="allow", updatedPermissions=updates, updatedInput={"command": "ls -l"})
    outcome, agent = fired("PermissionRequest", said)
    assert (outcome.permission, outcome.updated_input) == ("allow", {"command": "ls -l"})
    assert [(each.type, each.mode) for each in outcome.permission_updates] == [("setMode", "acceptEdits")]
    assert agent.runs[0].dropped == ()
    outcome, _ = fired("PermissionRequest", flat(behavior="deny", message="not today"))
    assert (outcome.blocked, outcome.reason) == (True, "not today")


def test_what_a_flat_answer_does_not_decide_is_named() -> None:
    for said, dropped in {
        '{"updatedPermissions": ["Bash"]}': "updatedPermissions without behavior",
        '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "behavior": "allow"}}': "hookSpecificOutput.behavior",
        '{"behavior": "perhaps"}': "hookSpecificOutput.decision.behavior",
    }.items():
        outcome, agent = fired("PermissionRequest", json.loads(said))
        assert (outcome.votes, agent.runs[0].dropped) == ((), (dropped,))
    outcome, agent = fired("PreToolUse", {"behavior": "deny"})
    assert (outcome.votes, agent.runs[0].dropped) == ((), ("behavior",))


def test_rules_can_only_come_from_a_request() -> None:
    outcome, agent = fired("PreToolUse", says("PreToolUse", updatedPermissions=["Bash"]))
    assert outcome.permission_updates == ()
    assert agent.runs[0].dropped == ("hookSpecificOutput.updatedPermissions",)


@pytest.mark.parametrize(
    ("event", "named", "wanted"),
    [
        ("PermissionDenied", "PermissionDenied", True),
        ("PermissionDenied", "PreToolUse", False),
        ("PermissionDenied", "", False),
        ("PreToolUse", "PermissionDenied", False),
    ],
)
def test_retry_is_heard_from_permission_denied_only(event: str, named: str, wanted: bool) -> None:
    assert fired(event, says(named, retry=True))[0].retry is wanted


def test_watch_paths_add_up_and_the_last_first_message_wins() -> None:
    outcome, _ = fired(
        "SessionStart",
        says("SessionStart", watchPaths=["/a", "/b"], initialUserMessage="one"),
        says("SessionStart", watchPaths=["/c"], initialUserMessage="two"),
        says("SessionStart", initialUserMessage=""),
    )
    assert outcome.watch_paths == ("/a", "/b", "/c")
    assert outcome.initial_user_message == "two"


def test_the_last_rewrite_wins_as_a_whole_and_contexts_join() -> None:
    outcome, _ = fired(
        "PreToolUse",
        says("PreToolUse", updatedInput={"command": "one", "extra": 1}, additionalContext="a"),
        says("PreToolUse", updatedInput={"command": "two"}, additionalContext="b"),
    )
    assert outcome.updated_input == {"command": "two"}
    assert outcome.context == ("a", "b")


def test_every_hook_sees_the_original_input() -> None:
    agent = agent_with_hooks(
        "PreToolUse",
        prints(says("PreToolUse", updatedInput={"command": "changed"})),
        "grep -q changed && exit 2 || exit 0",
    )
    assert not agent.fire("PreToolUse", bash("ls")).blocked


def test_an_old_style_decision_is_never_used_and_named() -> None:
    outcome, agent = fired("PreToolUse", {"decision": "block", "reason": "no", "suppressOutput": True})
    assert outcome.votes == ()
    assert agent.runs[0].dropped == ("decision", "suppressOutput")


def test_what_an_event_cannot_do_is_dropped_and_named() -> None:
    outcome, agent = fired(
        "UserPromptSubmit",
        says(
            "UserPromptSubmit",
            updatedInput={"a": 1},
            watchPaths=["/a"],
            initialUserMessage="x",
            additionalContext="kept",
        ),
    )
    assert outcome.context == ("kept",)
    assert set(agent.runs[0].dropped) == {"rewrite", "watch_paths", "initial_user_message"}


@pytest.mark.parametrize(
    "answer",
    [
        {"continue": "no"},
        {"continue": False, "stopReason": 1},
        {"continue": False, "decision": {"behavior": "deny"}},
        {"continue": False, "hookSpecificOutput": []},
        {"continue": False, **says("PreToolUse", updatedInput="ls")},
        {"continue": False, **says("PreToolUse", watchPaths=["/a", 1])},
        {"continue": False, **says("PermissionRequest", decision="deny")},
    ],
)
def test_one_value_of_the_wrong_type_and_the_whole_answer_does_not_count(answer: Any) -> None:
    outcome, agent = fired("PreToolUse", answer)
    assert not outcome.blocked
    assert agent.runs[0].cause == "unreadable"


@pytest.mark.parametrize(
    "updates", ["Bash", [1], [{"type": 1}], [{"type": "setMode", "rules": "x"}], [["Bash"]]]
)
def test_updates_of_the_wrong_type_do_not_count(updates: Any) -> None:
    decision = {"behavior": "allow", "updatedPermissions": updates}
    outcome, agent = fired("PermissionRequest", says("PermissionRequest", decision=decision))
    assert outcome.votes == ()
    assert agent.runs[0].cause == "unreadable"


@pytest.mark.parametrize(
    "text",
    [
        '{"CONTINUE": false, "StopReason": "no"}',
        '{"continue": true, "continue": false, "stopReason": "no"}',
        '{"continue": false, "stopReason": "no", "somethingElse": {"deep": [1]}}',
        '{"continue": false, "stopReason": "no", "systemMessage": null, "hookSpecificOutput": null}',
        '\n\n  {"continue":\n false, "stopReason": "no"}  \n',
    ],
)
def test_json_is_read_as_go_reads_it(text: str) -> None:
    assert fired("PreToolUse", text)[0].reason == "no"


def test_broken_characters_are_replaced() -> None:
    half = json.dumps({"continue": False, "stopReason": "a\ud800b"})
    assert fired("PreToolUse", half)[0].reason == "a\ufffdb"
    agent = agent_with_hooks("PreToolUse", """printf '{"continue": false, "stopReason": "a\\377b"}'""")
    assert agent.fire("PreToolUse", bash("ls")).reason == "a\ufffdb"
