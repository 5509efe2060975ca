"""The hooks of an agent definition: read by the dialect it is written in, each for the agent it stands at."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.builtin_hooks import builtin_hooks
from hookline.agent.definitions import Definitions
from hookline.config.embedding import Engine
from hookline.documents.document import Document
from hookline.model import events as e
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Hook
from hookline.model.scene import Scene


class _OfAgent(Struct, frozen=True):
    """Holds for one agent of the file.

    The session's own agent, and any sub-agent the file does not define, counts as the agent that was chosen: a
    guard is never lost because it has another name.
    """

    chosen: str
    known: frozenset[str]
    #: None: the condition knows by itself which agent it is for.
    name: str | None
    further: Condition | None = None

    @property
    def text(self) -> str:
        mine = [] if self.name is None else [f"the agent is {self.name}"]
        return "; ".join([*mine, *([self.further.text] if self.further is not None else [])])

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:
        agent = scene.agent_type if scene.agent_type in self.known else self.chosen
        if self.name is not None and agent != self.name:
            return False
        if self.name is None:
            scene = replace(scene, agent_type=agent)
        return self.further is None or self.further.holds(event, payload, scene)


def definition_hooks(
    engine: Engine, definitions: Definitions, chosen: str
) -> tuple[Sequence[Hook], Sequence[Diagnostic]]:
    """`chosen` is the agent that runs the session."""
    known = frozenset(definitions.agents)
    if definitions.whose == "docker-agent":
        # By the name under which the loader may find the same file itself.
        loaded = engine.loader.files([os.path.abspath(definitions.file)], "docker-agent")
        return [_chosen(hook, chosen, known) for hook in loaded.hooks], loaded.diagnostics
    hooks: list[Hook] = []
    said: list[Diagnostic] = []
    for name, agent in definitions.agents.items():
        reading = engine.loader.native_document(_part(definitions.document, ("agents", name)))
        said.extend(reading.diagnostics)
        flags = builtin_hooks(
            engine.make_hook,
            date=agent.add_date,
            environment=agent.add_environment_info,
            files=agent.add_prompt_files,
            begins=e.SESSION_START if name == chosen else e.SUBAGENT_START,
        )
        hooks.extend(
            replace(hook, condition=_OfAgent(chosen, known, name, hook.condition))
            for hook in (*reading.hooks, *flags)
        )
    return hooks, said


def _chosen(hook: Hook, chosen: str, known: frozenset[str]) -> Hook:
    """That dialect takes `root` for the session's own agent."""
    if hook.condition is None:
        return hook
    return replace(hook, condition=_OfAgent(chosen, known, None, hook.condition))


def _part(document: Document, path: Path) -> Document:
    """A table of a document as a document of its own; lines are still those of the file."""
    value: Any = document.value
    for step in path:
        value = cast("Mapping[Any, Any]", value)[step]
    hooks = cast("Mapping[str, Any]", value).get("hooks")
    part = {"hooks": hooks} if hooks is not None else {}
    return Document(document.file, part, (), (), lambda below: document.locate((*path, *below)))
