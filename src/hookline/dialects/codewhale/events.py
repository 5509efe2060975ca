"""Describe CodeWhale's events: Hookline's events for them, and how its hooks behave there."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import FAIL_OPEN, Policy

NAME = "codewhale"
DEFAULT_TIMEOUT = 30.0

#: CodeWhale's names of permission modes. Case is ignored; a mode that is not listed keeps its name.
MODES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("agent", "act", "work"), "agent"),
        **dict.fromkeys(("default", "acceptedits", "dontask", "auto", "bypasspermissions"), "agent"),
        "plan": "plan",
        "operate": "operate",
    }
)


def mode_of(name: str) -> str:
    return MODES.get(name.casefold(), name)


class EventRow(Struct, frozen=True):
    """One event of CodeWhale: when its hooks run, what they get and may do."""

    event_name: str
    events: tuple[EventSpec[Any], ...]
    #: Environment variables without their prefix; one that has no value is not set.
    variables: tuple[str, ...]
    #: Facts that conditions can test.
    knows: frozenset[Literal["tool", "mode", "exit_code"]] = frozenset({"mode"})
    may: Capability = Capability.NOTHING
    #: True if the agent waits for its hooks.
    waits: bool = False
    #: A strict hook that fails ends the event's other hooks.
    strict_stops: bool = True

    @property
    def steers(self) -> bool:
        return self.may is not Capability.NOTHING

    @property
    def guards(self) -> bool:
        return bool(self.may & Capability.BLOCK)


_WHERE = ("SESSION_ID", "WORKSPACE", "MODEL", "MODE")
_SEEN_BY_UI = (*_WHERE, "TOTAL_TOKENS", "SESSION_COST")
_SETTLED = ("TOOL_NAME", "TOOL_CALL_ID", "TOOL_RESULT", "TOOL_SUCCESS", "TOOL_EXIT_CODE")
_TOOL_AND_CODE: frozenset[Literal["tool", "mode", "exit_code"]] = frozenset({"tool", "mode", "exit_code"})

ROWS: tuple[EventRow, ...] = (
    EventRow("session_start", (e.SESSION_START,), _SEEN_BY_UI),
    # The one event whose observers are waited for: the agent exits right after it.
    EventRow("session_end", (e.SESSION_END,), _SEEN_BY_UI, waits=True),
    EventRow(
        "message_submit", (e.USER_PROMPT_SUBMIT,), (*_SEEN_BY_UI, "MESSAGE"),
        may=Capability.BLOCK | Capability.REWRITE, waits=True,
    ),
    EventRow(
        "tool_call_before", (e.PRE_TOOL_USE,), (*_WHERE, "TOOL_NAME", "TOOL_CALL_ID", "TOOL_ARGS"),
        knows=frozenset({"tool", "mode"}),
        may=Capability.BLOCK | Capability.PERMIT | Capability.REWRITE | Capability.CONTEXT, waits=True,
    ),
    EventRow(
        "tool_call_after", (e.POST_TOOL_USE, e.POST_TOOL_USE_FAILURE), (*_SEEN_BY_UI, *_SETTLED),
        knows=_TOOL_AND_CODE,
    ),
    EventRow("mode_change", (e.MODE_CHANGED,), (*_SEEN_BY_UI, "PREVIOUS_MODE")),
    EventRow(
        "on_error", (e.ERROR, e.POST_TOOL_USE_FAILURE), (*_SEEN_BY_UI, *_SETTLED, "ERROR"),
        knows=_TOOL_AND_CODE,
    ),
    EventRow("turn_end", (e.TURN_SETTLED,), _SEEN_BY_UI, strict_stops=False),
    EventRow("subagent_spawn", (e.SUBAGENT_START,), (*_SEEN_BY_UI, "MESSAGE"), strict_stops=False),
    EventRow("subagent_complete", (e.SUBAGENT_STOP,), (*_SEEN_BY_UI, "MESSAGE"), strict_stops=False),
    EventRow(
        "shell_env", (e.SHELL_ENV,), ("TOOL_NAME", "TOOL_ARGS"),
        knows=frozenset({"tool"}), may=Capability.ENV, waits=True,
    ),
)  # fmt: skip
BY_NAME: Mapping[str, EventRow] = MappingProxyType({row.event_name: row for row in ROWS})

#: Session starts that are a launch there. After a clear or a compaction it fires no event.
LAUNCHES = frozenset({"startup", "resume", "fork", ""})


def dialect_events() -> Mapping[str, DialectEvent]:
    """Return every event under its own name. Made once per dialect: hooks form lanes by the policy object."""
    return MappingProxyType(
        {row.event_name: DialectEvent(row.events[0], _policy(row), DEFAULT_TIMEOUT) for row in ROWS}
    )


def _policy(row: EventRow) -> Policy:
    chained = row.event_name == "message_submit"
    return Policy(
        event_name=row.event_name,
        may=row.may,
        waits=row.waits,
        run="serial",
        # A message passes from hook to hook; every tool gate judges the model's original call.
        sees="current" if chained else "original",
        stop_on="block" if chained else "closed" if row.strict_stops else "never",
        keep="decision_only",
        failures=FAIL_OPEN,
        block_means="reject_prompt" if chained else "deny_call",
        placement="tool_result",
        most_context=8_000,
        async_line=False,
        late="discard",
    )
