"""An agent in this process, for figures: its own home and project, hooks in the native format, any model."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hookline import Engine
from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog
from hookline.agent.models.port import ModelPort
from hookline.agent.models.scripted import Scripted
from hookline.agent.ports import Listener, NoListener, UserPort
from hookline.agent.session.session import Agent
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import standard_handlers
from tests.cli.run_cli import clean_env


class Playing(Struct, frozen=True, eq=False):
    """An agent that is ready, and the engine that runs its hooks."""

    ready: BuiltAgent
    engine: Engine
    project: Path

    @property
    def agent(self) -> Agent:
        return self.ready.agent


def command_hooks(command: str, events: Sequence[str], **more: Any) -> dict[str, Any]:
    """The same command at every event."""
    entry = {"type": "command", "command": command, **more}
    return {event: [{"hooks": [entry]}] for event in events}


@asynccontextmanager
async def playing(
    directory: Path,
    model: ModelPort,
    hooks: Mapping[str, Any],
    *,
    files: Mapping[str, str] | None = None,
    listener: Listener | None = None,
    log: EventLog | None = None,
    **wanted: Any,
) -> AsyncGenerator[Playing]:
    """Open an agent below `place`; its session has not begun yet, and has ended afterwards."""
    home, project = directory, directory / "project"
    project.mkdir(parents=True, exist_ok=True)
    for name, text in {**(files or {}), "hooks.json": msgspec.json.encode({"hooks": hooks}).decode()}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    processes = Processes()
    engine = Engine(handlers=standard_handlers(processes=processes))
    loaded = engine.load(str(project), [str(project / "hooks.json")])
    if loaded.diagnostics:
        raise ValueError(f"the hooks are not as they should be: {[str(each) for each in loaded.diagnostics]}")
    log = log if log is not None else EventLog()
    engine.journal.subscribe(log.ran)
    ready = build_agent(
        AgentOptions(cwd=str(project), model="scripted", trust=True, **wanted),
        AgentHost(
            engine=engine,
            model=model,
            processes=processes,
            env=clean_env(home),
            user=UserPort(listener=listener if listener is not None else NoListener()),
            log=log,
            live=False,
        ),
    )
    try:
        yield Playing(ready, engine, project)
    finally:
        await ready.agent.end()
        await ready.close()
        await engine.close()
        await processes.close()


def script(*entries: Mapping[str, Any]) -> list[Scripted]:
    return [msgspec.convert(dict(entry), Scripted) for entry in entries]


def calls(name: str, **given: Any) -> dict[str, Any]:
    """A response that calls one tool."""
    return {"tool_calls": [{"name": name, "input": given}]}
