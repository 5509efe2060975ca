"""Which files were read, which of them have hooks at an event, and which do not count because another decides."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.config.embedding import Engine
from hookline.config.files import read_file
from hookline.config.loaded import Found, Loaded
from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope

#: Diagnostics that say why the hooks of a whole file do not count.
_SAID = frozenset({"disabled", "not-in-force"})
#: The same for one dialect of the two that read it, which the message begins with.
_SAID_OF_ONE = "read-already"


class LayerFacts(Struct, frozen=True, kw_only=True):
    """One file that is there."""

    file: str
    dialect: str
    scope: Scope
    #: Its own agent runs its hooks only once the user has trusted them.
    needs_trust: bool
    #: Hooks at this event that count, of those that stand in the file.
    hooks: int
    stands: int
    state: Literal["in force", "nothing here", "not in force", "unreadable"]
    why: str | None


def layers(engine: Engine, loaded: Loaded, event: EventSpec[Any]) -> tuple[LayerFacts, ...]:
    return tuple(_layer(engine, loaded, found, event) for found in loaded.found)


def _layer(engine: Engine, loaded: Loaded, found: Found, event: EventSpec[Any]) -> LayerFacts:
    counted = len(_of(found, event, loaded.hooks))
    # Read on its own it has all its hooks, whatever the files beside it say.
    alone = 0 if found.unreadable else len(_of(found, event, _alone(engine, found)))
    why = None
    if found.unreadable:
        state, why = "unreadable", "it cannot be read, so nobody knows what it wanted"
    elif not counted and (why := _said(loaded, found)) is not None:
        state = "not in force"
    elif counted < alone:
        state, why = "not in force", _replaced(loaded, found, event)
    else:
        state = "in force" if counted else "nothing here"
    return LayerFacts(
        file=found.file,
        dialect=found.dialect,
        scope=found.scope,
        needs_trust=found.needs_trust,
        hooks=counted,
        stands=max(alone, counted),
        state=state,
        why=why,
    )


def _alone(engine: Engine, found: Found) -> Sequence[Hook]:
    return engine.loader.files([found.file], found.dialect).hooks


def _of(found: Found, event: EventSpec[Any], hooks: Sequence[Hook]) -> list[Hook]:
    return [
        hook
        for hook in hooks
        if hook.event is event and hook.where.file == found.file and hook.dialect == found.dialect
    ]


def _said(loaded: Loaded, found: Found) -> str | None:
    """What the reader of the file said about it as a whole."""
    for one in loaded.diagnostics:
        of_one = one.code == _SAID_OF_ONE and one.message.startswith(f"{found.dialect} ")
        if one.where.file == found.file and (one.code in _SAID or of_one):
            return one.message
    return None


def _replaced(loaded: Loaded, found: Found, event: EventSpec[Any]) -> str:
    deciders = [
        other.file
        for other in loaded.found
        if other.dialect == found.dialect and other is not found and _names(other.file, event.name)
    ]
    return (
        f"replaced: {', '.join(deciders)} decides {event.name}" if deciders else "other settings turn it off"
    )


def _names(file: str, event: str) -> bool:
    """Whether a file has a list for the event, be it an empty one: that alone replaces what others say."""
    value: Any = read_file(file).value
    hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
    return isinstance(hooks, Mapping) and event in hooks
