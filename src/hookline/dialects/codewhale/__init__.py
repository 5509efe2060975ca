"""CodeWhale: hooks in TOML, each a shell command with a condition."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.dialects.codewhale.events import BY_NAME, NAME, dialect_events
from hookline.dialects.codewhale.settings import label, make_hook, read_layers
from hookline.dialects.codewhale.wire import CodeWhaleWire
from hookline.dialects.dialect import Dialect, DialectEvent, Layer, Place, Reading, Tools
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook

_PROJECT_FILE = os.path.join(".codewhale", "hooks.toml")


class CodeWhale:
    name = NAME
    project_files = (_PROJECT_FILE,)

    def __init__(self) -> None:
        self.wire = CodeWhaleWire()
        self.events = dialect_events()

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """The user's settings, then the project's hooks, which the agent runs once the user trusts them."""
        found: list[Place] = []
        home = env.get("HOME", "")
        if os.path.isabs(home):
            found.append(Place(os.path.join(home, ".codewhale", "config.toml"), "user"))
        found.append(Place(os.path.join(project, _PROJECT_FILE), "project", needs_trust=True))
        return found

    def recognises(self, value: Any) -> bool:
        """A list of hooks that name their own event: under `hooks` in a project, `hooks.hooks` elsewhere."""
        hooks = _get(value, "hooks")
        entries = _get(hooks, "hooks") if isinstance(hooks, Mapping) else hooks
        if not isinstance(entries, list) or not entries:
            return False
        return all(isinstance(_get(entry, "event"), str) for entry in cast("list[Any]", entries))

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        return read_layers(layers, tools, self.events, self.wire)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        known = self.events[name]
        return [DialectEvent(event, known.policy, known.timeout) for event in BY_NAME[name].events]

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        name = label(None, command)
        return make_hook(
            own_event.event, own_event, self.wire, CommandSpec(command), name=name, timeout=own_event.timeout
        )


def _get(value: Any, key: str) -> Any:
    return cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None


def dialect() -> Dialect:
    return CodeWhale()
