"""Plays a recorded session and names what fired in the words of the recording."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import msgspec
from msgspec import Struct

from hookline import Engine
from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog, FiredEvent
from hookline.agent.models.scripted import Scripted, ScriptedModel
from hookline.agent.ports import UserPort
from hookline.dialects.claude_code.events import ROWS
from hookline.events import EVENTS
from hookline.extending import standard_handlers
from hookline.handlers.process.pool import Processes
from tests.agent.mcp import server as mcp_server
from tests.agent.recorded.recorded_sessions import Played
from tests.agent.scripted_session import Answers, Seen
from tests.waiting import until

#: Events whose subject stands behind their name in the recording.
_WITH_SUBJECT = frozenset(
    {"SessionStart", "Setup", "InstructionsLoaded", "PreToolUse", "PermissionRequest", "PermissionDenied",
     "PostToolUse", "PostToolUseFailure", "Notification", "PreCompact", "PostCompact", "StopFailure",
     "PreModelSwitch", "PostModelSwitch", "ConfigChange", "DirectoryAdded"}
)  # fmt: skip
_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"})


class Difference(Struct, frozen=True, order=True):
    """Events that only one of the two fired, and after which event that both fired."""

    run: str
    only: str
    event: str
    after: str


def differences(run: str, recorded: Sequence[str], mine: Sequence[str]) -> list[Difference]:
    found: list[Difference] = []
    matcher = SequenceMatcher(None, recorded, mine, autojunk=False)
    for kind, start, end, my_start, my_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        after = recorded[start - 1] if start else ""
        found += [Difference(run, "the client", event, after) for event in recorded[start:end]]
        found += [Difference(run, "Hookline", event, after) for event in mine[my_start:my_end]]
    return sorted(found)


def labels(fired: Sequence[FiredEvent]) -> list[str]:
    """Only what the client knows; Hookline fires more."""
    return [_label(each) for each in fired if each.event in ROWS]


def _label(fired: FiredEvent) -> str:
    name = fired.event
    if name in _WITH_SUBJECT:
        subject = EVENTS[name].subject
        name = f"{name}.{getattr(fired.payload, subject)}" if subject else name
    inside = fired.agent is not None and fired.event in _TOOL_EVENTS
    return f"{name}.in-subagent" if inside else name


def fire(played: Played, root: Path, setenv: Callable[[str, str], None]) -> list[str]:
    """`setenv` changes this process for the test alone: hooks and settings are found by the environment."""
    home, project = root / "home", root / "project"
    home.mkdir(parents=True)
    settings = {".claude/settings.json": json.dumps({"hooks": played.hooks})}
    servers = {"mcpServers": {"hk": {"command": sys.executable, "args": [str(mcp_server.__file__)]}}}
    if played.mcp:
        settings[".mcp.json"] = json.dumps(servers)
    for name, text in {**settings, **played.files}.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    setenv("HOME", str(home))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    return labels(asyncio.run(_fired(played, project, env)))


async def _fired(played: Played, project: Path, env: Mapping[str, str]) -> list[FiredEvent]:
    processes, log = Processes(), EventLog()
    engine = Engine(handlers=standard_handlers(processes=processes))
    engine.journal.subscribe(log.ran)
    engine.load(str(project), dialects=["claude-code"], trust=True)
    ready = build_agent(
        AgentOptions(cwd=str(project), model="claude-opus-5-5", trust=True, **played.wanted),
        AgentHost(
            engine=engine,
            model=ScriptedModel([msgspec.convert(dict(each), Scripted) for each in played.script]),
            processes=processes,
            env=env,
            user=UserPort(
                listener=Seen(), asker=Answers(*played.answers) if played.answers is not None else None
            ),
            log=log,
        ),
    )
    try:
        await _play(ready, played, project, log)
    finally:
        await ready.agent.end()
        await ready.close()
        await engine.close()
        await processes.close()
    return log.fired


async def _play(ready: BuiltAgent, played: Played, project: Path, log: EventLog) -> None:
    await ready.begin(played.setup)
    for step in played.prompts:
        if isinstance(step, str):
            ready.agent.submit(step)
            await ready.agent.run()
        else:
            await step(ready.agent)
    for name, text in played.later.items():
        (project / name).write_text(text)
        await until(lambda: any(fired.event == "ConfigChange" for fired in log.fired))
