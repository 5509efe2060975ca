"""Reasonix: `.reasonix/settings.json`, command hooks that speak by exit code and by marked lines.

Not done of the v1 line: hooks that come with plugins (contextFile, REASONIX_* variables), PostLLMCall text in
place of the reasoning, model_context, settings files in GB18030, and most of the tables by which
`payloadFormat: claude` renames tools and arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.dialect import Dialect, Layer, Place, Reading, Spelled, Tools
from hookline.dialects.labels import command_label
from hookline.dialects.reasonix import settings as config
from hookline.dialects.reasonix.events import NAME, events_of, spellings
from hookline.dialects.reasonix.settings import Wires
from hookline.dialects.reasonix.wire import ClaudeFormatWire, ReasonixWire
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook


class Reasonix:
    name = NAME
    project_files: Sequence[str] = (f"{config.FOLDER}/{config.FILE}",)

    def __init__(self) -> None:
        self.spellings: Mapping[str, Spelled] = spellings()
        self.wire = ReasonixWire(self.spellings)
        self._wires = Wires(self.wire, ClaudeFormatWire(self.spellings))

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        return config.places(project, env)

    def recognises(self, value: Any) -> bool:
        return config.recognises(value, self.spellings)

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        return config.read(layers, tools, self.spellings, self._wires)

    def moments(self, name: str) -> Sequence[Spelled]:
        known = self.spellings[name]
        return [Spelled(event, known.policy, known.timeout) for event in events_of(known)]

    def flag_hook(self, spelled: Spelled, command: str) -> Hook:
        return Hook(
            name=command_label(command),
            event=spelled.event,
            policy=spelled.policy,
            wire=self.wire,
            kind="command",
            spec=CommandSpec(command=command),
            timeout=spelled.timeout,
            dialect=NAME,
            scope="flag",
        )


def dialect() -> Dialect:
    return Reasonix()
