"""Describe Docker Agent's events: Hookline's event for each, and how its hooks behave there.

The rows are in the order in which hooks run: hooks that rewrite before hooks that judge, turn_start before
before_llm_call.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.conditions import PromptSource, Resumed
from hookline.model import events as e
from hookline.model.events import Capability
from hookline.model.hook import Condition
from hookline.model.policy import FAIL_CLOSED, FAIL_OPEN, Lifetime, Placement, Policy

TIMEOUT = 60.0

_JUDGES = Capability.BLOCK | Capability.PERMIT
_TEXT = Capability.BLOCK | Capability.CONTEXT
_CHANGES = Capability.BLOCK | Capability.REWRITE


class EventRow(Struct, frozen=True, eq=False):
    """One of its event names at one event of Hookline."""

    name: str
    event: e.EventSpec[Any]
    may: Capability = Capability.NOTHING
    #: Its hooks are in groups with a matcher for the tool's name.
    tools: bool = False
    #: Runs one after another, each seeing what the last one changed.
    chained: bool = False
    closed: bool = False
    block_means: str = "cancel"
    placement: Placement = "conversation"
    lifetime: Lifetime = "session"
    #: Distinguishes this name from others at the same event.
    when: Condition | None = None
    #: The hooks of groups marked `preempt_yolo` run by this row.
    preempts: bool = False
    #: A further event of a name that has another row.
    again: bool = False


def rows() -> tuple[EventRow, ...]:
    """Return every event at which its hooks run."""
    return (
        EventRow("session_start", e.SESSION_START, Capability.CONTEXT, placement="system"),
        _prompt("user_prompt_submit", ""),
        _prompt("user_steering_messages_submit", "steering"),
        _prompt("user_followup_submit", "followup"),
        EventRow("turn_start", e.PRE_MODEL_CALL, Capability.CONTEXT, placement="transient", lifetime="call"),
        EventRow("before_llm_call", e.PRE_MODEL_CALL, _CHANGES, chained=True, block_means="end_turn"),
        EventRow("after_llm_call", e.POST_MODEL_CALL),
        EventRow(
            "tool_input_transform",
            e.PRE_TOOL_USE,
            _CHANGES,
            tools=True,
            chained=True,
            block_means="deny_call",
        ),
        EventRow("tool_guard", e.PRE_TOOL_USE, _JUDGES, tools=True, closed=True, block_means="deny_call"),
        _gate(preempts=True),
        _gate(preempts=False),
        EventRow("permission_request", e.PERMISSION_REQUEST, _JUDGES, tools=True, block_means="deny_call"),
        EventRow("on_tool_approval_decision", e.PERMISSION_DENIED),
        EventRow("tool_response_transform", e.POST_TOOL_USE, Capability.REWRITE, tools=True, chained=True),
        EventRow("post_tool_use", e.POST_TOOL_USE, _TEXT, tools=True, block_means="end_turn"),
        EventRow(
            "post_tool_use", e.POST_TOOL_USE_FAILURE, _TEXT, tools=True, block_means="end_turn", again=True
        ),
        EventRow("stop", e.STOP),
        EventRow("turn_end", e.TURN_SETTLED),
        EventRow("subagent_stop", e.SUBAGENT_STOP),
        EventRow("on_user_input", e.USER_INPUT_WAITING),
        EventRow("notification", e.NOTIFICATION),
        EventRow("on_error", e.ERROR),
        EventRow("on_max_iterations", e.MAX_ITERATIONS, when=Resumed(no=True)),
        EventRow("on_session_resume", e.MAX_ITERATIONS, when=Resumed()),
        EventRow("on_agent_switch", e.AGENT_SWITCHED),
        EventRow("pre_compact", e.PRE_COMPACT, _TEXT, placement="transient", lifetime="call"),
        EventRow("before_compaction", e.PRE_COMPACT, Capability.BLOCK | Capability.ANSWER),
        EventRow("after_compaction", e.POST_COMPACT),
        EventRow("worktree_create", e.WORKTREE_CREATE, _TEXT),
        EventRow("session_end", e.SESSION_END),
    )


def _prompt(name: str, source: str) -> EventRow:
    return EventRow(
        name,
        e.USER_PROMPT_SUBMIT,
        _TEXT,
        block_means="end_turn",
        placement="transient",
        lifetime="turn",
        when=PromptSource(source),
    )


def _gate(*, preempts: bool) -> EventRow:
    return EventRow(
        "pre_tool_use",
        e.PRE_TOOL_USE,
        _JUDGES | Capability.REWRITE,
        tools=True,
        chained=True,
        closed=True,
        block_means="deny_call",
        preempts=preempts,
        again=preempts,
    )


#: Guards that can only stop or ask; their allow approves nothing.
NEVER_APPROVES = frozenset({"tool_guard"})
#: Events where `instruction_context` is read.
INSTRUCTIONS = frozenset({"session_start", "turn_start"})


def policy_of(row: EventRow) -> Policy:
    return Policy(
        event_name=row.name,
        may=row.may,
        run="serial" if row.chained else "parallel",
        sees="current" if row.chained else "original",
        reasons="blocks_joined",
        failures=FAIL_CLOSED if row.closed else FAIL_OPEN,
        block_means=row.block_means,
        placement=row.placement,
        lifetime=row.lifetime,
        leftovers="leave",
        async_line=False,
    )


class PolicyRow(Struct, frozen=True, eq=False):
    """A row and its policy: one object for all hooks there, because hooks with one policy run together."""

    row: EventRow
    own_event: DialectEvent


class DockerEvents:
    """The rows of one dialect object, in the order their hooks run, and its events by name."""

    def __init__(self) -> None:
        self.recorded_events = tuple(
            PolicyRow(row, DialectEvent(row.event, policy_of(row), TIMEOUT)) for row in rows()
        )
        self.by_name: Mapping[str, DialectEvent] = {
            recorded.row.name: recorded.own_event
            for recorded in self.recorded_events
            if not recorded.row.again
        }
        self._of: dict[tuple[str, bool], list[PolicyRow]] = {}
        for recorded in self.recorded_events:
            self._of.setdefault((recorded.row.name, recorded.row.preempts), []).append(recorded)
        self._order = {
            recorded.own_event.policy: order for order, recorded in enumerate(self.recorded_events)
        }

    def of(self, name: str, *, preempts: bool = False) -> list[PolicyRow]:
        """Return the rows of a name; hooks that preempt auto-approval have a separate one."""
        return self._of.get((name, preempts), [])

    def takes_matchers(self, name: str) -> bool:
        return any(recorded.row.tools for recorded in self.recorded_events if recorded.row.name == name)

    def order(self, policy: Policy) -> int:
        return self._order[policy]
