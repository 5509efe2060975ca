"""Codex's events: what each one sends, what its hooks may do there, and how their output is read.

The behaviour is that of client 0.166.0.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import EventSpec, May
from hookline.model.policy import Policy

NAME = "codex"
#: Seconds that a hook has; at the end of a session, and there at most.
TIMEOUT, END_TIMEOUT, LONGEST_END_TIMEOUT = 600.0, 1.0, 3.0
#: Tokens of text for the model that Codex takes from one hook, if its entry does not say.
CONTEXT_LIMIT = 2500


class Row(Struct, frozen=True, eq=False):
    """One event of Codex."""

    event: EventSpec[Any]
    #: Payload keys after those that all events have.
    sends: tuple[str, ...]
    may: May = May.NOTHING
    #: What a matcher may be tested on; None: anything. Empty: matchers are not read here.
    subjects: tuple[str, ...] | None = None
    #: What `decision` at the top of an answer may be.
    decisions: tuple[str, ...] = ()
    #: False: it is a failure like any other code.
    exit_2_blocks: bool = True
    #: What plain text on stdout is.
    plain: Literal["context", "failure", "ignored"] = "ignored"
    #: Whether payloads name a turn, and the permission mode.
    in_turn: bool = True
    has_mode: bool = True
    policy: Mapping[str, Any] = {}


_CALL = ("tool_name", "tool_input")
_CONTEXT, _STOPS = May.CONTEXT, May.BLOCK | May.STOP
_OBSERVES: Mapping[str, Any] = {"exit_2_blocks": False}
_COMPACTS: Mapping[str, Any] = {"subjects": e.COMPACT_TRIGGERS, "has_mode": False, **_OBSERVES}
_SENDS_BACK: Mapping[str, Any] = {
    "decisions": ("block",), "plain": "failure", "policy": {"block_means": "continue_turn", "reasons": "joined"},
}  # fmt: skip

#: By Codex's own names, in the order in which it lists hooks.
ROWS: Mapping[str, Row] = MappingProxyType(
    {
        "PreToolUse": Row(
            e.PRE_TOOL_USE, (*_CALL, "tool_use_id"), May.BLOCK | May.REWRITE | _CONTEXT, None, ("approve", "block")
        ),
        "PermissionRequest": Row(e.PERMISSION_REQUEST, _CALL, May.BLOCK | May.PERMIT),
        "PostToolUse": Row(
            e.POST_TOOL_USE, (*_CALL, "tool_response", "tool_use_id"), May.BLOCK | _CONTEXT, None, ("block",),
            policy={"block_means": "replace_output", "reasons": "joined"},
        ),
        "PreCompact": Row(
            e.PRE_COMPACT, ("trigger",), May.BLOCK, policy={"block_means": "cancel"}, **_COMPACTS
        ),
        "PostCompact": Row(e.POST_COMPACT, ("trigger",), **_COMPACTS),
        "SessionStart": Row(
            e.SESSION_START, ("source",), _CONTEXT, ("startup", "resume", "clear", "compact"), plain="context",
            in_turn=False, **_OBSERVES
        ),
        "UserPromptSubmit": Row(
            e.USER_PROMPT_SUBMIT, ("prompt",), _STOPS | _CONTEXT, (), ("block",), plain="context",
            policy={"block_means": "reject_prompt"},
        ),
        "SubagentStart": Row(
            e.SUBAGENT_START, ("agent_id", "agent_type"), _CONTEXT, plain="context", **_OBSERVES
        ),
        "SubagentStop": Row(
            e.SUBAGENT_STOP, ("stop_hook_active", "agent_id", "agent_type", "last_assistant_message"), _STOPS,
            **_SENDS_BACK,
        ),
        "Stop": Row(e.STOP, ("stop_hook_active", "last_assistant_message"), _STOPS, (), **_SENDS_BACK),
        "SessionEnd": Row(
            e.SESSION_END, ("reason",), subjects=("other",), in_turn=False, has_mode=False, **_OBSERVES
        ),
    }
)  # fmt: skip


def dialect_events() -> Mapping[str, DialectEvent]:
    """Its events with their policies: new objects, because lanes are formed by identity within one engine."""
    return MappingProxyType({name: _dialect_event(name, row) for name, row in ROWS.items()})


def _dialect_event(name: str, row: Row) -> DialectEvent:
    policy = Policy(event_name=name, may=row.may, leftovers="leave", may_detach=False, **row.policy)
    return DialectEvent(row.event, policy, END_TIMEOUT if name == "SessionEnd" else TIMEOUT)
