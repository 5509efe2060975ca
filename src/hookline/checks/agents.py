"""Where an agent does not run hooks that are configured for it: facts of that agent."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookline.checks.context import Here, about
from hookline.config.load import Loaded
from hookline.matching.conditions import AllOf
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.events import PRE_TOOL_USE
from hookline.model.hook import Condition, Hook

if TYPE_CHECKING:
    from hookline.dialects.docker_agent.conditions import OfAgent

#: Events of the hook system that Reasonix was offered; its 1.x releases ignore entries under these names.
_NOT_IN_RELEASES = frozenset({"TurnStart", "TurnEnd", "PreModelCall", "PostModelCall"})


def elsewhere(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    del here
    yield from _unguarded_agents(loaded)
    yield from _without_a_screen(loaded)
    for hook in loaded.hooks:
        if hook.dialect == "reasonix" and hook.policy.event_name in _NOT_IN_RELEASES:
            message = (
                f"Reasonix 1.x has no event {hook.policy.event_name} and ignores this entry; Hookline runs it"
            )
            yield about(hook, "info", "not-in-releases", message)


def _without_a_screen(loaded: Loaded) -> Iterator[Diagnostic]:
    file = next((hook.where.file for hook in loaded.hooks if hook.dialect == "codewhale"), None)
    if file is not None:
        message = "`codewhale exec` runs none of these hooks: CodeWhale runs them on its screen only"
        yield Diagnostic("info", "screen-only", message, Where(file))


def _unguarded_agents(loaded: Loaded) -> Iterator[Diagnostic]:
    """In a Docker Agent file hooks belong to one agent; those it hands work to do not inherit them."""
    guards = [hook for hook in loaded.hooks if hook.dialect == "docker-agent" and hook.event is PRE_TOOL_USE]
    if not guards:
        return
    from hookline.dialects.docker_agent.conditions import OfAgent  # noqa: PLC0415 only where there are such hooks

    owned: dict[str, dict[str, Hook]] = {}
    everyone: dict[str, frozenset[str]] = {}
    for hook in guards:
        owner = _owner(hook.condition, OfAgent)
        if owner is not None:
            owned.setdefault(hook.where.file, {}).setdefault(owner.name, hook)
            everyone[hook.where.file] = owner.others | {owner.name}
    for file, by_agent in owned.items():
        unguarded = sorted(everyone[file] - by_agent.keys())
        if unguarded:
            hook = next(iter(by_agent.values()))
            names = ", ".join(unguarded)
            message = f"sub-agents do not inherit it: no hook guards the tool calls of {names}"
            fix = f"agents.{unguarded[0]}.hooks.pre_tool_use"
            yield about(hook, "warning", "not-inherited", message, fix=fix)


def _owner(condition: Condition | None, kind: "type[OfAgent]") -> "OfAgent | None":
    if isinstance(condition, AllOf):
        return next(
            (found for each in condition.conditions if (found := _owner(each, kind)) is not None), None
        )
    return condition if isinstance(condition, kind) else None
