"""gen-code: JSON settings of its own and of Claude Code, answers in Claude Code's shape, hooks run in order."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.dialect import Dialect, DialectEvent, Layer, Place, Reading, Tools
from hookline.dialects.family.settings import command_hook
from hookline.dialects.gencode.events import NAME, dialect_events
from hookline.dialects.gencode.settings import read_layers
from hookline.dialects.gencode.wire import GenCodeWire
from hookline.model.hook import Hook, Scope

_FOLDERS = (".claude", ".gen")
_PROJECT_FILES: tuple[tuple[str, Scope], ...] = (
    ("settings.json", "project"),
    ("settings.local.json", "local"),
)


class GenCode:
    name = NAME
    project_files: Sequence[str] = (".gen/settings.json", ".gen/settings.local.json")

    def __init__(self) -> None:
        self.wire = GenCodeWire()
        self.events: Mapping[str, DialectEvent] = dialect_events()

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Lowest first: the user's, the project's, what is local; Claude Code's file before its own each time."""
        found: list[Place] = []
        home = env.get("HOME", "")
        if os.path.isabs(home):
            found += [Place(os.path.join(home, each, "settings.json"), "user") for each in _FOLDERS]
        for name, scope in _PROJECT_FILES:
            found += [Place(os.path.join(project, each, name), scope) for each in _FOLDERS]
        return found

    def recognises(self, value: Any) -> bool:  # noqa: ARG002 - the protocol
        """Never: its files have Claude Code's shape, so only their place tells them apart."""
        return False

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        return read_layers(layers, tools, self.events, self.wire)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        return (self.events[name],)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        return command_hook(NAME, own_event, self.wire, command)


def dialect() -> Dialect:
    return GenCode()
