"""The hooks of an agent definition: read by the dialect it is written in, each for the agent it stands at."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.definitions import Definitions
from hookline.config.embedding import Engine
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Hook
from hookline.model.scene import Scene


class _OfAgent(Struct, frozen=True):
    """Holds for one agent of the file; the session's own agent is the root."""

    name: str
    root: bool
    further: Condition | None = None

    @property
    def text(self) -> str:
        return f"the agent is {self.name}" + (f"; {self.further.text}" if self.further is not None else "")

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:
        mine = scene.agent_type == self.name or (self.root and scene.agent_type is None)
        return mine and (self.further is None or self.further.holds(event, payload, scene))


def definition_hooks(
    engine: Engine, definitions: Definitions, root: str
) -> tuple[Sequence[Hook], Sequence[Diagnostic]]:
    if definitions.whose == "docker-agent":
        loaded = engine.loader.files([definitions.file], "docker-agent")
        return loaded.hooks, loaded.diagnostics
    hooks: list[Hook] = []
    said: list[Diagnostic] = []
    for name in definitions.agents:
        reading = engine.loader.native_document(_part(definitions.document, ("agents", name)))
        said.extend(reading.diagnostics)
        hooks.extend(
            replace(hook, condition=_OfAgent(name, name == root, hook.condition)) for hook in reading.hooks
        )
    return hooks, said


def _part(document: Document, path: Path) -> Document:
    """A table of a document as a document of its own; lines are still those of the file."""
    value: Any = document.value
    for step in path:
        value = cast("Mapping[Any, Any]", value)[step]
    hooks = cast("Mapping[str, Any]", value).get("hooks")
    part = {"hooks": hooks} if hooks is not None else {}
    return Document(document.file, part, (), (), lambda below: document.locate((*path, *below)))
