"""When a hook concerns a moment that Docker Agent divides further than Hookline does."""

from typing import Any

from msgspec import Struct

from hookline.model.events import EventSpec, field_of
from hookline.model.scene import Scene

#: Where a prompt may come from beside the user's own hand.
_OTHER_SOURCES = ("steering", "followup")


class PromptSource(Struct, frozen=True):
    """A prompt of that source; without one, a prompt that was simply submitted."""

    source: str = ""

    @property
    def text(self) -> str:
        return (
            f"the prompt is a {self.source} message" if self.source else "the prompt was submitted directly"
        )

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        source = field_of(payload, "source")
        return source == self.source if self.source else source not in _OTHER_SOURCES


class Resumed(Struct, frozen=True):
    """The user let the run go on past its limit: the host says so by giving the new one."""

    no: bool = False

    @property
    def text(self) -> str:
        return f"the run was {'not ' if self.no else ''}resumed past its limit"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        resumed = bool((scene.extra or {}).get("new_max_iterations"))
        return resumed != self.no


class OfAgent(Struct, frozen=True):
    """Hooks of one agent of a file with several.

    The session's own agent, and any agent that file does not define, counts as the root agent: a guard is
    never lost because a host names its agents differently.
    """

    name: str
    others: frozenset[str]
    root: bool = False

    @property
    def text(self) -> str:
        return f"the agent is {self.name}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        agent = scene.agent_type
        return agent not in self.others if self.root else agent == self.name
