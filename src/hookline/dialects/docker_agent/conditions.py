"""Distinguish Docker Agent's events and agents where Hookline has one event."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.dialects.report import about
from hookline.matching.conditions import AllOf
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PRE_TOOL_USE, EventSpec, field_of
from hookline.model.hook import Condition, Hook
from hookline.model.session_info import SessionInfo

#: Sources of a prompt that have their own event.
_OTHER_SOURCES = ("steering", "followup")


class PromptSource(Struct, frozen=True):
    """A prompt of that source; without one, a prompt that was submitted directly."""

    source: str = ""

    @property
    def text(self) -> str:
        return (
            f"the prompt is a {self.source} message" if self.source else "the prompt was submitted directly"
        )

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        source = field_of(payload, "source")
        return source == self.source if self.source else source not in _OTHER_SOURCES


class Resumed(Struct, frozen=True):
    """The user let the run continue past its limit: the host gives the new one."""

    no: bool = False

    @property
    def text(self) -> str:
        return f"the run was {'not ' if self.no else ''}resumed past its limit"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        resumed = bool((info.extra or {}).get("new_max_iterations"))
        return resumed != self.no


class OfAgent(Struct, frozen=True):
    """The condition of hooks of one agent of a file with several.

    The session's own agent, and any agent that file does not define, is treated as the root agent: a guard
    must not be lost because a host names its agents differently.
    """

    name: str
    others: frozenset[str]
    root: bool = False

    @property
    def text(self) -> str:
        return f"the agent is {self.name}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        agent = info.agent_type
        return agent not in self.others if self.root else agent == self.name


def unguarded_agents(hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
    """Report agents without guards: hooks belong to one agent of a file, and its subagents do not inherit them."""
    owned: dict[str, dict[str, Hook]] = {}
    everyone: dict[str, frozenset[str]] = {}
    for hook in hooks:
        owner = _owner(hook.condition) if hook.event is PRE_TOOL_USE else None
        if owner is not None:
            owned.setdefault(hook.where.file, {}).setdefault(owner.name, hook)
            everyone[hook.where.file] = owner.others | {owner.name}
    for file, by_agent in owned.items():
        unguarded = sorted(everyone[file] - by_agent.keys())
        if unguarded:
            hook = next(iter(by_agent.values()))
            message = f"subagents do not inherit it: no hook guards the tool calls of {', '.join(unguarded)}"
            fix = f"agents.{unguarded[0]}.hooks.pre_tool_use"
            yield about(hook, "warning", "not-inherited", message, fix=fix)


def _owner(condition: Condition | None) -> OfAgent | None:
    if isinstance(condition, AllOf):
        return next((found for each in condition.conditions if (found := _owner(each)) is not None), None)
    return condition if isinstance(condition, OfAgent) else None
