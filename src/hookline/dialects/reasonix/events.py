"""Describe Reasonix's events under its own names, and its behaviour at each: rows of data.

The first ten are the pull request's contract; the others exist only in the v1 line and are accepted too.
Two names mislead: here TurnEnd is the gate, and Stop only observes a turn that is over.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import CAUSES, BlockLimit, Cause, Policy, Reaction

NAME = "reasonix"

#: Every failure is a warning.
_WARNS: Mapping[Cause, Reaction] = MappingProxyType(
    {cause: "block" if cause == "cancelled" else "warn" for cause in CAUSES}
)
#: A gate that does not answer in time stops the action; one that cannot start does not. A hook that is ended
#: because it floods would have run into its timeout there.
_GATE: Mapping[Cause, Reaction] = MappingProxyType({**_WARNS, "timed_out": "block", "truncated": "block"})

_STRIKES = 3


class _Row(Struct, frozen=True):
    event: EventSpec[Any]
    milliseconds: int
    may: Capability = Capability.NOTHING
    #: The parts of its policy that differ from the usual.
    policy: Mapping[str, Any] = {}
    #: Other events its hooks run at as well.
    also: tuple[EventSpec[Any], ...] = ()


def _gate(block_means: str, **policy: Any) -> Mapping[str, Any]:
    return {"block_means": block_means, "failures": _GATE, **policy}


#: In the order of the original, which is the order hooks are listed in.
_ROWS: Mapping[str, _Row] = MappingProxyType(
    {
        "SessionStart": _Row(e.SESSION_START, 10_000, Capability.CONTEXT, {"placement": "system"}),
        "TurnStart": _Row(e.TURN_START, 5_000, Capability.BLOCK | Capability.CONTEXT, _gate("end_turn",
        lifetime="turn")),
        "PreToolUse": _Row(e.PRE_TOOL_USE, 5_000, Capability.BLOCK, _gate("deny_call")),
        # It runs after every call that was dispatched, whether it failed or not.
        "PostToolUse": _Row(e.POST_TOOL_USE, 30_000, also=(e.POST_TOOL_USE_FAILURE,)),
        "UserPromptSubmit": _Row(e.USER_PROMPT_SUBMIT, 5_000, Capability.BLOCK, _gate("reject_prompt")),
        "PreModelCall": _Row(
            e.PRE_MODEL_CALL, 10_000, Capability.BLOCK | Capability.CONTEXT,
            _gate("retry_call", placement="transient", lifetime="call", limit=BlockLimit(_STRIKES - 1, "end_turn")),
        ),
        "PostModelCall": _Row(e.POST_MODEL_CALL, 30_000),
        "TurnEnd": _Row(
            e.TURN_END, 10_000, Capability.BLOCK | Capability.CONTEXT,
            _gate("continue_turn", placement="user", limit=BlockLimit(_STRIKES - 1, "pass", keeps_text=False)),
        ),
        "Stop": _Row(e.TURN_SETTLED, 30_000),
        "SessionEnd": _Row(e.SESSION_END, 10_000),
        "PostToolUseFailure": _Row(e.POST_TOOL_USE_FAILURE, 30_000),
        "PermissionRequest": _Row(e.PERMISSION_REQUEST, 5_000, Capability.BLOCK, {"block_means": "deny_call"}),
        "StopFailure": _Row(e.STOP_FAILURE, 30_000),
        "PostLLMCall": _Row(e.POST_MODEL_CALL, 30_000),
        "SubagentStop": _Row(e.SUBAGENT_STOP, 30_000),
        "Notification": _Row(e.NOTIFICATION, 30_000),
        "PreCompact": _Row(
            e.PRE_COMPACT, 30_000, Capability.CONTEXT, {"placement": "transient", "lifetime": "call"}
        ),
    }
)  # fmt: skip

#: Events where `match` is read. Elsewhere it is ignored.
TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"})
#: Events where the text a hook prints goes to the model.
TEXT_EVENTS = frozenset({"SessionStart", "TurnStart", "PreModelCall"})
#: Events where a block is read from hooks in Claude's format alone.
CLAUDE_GATES = frozenset({"PermissionRequest"})
#: Bytes kept of each stream.
CAPTURED = 256 * 1024
#: The most text one hook may add.
LONGEST_TEXT = 4096


def dialect_events() -> dict[str, DialectEvent]:
    """Return its events. Built once per dialect: lanes are formed by the identity of these policies."""
    return {
        name: DialectEvent(row.event, _policy(name, row), row.milliseconds / 1000)
        for name, row in _ROWS.items()
    }


def events_of(own_event: DialectEvent) -> tuple[EventSpec[Any], ...]:
    """Return every event an entry under this name registers on."""
    return (own_event.event, *_ROWS[own_event.name].also)


def gates(policy: Policy) -> bool:
    """Return True if exit 2 stops something there."""
    return bool(policy.may & Capability.BLOCK) and policy.event_name not in CLAUDE_GATES


def _policy(name: str, row: _Row) -> Policy:
    usual: dict[str, Any] = {"block_means": "cancel", "placement": "conversation", "failures": _WARNS}
    return Policy(
        event_name=name, may=row.may, run="serial", stop_on="block", leftovers="leave", captures=CAPTURED,
        async_line=False, **usual | dict(row.policy),
    )  # fmt: skip
