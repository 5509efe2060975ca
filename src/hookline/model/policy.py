"""Describe how one dialect behaves at one of its events: behaviour as data, never as code.

The event row lists what may happen at an event; a policy says how the hooks of one dialect run there, how a
failure is handled, and where injected text goes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

from hookline.model.events import Capability

Cause = Literal[
    "not_started", "crashed", "signalled", "timed_out", "unreadable", "truncated", "transport", "cancelled"
]
CAUSES: tuple[Cause, ...] = get_args(Cause)

Reaction = Literal["pass", "warn", "ask", "block"]
Placement = Literal["system", "conversation", "user", "tool_result", "transient"]
Lifetime = Literal["session", "turn", "call"]

#: The reaction to a failure, by its cause: the tables that most policies use.
FAIL_CLOSED: Mapping[Cause, Reaction] = MappingProxyType(dict[Cause, Reaction].fromkeys(CAUSES, "block"))
FAIL_OPEN: Mapping[Cause, Reaction] = MappingProxyType(
    {cause: "block" if cause == "cancelled" else "warn" for cause in CAUSES}
)


class BlockLimit(Struct, frozen=True):
    """The limit of blocks in a row that are obeyed, what happens at the next one, and what resets the count."""

    obeyed: int
    then: Literal["pass", "end_turn"] = "pass"
    resets: Literal["turn", "call"] = "turn"
    #: True if text for the model that came with a disobeyed block is still used.
    keeps_text: bool = True


class Policy(Struct, frozen=True, kw_only=True, eq=False):
    """One dialect at one of its events. Lanes are formed by identity: neighbours share the object."""

    event_name: str
    may: Capability
    waits: bool = True
    run: Literal["parallel", "serial", "serial_if_asked", "rewriters_first"] = "parallel"
    sees: Literal["original", "current"] = "original"
    #: The event that ends a serial lane early: never, a block, or a failure of a hook that fails closed.
    stop_on: Literal["never", "block", "closed"] = "never"
    #: The part of a lane's answers used after a block: everything; only the answer of the first hook that
    #: blocked; or all decisions and messages to the user, without rewrites and text for the model.
    keep: Literal["all", "block_only", "decision_only"] = "all"
    settle: Literal["all", "first_answer"] = "all"
    reasons: Literal["first", "joined", "blocks_joined"] = "first"
    #: Of several answers at an event that takes one: the first, or their lists as one list. An empty list
    #: stays empty.
    answers: Literal["first", "united"] = "first"
    failures: Mapping[Cause, Reaction] = FAIL_OPEN
    limit: BlockLimit | None = None
    #: Seconds that all hooks of one dispatch share; a hook gets the rest.
    budget: float | None = None
    block_means: str = "deny_call"
    placement: Placement = "conversation"
    lifetime: Lifetime = "session"
    #: Characters of text for the model that the hooks of one dispatch may add together; more is cut, with a
    #: mark.
    most_context: int | None = None
    #: The fate of processes that a finished hook left behind.
    leftovers: Literal["kill", "leave"] = "kill"
    #: The part of the user's environment that commands from a project's files see: all of it, or what
    #: programs need to run.
    project_env: Literal["full", "minimal"] = "full"
    #: Bytes kept of each stream of a command, where the agent keeps fewer than Hookline.
    captures: int | None = None
    #: True if a hook may move to the background by printing `{"async": true}` as its first line.
    async_line: bool = True
    #: The reaction when a hook asked for more than it may: listed as dropped in its run, or a failure.
    on_clipped: Literal["report", "fail"] = "report"
    #: `context`: text of a background hook reaches the session's inbox.
    late: Literal["context", "discard"] = "context"
    #: True if a hook that would wake the agent is waited for where nobody is present: the run may end before it.
    rewakes_wait: bool = False
    #: True if guards of the same lane run again when another hook of the lane changed what they saw.
    recheck_own: bool = False
    #: True if a hook that only fails is not run for a while.
    breaker: bool = False
    #: At FileChanged: its agent also reports files that its tools wrote and that are not watched.
    own_writes: bool = False
