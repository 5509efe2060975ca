"""The eleven events of Gemini CLI: which event of Hookline each one is, what it sends, and what its hooks may do."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import EventSpec, May
from hookline.model.policy import FAIL_OPEN, Policy

NAME: Final = "gemini-cli"
TIMEOUT: Final = 60.0


class Row(Struct, frozen=True, eq=False):
    """What Gemini CLI does at one of its events."""

    event: EventSpec[Any]
    may: May = May.NOTHING
    #: Other events its hooks run at as well.
    also: tuple[EventSpec[Any], ...] = ()
    #: What a matcher must be, letter by letter; empty: nothing is compared, and hooks run whatever it says.
    subjects: tuple[str, ...] = ()
    policy: Mapping[str, Any] = {}
    #: What is peculiar about when it fires.
    remark: str = ""


_MODEL: Final = May.REWRITE | May.STOP

ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "SessionStart": Row(e.SESSION_START, May.CONTEXT, subjects=("startup", "resume", "clear")),
        "BeforeAgent": Row(
            e.USER_PROMPT_SUBMIT, May.BLOCK | May.CONTEXT | May.STOP,
            policy={"block_means": "reject_prompt", "placement": "user"},
        ),
        "BeforeModel": Row(e.PRE_MODEL_CALL, May.BLOCK | _MODEL, policy={"block_means": "end_turn"}),
        "BeforeToolSelection": Row(e.PRE_TOOL_SELECTION, May.ANSWER, policy={"answers": "united"}),
        "AfterModel": Row(e.POST_MODEL_CALL, _MODEL),
        "BeforeTool": Row(e.PRE_TOOL_USE, May.BLOCK | May.PERMIT | _MODEL, policy={"block_means": "deny_call"}),
        # It runs after every call, and a block takes the place of the result.
        "AfterTool": Row(
            e.POST_TOOL_USE, May.BLOCK | May.CONTEXT | _MODEL, (e.POST_TOOL_USE_FAILURE,),
            policy={"block_means": "beside_output", "placement": "tool_result"},
        ),
        "AfterAgent": Row(e.STOP, May.BLOCK | May.STOP, policy={"block_means": "continue_turn"}),
        "PreCompress": Row(
            e.PRE_COMPACT, subjects=e.COMPACT_TRIGGERS,
            remark="fires before every model turn, whether anything is compressed or not",
        ),
        "Notification": Row(e.NOTIFICATION, subjects=("ToolPermission",)),
        "SessionEnd": Row(
            e.SESSION_END, subjects=("exit", "clear", "logout", "prompt_input_exit", "other"),
            remark="may fire several times when a session at a terminal ends",
        ),
    }
)  # fmt: skip


def dialect_events() -> Mapping[str, DialectEvent]:
    """Its events with their policies: new objects, because lanes are formed by identity within one engine."""
    return MappingProxyType({name: _dialect_event(name, row) for name, row in ROWS.items()})


def moments_of(own_event: DialectEvent) -> Sequence[DialectEvent]:
    """Every event an entry under this name registers on."""
    events = (own_event.event, *ROWS[own_event.name].also)
    return [DialectEvent(event, own_event.policy, own_event.timeout) for event in events]


def _dialect_event(name: str, row: Row) -> DialectEvent:
    """One sequential group makes all hooks of the event run in order, each on what the one before it left."""
    usual: dict[str, Any] = {"block_means": "cancel"}
    policy = Policy(
        event_name=name, may=row.may, run="serial_if_asked", sees="current", reasons="joined", failures=FAIL_OPEN,
        leftovers="leave", may_detach=False, **usual | dict(row.policy),
    )  # fmt: skip
    return DialectEvent(row.event, policy, TIMEOUT, row.remark)
