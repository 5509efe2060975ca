"""Describe the eleven events of Gemini CLI: Hookline's event for each, its payload, and what its hooks may
do."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import FAIL_OPEN, Policy

NAME: Final = "gemini-cli"
TIMEOUT: Final = 60.0


class EventRow(Struct, frozen=True, eq=False):
    """The behaviour of Gemini CLI at one of its events."""

    event: EventSpec[Any]
    may: Capability = Capability.NOTHING
    #: Other events its hooks run at as well.
    also: tuple[EventSpec[Any], ...] = ()
    #: The exact values of a matcher; empty if it is not compared, and hooks run whatever it says.
    subjects: tuple[str, ...] = ()
    policy: Mapping[str, Any] = {}
    #: A peculiarity of when it fires.
    remark: str = ""


_MODEL: Final = Capability.REWRITE | Capability.STOP

ROWS: Final[Mapping[str, EventRow]] = MappingProxyType(
    {
        "SessionStart": EventRow(e.SESSION_START, Capability.CONTEXT, subjects=("startup", "resume", "clear")),
        "BeforeAgent": EventRow(
            e.USER_PROMPT_SUBMIT, Capability.BLOCK | Capability.CONTEXT | Capability.STOP,
            policy={"block_means": "reject_prompt", "placement": "user"},
        ),
        "BeforeModel": EventRow(e.PRE_MODEL_CALL, Capability.BLOCK | _MODEL, policy={"block_means": "end_turn"}),
        "BeforeToolSelection": EventRow(e.PRE_TOOL_SELECTION, Capability.ANSWER, policy={"answers": "united"}),
        "AfterModel": EventRow(e.POST_MODEL_CALL, _MODEL),
        "BeforeTool": EventRow(e.PRE_TOOL_USE, Capability.BLOCK | Capability.PERMIT | _MODEL,
        policy={"block_means": "deny_call"}),
        # It runs after every call, and a block replaces the result.
        "AfterTool": EventRow(
            e.POST_TOOL_USE, Capability.BLOCK | Capability.CONTEXT | _MODEL, (e.POST_TOOL_USE_FAILURE,),
            policy={"block_means": "beside_output", "placement": "tool_result"},
        ),
        "AfterAgent": EventRow(e.STOP, Capability.BLOCK | Capability.STOP, policy={"block_means": "continue_turn"}),
        "PreCompress": EventRow(
            e.PRE_COMPACT, subjects=e.COMPACT_TRIGGERS,
            remark="fires before every model turn, even if nothing is compressed",
        ),
        "Notification": EventRow(e.NOTIFICATION, subjects=("ToolPermission",)),
        "SessionEnd": EventRow(
            e.SESSION_END, subjects=("exit", "clear", "logout", "prompt_input_exit", "other"),
            remark="may fire several times when a session at a terminal ends",
        ),
    }
)  # fmt: skip


def dialect_events() -> Mapping[str, DialectEvent]:
    """Return its events with their policies: new objects, because lanes are formed by identity within one engine."""
    return MappingProxyType({name: _dialect_event(name, row) for name, row in ROWS.items()})


def recorded_events_of(own_event: DialectEvent) -> Sequence[DialectEvent]:
    """Return every event an entry under this name registers on."""
    events = (own_event.event, *ROWS[own_event.name].also)
    return [DialectEvent(event, own_event.policy, own_event.timeout) for event in events]


def _dialect_event(name: str, row: EventRow) -> DialectEvent:
    """Make one event; one sequential group makes all its hooks run in order, each on the result of the one before."""
    usual: dict[str, Any] = {"block_means": "cancel"}
    policy = Policy(
        event_name=name, may=row.may, run="serial_if_asked", sees="current", reasons="joined", failures=FAIL_OPEN,
        leftovers="leave", async_line=False, **usual | dict(row.policy),
    )  # fmt: skip
    return DialectEvent(row.event, policy, TIMEOUT, row.remark)
