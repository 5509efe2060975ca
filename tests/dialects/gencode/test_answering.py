import json
from typing import Any

from hookline import Outcome
from hookline.dialects.gencode import dialect
from hookline.dialects.gencode.events import ROWS, may_at
from hookline.events import Capability
from hookline.extending import Decoded, Exited, HookInvocation, HookReply, SessionInfo
from hookline.model.outcome import Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from tests.dialects.gencode.hooks import PAYLOADS
from tests.every import every

EVERYTHING = Outcome(
    edits=(Rewrite({"command": "other"}, field="tool_input"),),
    context_items=(ContextItem("one"), ContextItem("two")),
    messages=(Message("to the user"),),
    permission_updates=(PermissionUpdate("setMode", mode="acceptEdits", destination="session"),),
    watch_paths=("/a", "/b"),
    seeds=("first", "last"),
    env_items=(("A", "1"),),
    answers=(Answer("x"),),
    retry=True,
)


def received(event: str, outcome: Outcome) -> HookReply:
    return dialect().wire.answer(event, outcome)


def heard(event: str, answer: HookReply) -> Decoded:
    mine = dialect()
    hook = mine.flag_hook(mine.events[event], "true")
    call = HookInvocation(hook=hook, event=hook.event, payload=PAYLOADS[event], info=SessionInfo(), timeout=1)
    return mine.wire.decode(call, Exited(answer.code, answer.stdout.encode(), answer.stderr.encode()))


@every("event", ROWS)
@every("vote", ["block", "ask", "allow"])
def test_the_decision_comes_back_as_it_was_told(event: str, vote: Any) -> None:
    outcome = Outcome(votes=(Vote(vote, "because"),))
    answer = received(event, outcome)
    again = heard(event, answer)
    assert again.failure is None
    assert again.ignored == ()
    lost = {"block": "block", "ask": "ask", "allow": "allow"}[vote]
    if lost in answer.lost:
        assert again.outcome.votes == ()
    else:
        assert (again.outcome.permission, again.outcome.reason) == (outcome.permission, outcome.reason)


@every("event", ROWS)
def test_a_block_is_lost_only_where_nothing_can_be_blocked(event: str) -> None:
    answer = received(event, Outcome(votes=(Vote("block", "no"),)))
    assert ("block" in answer.lost) is not bool(may_at(ROWS[event]) & Capability.BLOCK)


@every("event", ROWS)
@every("vote", [None, "block", "ask", "allow"])
def test_whatever_is_not_heard_again_is_named_as_lost(event: str, vote: Any) -> None:
    outcome = EVERYTHING + (Outcome(votes=(Vote(vote, "because"),)) if vote else Outcome())
    answer = received(event, outcome)
    mine = heard(event, answer)
    assert (mine.failure, mine.ignored) == (None, ())
    again, dropped = mine.outcome.clipped(may_at(ROWS[event]))
    assert dropped == ()
    parts = {
        "rewrite": again.updated_input == outcome.updated_input,
        "context": again.context == ("one\ntwo",),
        "permission_updates": again.permission_updates == outcome.permission_updates,
        "watch_paths": again.watch_paths == outcome.watch_paths,
        "initial_user_message": again.initial_user_message == "last",
        "retry": again.retry,
        "messages": False,
        "env": False,
        "answer": False,
    }
    for name, kept in parts.items():
        assert kept is not (name in answer.lost), (name, answer)


def test_these_are_the_words_at_pre_tool_use() -> None:
    answer = received("PreToolUse", Outcome(votes=(Vote("block", "no"),), context_items=(ContextItem("c"),)))
    assert (answer.code, answer.stderr, answer.lost) == (0, "", ())
    assert json.loads(answer.stdout) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            "additionalContext": "c",
        }
    }


def test_these_are_the_words_elsewhere() -> None:
    no = Outcome(votes=(Vote("block", "no"),))
    assert json.loads(received("Stop", no).stdout) == {"continue": False, "stopReason": "no"}
    request = json.loads(received("PermissionRequest", no).stdout)["hookSpecificOutput"]
    assert request == {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "no"},
    }


def test_nothing_to_say_is_no_output() -> None:
    for event in ROWS:
        assert received(event, Outcome()) == HookReply()


def test_a_stop_keeps_at_least_this_call_from_happening() -> None:
    stop = Outcome(halts=(Halt("enough"),))
    answer = received("PreToolUse", stop)
    assert answer.lost == ("stop",)
    assert heard("PreToolUse", answer).outcome.reason == "enough"
    # At Stop a block would do the opposite.
    assert received("Stop", stop) == HookReply(lost=("stop",))


def test_putting_off_becomes_asking() -> None:
    answer = received("PreToolUse", Outcome(votes=(Vote("defer", "later"), Vote("allow"))))
    assert answer.lost == ("defer",)
    assert heard("PreToolUse", answer).outcome.permission == "ask"


def test_a_patch_nobody_laid_over_anything_is_lost() -> None:
    answer = received("PreToolUse", Outcome(edits=(Rewrite({"a": 1}, patch=True, field="tool_input"),)))
    assert answer == HookReply(lost=("rewrite",))


def test_what_cannot_be_written_down_does_not_let_a_block_pass() -> None:
    outcome = Outcome(votes=(Vote("block", "no"),), edits=(Rewrite({"a": object()}, field="tool_input"),))
    answer = received("PreToolUse", outcome)
    assert (answer.code, answer.stderr) == (2, "no")
    assert heard("PreToolUse", answer).outcome.reason == "no"


def test_half_a_character_in_a_reason_does_not_cost_the_block() -> None:
    received = dialect().wire.answer("PreToolUse", Outcome(votes=(Vote("block", "no \ud83d"),)))
    received.stdout.encode()
    assert "no" in received.stdout
