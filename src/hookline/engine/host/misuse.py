"""Explain wrong use of the host API: what was wrong, where, and what to write instead.

Each function returns the error for its caller to raise. The module is loaded when a mistake was made.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from hookline.model.events import EVENTS, EventSpec


def not_an_event(
    given: object, events: Mapping[str, EventSpec[Any]], where: str, *, decorates: bool = False
) -> TypeError:
    """Explain a wrong event. `where` is the call, with {} where the event belongs: `session.dispatch({},
    payload)`."""
    if isinstance(given, str):
        meant = given if given in events else _nearest(given, events)
        if meant is None:
            return TypeError(f"{where.format(repr(given))}: no event has that name; see hookline.events")
        right = constant_of(meant) if meant in EVENTS else f"engine.events[{meant!r}]"
        return TypeError(
            f"{where.format(repr(given))}: an event is not its name; write {where.format(right)}"
        )
    if decorates and callable(given):
        name, right = getattr(given, "__name__", "it"), where.format("PRE_TOOL_USE")
        return TypeError(f"@{where.partition('(')[0]} needs an event: write @{right} above {name}")
    wrong = where.format(_short(given))
    return TypeError(f"{wrong}: {_kind(given)} is not an event; write {where.format('PRE_TOOL_USE')}, say")


def wrong_payload(event: EventSpec[Any], payload: object) -> TypeError:
    wanted = event.payload.__name__
    fields: tuple[str, ...] = getattr(event.payload, "__struct_fields__", ())
    hint = f"; write {wanted}({', '.join(f'{name}=…' for name in fields[:2])})" if fields else ""
    return TypeError(f"the payload of {event.name} is a {wanted}, not {_kind(payload)}{hint}")


def unknown_option(where: str, given: Iterable[str], known: Iterable[str]) -> TypeError:
    known = tuple(known)
    wrong = next(name for name in given if name not in known)
    meant = _nearest(wrong, known)
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"
    return TypeError(f"{where} has no option {wrong!r}; {hint}")


def wrong_parent(given: object) -> TypeError:
    which = "a session of another engine" if hasattr(given, "engine") else _kind(given)
    return TypeError(f"the parent of a session is a session of the same engine, not {which}")


def never_holds(event: EventSpec[Any], what: str, why: str, instead: str) -> ValueError:
    """Explain an option that could never have an effect at this event."""
    return ValueError(f"{what} has no effect at {event.name}: {why}; {instead}")


def not_an_action(given: object, event: EventSpec[Any]) -> TypeError:
    return TypeError(
        f"a hook of {event.name} is a function, a shell command as text or a guard, not {_kind(given)}: {_short(given)}"
    )


def constant_of(event_name: str) -> str:
    """Return the name of an event's constant in `hookline.events`: PRE_TOOL_USE for PreToolUse."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event_name).upper()


def _nearest(word: str, known: Iterable[str]) -> str | None:
    by_folded = {name.casefold().replace("_", ""): name for name in known}
    close = get_close_matches(word[:200].casefold().replace("_", ""), by_folded, n=1)
    return by_folded[close[0]] if close else None


def _kind(given: object) -> str:
    if isinstance(given, type):
        return f"the class {given.__name__}"
    name = type(given).__name__
    return "None" if given is None else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
