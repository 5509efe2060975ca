"""Asking the guards of one dialect about the calls of an agent, in this process, with real scripts."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline import Engine, Outcome, Session
from hookline.cli.commands.hook.payload import event_of, read_payload
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import Dialect
from tests.reach.calls import FILES, Caller

GUARDS_FOLDER = Path(__file__).parent / "guards"


class Place:
    """A scratch home with a project in it, which has the guards of every dialect."""

    def __init__(self, top: Path) -> None:
        self.home, self.project = top / "home", top / "home" / "project"
        (self.home / ".ssh").mkdir(parents=True)
        for dialect in FILES:
            install(dialect, self.project)


def install(dialect: str, project: Path) -> Path:
    """The guards of a dialect where its agent finds them; returns the file that configures them."""
    source = GUARDS_FOLDER / dialect
    shutil.copytree(source, project, dirs_exist_ok=True)
    for folder in {script.relative_to(source).parent for script in source.rglob("*.sh")}:
        shutil.copy(GUARDS_FOLDER / "common.sh", project / folder)
    return project / FILES[dialect]


class Asked:
    """What was asked, and what came of it."""

    def __init__(self, place: Place, dialect: str, caller: Caller) -> None:
        self.place = place
        self.caller = caller
        self.engine = Engine(tools=caller.tools)
        file = str(place.project / FILES[dialect])
        loaded = self.engine.load(str(place.project), [file], [dialect], trust=True)
        assert not loaded.diagnostics, loaded.diagnostics
        self.dialect: Dialect | None = self.engine.loader.dialect(caller.dialect) if caller.dialect else None

    def session(self) -> Session:
        project = str(self.place.project)
        session = self.engine.session("s-1", cwd=project, project_dir=project)
        if self.dialect is not None and not self.dialect.wire.standard_tools:
            session.tools = self.dialect.tools
        return session

    def payload(self, tool: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The payload of a call, as it arrives from the agent."""
        if self.caller.payload is None or self.dialect is None:
            return ToolCall(tool_name=tool, tool_input=dict(arguments))
        raw, env = self.caller.payload(tool, arguments, str(self.place.project))
        document = read_payload(raw, self.dialect, env)
        event_of(document, self.dialect, self.dialect.events[self.caller.event])
        parsed = self.dialect.wire.parse(document)
        assert parsed.event is PRE_TOOL_USE
        return parsed.payload

    async def ask(self, tool: str, arguments: Mapping[str, Any]) -> Outcome:
        return await self.session().dispatch(PRE_TOOL_USE, self.payload(tool, arguments))

    def told(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Why each guard is asked or not."""
        found = self.session().explain(PRE_TOOL_USE, self.payload(tool, arguments))
        return tuple(f"{verdict.prepared.hook.name}: {verdict.why}" for verdict in found)

    def denied(self, outcome: Outcome) -> bool:
        """Whether the answer stops the call, in the caller's own terms where it has some."""
        if self.dialect is None:
            return outcome.blocked
        reply = self.dialect.wire.answer(self.caller.event, outcome)
        return reply.code == 2 or '"deny"' in reply.stdout

