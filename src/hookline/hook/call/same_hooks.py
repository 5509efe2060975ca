"""Run a user's hook once, though several agents configure it.

The same command at the same event is one hook. Of several the first one runs; one that the calling agent
configures itself is run by that agent.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.dialects.registry import OWN_FORMAT
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.trust.trust import Trust

#: What a hook is about: kinds of tool calls and names; None for everything.
_About = frozenset[str] | None


class _Known(Struct, frozen=True):
    """A hook that runs."""

    about: _About
    #: False for one of a project.
    of_user: bool

    def covers(self, about: _About, *, of_user: bool) -> bool:
        """Return True if it sees all these calls. No hook of a project stands in for one of the user."""
        wide = self.about is None or (about is not None and about <= self.about)
        return wide and (self.of_user or not of_user)


def each_once(
    hooks: Iterable[Hook],
    run_by_caller: Iterable[Hook],
    dialect: "Callable[[str], Dialect]",
    trust: "Trust | None",
) -> tuple[Hook, ...]:
    """Return the hooks without those that another hook of the list, or of the caller, is already.

    A hook that also sees calls which the other one does not see stays.
    """
    known: dict[tuple[str, str, str], list[_Known]] = {}

    def add(key: tuple[str, str, str], hook: Hook) -> None:
        known.setdefault(key, []).append(_Known(_about(hook, dialect), _is_of_user(hook)))

    for hook in run_by_caller:
        if (key := _key(hook)) is not None:
            add(key, hook)
    found: list[Hook] = []
    for hook in hooks:
        key = _key(hook) if hook.dialect != OWN_FORMAT else None
        about, of_user = _about(hook, dialect) if key is not None else None, _is_of_user(hook)
        if key is not None and any(each.covers(about, of_user=of_user) for each in known.get(key, ())):
            continue
        found.append(hook)
        if key is not None and (trust is None or trust.status(hook).runs):
            add(key, hook)
    return tuple(found)


def _is_of_user(hook: Hook) -> bool:
    return hook.scope in ("managed", "user")


def _key(hook: Hook) -> tuple[str, str, str] | None:
    """Return what makes two hooks the same; None for one that is not a plain command."""
    spec: Any = hook.spec
    command = getattr(spec, "command", None)
    if hook.kind != "command" or not isinstance(command, str) or hook.mode == "off" or hook.broken:
        return None
    rest = getattr(spec, "args", None), hook.condition and hook.condition.text, hook.waiting
    return hook.event.name, command.strip(), repr(rest)


def _about(hook: Hook, dialect: "Callable[[str], Dialect]") -> _About:
    """Return the kinds of calls that a matcher means, in terms that agents share."""
    matcher = hook.matcher
    if matcher is None:
        return None
    if hook.event.subject != "tool_name":
        return frozenset((matcher.text,))
    table = dialect(hook.dialect).tools
    names = [name for name in table.names if matcher.matches(name)]
    kinds = {tool.kind or name for name in names if (tool := table.tool(name)) is not None}
    # A matcher for tools that no table has, such as those of MCP servers, equals only itself.
    return frozenset(kinds) if kinds else frozenset((matcher.text,))
