"""Describe Codex's events: their payloads, what hooks may do there, and how their output is read.

The behaviour is that of client 0.169.0; `Interrupt` and the two around a model call are new in it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import Policy

NAME = "codex"
#: Seconds for a hook; at the end of a session or a turn that is interrupted, and the maximum there.
TIMEOUT, END_TIMEOUT, LONGEST_END_TIMEOUT = 600.0, 1.0, 3.0
#: Tokens of text for the model that Codex takes from one hook, if its entry does not say.
CONTEXT_LIMIT = 2500


class EventRow(Struct, frozen=True, eq=False):
    """One event of Codex."""

    event: EventSpec[Any]
    #: Payload keys after those that all events have.
    sends: tuple[str, ...]
    may: Capability = Capability.NOTHING
    #: The values a matcher may be tested on; None for anything. Empty: matchers are not read here.
    subjects: tuple[str, ...] | None = None
    #: The values of `decision` at the top of an answer.
    decisions: tuple[str, ...] = ()
    #: False: it is a failure like any other code.
    exit_2_blocks: bool = True
    #: The meaning of plain text on stdout.
    plain: Literal["context", "failure", "ignored"] = "ignored"
    #: True if payloads name a turn, and the permission mode.
    in_turn: bool = True
    has_mode: bool = True
    #: True if an answer is read and then does nothing, whatever it says.
    reads_nothing: bool = False
    policy: Mapping[str, Any] = {}


#: Events that Codex waits for a moment only.
BRIEF = ("SessionEnd", "Interrupt")
_CALL = ("tool_name", "tool_input")
_CONTEXT, _STOPS = Capability.CONTEXT, Capability.BLOCK | Capability.STOP
_OBSERVES: Mapping[str, Any] = {"exit_2_blocks": False}
_COMPACTS: Mapping[str, Any] = {"subjects": e.COMPACT_TRIGGERS, "has_mode": False, **_OBSERVES}
_SENDS_BACK: Mapping[str, Any] = {
    "decisions": ("block",), "plain": "failure", "policy": {"block_means": "continue_turn", "reasons": "joined"},
}  # fmt: skip

#: By Codex's own names, in the order in which it lists hooks.
ROWS: Mapping[str, EventRow] = MappingProxyType(
    {
        "PreToolUse": EventRow(
            e.PRE_TOOL_USE, (*_CALL, "tool_use_id"), Capability.BLOCK | Capability.REWRITE | _CONTEXT, None,
            ("approve", "block")
        ),
        "PermissionRequest": EventRow(e.PERMISSION_REQUEST, _CALL, Capability.BLOCK | Capability.PERMIT),
        "PostToolUse": EventRow(
            e.POST_TOOL_USE, (*_CALL, "tool_response", "tool_use_id"), Capability.BLOCK | _CONTEXT, None, ("block",),
            policy={"block_means": "replace_output", "reasons": "joined"},
        ),
        "PreCompact": EventRow(
            e.PRE_COMPACT, ("trigger",), Capability.BLOCK, policy={"block_means": "cancel"}, **_COMPACTS
        ),
        "PostCompact": EventRow(e.POST_COMPACT, ("trigger",), **_COMPACTS),
        "SessionStart": EventRow(
            e.SESSION_START, ("source",), _CONTEXT, ("startup", "resume", "clear", "compact", "fork"), plain="context",
            in_turn=False, **_OBSERVES
        ),
        "UserPromptSubmit": EventRow(
            e.USER_PROMPT_SUBMIT, ("prompt",), _STOPS | _CONTEXT, (), ("block",), plain="context",
            policy={"block_means": "reject_prompt"},
        ),
        "SubagentStart": EventRow(
            e.SUBAGENT_START, ("agent_id", "agent_type"), _CONTEXT, plain="context", **_OBSERVES
        ),
        "SubagentStop": EventRow(
            e.SUBAGENT_STOP, ("stop_hook_active", "agent_id", "agent_type", "last_assistant_message"), _STOPS,
            **_SENDS_BACK,
        ),
        "Stop": EventRow(e.STOP, ("stop_hook_active", "last_assistant_message"), _STOPS, (), **_SENDS_BACK),
        "Interrupt": EventRow(e.INTERRUPT, (), subjects=(), plain="failure", **_OBSERVES),
        "PreModelRequest": EventRow(e.PRE_MODEL_CALL, (), subjects=(), has_mode=False, reads_nothing=True, **_OBSERVES),
        "PostModelRequest": EventRow(
            e.POST_MODEL_CALL, ("status", "error", "token_usage"), subjects=(), has_mode=False, reads_nothing=True,
            **_OBSERVES,
        ),
        "SessionEnd": EventRow(
            e.SESSION_END, ("reason",), subjects=("other",), in_turn=False, has_mode=False, **_OBSERVES
        ),
    }
)  # fmt: skip


def dialect_events() -> Mapping[str, DialectEvent]:
    """Return its events with their policies: new objects, because lanes are formed by identity within one engine."""
    return MappingProxyType({name: _dialect_event(name, row) for name, row in ROWS.items()})


def _dialect_event(name: str, row: EventRow) -> DialectEvent:
    policy = Policy(event_name=name, may=row.may, leftovers="leave", async_line=False, **row.policy)
    return DialectEvent(row.event, policy, END_TIMEOUT if name in BRIEF else TIMEOUT)
