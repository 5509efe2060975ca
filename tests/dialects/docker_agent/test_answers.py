"""Test how exit codes, plain text and JSON are read."""

from typing import Any

import pytest

from hookline import Outcome
from hookline.extending import Builtin
from hookline.model.outcome import Vote
from tests.dialects.docker_agent.hooks import (
    PAYLOADS,
    TOOL,
    agent_with,
    command,
    fire,
    fired,
    quiet,
    says,
    specific,
)
from tests.every import every

BLOCKING = (
    "pre_tool_use", "tool_guard", "tool_input_transform", "permission_request", "post_tool_use",
    "user_prompt_submit", "user_steering_messages_submit", "user_followup_submit", "before_llm_call",
    "pre_compact", "before_compaction", "worktree_create",
)  # fmt: skip
WATCHING = tuple(name for name in PAYLOADS if name not in BLOCKING)
WITH_TEXT = (
    "session_start", "turn_start", "user_prompt_submit", "user_steering_messages_submit",
    "user_followup_submit", "pre_compact", "post_tool_use", "worktree_create",
)  # fmt: skip
WITHOUT_TEXT = tuple(name for name in PAYLOADS if name not in WITH_TEXT)


@every("event", BLOCKING)
def test_exit_2_blocks_with_stderr(event: str):
    outcome = fire(event, command("echo ignored; echo '  not this  ' >&2; exit 2"))
    assert outcome.blocked
    assert outcome.reason == "not this"


@every("event", WATCHING)
def test_exit_2_at_an_event_that_cannot_block_is_told_the_user(event: str):
    outcome, runs = fired(event, command("exit 2", name="eager"))
    assert not outcome.blocked
    assert outcome.messages[0].text == f"{event} hook eager tried to block, but {event} cannot block"
    assert runs[0].dropped == ("block",)


@pytest.mark.parametrize(
    "hook",
    [
        command("exit 2"),
        says({"decision": "block"}),
        says({"continue": False}),
        says(specific(permission_decision="deny")),
    ],
)
def test_stop_is_never_blocked_whatever_way_it_is_tried(hook: str):
    outcome = fire("stop", hook)
    assert not outcome.blocked
    assert not outcome.stop
    assert outcome.messages


def test_continue_false_blocks_with_its_stop_reason():
    outcome = fire("pre_tool_use", says({"continue": False, "stop_reason": "enough"}))
    assert (outcome.blocked, outcome.reason, outcome.stop) == (True, "enough", False)


def test_decision_block_blocks_with_its_reason():
    assert fire("user_prompt_submit", says({"decision": "block", "reason": "no"})).reason == "no"


def test_a_block_without_a_reason_says_who_blocked():
    assert (
        fire("pre_tool_use", command("exit 2", name="mute")).reason == "hook mute blocked and gave no reason"
    )


def test_reasons_of_several_blocks_are_joined_in_config_order():
    slow = command("sleep 0.2; echo one >&2; exit 2")
    outcome = fire("tool_guard", slow, says({"decision": "block", "reason": "two"}))
    assert outcome.reason == "one\ntwo"


@pytest.mark.parametrize(
    "order", [("deny", "ask", "allow"), ("allow", "ask", "deny"), ("ask", "deny", "allow")]
)
def test_deny_beats_ask_beats_allow_in_any_order(order: tuple[str, ...]):
    hooks = [
        says(specific(permission_decision=each, permission_decision_reason=f"{each}!")) for each in order
    ]
    outcome = fire("pre_tool_use", *hooks)
    assert (outcome.permission, outcome.reason) == ("deny", "deny!")


def test_of_two_asks_the_first_gives_the_reason():
    hooks = [says(specific(permission_decision="ask", permission_decision_reason=each)) for each in "ab"]
    outcome = fire("pre_tool_use", says(specific(permission_decision="allow")), *hooks)
    assert (outcome.permission, outcome.reason) == ("ask", "a")


def test_a_guard_that_has_no_objection_approves_nothing():
    outcome, runs = fired("tool_guard", says(specific(permission_decision="allow")))
    assert outcome.permission is None
    assert runs[0].dropped == ("allow",)
    assert fire("tool_guard", says(specific(permission_decision="ask"))).permission == "ask"


def test_a_builtin_guard_approves_nothing_either():
    hook = "{type: builtin, command: allow}"
    assert fire("tool_guard", hook).permission is None
    assert fire("pre_tool_use", hook).permission == "allow"


def test_a_guard_cannot_rewrite():
    outcome, runs = fired("tool_guard", says(specific(updated_input={"cmd": "x"})))
    assert outcome.updated_input is None
    assert runs[0].dropped == ("updated_input",)


def test_permission_request_allow_answers_the_prompt():
    assert fire("permission_request", says(specific(permission_decision="allow"))).permission == "allow"


def test_a_permission_decision_where_none_is_taken_is_told():
    outcome, runs = fired("user_prompt_submit", says(specific(permission_decision="deny")))
    assert not outcome.blocked
    assert "does not take" in outcome.messages[0].text
    assert runs[0].dropped == ("permission_decision",)


@every("event", WITH_TEXT)
def test_plain_stdout_is_text_for_the_model_at(event: str):
    assert fire(event, command("echo '  some text  '")).context == ("some text",)
    assert fire(event, says(specific(additional_context="more"))).context == ("more",)


@every("event", WITHOUT_TEXT)
def test_text_for_the_model_is_dropped_with_a_word_at(event: str):
    for hook, name in (
        (command("echo text"), "plain stdout"),
        (says(specific(additional_context="x")), "additional_context"),
    ):
        outcome, runs = fired(event, hook)
        assert outcome == Outcome()
        assert runs[0].dropped == (name,)


@pytest.mark.parametrize(
    ("event", "placement", "lifetime"),
    [
        ("session_start", "system", "session"),
        ("turn_start", "transient", "call"),
        ("user_prompt_submit", "transient", "turn"),
        ("user_followup_submit", "transient", "turn"),
        ("post_tool_use", "conversation", "session"),
        ("pre_compact", "transient", "call"),
    ],
)
def test_where_text_lands(event: str, placement: str, lifetime: str):
    item = fire(event, command("echo hi")).context_items[0]
    assert (item.placement, item.lifetime) == (placement, lifetime)


def test_text_is_in_config_order_even_when_the_second_is_done_first():
    outcome = fire("session_start", command("sleep 0.3; echo first"), command("echo second"))
    assert outcome.context == ("first", "second")


def test_instruction_context_is_text_at_the_two_events_that_have_it():
    items = [{"key": "a", "content": "keep"}, {"key": "b", "content": "gone", "removed": True}]
    assert fire("turn_start", says(specific(instruction_context=items))).context == ("keep",)
    _outcome, runs = fired("user_prompt_submit", says(specific(instruction_context=items)))
    assert runs[0].dropped == ("instruction_context",)


def test_the_system_message_is_for_the_user():
    assert fire("notification", says({"system_message": "psst"})).messages[0].text == "psst"


@pytest.mark.parametrize("stdout", ["{} {}", "{} done", '{"decision":', "{'a': 1}"])
def test_anything_but_one_object_is_an_error(stdout: str):
    outcome, runs = fired(
        "pre_tool_use", command(f"printf '%s' \"{stdout.replace(chr(34), chr(92) + chr(34))}\"")
    )
    assert outcome.blocked
    assert (runs[0].status, runs[0].cause) == ("failed", "unreadable")


@every(
    "document",
    [
        {"decision": "blok"},
        {"decision": "allow"},
        {"continue": "no"},
        {"reason": 1},
        specific(permission_decision="alow"),
        specific(updated_input=[1]),
        specific(updated_messages="x"),
        {"hook_specific_output": []},
    ],
)
def test_a_word_or_type_nobody_knows_makes_the_answer_unreadable(document: Any):
    outcome, runs = fired("pre_tool_use", says(document))
    assert outcome.blocked
    assert runs[0].cause == "unreadable"


@pytest.mark.parametrize(
    "document", [{}, {"decision": None}, {"decision": ""}, {"continue": True}, specific()]
)
def test_an_answer_that_says_nothing_changes_nothing(document: Any):
    outcome, runs = fired("pre_tool_use", says(document))
    assert outcome == Outcome()
    assert runs[0].status == "ok"


def test_keys_are_found_whatever_their_case_and_the_last_of_two_counts():
    hook = command("""printf '%s' '{"Decision":"block","reason":"a","reason":"b","stop_Reason":"x"}'""")
    assert fire("pre_tool_use", hook).reason == "b"


def test_unknown_keys_are_dropped_with_a_word():
    outcome, runs = fired(
        "session_start", says({"x": 1, "hook_specific_output": {"y": 2, "additional_context": "t"}})
    )
    assert outcome.context == ("t",)
    assert runs[0].dropped == ("x", "hook_specific_output.y")


@every(
    ("stdout", "strict", "fails"),
    [
        ("context", False, False),
        ("context", True, True),
        ("", True, False),
        ("{}", True, False),
        ('{"unknown_field":false}', True, True),
        ('{"hook_specific_output":{"updated_inpu":{}}}', True, True),
        ("{} {}", False, True),
        ("{} done", False, True),
        ("[]", True, True),
        ("null", True, True),
        ('{"suppress_output":true}', True, True),
        ('{"hook_specific_output":{"hook_event_name":"stop"}}', True, True),
        ('{"hook_specific_output":{"hook_event_name":"stop"}}', False, False),
        ('{"hook_specific_output":{"hook_event_name":"pre_tool_use","updated_input":{}}}', True, False),
        ('{"hook_specific_output":{"additional_context":"x"}}', True, True),
        ('{"hook_specific_output":{"additional_context":"x"}}', False, False),
    ],
)
def test_strict_output(stdout: str, strict: bool, fails: bool):
    hook = command(f"printf '%s' '{stdout}'", strict_output=strict)
    outcome, runs = fired("pre_tool_use", hook)
    assert (runs[0].cause == "unreadable") is fails
    assert outcome.blocked is fails


def test_strict_output_refuses_a_block_where_nothing_can_be_blocked():
    _outcome, runs = fired("stop", says({"decision": "block"}, strict_output=True))
    assert runs[0].cause == "unreadable"


def test_strict_output_holds_for_builtins():
    hook = "{type: builtin, command: add_date, strict_output: true}"
    _outcome, runs = fired("before_llm_call", hook)
    assert runs[0].cause == "unreadable"


def test_the_first_summary_in_config_order_wins():
    slow = command("""sleep 0.3; printf '%s' '{"hook_specific_output":{"summary":"slow"}}'""")
    outcome = fire("before_compaction", says(specific(summary="")), slow, says(specific(summary="quick")))
    assert outcome.answer == "slow"
    assert fired("pre_compact", says(specific(summary="x")))[1][0].dropped == ("summary",)


def test_metadata_is_named_as_dropped():
    _outcome, runs = fired("permission_request", says(specific(metadata={"risk": "low"})))
    assert runs[0].dropped == ("metadata",)


def test_a_builtin_that_returns_a_document_is_read_like_a_command():
    def mine(_args: tuple[str, ...], _payload: Any, _info: Any) -> Any:
        return {"decision": "block", "reason": "mine"}

    agent = agent_with(
        "pre_tool_use: [{hooks: [{type: builtin, command: mine}]}]",
        builtins={"mine": mine},
    )
    assert agent.fire("pre_tool_use", TOOL).reason == "mine"


def test_a_builtin_that_returns_nothing_says_nothing_and_nonsense_is_a_failure():
    def odd(_args: tuple[str, ...], _payload: Any, _info: Any) -> Any:
        return 7

    builtins: dict[str, Builtin] = {"quiet": quiet, "odd": odd}
    agent = agent_with("pre_tool_use: [{hooks: [{type: builtin, command: quiet}]}]", builtins=builtins)
    assert agent.fire("pre_tool_use", TOOL) == Outcome()
    agent = agent_with("pre_tool_use: [{hooks: [{type: builtin, command: odd}]}]", builtins=builtins)
    assert agent.fire("pre_tool_use", TOOL).blocked


def test_a_builtin_that_blocks_where_nothing_can_be_blocked_is_told():
    outcome, _runs = fired("stop", "{type: builtin, command: deny, args: [no]}")
    assert not outcome.blocked
    assert "cannot block" in outcome.messages[0].text


def test_a_block_after_a_tool_ends_the_run():
    outcome = fire("post_tool_use", command("exit 2"))
    assert isinstance(outcome.deciding_vote, Vote)
    assert outcome.deciding_vote.means == "end_turn"
