"""Test Hookline as a hook of every agent: payload in, a native hook decides, answer out, the agent's own decoder.

This file lists exactly what each agent's format cannot express. Everything else must come back unchanged.
"""

from collections.abc import Mapping
from typing import Any

from hookline import Outcome
from hookline.dialects.claude_code.events import ROWS as CLAUDE
from hookline.dialects.registry import OWN_FORMAT
from hookline.events import PERMISSION_REQUEST, Capability
from hookline.model.outcome import PASS, Vote, merged
from tests.dialects.round_trips import SAYINGS, RecordedEvent, Trip, recorded_events, travel
from tests.every import every

#: Reasonix runs PostToolUse after every call and does not say whether it failed, so it is read as a success.
_UNTELLABLE = {("reasonix", "PostToolUse", "PostToolUseFailure")}
MOMENTS = [one for one in recorded_events() if (one.dialect, one.name, one.event.name) not in _UNTELLABLE]

#: By agent, event and answer: what is lost although the agent's own hooks may say something like it there.
LOST: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    # A new input goes only with an allow, and nothing there takes text.
    ("claude-code", "PermissionRequest", "rewrite"): ("rewrite",),
    ("claude-code", "PermissionRequest", "context"): ("context",),
    # Text alone makes the turn continue, so it is delivered once; these payloads are of a continued turn.
    ("claude-code", "Stop", "context"): ("context",),
    ("claude-code", "SubagentStop", "context"): ("context",),
    ("reasonix", "TurnEnd", "context"): ("context",),
    # Its stdout is the path.
    ("claude-code", "WorktreeCreate", "context"): ("context",),
    # Exit 2 is read there from hooks in Claude's format alone.
    ("reasonix", "PermissionRequest", "block"): ("block",),
    # Said with an allow, which has no word either.
    ("reasonix", "PermissionRequest", "permission_updates"): ("permission_updates", "allow"),
    ("kimi-code", "PermissionRequest", "permission_updates"): ("allow", "permission_updates"),
    # It has no word that approves a call.
    ("gemini-cli", "BeforeTool", "allow"): ("allow",),
    # A list of tools would also make the model call one of them.
    ("gemini-cli", "BeforeToolSelection", "answer"): ("answer",),
    # It can only stop or ask; that it has no objection approves nothing.
    ("docker-agent", "tool_guard", "allow"): ("allow",),
    # A new input needs an allow: without one it is denied.
    ("codex", "PreToolUse", "rewrite"): ("rewrite",),
    # A block there replaces the result.
    ("codex", "PostToolUse", "rewrite"): (),
    # A new input goes only with an allow there; without one it is denied.
    ("qwen-code", "PermissionRequest", "rewrite"): ("rewrite",),
    # Only results of MCP tools can be replaced.
    ("cursor", "postToolUse", "rewrite"): ("rewrite",),
    # Ending a turn is what a block does there.
    ("reasonix", "TurnStart", "stop"): (),
    ("reasonix", "UserPromptSubmit", "stop"): (),
}
#: Messages at events where no one shows them come back as text for the model.
_AS_CONTEXT = {("claude-code", "DirectoryAdded", "messages")}
#: Agents without a word for a decision that is left to them; they ask.
_ASKS_WHERE_DEFERRED = {
    ("claude-code", "PreModelSwitch"), ("gen-code", "PreToolUse"), ("codewhale", "tool_call_before"),
    ("docker-agent", "pre_tool_use"), ("docker-agent", "tool_guard"), ("docker-agent", "permission_request"),
    ("gemini-cli", "BeforeTool"), ("cursor", "beforeShellExecution"), ("copilot-cli", "preToolUse"),
    ("copilot-cli", "PreToolUse"), ("qwen-code", "PreToolUse"),
}  # fmt: skip


def hears_messages(recorded: RecordedEvent) -> bool:
    if recorded.dialect == "claude-code":
        return "systemMessage" in CLAUDE[recorded.name].reads
    if recorded.dialect == "codex":
        return recorded.name not in ("SessionEnd", "PreModelRequest", "PostModelRequest")
    if recorded.dialect == "cursor":
        return recorded.name in ("sessionStart", "preCompact")
    return recorded.dialect in ("native", "docker-agent", "gemini-cli") or (recorded.dialect, recorded.name) == (
        "reasonix", "TurnEnd",
    )  # fmt: skip


def can(recorded: RecordedEvent, label: str) -> bool:
    if label == "messages":
        return hears_messages(recorded)
    if label == "context" and recorded.dialect == "gen-code" and not recorded.policy.waits:
        return False
    return bool(recorded.policy.may & recorded.event.may & SAYINGS[label].needs)


def _decides_alone(recorded: RecordedEvent) -> bool:
    """Return True if the agent has no word for a question where permission is asked for."""
    return recorded.dialect not in (OWN_FORMAT, "docker-agent")


def lost(recorded: RecordedEvent, label: str) -> tuple[str, ...]:
    key = (recorded.dialect, recorded.name, label)
    if key in LOST:
        return LOST[key]
    if recorded.event is PERMISSION_REQUEST and label in ("ask", "defer") and _decides_alone(recorded):
        # It is allowed or denied. Saying nothing leaves it to the user, which is an ask.
        return (label,)
    if label == "defer" and key[:2] in _ASKS_WHERE_DEFERRED:
        return ("defer",)
    if can(recorded, label):
        return ()
    return ("decision",) if recorded.dialect == "codewhale" and label in _VOTES else (label,)


_VOTES = ("block", "ask", "allow", "defer")


def sayable(recorded: RecordedEvent) -> list[str]:
    """Return what a native hook may answer at that event."""
    return [
        name
        for name, one in SAYINGS.items()
        if one.needs is Capability.NOTHING or recorded.event.may & one.needs
    ]


CASES = [(recorded, label) for recorded in MOMENTS for label in sayable(recorded)]


@every(("recorded", "label"), CASES)
def test_what_a_native_hook_says_reaches_the_agent_or_is_named_as_lost(
    recorded: RecordedEvent, label: str
) -> None:
    saying = SAYINGS[label]
    trip = travel(recorded, saying.says(recorded))
    said = saying.found(trip.said, recorded)
    understood = saying.found(trip.understood.outcome, recorded)
    assert said, "the native hook's word did not even reach the outcome"
    if recorded.dialect == "claude-code" and not CLAUDE[recorded.name].reads_answers:
        assert trip.received.lost
        assert understood in (None, False, {}, "")
        return
    assert trip.received.lost == lost(recorded, label)
    if (recorded.dialect, recorded.name, label) in _AS_CONTEXT:
        assert trip.understood.outcome.context == (said,)
    elif trip.received.lost or (recorded.dialect, recorded.name, label) in LOST:
        assert not understood
    else:
        assert understood == said


@every("recorded", MOMENTS)
def test_nothing_said_is_nothing_told(recorded: RecordedEvent) -> None:
    trip = travel(recorded, PASS)
    # Cursor denies a call if a guard that fails closed prints nothing.
    empty = "{}\n" if recorded.dialect == "cursor" else ""
    received = trip.received
    assert (received.code, received.stdout, received.stderr, received.lost) == (0, empty, "", ())


@every("recorded", [one for one in MOMENTS if one.event.may & Capability.PERMIT])
@every("kind", ["ask", "defer"])
def test_an_ask_is_an_ask_or_a_denial_but_never_a_pass(recorded: RecordedEvent, kind: Any) -> None:
    trip = travel(recorded, Outcome(votes=(Vote(kind, "because"),)))
    asked = trip.understood.outcome
    if recorded.name in ("PermissionRequest", "permissionRequest") and recorded.dialect != OWN_FORMAT:
        # There the agent asks the user unless a hook decides; Reasonix lets no hook decide.
        assert not asked.votes
    elif recorded.policy.may & Capability.PERMIT:
        assert asked.permission in ("ask", kind)
    elif recorded.policy.may & Capability.BLOCK:
        assert asked.permission == "deny"
    if asked.votes:
        assert asked.reason == "because"


def everything(recorded: RecordedEvent, vote: str) -> Outcome:
    labels = [label for label in sayable(recorded) if label not in _VOTES or label == vote]
    return merged([SAYINGS[label].says(recorded) for label in labels])


@every("recorded", [one for one in MOMENTS if one.policy.may & one.event.may & Capability.BLOCK])
def test_a_block_among_everything_else_is_still_a_block(recorded: RecordedEvent) -> None:
    trip = travel(recorded, everything(recorded, "block"))
    ends_turn = recorded.dialect in ("claude-code", "codex") and recorded.name in ("Stop", "SubagentStop")
    if ends_turn:
        # A stop there beats going on with the turn; the block is named as lost.
        assert "block" in trip.received.lost
        assert trip.understood.outcome.stop
    elif (recorded.dialect, recorded.name) == ("reasonix", "PermissionRequest"):
        assert "block" in trip.received.lost
    else:
        assert trip.understood.outcome.blocked
        assert "because" in (trip.understood.outcome.reason or "")


@every("recorded", MOMENTS)
@every("vote", ["block", "allow"])
def test_of_everything_at_once_nothing_vanishes(recorded: RecordedEvent, vote: str) -> None:
    if recorded.dialect == "claude-code" and not CLAUDE[recorded.name].reads_answers:
        return
    trip = travel(recorded, everything(recorded, vote))
    for label, saying in SAYINGS.items():
        if saying.found(trip.said, recorded):
            assert saying.found(trip.understood.outcome, recorded) or _named(trip, label), label


def _named(trip: Trip, label: str) -> bool:
    """Lost by name, or beside a decision that says as much."""
    names = trip.received.lost
    as_decision = label in _VOTES and "decision" in names
    # A call that stops must not be allowed first.
    as_block = label in ("stop", "allow") and trip.said.stop and trip.understood.outcome.blocked
    as_context = label == "messages" and "psst" in "\n".join(trip.understood.outcome.context)
    return label in names or as_decision or as_block or as_context
