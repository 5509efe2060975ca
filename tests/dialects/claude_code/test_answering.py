"""Test Hookline as a hook of Claude Code: the client reads an outcome with the same meaning."""

import json
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.claude_code.events import ROWS
from hookline.events import Capability
from hookline.extending import Exited, HookReply
from hookline.model.outcome import PASS, Answer, ContextItem, Halt, Message, PermissionUpdate, Rewrite, Vote
from tests.dialects.claude_code.calls import CLAUDE, call, sample, understood
from tests.every import every

HEARD = [name for name, row in ROWS.items() if row.reads_answers]


def received(event_name: str, outcome: Outcome) -> HookReply:
    return CLAUDE.wire.answer(event_name, outcome)


def back(event_name: str, received: HookReply) -> Outcome:
    decoded = understood(
        call(event_name), Exited(received.code, received.stdout.encode(), received.stderr.encode())
    )
    assert decoded.failure is None
    return decoded.outcome.clipped(CLAUDE.events[event_name].policy.may)[0]


@every("event_name", HEARD)
def test_a_block_is_told_wherever_there_is_one(event_name: str) -> None:
    blocked = Outcome(votes=(Vote("block", "because"),))
    answer = received(event_name, blocked)
    can = bool(CLAUDE.events[event_name].policy.may & Capability.BLOCK)
    assert ("block" in answer.lost) != can
    if can:
        assert back(event_name, answer).reason == "because"


@pytest.mark.parametrize("event_name", [name for name in ROWS if not ROWS[name].reads_answers])
def test_where_nobody_listens_all_is_lost(event_name: str) -> None:
    answer = received(event_name, Outcome(votes=(Vote("block", "x"),), messages=(Message("m"),)))
    assert answer == HookReply(lost=("votes", "messages"))


@every("event_name", HEARD)
def test_nothing_is_told_as_nothing(event_name: str) -> None:
    assert received(event_name, PASS) == HookReply()


@every("kind", ["allow", "ask", "defer"])
@every("event_name", HEARD)
def test_other_votes_are_told_or_lost(event_name: str, kind: Any) -> None:
    answer = received(event_name, Outcome(votes=(Vote(kind, "because"),)))
    if answer.lost:
        assert answer.lost == (kind,)
    else:
        assert back(event_name, answer).permission == kind


@every("event_name", HEARD)
def test_context_is_told_or_lost(event_name: str) -> None:
    answer = received(event_name, Outcome(context_items=(ContextItem("one"), ContextItem("two"))))
    if "context" not in answer.lost and event_name != "DirectoryAdded":
        assert back(event_name, answer).context == ("one\ntwo",)


@every("event_name", HEARD)
def test_a_stop_and_a_message_are_told_or_lost(event_name: str) -> None:
    answer = received(event_name, Outcome(halts=(Halt("enough"),), messages=(Message("note"),)))
    assert ("stop" in answer.lost) == ("continue" not in ROWS[event_name].reads)
    assert ("messages" in answer.lost) == ("systemMessage" not in ROWS[event_name].reads)
    if "stop" not in answer.lost and CLAUDE.events[event_name].policy.may & Capability.STOP:
        assert back(event_name, answer).stop_reason == "enough"


@every("field", ["tool_input", "tool_response", "prompt"])
@every("event_name", HEARD)
def test_a_rewrite_is_told_or_lost(event_name: str, field: str) -> None:
    value = {"command": "ls"}
    votes = (Vote("allow"),) if event_name == "PermissionRequest" else ()
    answer = received(event_name, Outcome(votes=votes, edits=(Rewrite(value, field=field),)))
    fits = ROWS[event_name].event.rewrites == field and field != "prompt"
    assert ("rewrite" in answer.lost) != fits
    if fits:
        assert [edit.value for edit in back(event_name, answer).edits] == [value]


def test_a_denied_request_may_end_the_turn() -> None:
    outcome = Outcome(votes=(Vote("block", "no"),), halts=(Halt("no"),))
    again = back("PermissionRequest", received("PermissionRequest", outcome))
    assert (again.reason, again.stop) == ("no", True)


def test_rules_go_with_an_allow() -> None:
    update = PermissionUpdate(type="addRules", rules=({"toolName": "Bash"},), behavior="allow", by="x")
    outcome = Outcome(votes=(Vote("allow"),), permission_updates=(update,))
    again = back("PermissionRequest", received("PermissionRequest", outcome))
    assert again.permission_updates[0].rules == ({"toolName": "Bash"},)
    assert received("PreToolUse", outcome).lost == ("permission_updates",)


@pytest.mark.parametrize(
    ("event_name", "outcome"),
    [
        ("SessionStart", Outcome(seeds=("go",), watch_paths=("/a",))),
        ("FileChanged", Outcome(watch_paths=("/a",))),
        ("PermissionDenied", Outcome(retry=True)),
        ("MessageDisplay", Outcome(answers=(Answer("shown"),))),
        ("Elicitation", Outcome(answers=(Answer({"action": "accept", "content": {"a": 1}}),))),
        ("WorktreeCreate", Outcome(answers=(Answer("/srv/x"),))),
        ("Stop", Outcome(votes=(Vote("block"),), context_items=(ContextItem("go on"),))),
    ],
)
def test_what_hooks_supply_comes_back_as_it_was(event_name: str, outcome: Outcome) -> None:
    answer = received(event_name, outcome)
    assert answer.lost == ()
    assert back(event_name, answer) == outcome


def test_what_no_event_can_be_told_is_lost_by_name() -> None:
    everything = Outcome(env_items=(("A", "b"),), seeds=("x",), retry=True, watch_paths=("/a",))
    assert received("PreToolUse", everything).lost == ("watch_paths", "initial_user_message", "retry", "env")


def test_an_event_nobody_knows_loses_everything() -> None:
    assert received("Nope", Outcome(votes=(Vote("block"),))).lost == ("votes",)


BASH: dict[str, Any] = {"stdout": "a secret", "stderr": "another", "interrupted": False, "isImage": False}
READ: dict[str, Any] = {"type": "text", "file": {"filePath": "/f", "content": "a secret", "numLines": 1}}


@every(
    ("tool", "before", "value", "sent"),
    [
        # The text is the whole result: neither the other stream nor the file with all of it is shown.
        (
            "Bash", {**BASH, "persistedOutputPath": "/all"}, "[cut]",
            {"stdout": "[cut]", "stderr": "", "interrupted": False, "isImage": False},
        ),
        ("Bash", BASH, {**BASH, "stdout": "[cut]"}, {**BASH, "stdout": "[cut]"}),
        ("Bash", BASH, {"stdout": "[cut]"}, {**BASH, "stdout": "[cut]", "stderr": ""}),
        ("Bash", BASH, {**BASH, "stdout": 5}, None),
        ("Bash", BASH, {**BASH, "stderr": None}, None),
        ("Bash", BASH, ["[cut]"], None),
        ("Read", READ, "[cut]", {"type": "text", "file": {**READ["file"], "content": "[cut]"}}),
        ("Read", READ, {"type": "text"}, None),
        ("Read", {"type": "image", "file": {"base64": "x"}}, "[cut]", None),
        ("Grep", {"mode": "content", "content": "a"}, "[cut]", {"mode": "content", "content": "[cut]"}),
        ("Grep", {"mode": "files_with_matches", "filenames": ["a"]}, "[cut]", None),
        ("Glob", {"filenames": ["a"]}, "[cut]", None),
        ("Glob", {"filenames": ["a"]}, {"filenames": []}, {"filenames": []}),
        ("mcp__a__b", [{"type": "text", "text": "a"}], "[cut]", "[cut]"),
        ("mcp__a__b", {"a": 1}, "[cut]", "[cut]"),
        ("Other", "text", "[cut]", "[cut]"),
        ("Other", "text", {"a": 1}, None),
    ],
)  # fmt: skip
def test_a_new_result_is_told_in_the_form_of_its_tool_or_lost(
    tool: str, before: Any, value: Any, sent: Any
) -> None:
    payload = sample("PostToolUse", tool_name=tool, tool_response=before)
    outcome = Outcome(edits=(Rewrite(value, field="tool_response"),))
    answer = CLAUDE.wire.answer("PostToolUse", outcome, payload)
    if sent is None:
        assert (answer.stdout, answer.lost) == ("", ("rewrite",))
    else:
        assert json.loads(answer.stdout)["hookSpecificOutput"]["updatedToolOutput"] == sent
        assert answer.lost == ()


def test_a_stop_before_a_call_also_denies_it() -> None:
    """The client would run the call and end the turn after it."""
    answer = json.loads(
        received("PreToolUse", Outcome(votes=(Vote("allow"),), halts=(Halt("enough"),))).stdout
    )
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "enough"
    assert answer["continue"] is False


def test_a_tool_of_a_server_is_known_by_its_server_too() -> None:
    payload = sample(
        "PostToolUse", tool_name="look", tool_response=[{"type": "text"}], mcp_server={"name": "s"}
    )
    outcome = Outcome(edits=(Rewrite("***", field="tool_response"),))
    answer = json.loads(CLAUDE.wire.answer("PostToolUse", outcome, payload).stdout)
    assert answer["hookSpecificOutput"]["updatedToolOutput"] == "***"
