"""What is to be measured: for each event the fewest sample payloads that concern every hook they can."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.bench_samples import samples
from hookline.cli.fire_settings import RequestError
from hookline.cli.naming import means_hook
from hookline.config.embedding import Engine
from hookline.config.recognising import NATIVE
from hookline.engine.sessions import Session
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.scene import Scene

#: How a hook is known in its runs.
HookKey = tuple[str, str]


class Planned(Struct, frozen=True):
    """One event on one payload, with the hooks that run there in order."""

    event: EventSpec[Any]
    payload: Any
    hooks: tuple[Hook, ...]


class LeftOut(Struct, frozen=True):
    """A hook that no sample concerns."""

    hook: Hook
    why: str


class Plan(Struct, frozen=True):
    planned: tuple[Planned, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def plan(engine: Engine, scene: Scene, events: Sequence[EventSpec[Any]]) -> Plan:
    session = engine.session(scene.session_id)
    session.scene = scene
    planned: list[Planned] = []
    left_out: list[LeftOut] = []
    for event in events:
        hooks = [hook for hook in engine.hooks if hook.event is event]
        some, others = _of_event(session, event, [hook for hook in hooks if hook.broken is None])
        planned += some
        left_out += [*others, *(LeftOut(hook, hook.broken) for hook in hooks if hook.broken is not None)]
    return Plan(tuple(planned), tuple(left_out))


def _of_event(
    session: Session, event: EventSpec[Any], hooks: Sequence[Hook]
) -> tuple[list[Planned], list[LeftOut]]:
    whys: dict[int, str] = {}
    found: list[Planned] = []
    for payload in samples(event, hooks):
        verdicts = session.explain(event, payload)
        whys = {id(verdict.armed.hook): verdict.why for verdict in verdicts} | whys
        chosen = tuple(
            verdict.armed.hook
            for verdict in verdicts
            if verdict.selected and verdict.armed.hook.broken is None
        )
        if chosen:
            found.append(Planned(event, payload, chosen))
    covered: set[int] = set()
    kept: list[Planned] = []
    while (
        found
    ):  # the one that adds most, the earliest of equals: a short list is found this way, if not the shortest
        best = max(found, key=lambda each: len(_ids(each) - covered))
        if not _ids(best) - covered:
            break
        covered |= _ids(best)
        kept.append(best)
    left = [
        LeftOut(hook, whys.get(id(hook), f"nobody but its host can make a payload of {event.name}"))
        for hook in hooks
        if id(hook) not in covered
    ]
    return kept, left


def _ids(planned: Planned) -> set[int]:
    return {id(hook) for hook in planned.hooks}


def chosen_events(engine: Engine, names: Sequence[str], dialect: str | None) -> list[EventSpec[Any]]:
    """The events that were named, or all that have a hook, in the order of the table."""
    if not names:
        with_hooks = {hook.event.name for hook in engine.hooks}
        return [event for event in engine.events.values() if event.name in with_hooks]
    found: dict[str, EventSpec[Any]] = {}
    for name in names:
        for event in _named(engine, name, dialect):
            found[event.name] = event
    return list(found.values())


def _named(engine: Engine, name: str, dialect: str | None) -> list[EventSpec[Any]]:
    if name in engine.events:
        return [engine.events[name]]
    own = {hook.event.name: hook.event for hook in engine.hooks if hook.policy.spelled == name}
    if own:
        return list(own.values())
    for other in [dialect] if dialect is not None else engine.loader.names:
        if other != NATIVE and name in engine.loader.dialect(other).spellings:
            return [engine.loader.dialect(other).spellings[name].event]
    raise UnknownEventError(name[:200], nearest(name, engine.events))


def only(hooks: Sequence[Hook], texts: Sequence[str]) -> Sequence[Hook]:
    """Those with one of the texts in their name or source."""
    if not texts:
        return hooks
    kept = [hook for hook in hooks if means_hook(texts, hook.name, str(hook.where))]
    if not kept:
        names: Mapping[str, None] = dict.fromkeys(hook.name for hook in hooks)
        meant = nearest(texts[0], names)
        hint = f"did you mean {meant!r}?" if meant else "`hookline list` shows them"
        raise RequestError(f"no hook is called {texts[0]!r}; {hint}")
    return kept
