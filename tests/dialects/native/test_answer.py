import json
from typing import Any

import pytest

from hookline import Outcome, deny
from hookline.events import (
    CWD_CHANGED,
    ELICITATION,
    EVENTS,
    MESSAGE_DISPLAY,
    PERMISSION_DENIED,
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    PRE_COMPACT,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_START,
    SHELL_ENV,
    STOP,
    USER_PROMPT_SUBMIT,
    WORKTREE_CREATE,
    Capability,
    EventSpec,
    Payload,
)
from hookline.extending import Decoded, Exited, Replied, Returned
from hookline.model.outcome import PASS, Halt, Message, PermissionUpdate, Vote
from hookline.model.wire import NOTHING_SAID
from tests.dialects.native.calls import WIRE, call
from tests.every import every


def said(event: EventSpec[Any], document: dict[str, Any]) -> Decoded:
    """Every way an answer can come gives the same; one of them is returned."""
    text = json.dumps(document).encode()
    printed = WIRE.decode(call(event), Exited(0, text))
    others = [
        WIRE.decode(call(event, kind="function"), Returned(document)),
        WIRE.decode(call(event, kind="http"), Replied(text, 200)),
        WIRE.decode(call(event, kind="mcp_tool"), Replied(text)),
    ]
    for other in others:
        assert (other.outcome, other.ignored) == (printed.outcome, printed.ignored)
        assert (other.failure is None) == (printed.failure is None)
    model = WIRE.decode(call(event, kind="prompt"), Replied(b"```json\n" + text + b"\n```"))
    says_nothing = printed.outcome == PASS and not {"ok", "continue"} & {
        key for key in document if document[key] is not None
    }
    # A model was asked to decide, so an answer that does not is a failure.
    assert (model.failure is None) == (printed.failure is None and not says_nothing)
    assert model.outcome == printed.outcome
    return printed


def outcome(event: EventSpec[Any], document: dict[str, Any]) -> Outcome:
    decoded = said(event, document)
    assert decoded.failure is None
    assert decoded.ignored == ()
    return decoded.outcome


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": fields}


@pytest.mark.parametrize(
    ("word", "kind"), [("allow", "allow"), ("deny", "block"), ("ask", "ask"), ("defer", "defer")]
)
def test_a_permission_decision_is_a_vote(word: str, kind: str):
    document = specific(
        hookEventName="PreToolUse", permissionDecision=word, permissionDecisionReason="because"
    )
    assert outcome(PRE_TOOL_USE, document).votes == (Vote(kind, "because"),)  # pyright: ignore[reportArgumentType] one of the four


def test_the_older_words_still_vote():
    assert outcome(PRE_TOOL_USE, {"decision": "block", "reason": "no"}).votes == (Vote("block", "no"),)
    assert outcome(PRE_TOOL_USE, {"decision": "approve", "reason": "ok"}).votes == (Vote("allow", "ok"),)
    assert outcome(PRE_TOOL_USE, {"ok": False, "reason": "no"}).votes == (Vote("block", "no"),)
    assert outcome(PRE_TOOL_USE, {"ok": True, "reason": "yes"}) == PASS


def test_a_block_without_a_reason_names_the_hook():
    wanted = "hook guard.sh blocked and gave no reason"
    assert outcome(PRE_TOOL_USE, {"decision": "block"}).reason == wanted
    assert outcome(PRE_TOOL_USE, {"ok": False, "reason": " "}).reason == wanted
    assert outcome(PRE_TOOL_USE, specific(permissionDecision="deny")).reason == wanted


@pytest.mark.parametrize(
    ("event", "document", "field", "value"),
    [
        (PRE_TOOL_USE, specific(updatedInput={"command": "ls"}), "tool_input", {"command": "ls"}),
        (USER_PROMPT_SUBMIT, specific(updatedPrompt="hi"), "prompt", "hi"),
        (POST_TOOL_USE, specific(updatedToolOutput=[1]), "tool_response", [1]),
        (PRE_MODEL_CALL, specific(updatedMessages=[{"role": "user"}]), "messages", [{"role": "user"}]),
        (POST_MODEL_CALL, specific(updatedResponse="x"), "response", "x"),
    ],
)
def test_a_rewrite_replaces_the_field_of_its_event(
    event: EventSpec[Any], document: Any, field: str, value: Any
):
    assert outcome(event, document).updated(field) == value


class Basket(Payload, frozen=True, kw_only=True):
    shopping_list: str = ""


def test_the_row_of_a_host_has_its_own_rewrite_field():
    row = EventSpec("BasketFilled", Basket, "when it is full.", Capability.REWRITE, rewrites="shopping_list")
    decoded = WIRE.decode(
        call(row, Basket()), Exited(0, b'{"hookSpecificOutput": {"updatedShoppingList": "milk"}}')
    )
    assert decoded.outcome.updated("shopping_list") == "milk"


def test_a_rewrite_of_another_event_is_ignored_by_name():
    decoded = said(STOP, specific(updatedInput={"command": "ls"}))
    assert decoded.outcome == PASS
    assert decoded.ignored == ("hookSpecificOutput.updatedInput",)


def test_the_other_fields_go_where_they_belong():
    assert outcome(SESSION_START, specific(additionalContext="c")).context == ("c",)
    assert outcome(SESSION_START, {"systemMessage": "m", "suppressOutput": True}).messages == (Message("m"),)
    assert outcome(CWD_CHANGED, specific(watchPaths=["/a", "b"])).watch_paths == ("/a", "b")
    assert outcome(SESSION_START, specific(initialUserMessage="go")).initial_user_message == "go"
    assert outcome(PERMISSION_DENIED, specific(retry=True)).retry
    assert outcome(SHELL_ENV, specific(env={"A": "1"})).env == {"A": "1"}
    assert outcome(WORKTREE_CREATE, specific(worktreePath="/w")).answer == "/w"
    assert outcome(PRE_COMPACT, specific(summary="s")).answer == "s"
    assert outcome(MESSAGE_DISPLAY, specific(displayContent="d")).answer == "d"
    assert outcome(PRE_COMPACT, specific(answer={"any": 1})).answer == {"any": 1}
    assert outcome(ELICITATION, specific(action="accept", content={"a": 1})).answer == {
        "action": "accept",
        "content": {"a": 1},
    }
    assert outcome(ELICITATION, specific(action="decline")).answer == {"action": "decline"}


def test_empty_text_adds_nothing():
    assert outcome(SESSION_START, {"systemMessage": " ", **specific(additionalContext="")}) == PASS


def test_a_permission_request_is_answered_by_its_decision():
    document = specific(
        decision={
            "behavior": "allow",
            "updatedInput": {"command": "ls"},
            "updatedPermissions": [
                {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"}
            ],
        }
    )
    found = outcome(PERMISSION_REQUEST, document)
    assert found.votes == (Vote("allow"),)
    assert found.updated_input == {"command": "ls"}
    rules = ({"toolName": "Bash"},)
    assert found.permission_updates == (PermissionUpdate("addRules", rules=rules, behavior="allow"),)


def test_a_denied_permission_may_interrupt_the_run():
    document = specific(decision={"behavior": "deny", "message": "never", "interrupt": True})
    found = outcome(PERMISSION_REQUEST, document)
    assert found.votes == (Vote("block", "never"),)
    assert found.halts == (Halt("never"),)


def test_nobody_can_sign_a_permission_update_for_somebody_else():
    document = specific(updatedPermissions=[{"type": "setMode", "mode": "plan", "by": "user"}])
    assert outcome(PERMISSION_REQUEST, document).permission_updates == (
        PermissionUpdate("setMode", mode="plan"),
    )


def test_a_run_that_is_to_stop_does_not_first_do_what_was_asked_about():
    found = outcome(PRE_TOOL_USE, {"continue": False, "stopReason": "enough"})
    assert found.halts == (Halt("enough"),)
    assert found.votes == (Vote("block", "enough"),)
    assert outcome(USER_PROMPT_SUBMIT, {"continue": False}).reason == "hook guard.sh stopped the run"


@pytest.mark.parametrize("event", [STOP, POST_TOOL_USE, PRE_MODEL_CALL, SESSION_START], ids=lambda e: e.name)
def test_stopping_is_no_block_where_a_block_would_keep_things_going(event: EventSpec[Any]):
    found = outcome(event, {"continue": False, "stopReason": "enough"})
    assert found.halts == (Halt("enough"),)
    assert found.votes == ()


def test_null_is_as_good_as_absent():
    document = {"decision": None, "reason": None, "continue": None, "hookSpecificOutput": None}
    assert said(PRE_TOOL_USE, document) == NOTHING_SAID
    assert said(PRE_TOOL_USE, specific(updatedInput=None, permissionDecision=None)) == NOTHING_SAID


def test_what_nobody_knows_is_listed_and_the_rest_is_read():
    document = {"decision": "block", "reason": "no", "colour": 1, "hookSpecificOutput": {"shade": 2}}
    decoded = WIRE.decode(call(PRE_TOOL_USE), Exited(0, json.dumps(document).encode()))
    assert decoded.outcome.blocked
    assert decoded.ignored == ("colour", "hookSpecificOutput.shade")
    # A function was written for this version of Hookline.
    failure = WIRE.decode(call(PRE_TOOL_USE, kind="function"), Returned(document)).failure
    assert failure is not None
    assert "colour is not a field of an answer" in failure.detail


def test_a_reason_without_a_decision_is_listed():
    assert said(PRE_TOOL_USE, {"reason": "why not"}).ignored == ("reason",)


@every(
    ("document", "named"),
    [
        ({"decision": "deny"}, "decision is 'deny', not approve or block"),
        ({"decision": 3}, "decision is a number, not text"),
        ({"continue": "false"}, "continue is text, not true or false"),
        ({"ok": 0}, "ok is a number, not true or false"),
        ({"reason": ["no"], "decision": "block"}, "reason is a list, not text"),
        ({"hookSpecificOutput": []}, "hookSpecificOutput is a list, not an object"),
        (specific(hookEventName="Stop"), "hookEventName is 'Stop', not 'PreToolUse'"),
        (specific(hookEventName=5), "hookEventName is '5'"),
        (specific(permissionDecision="DENY"), "permissionDecision is 'DENY'"),
        (specific(updatedInput="ls"), "updatedInput is text, not an object"),
        (specific(additionalContext={"a": 1}), "additionalContext is an object, not text"),
        (specific(watchPaths=["a", 1]), "watchPaths is a list, not a list of texts"),
        (specific(env={"A": 1}), "env is an object, not an object of texts"),
        (
            specific(updatedPermissions=[{"mode": "plan"}]),
            "updatedPermissions: Object missing required field",
        ),
        ({"permissionDecision": "deny"}, "permissionDecision has no effect outside hookSpecificOutput"),
        ({"systemMessage": True}, "systemMessage is true or false, not text"),
    ],
)
def test_one_wrong_value_makes_the_whole_answer_unreadable(document: dict[str, Any], named: str):
    decoded = said(PRE_TOOL_USE, {"systemMessage": "kept out", **document})
    assert decoded.outcome == PASS
    assert decoded.failure is not None
    assert decoded.failure.cause == "unreadable"
    assert named in decoded.failure.detail


def test_a_decision_without_a_behavior_is_unreadable():
    decoded = said(PERMISSION_REQUEST, specific(decision={"message": "hm"}))
    assert decoded.failure is not None
    assert "behavior" in decoded.failure.detail


def test_a_function_may_return_an_outcome_or_nothing_and_nothing_else():
    function = call(PRE_TOOL_USE, kind="function")
    assert WIRE.decode(function, Returned(None)) is NOTHING_SAID
    assert WIRE.decode(function, Returned(deny("no"))).outcome == deny("no")
    for value in (True, "deny", 3, ["no"]):
        decoded = WIRE.decode(function, Returned(value))
        assert decoded.failure is not None
        assert decoded.failure.cause == "unreadable"
        assert type(value).__name__ in decoded.failure.detail


@every("event", EVENTS.values())
def test_every_event_accepts_its_own_name_and_refuses_another(event: EventSpec[Any]):
    assert said(event, specific(hookEventName=event.name)) == NOTHING_SAID
    assert said(event, specific(hookEventName="Nothing")).failure is not None
