"""Docker Agent's event names, what each of them is in Hookline's table, and how its hooks behave there.

The rows are in the order in which the hooks of one moment run: hooks that rewrite before hooks that judge,
turn_start before before_llm_call.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.conditions import PromptSource, Resumed
from hookline.model import events as e
from hookline.model.events import May
from hookline.model.hook import Condition
from hookline.model.policy import FAIL_CLOSED, FAIL_OPEN, Lives, Placement, Policy

TIMEOUT = 60.0

_JUDGES = May.BLOCK | May.PERMIT
_TEXT = May.BLOCK | May.CONTEXT
_CHANGES = May.BLOCK | May.REWRITE


class Row(Struct, frozen=True, eq=False):
    """One of its own event names at one moment."""

    name: str
    event: e.EventSpec[Any]
    may: May = May.NOTHING
    #: Its hooks are in groups with a matcher for the tool's name.
    tools: bool = False
    #: Runs one after another, each seeing what the last one changed.
    chained: bool = False
    closed: bool = False
    block_means: str = "cancel"
    placement: Placement = "conversation"
    lives: Lives = "session"
    #: Distinguishes this name from others at the same moment.
    when: Condition | None = None
    #: The hooks of groups marked `preempt_yolo` run by this row.
    preempts: bool = False
    #: A further moment of a name that has another row.
    again: bool = False


def rows() -> tuple[Row, ...]:
    """Every moment its hooks run at."""
    return (
        Row("session_start", e.SESSION_START, May.CONTEXT, placement="system"),
        _prompt("user_prompt_submit", ""),
        _prompt("user_steering_messages_submit", "steering"),
        _prompt("user_followup_submit", "followup"),
        Row("turn_start", e.PRE_MODEL_CALL, May.CONTEXT, placement="transient", lives="call"),
        Row("before_llm_call", e.PRE_MODEL_CALL, _CHANGES, chained=True, block_means="end_turn"),
        Row("after_llm_call", e.POST_MODEL_CALL),
        Row(
            "tool_input_transform",
            e.PRE_TOOL_USE,
            _CHANGES,
            tools=True,
            chained=True,
            block_means="deny_call",
        ),
        Row("tool_guard", e.PRE_TOOL_USE, _JUDGES, tools=True, closed=True, block_means="deny_call"),
        _gate(preempts=True),
        _gate(preempts=False),
        Row("permission_request", e.PERMISSION_REQUEST, _JUDGES, tools=True, block_means="deny_call"),
        Row("on_tool_approval_decision", e.PERMISSION_DENIED),
        Row("tool_response_transform", e.POST_TOOL_USE, May.REWRITE, tools=True, chained=True),
        Row("post_tool_use", e.POST_TOOL_USE, _TEXT, tools=True, block_means="end_turn"),
        Row("post_tool_use", e.POST_TOOL_USE_FAILURE, _TEXT, tools=True, block_means="end_turn", again=True),
        Row("stop", e.STOP),
        Row("turn_end", e.TURN_SETTLED),
        Row("subagent_stop", e.SUBAGENT_STOP),
        Row("on_user_input", e.USER_INPUT_WAITING),
        Row("notification", e.NOTIFICATION),
        Row("on_error", e.ERROR),
        Row("on_max_iterations", e.MAX_ITERATIONS, when=Resumed(no=True)),
        Row("on_session_resume", e.MAX_ITERATIONS, when=Resumed()),
        Row("on_agent_switch", e.AGENT_SWITCHED),
        Row("pre_compact", e.PRE_COMPACT, _TEXT, placement="transient", lives="call"),
        Row("before_compaction", e.PRE_COMPACT, May.BLOCK | May.ANSWER),
        Row("after_compaction", e.POST_COMPACT),
        Row("worktree_create", e.WORKTREE_CREATE, _TEXT),
        Row("session_end", e.SESSION_END),
    )


def _prompt(name: str, source: str) -> Row:
    return Row(
        name,
        e.USER_PROMPT_SUBMIT,
        _TEXT,
        block_means="end_turn",
        placement="transient",
        lives="turn",
        when=PromptSource(source),
    )


def _gate(*, preempts: bool) -> Row:
    return Row(
        "pre_tool_use",
        e.PRE_TOOL_USE,
        _JUDGES | May.REWRITE,
        tools=True,
        chained=True,
        closed=True,
        block_means="deny_call",
        preempts=preempts,
        again=preempts,
    )


#: Guards that can only stop or ask; their allow approves nothing.
NEVER_APPROVES = frozenset({"tool_guard"})
#: Where `instruction_context` is read.
INSTRUCTIONS = frozenset({"session_start", "turn_start"})


def policy_of(row: Row) -> Policy:
    return Policy(
        event_name=row.name,
        may=row.may,
        run="serial" if row.chained else "parallel",
        sees="current" if row.chained else "original",
        reasons="blocks_joined",
        failures=FAIL_CLOSED if row.closed else FAIL_OPEN,
        block_means=row.block_means,
        placement=row.placement,
        lives=row.lives,
        leftovers="leave",
        may_detach=False,
    )


class Moment(Struct, frozen=True, eq=False):
    """A row and its policy: one object for all hooks there, because hooks with one policy run together."""

    row: Row
    own_event: DialectEvent


class DockerEvents:
    """The moments of one dialect object, in the order their hooks run, and its events by name."""

    def __init__(self) -> None:
        self.moments = tuple(Moment(row, DialectEvent(row.event, policy_of(row), TIMEOUT)) for row in rows())
        self.by_name: Mapping[str, DialectEvent] = {
            moment.row.name: moment.own_event for moment in self.moments if not moment.row.again
        }
        self._of: dict[tuple[str, bool], list[Moment]] = {}
        for moment in self.moments:
            self._of.setdefault((moment.row.name, moment.row.preempts), []).append(moment)
        self._order = {moment.own_event.policy: order for order, moment in enumerate(self.moments)}

    def of(self, name: str, *, preempts: bool = False) -> list[Moment]:
        """Where the hooks of a name run; those that preempt auto-approval have a moment of their own."""
        return self._of.get((name, preempts), [])

    def takes_matchers(self, name: str) -> bool:
        return any(moment.row.tools for moment in self.moments if moment.row.name == name)

    def order(self, policy: Policy) -> int:
        return self._order[policy]
