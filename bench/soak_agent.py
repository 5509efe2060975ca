"""The agent at full counts: slow hooks, long conversations, kills."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType

from bench import agent_faults, agent_kills, agent_stall, agent_turns
from bench.findings import Finding

Say = Callable[[str], None]


async def slow_hooks(say: Say, scale: float = 1.0) -> list[Finding]:
    """Hooks of ten seconds at every event that is waited for."""
    seconds = 10 * scale
    say(f"hooks of {seconds:g} s at {len(agent_stall.EVENTS)} events")
    return await agent_stall.measured(seconds)


async def turns(say: Say, scale: float = 1.0) -> list[Finding]:
    count = max(int(1000 * scale), 10)
    seen = await agent_turns.many_turns(count, say=say)
    return agent_turns.findings(seen, f"{count} turns, {agent_turns.HOOKS_PER_TURN} hooks each")


async def session(say: Say, scale: float = 1.0) -> list[Finding]:
    count = max(int(300 * scale), 10)
    seen = await agent_turns.many_turns(count, delegate_every=3, say=say)
    name = f"{count} turns, {seen.delegated} sub-agents, {seen.summaries} compactions"
    return agent_turns.findings(seen, name)


async def faults(say: Say, scale: float = 1.0) -> list[Finding]:
    count = max(int(300 * scale), 10)
    return agent_faults.findings(await agent_faults.faulty_session(count, seed=time.time_ns(), say=say))


def kills(say: Say, scale: float = 1.0) -> list[Finding]:
    seed = time.time_ns()
    say(f"seed {seed}")
    return agent_kills.findings(agent_kills.killed(max(int(20 * scale), 2), seed, say))


SOAKS: Mapping[str, Callable[[Say], Iterable[Finding] | Awaitable[Iterable[Finding]]]] = MappingProxyType(
    {
        "agent-slow-hooks": slow_hooks,
        "agent-turns": turns,
        "agent-session": session,
        "agent-faults": faults,
        "agent-kills": kills,
    }
)
