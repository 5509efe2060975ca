"""Hookline as a hook of every agent: payload in, a native hook decides, answer out, and the agent's own decoder.

What each agent cannot be told is written down here, exactly. Everything else must come back as it was said.
"""

from collections.abc import Mapping
from typing import Any

from hookline import Outcome
from hookline.dialects.claude_code.events import ROWS as CLAUDE
from hookline.events import May
from hookline.model.outcome import GO_ON, Vote, merged
from tests.dialects.round_trips import SAYINGS, Moment, Trip, moments, travel
from tests.every import every

#: Reasonix runs PostToolUse after every call and does not say whether it failed, so it is read as a success.
_UNTELLABLE = {("reasonix", "PostToolUse", "PostToolUseFailure")}
MOMENTS = [one for one in moments() if (one.dialect, one.name, one.event.name) not in _UNTELLABLE]

#: By agent, event and what was said: what is lost although the agent's own hooks may say something like it there.
LOST: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    # A request for permission is allowed or denied. Saying nothing leaves it to the user, which is an ask.
    ("claude-code", "PermissionRequest", "ask"): ("ask",),
    ("claude-code", "PermissionRequest", "defer"): ("defer",),
    ("gen-code", "PermissionRequest", "ask"): ("ask",),
    ("gen-code", "PermissionRequest", "defer"): ("defer",),
    # A new input goes only with an allow, and nothing there takes text.
    ("claude-code", "PermissionRequest", "rewrite"): ("rewrite",),
    ("claude-code", "PermissionRequest", "context"): ("context",),
    # Text alone keeps the turn from ending, so it is told once; a hook has sent the turn of these payloads on.
    ("claude-code", "Stop", "context"): ("context",),
    ("claude-code", "SubagentStop", "context"): ("context",),
    ("reasonix", "TurnEnd", "context"): ("context",),
    # Its stdout is the path.
    ("claude-code", "WorktreeCreate", "context"): ("context",),
    # Exit 2 is read there from hooks in Claude's format alone.
    ("reasonix", "PermissionRequest", "block"): ("block",),
    # Said with an allow, which has no word either.
    ("reasonix", "PermissionRequest", "permission_updates"): ("permission_updates", "allow"),
    # It has no word that approves a call.
    ("gemini-cli", "BeforeTool", "allow"): ("allow",),
    # A list of tools would also make the model call one of them.
    ("gemini-cli", "BeforeToolSelection", "answer"): ("answer",),
    # It can only stop or ask; that it has no objection approves nothing.
    ("docker-agent", "tool_guard", "allow"): ("allow",),
    # An ask is left to the user by saying nothing; a new input cannot be approved, so it is denied.
    ("codex", "PermissionRequest", "ask"): ("ask",),
    ("codex", "PermissionRequest", "defer"): ("defer",),
    # A new input needs an allow: without one it is denied.
    ("codex", "PreToolUse", "rewrite"): ("rewrite",),
    # A block there replaces the result.
    ("codex", "PostToolUse", "rewrite"): (),
    # Ending a turn is what a block does there.
    ("reasonix", "TurnStart", "stop"): (),
    ("reasonix", "UserPromptSubmit", "stop"): (),
}
#: Events whose messages nobody shows come back as text for the model.
_AS_CONTEXT = {("claude-code", "DirectoryAdded", "messages")}
#: Agents without a word for a decision that is left to them; they ask.
_ASKS_WHERE_DEFERRED = {
    ("claude-code", "PreModelSwitch"), ("gen-code", "PreToolUse"), ("codewhale", "tool_call_before"),
    ("docker-agent", "pre_tool_use"), ("docker-agent", "tool_guard"), ("docker-agent", "permission_request"),
    ("gemini-cli", "BeforeTool"),
}  # fmt: skip


def hears_messages(moment: Moment) -> bool:
    if moment.dialect == "claude-code":
        return "systemMessage" in CLAUDE[moment.name].reads
    if moment.dialect == "codex":
        return moment.name != "SessionEnd"
    return moment.dialect in ("native", "docker-agent", "gemini-cli") or (moment.dialect, moment.name) == (
        "reasonix", "TurnEnd",
    )  # fmt: skip


def can(moment: Moment, label: str) -> bool:
    if label == "messages":
        return hears_messages(moment)
    if label == "context" and moment.dialect == "gen-code" and not moment.policy.waits:
        return False
    return bool(moment.policy.may & moment.event.may & SAYINGS[label].needs)


def lost(moment: Moment, label: str) -> tuple[str, ...]:
    key = (moment.dialect, moment.name, label)
    if key in LOST:
        return LOST[key]
    if label == "defer" and key[:2] in _ASKS_WHERE_DEFERRED:
        return ("defer",)
    if can(moment, label):
        return ()
    return ("decision",) if moment.dialect == "codewhale" and label in _VOTES else (label,)


_VOTES = ("block", "ask", "allow", "defer")


def sayable(moment: Moment) -> list[str]:
    """What a native hook may say at that moment."""
    return [name for name, one in SAYINGS.items() if one.needs is May.NOTHING or moment.event.may & one.needs]


CASES = [(moment, label) for moment in MOMENTS for label in sayable(moment)]


@every(("moment", "label"), CASES)
def test_what_a_native_hook_says_reaches_the_agent_or_is_named_as_lost(moment: Moment, label: str) -> None:
    saying = SAYINGS[label]
    trip = travel(moment, saying.says(moment))
    said = saying.found(trip.said, moment)
    understood = saying.found(trip.understood.outcome, moment)
    assert said, "the native hook's word did not even reach the outcome"
    if moment.dialect == "claude-code" and not CLAUDE[moment.name].reads_answers:
        assert trip.told.lost
        assert understood in (None, False, {}, "")
        return
    assert trip.told.lost == lost(moment, label)
    if (moment.dialect, moment.name, label) in _AS_CONTEXT:
        assert trip.understood.outcome.context == (said,)
    elif trip.told.lost or (moment.dialect, moment.name, label) in LOST:
        assert not understood
    else:
        assert understood == said


@every("moment", MOMENTS)
def test_nothing_said_is_nothing_told(moment: Moment) -> None:
    trip = travel(moment, GO_ON)
    assert (trip.told.code, trip.told.stdout, trip.told.stderr, trip.told.lost) == (0, "", "", ())


@every("moment", [one for one in MOMENTS if one.event.may & May.PERMIT])
@every("kind", ["ask", "defer"])
def test_an_ask_is_an_ask_or_a_denial_but_never_a_pass(moment: Moment, kind: Any) -> None:
    trip = travel(moment, Outcome(votes=(Vote(kind, "because"),)))
    asked = trip.understood.outcome
    if moment.name == "PermissionRequest" and moment.dialect != "native":
        # There the user is asked unless somebody decides; Reasonix lets no hook decide.
        assert not asked.votes
    elif moment.policy.may & May.PERMIT:
        assert asked.permission in ("ask", kind)
    elif moment.policy.may & May.BLOCK:
        assert asked.permission == "deny"
    if asked.votes:
        assert asked.reason == "because"


def everything(moment: Moment, vote: str) -> Outcome:
    labels = [label for label in sayable(moment) if label not in _VOTES or label == vote]
    return merged([SAYINGS[label].says(moment) for label in labels])


@every("moment", [one for one in MOMENTS if one.policy.may & one.event.may & May.BLOCK])
def test_a_block_among_everything_else_is_still_a_block(moment: Moment) -> None:
    trip = travel(moment, everything(moment, "block"))
    ends_turn = moment.dialect in ("claude-code", "codex") and moment.name in ("Stop", "SubagentStop")
    if ends_turn:
        # A stop there beats going on with the turn; the block is named as lost.
        assert "block" in trip.told.lost
        assert trip.understood.outcome.stop
    elif (moment.dialect, moment.name) == ("reasonix", "PermissionRequest"):
        assert "block" in trip.told.lost
    else:
        assert trip.understood.outcome.blocked
        assert "because" in (trip.understood.outcome.reason or "")


@every("moment", MOMENTS)
@every("vote", ["block", "allow"])
def test_of_everything_at_once_nothing_vanishes(moment: Moment, vote: str) -> None:
    if moment.dialect == "claude-code" and not CLAUDE[moment.name].reads_answers:
        return
    trip = travel(moment, everything(moment, vote))
    for label, saying in SAYINGS.items():
        if saying.found(trip.said, moment):
            assert saying.found(trip.understood.outcome, moment) or _named(trip, label), label


def _named(trip: Trip, label: str) -> bool:
    """Lost by name, or beside a decision that says as much."""
    names = trip.told.lost
    as_decision = label in _VOTES and "decision" in names
    # What is to stop must not first be allowed.
    as_block = label in ("stop", "allow") and trip.said.stop and trip.understood.outcome.blocked
    as_context = label == "messages" and "psst" in "\n".join(trip.understood.outcome.context)
    return label in names or as_decision or as_block or as_context
