"""Play long conversations with hooks, subagents and compactions, and measure what is still held afterwards."""

import gc
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.agent_play import Playing, command_hooks, playing
from bench.findings import Finding
from bench.process_cases import Held, alive_children
from hookline.agent.hooks import EventLog
from hookline.agent.models.port import CompletionRequest, CompletionResponse, Piece, TextPiece
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, TURN_END
from hookline.model.events import EventSpec
from hookline.model.messages import ToolMessage, ToolUse, Usage
from hookline.model.outcome import Outcome

#: Two processes a turn; the other three hooks are functions.
_COMMANDS = ("UserPromptSubmit", "Stop")
_FUNCTIONS: tuple[EventSpec[Any], ...] = (PRE_TOOL_USE, POST_TOOL_USE, TURN_END)
HOOKS_PER_TURN = len(_COMMANDS) + len(_FUNCTIONS)
#: Compacts every few turns, so that the conversation itself does not count.
_COMPACT_AT = 600
_MOST_GROWTH = 5 * 1024 * 1024


class Endless:
    """A model that calls one tool a turn, gives every so many calls to a sub-agent, and keeps nothing."""

    def __init__(self, delegate_every: int) -> None:
        self._every = delegate_every
        self._calls = 0
        self.summaries = 0
        self.delegated = 0

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        response = msgspec.structs.replace(self._answer(request), usage=_usage(request))
        yield TextPiece(response.text)
        yield response

    async def close(self) -> None:
        """Nothing is held."""

    def _answer(self, request: CompletionRequest) -> CompletionResponse:
        if not request.tools:
            self.summaries += 1
            return CompletionResponse(text="they talked")
        if request.agent_type is not None or isinstance(request.messages[-1], ToolMessage):
            return CompletionResponse(text="the answer is forty-two " * 4)
        self._calls += 1
        if self._every and self._calls % self._every == 0:
            self.delegated += 1
            return CompletionResponse(tool_calls=(self._call("Agent", prompt="look around"),))
        return CompletionResponse(tool_calls=(self._call("Read", file_path="notes.txt"),))

    def _call(self, name: str, **given: str) -> ToolUse:
        return ToolUse(id=f"call_{self._calls}", name=name, input=given)


def _usage(request: CompletionRequest) -> Usage:
    said = sum(len(msgspec.json.encode(message)) for message in request.messages)
    return Usage(input_tokens=said // 4, output_tokens=20)


class Count:
    def __init__(self) -> None:
        self.runs = 0

    def hook(self, payload: object) -> Outcome | None:
        del payload
        self.runs += 1
        return None


class Turns(Struct, frozen=True, kw_only=True):
    """Resources held before the session, after its first tenth, at its end, and when it was closed."""

    before: Held
    early: Held
    late: Held
    after: Held
    #: How many more objects there were at its end than after its first tenth.
    objects: int
    played: int
    hooks: int
    summaries: int
    delegated: int
    left: tuple[int, ...]


async def many_turns(count: int, delegate_every: int = 0, say: Callable[[str], None] | None = None) -> Turns:
    children = set(alive_children())
    before, model = Held.now(), Endless(delegate_every)
    with tempfile.TemporaryDirectory() as directory:
        session = playing(
            Path(directory), model, command_hooks("cat > /dev/null", _COMMANDS), files={"notes.txt": "notes\n"},
            log=EventLog(keep=False), compact_at=_COMPACT_AT,
        )  # fmt: skip
        async with session as one:
            functions = Count()
            for event in _FUNCTIONS:
                one.engine.add(event, functions.hook)
            await one.ready.begin()
            first = max(count // 10, 1)
            await _play(one, first)
            early, objects = Held.now(), len(gc.get_objects())
            if say is not None:
                say(f"{first} of {count} turns")
            await _play(one, count - first)
            late, objects = Held.now(), len(gc.get_objects()) - objects
            played, hooks = one.agent.turns, sum(one.engine.journal.counts.values())
    return Turns(
        before=before,
        early=early,
        late=late,
        after=Held.now(),
        objects=objects,
        played=played,
        hooks=hooks,
        summaries=model.summaries,
        delegated=model.delegated,
        left=tuple(set(alive_children()) - children),
    )


async def _play(one: Playing, count: int) -> None:
    """Play so many turns, then clear the conversation: it grows by design, and does not count."""
    for number in range(count):
        one.agent.submit(f"and what of number {number}?")
    one.agent.submit("/clear")
    await one.agent.run()


def findings(seen: Turns, name: str) -> list[Finding]:
    growth = seen.late.memory - seen.early.memory
    leaked = {
        what: getattr(seen.late, what) - getattr(seen.early, what) for what in ("fds", "zombies", "tasks")
    }
    kept = {
        what: getattr(seen.after, what) - getattr(seen.before, what) for what in ("fds", "zombies", "tasks")
    }
    return [
        Finding(
            f"{name}: memory after the first tenth",
            f"{growth / (1 << 20):+.1f} MB",
            f"<= {_MOST_GROWTH >> 20} MB",
            growth <= _MOST_GROWTH,
        ),
        Finding(
            f"{name}: objects after the first tenth",
            f"{seen.objects:+d}",
            "less than one in two turns",
            seen.objects < max(seen.played // 2, 150),
        ),
        Finding(f"{name}: leaked while it ran", str(leaked), "all 0", not any(leaked.values())),
        Finding(f"{name}: left after it", f"{kept}, processes {len(seen.left)}", "all 0",
                not any(kept.values()) and not seen.left),
    ]  # fmt: skip
