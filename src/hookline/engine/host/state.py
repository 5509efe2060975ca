"""Keep a session's state between its host's calls, and save it for a host that keeps nothing in memory."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.host.results import Start
from hookline.engine.memory import counts_of, host_of, lanes_of, once_marks_of, restore_host
from hookline.model.messages import Totals, Usage
from hookline.model.outcome import ContextItem

if TYPE_CHECKING:
    from hookline.engine.session import Session


class HostState(Struct, omit_defaults=True, kw_only=True):
    """The state a session keeps between its host's calls."""

    started: bool = False
    #: Context of SessionStart hooks, until a prompt takes it along.
    begun: Start = Start()
    turn: int = 0
    iteration: int = 0
    #: The time when the turn began, in seconds since the epoch.
    began: float | None = None
    #: The turn is settled: `end` has nothing left to do.
    over: bool = False
    #: The number of tools that ran in the turn.
    tool_count: int = 0
    #: This host calls `model`, so text for one request can wait for it.
    asked: bool = False
    #: A Stop hook has sent the model back in this turn.
    held: bool = False
    #: Why a hook stopped the turn, if one did.
    stopped: str | None = None
    #: Tokens used in the turn so far, as far as its host reports them.
    used: Usage = Usage()
    transient: list[ContextItem] = []
    #: Held while a question is open. Subagents use that of their root: there is one user.
    dialog: Any = None

    def lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self.dialog is None or self.dialog[0] is not loop:  # an engine may serve one loop after another
            self.dialog = (loop, asyncio.Lock())
        return self.dialog[1]

    def begin_turn(self) -> None:
        self.turn += 1
        self.iteration, self.held, self.stopped, self.tool_count = 0, False, None, 0
        self.over, self.began = False, time.time()

    @property
    def is_open(self) -> bool:
        """True between a prompt and the end of its turn."""
        return self.turn > 0 and not self.over

    @property
    def duration_ms(self) -> int | None:
        """The time since the turn began; None for a host without prompts."""
        return None if self.began is None else max(int((time.time() - self.began) * 1000), 0)

    def stop(self, why: str | None) -> str | None:
        self.stopped = self.stopped or why
        return why

    def keep(self, items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
        """Return the text that stays in the conversation; the rest waits for the next request."""
        self.transient += [item for item in items if is_transient(item)]
        return tuple(item for item in items if not is_transient(item))


def is_transient(item: ContextItem) -> bool:
    return item.placement == "transient" or item.lifetime in {"call", "turn"}


class _Saved(Struct, omit_defaults=True, kw_only=True):
    """A session's state as JSON."""

    version: int = 1
    host: HostState
    totals: Totals | None = None
    #: Hooks that run once and have run, by event and name.
    once: list[tuple[str, str]] = []
    #: Turns and calls so far, and blocks in a row by policy: their number, turn and call.
    ticks: dict[str, int] = {}
    blocks: dict[str, tuple[int, int, int]] = {}


def saved_state(session: "Session") -> dict[str, Any]:
    ticks, blocks = counts_of(session).saved()
    saved = _Saved(
        host=replace(host_of(session), dialog=None),
        totals=session.info.totals,
        once=list(_used_up(session)),
        ticks=ticks,
        blocks=blocks,
    )
    return msgspec.to_builtins(saved)


def _used_up(session: "Session") -> Iterator[tuple[str, str]]:
    """Return the hooks that run once and have run: those of the state before, and those since."""
    for name in session.engine.events:
        for lane in lanes_of(session, name):
            for prepared in lane.hooks:
                mark = (name, prepared.hook.name)
                if prepared.hook.once and not once_marks_of(session).isdisjoint((prepared.key, mark)):
                    yield mark


def restore_state(session: "Session", state: Mapping[str, Any]) -> None:
    """Continue where `saved_state` was called. Raises ValueError for anything else."""
    try:
        saved = msgspec.convert(dict(state), _Saved)
    except (msgspec.ValidationError, TypeError, ValueError) as problem:
        raise ValueError(f"state is not what session.state() returned: {problem}") from problem
    if saved.version != 1:
        raise ValueError(f"state has version {saved.version}, which this release of Hookline does not know")
    restore_host(session, saved.host)
    counts_of(session).restore(saved.ticks, saved.blocks)
    once_marks_of(session).update(saved.once)
    session.update(totals=saved.totals, turn=saved.host.turn or None)
