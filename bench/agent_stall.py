"""Run slow hooks at every event of some agents, while another agent of the same process streams and gets prompts.

It measures the event loop they share: the longest time for which it did nothing at all.
"""

import asyncio
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct

from bench.agent_play import Playing, calls, command_hooks, playing, script
from bench.findings import Finding
from hookline.agent.hooks import EventLog
from hookline.agent.models.port import CompletionRequest, CompletionResponse, Piece, TextPiece
from hookline.agent.models.scripted import ScriptedModel
from hookline.agent.ports import Shown

GOAL_MS = 50.0
_BEAT = 0.002
_DRIP = 0.01
#: The events are dealt out to so many agents, so that all of them together take a few times one hook's time.
_AGENTS = 8
#: Seconds between their beginnings: agents that start all their hooks at once are not what this measures.
_APART = 0.04

#: Every event at which the agent waits for its hooks, in the order of a session that fires them all.
EVENTS = (
    "Setup", "SessionStart", "InstructionsLoaded", "UserPromptSubmit", "UserPromptExpansion", "TurnStart",
    "PreToolSelection", "PreModelCall", "PostModelCall", "MessageDisplay", "PreToolUse", "PermissionRequest",
    "PermissionDenied", "ShellEnv", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "CwdChanged",
    "FileChanged", "SubagentStart", "SubagentStop", "TaskCreated", "TurnEnd", "Stop", "TurnSettled",
    "TaskCompleted", "ModeChanged", "PreModelSwitch", "PostModelSwitch", "DirectoryAdded", "WorktreeCreate",
    "WorktreeRemove", "PreCompact", "PostCompact", "Notification", "Error", "StopFailure", "MaxIterations",
    "SessionEnd",
)  # fmt: skip
_FILES = {
    "AGENTS.md": "Be brief.\n",
    ".claude/commands/look.md": "Look at $ARGUMENTS.\n",
    "sub/a.txt": "a\n",
}
_PROMPTS = (
    "/look around", "/mode acceptEdits", "/model scripted-2", "/add-dir .", "/worktree tree",
    "/worktree remove", "/compact", "fail", "on and on",
)  # fmt: skip
_MOST_REQUESTS = 5


def _session() -> ScriptedModel:
    """Fires everything the table above names."""
    return ScriptedModel(
        script(
            {"text": "looking\n" * 20, **calls("Bash", command="cd sub && sleep 0.1")},
            calls("Write", file_path="../new.txt", content="new\n" * 1000),
            {
                "tool_calls": [
                    {"name": "Read", "input": {"file_path": "missing.txt"}},
                    {"name": "Bash", "input": {"command": "rm new.txt"}},
                    {"name": "Bash", "input": {"command": "curl localhost"}},
                    {"name": "Bash", "input": {"command": "true", "run_in_background": True}},
                ]
            },
            calls("Agent", prompt="help"),
            {"text": "helped", "agent": "general-purpose"},
            {"text": "done"},
            {"text": "a summary"},
            {"error": "rate_limit"},
            *(calls("Read", file_path="a.txt", limit=number + 1) for number in range(_MOST_REQUESTS)),
            {"text": "you were queued"},
        )
    )


class Dripping:
    """A model that streams a piece every few milliseconds, for as long as it is wanted."""

    def __init__(self) -> None:
        self.over = False

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        del request
        while not self.over:
            await asyncio.sleep(_DRIP)
            yield TextPiece("drip ")
        yield CompletionResponse(text="dry")

    async def close(self) -> None:
        """Nothing is held."""


def own_time() -> float:
    """Seconds, without those in which this thread had work and other processes had the processors."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as stream:
            waited = int(stream.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        waited = 0.0  # not a Linux that counts it
    return perf_counter() - waited


class Gaps:
    """Return the longest time between two ticks."""

    def __init__(self) -> None:
        self._last: float | None = None
        self.longest = 0.0
        self.count = 0

    def recorded(self) -> None:
        now = own_time()
        if self._last is not None:
            self.longest = max(self.longest, now - self._last)
        self._last = now
        self.count += 1

    def show(self, shown: Shown) -> None:
        """Every piece an agent shows."""
        if shown.kind == "delta":
            self.recorded()


class Seen(Struct, frozen=True, kw_only=True):
    """The measured times, in milliseconds; `slow` are the events whose slow hook the agent waited for."""

    stall: float
    drip: float
    pieces: int
    queued: int
    agents: int
    slow: frozenset[str]


async def slow_hooks(seconds: float) -> Seen:
    with tempfile.TemporaryDirectory() as directory:
        async with AsyncExitStack() as stack:
            return await _measured(stack, Path(directory), seconds)


async def _measured(stack: AsyncExitStack, directory: Path, seconds: float) -> Seen:
    drips, log = Gaps(), EventLog()
    dripping = Dripping()
    lively = await stack.enter_async_context(playing(directory / "lively", dripping, {}, listener=drips))
    slow: list[Playing] = []
    for number in range(_AGENTS):
        # `once`: an event that fires at every request would make the session very long and show nothing new.
        hooks = command_hooks(f"sleep {seconds}", EVENTS[number::_AGENTS], once=True)
        for group in hooks.get("FileChanged", ()):
            group["matcher"] = "new.txt"  # the file to watch
        agent = playing(
            directory / str(number), _session(), hooks, files=_FILES, log=log,
            allow=("Bash(cd:*)", "Bash(sleep:*)", "Bash(true:*)", "Write"), deny=("Bash(curl:*)",),
            max_iterations=_MOST_REQUESTS,
        )  # fmt: skip
        slow.append(await stack.enter_async_context(agent))
        _make_repository(slow[-1].project)
    beating = asyncio.ensure_future(_beat(beats := Gaps()))
    streaming = asyncio.ensure_future(_played(lively, "drip", "and on"))
    queued = sum(await asyncio.gather(*(_slow_session(each, at * _APART) for at, each in enumerate(slow))))
    dripping.over = True
    await streaming
    beating.cancel()
    return Seen(
        stall=(beats.longest - _BEAT) * 1000,
        drip=(drips.longest - _DRIP) * 1000,
        pieces=drips.count,
        queued=queued,
        agents=_AGENTS,
        slow=frozenset(
            run.event
            for fired in log.fired
            for run in fired.runs
            if run.status == "ok" and run.duration_ms >= seconds * 1000
        ),
    )


def _make_repository(project: Path) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "begin")):
        subprocess.run(["git", *words], cwd=project, check=True)


async def _beat(beats: Gaps) -> None:
    while True:
        beats.recorded()
        await asyncio.sleep(_BEAT)


async def _played(one: Playing, *prompts: str) -> Any:
    await one.ready.begin("init")
    for prompt in prompts:
        one.agent.submit(prompt)
    return await one.agent.run()


async def _slow_session(one: Playing, later: float) -> bool:
    """Return True if a message queued while a hook ran was taken at once and answered in the end."""
    await asyncio.sleep(later)
    session = asyncio.ensure_future(_played(one, *_PROMPTS))
    while not one.agent.busy:
        await asyncio.sleep(_DRIP)
    one.agent.submit("queued in between")
    received = await session
    await one.agent.end()
    return received is not None and received.text == "you were queued"


def findings(seen: Seen, seconds: float) -> list[Finding]:
    missing = sorted(set(EVENTS) - seen.slow)
    hooks = f"{seconds:g} s hooks"
    return [
        Finding(
            f"longest stall of the loop, {seen.agents} agents with {hooks} at {len(EVENTS)} events",
            f"{seen.stall:.0f} ms",
            f"<= {GOAL_MS:.0f} ms",
            seen.stall <= GOAL_MS,
        ),
        Finding(
            f"longest wait for a streamed piece of another agent meanwhile ({seen.pieces} pieces)",
            f"{seen.drip:.0f} ms",
            f"<= {GOAL_MS:.0f} ms",
            seen.drip <= GOAL_MS,
        ),
        Finding(
            "messages queued during such hooks and answered",
            f"{seen.queued} of {seen.agents}",
            "all",
            seen.queued == seen.agents,
        ),
        Finding(f"events without their {hooks}", ", ".join(missing) or "none", "none", not missing),
    ]


async def measured(seconds: float) -> list[Finding]:
    """A stall of our own making comes again; one of a machine that was busy elsewhere does not."""
    found = findings(await slow_hooks(seconds), seconds)
    if not all(finding.ok for finding in found):
        found = findings(await slow_hooks(seconds), seconds)
    return found


def stall() -> list[Finding]:
    return asyncio.run(measured(1.0))
