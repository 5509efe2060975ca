"""Find out which agents on this machine would ask the hooks of an event."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from hookline.dialects.dialect import Dialect
from hookline.dialects.registry import OWN_FORMAT, dialects_here
from hookline.engine.explain import MatchResult
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line
from hookline.trust.project import project_root

if TYPE_CHECKING:
    from hookline.dialects.installer import Entry, Site

_LONGEST = 60
_MOST_NAMED = 3


class AskingAgent(Struct, frozen=True):
    """An agent on this machine, and the hooks that it would not ask."""

    agent: str
    title: str
    #: The hooks that it would not ask, and why.
    not_asked: tuple[str, ...] = ()
    why: str | None = None


def agents_asking(
    event: EventSpec[Any], decisions: Sequence[MatchResult], cwd: str, redact: Callable[[str], str]
) -> tuple[AskingAgent, ...]:
    """Say for each agent that is used here which of the hooks that would run it would not ask.

    Hooks that flags have added belong to no agent.
    """
    hooks = [one.prepared.hook for one in decisions if one.selected and one.prepared.hook.scope != "flag"]
    if not hooks:
        return ()
    named = [(redact(hook.name), hook) for hook in hooks]
    return tuple(_asking(dialect, event, named, entries) for dialect, entries in _agents_here(cwd))


def agents_not_asking(event: EventSpec[Any], cwd: str) -> tuple[str, ...]:
    """Return the titles of the agents here that do not ask Hookline's own hooks of an event."""
    return tuple(
        dialect.title
        for dialect, entries in _agents_here(cwd)
        if not any(_is_at(dialect, entry.event, event) for entry in entries)
    )


def _agents_here(cwd: str) -> "Iterator[tuple[Dialect, list[Entry]]]":
    """Yield each agent that is used here, with the entries by which it calls Hookline."""
    here = [dialect for dialect in dialects_here(cwd, os.environ) if dialect.installer is not None]
    if not here:
        return
    from hookline.config.install.plan import is_there
    from hookline.dialects.installer import InstallScope, Site

    sites = [Site(scope, project_root(cwd), os.environ) for scope in get_args(InstallScope)]
    for dialect in here:
        if any(is_there(dialect, site) for site in sites):
            yield dialect, list(_entries(dialect, sites))


def _asking(
    dialect: Dialect, event: EventSpec[Any], hooks: Sequence[tuple[str, Hook]], entries: "Sequence[Entry]"
) -> AskingAgent:
    from hookline.config.install.self_calls import entry_choice

    at_event = [entry for entry in entries if _is_at(dialect, entry.event, event)]
    choices = [entry_choice(entry.command, event_guards=True) for entry in at_event]
    brings_all = any(choice is not None and choice.hooks == "all" for choice in choices)
    missed = [
        name
        for name, hook in hooks
        if hook.dialect != dialect.name and not (at_event and (brings_all or hook.dialect == OWN_FORMAT))
    ]
    if not missed:
        return AskingAgent(dialect.name, dialect.title)
    if not entries:
        others = any(name in missed and hook.dialect != OWN_FORMAT for name, hook in hooks)
        why = f"Hookline is not installed there (hookline install{' --hooks all' if others else ''})"
    elif not at_event:
        why = f"its entries do not call Hookline at {event.name} (hookline install --events all)"
    else:
        why = "only Hookline's own hooks run there (hookline install --hooks all)"
    return AskingAgent(dialect.name, dialect.title, tuple(dict.fromkeys(missed)), why)


def _is_at(dialect: Dialect, name: str, event: EventSpec[Any]) -> bool:
    """Return True if an entry at this event of the agent asks hooks of the event."""
    own = dialect.recorded_events(name) if name in dialect.events else ()
    return any(event in dialect.asked_at(each.event) for each in own)


def _entries(dialect: Dialect, sites: "Sequence[Site]") -> "Iterator[Entry]":
    from hookline.config.install.plan import installed_entries
    from hookline.dialects.installer import InstallError

    for site in sites:
        try:
            yield from installed_entries(dialect, site)
        except InstallError:  # it has no such file, or one that it cannot read itself
            continue


def asking_lines(agents: Sequence[AskingAgent]) -> Iterator[str]:
    """Say in which agents an outcome holds, and which hooks others would not ask."""
    same: dict[tuple[tuple[str, ...], str | None], list[str]] = {}
    for each in agents:
        same.setdefault((each.not_asked, each.why), []).append(each.title)
    for (missed, why), titles in sorted(same.items(), key=lambda item: bool(item[0][0])):
        if not missed:
            yield f"holds in: {', '.join(titles)}"
            continue
        names = ", ".join(one_line(name, _LONGEST) for name in missed[:_MOST_NAMED])
        more = len(missed) - _MOST_NAMED
        yield f"{', '.join(titles)} would not ask {names}{f' and {more} more' if more > 0 else ''}: {why}"
