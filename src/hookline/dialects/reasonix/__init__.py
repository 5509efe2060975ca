"""Reasonix: `.reasonix/settings.json`, command hooks that speak by exit code and by marked lines.

Not done of the v1 line: hooks that come with plugins (contextFile, REASONIX_* variables), PostLLMCall text in
place of the reasoning, model_context, settings files in GB18030, and most of the tables by which
`payloadFormat: claude` renames tools and arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.dialect import Dialect, DialectEvent, Layer, Place, Reading, Tools
from hookline.dialects.labels import command_label
from hookline.dialects.reasonix import settings as config
from hookline.dialects.reasonix.events import NAME, dialect_events, events_of
from hookline.dialects.reasonix.settings import Wires
from hookline.dialects.reasonix.wire import ClaudeFormatWire, ReasonixWire
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook


class Reasonix:
    name = NAME
    project_files: Sequence[str] = (f"{config.FOLDER}/{config.FILE}",)

    def __init__(self) -> None:
        self.events: Mapping[str, DialectEvent] = dialect_events()
        self.wire = ReasonixWire(self.events)
        self._wires = Wires(self.wire, ClaudeFormatWire(self.events))

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        return config.places(project, env)

    def recognises(self, value: Any) -> bool:
        return config.recognises(value, self.events)

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        return config.read(layers, tools, self.events, self._wires)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        known = self.events[name]
        return [DialectEvent(event, known.policy, known.timeout) for event in events_of(known)]

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        return Hook(
            name=command_label(command),
            event=own_event.event,
            policy=own_event.policy,
            wire=self.wire,
            kind="command",
            spec=CommandSpec(command=command),
            timeout=own_event.timeout,
            dialect=NAME,
            scope="flag",
        )


def dialect() -> Dialect:
    return Reasonix()
