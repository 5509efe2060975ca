"""Plan what `fire --times` measures: one event, or few sample payloads that together concern most hooks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.describe import means_hook
from hookline.cli.engines import session_of
from hookline.cli.requests import RequestError
from hookline.config.engine import Engine
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownEventError
from hookline.model.events import EventSpec, subject_of
from hookline.model.hook import Hook
from hookline.model.session_info import SessionInfo
from hookline.model.wire import EventRequest
from hookline.schemas.examples import example_payload

#: Enough for every hook of a real configuration, few enough to try them all.
_MOST = 200

_COMMAND, _FILE = {"command": "git push --force"}, {"file_path": "README.md"}
#: Tools that agents have, under the names they have there.
_TOOLS: Mapping[str, Mapping[str, Any]] = {
    "Bash": _COMMAND,
    "Edit": {**_FILE, "old_string": "a", "new_string": "b"},
    "Write": {**_FILE, "content": "hello\n"},
    "Read": _FILE,
    "Grep": {"pattern": "TODO", "path": "."},
    "Glob": {"pattern": "**/*.py"},
    "WebFetch": {"url": "https://example.org/", "prompt": "summarise"},
    "Task": {"description": "review", "prompt": "Review the change.", "subagent_type": "reviewer"},
    "mcp__tracker__create_issue": {"title": "Login form"},
    "bash": _COMMAND,
    "shell": {"cmd": "git push --force", "cwd": "."},
    "exec_shell": _COMMAND,
    "edit_file": {"path": "README.md", "content": "hello\n"},
    "write_file": {"path": "README.md", "content": "hello\n"},
    "read_file": {"path": "README.md"},
}
#: The argument that a rule in brackets is about, by the names that tools have for it.
_RULED = ("command", "cmd", "file_path", "path", "url", "pattern")
_RULE = re.compile(r"([A-Za-z_]\w{0,99}+)\(([^()]*+)\)")
_NAME = re.compile(r"[\w./*-]{1,100}")


def samples(event: EventSpec[Any], hooks: Sequence[Hook]) -> list[Any]:
    """Return payloads of the event in the order to try them; none if only its host can make the payload.

    The example of the event, then variants with the tools and values that the hooks ask for.
    """
    example = example_payload(event)
    if example is None:
        return []
    found: list[Any] = [example]
    for variant in _variants(event, example, hooks):
        if len(found) >= _MOST:
            break
        if variant not in found:
            found.append(variant)
    return found


def sample_text(event: EventSpec[Any], payload: Any) -> str | None:
    """Describe the sample in a few words."""
    subject = subject_of(event, payload)
    given: Any = getattr(payload, "tool_input", None)
    if isinstance(given, Mapping) and subject:
        ruled = next((f" {key}={given[key]}" for key in _RULED if key in given), "")
        return f"{subject}{ruled}"
    return subject


def _variants(event: EventSpec[Any], example: Any, hooks: Sequence[Hook]) -> Iterator[Any]:
    if event.subject is None:
        return
    if event.subject == "tool_name" and hasattr(example, "tool_input"):
        for name, given in _calls(hooks):
            yield replace(example, tool_name=name, tool_input=given)
        return
    for value in event.subjects or _names(hooks):
        yield replace(example, **{event.subject: value})


def _calls(hooks: Sequence[Hook]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the calls that conditions ask for, then those that matchers name, then every tool there is."""
    for hook in hooks:
        for tool, ruled in _RULE.findall(hook.condition.text if hook.condition is not None else ""):
            given = _TOOLS.get(tool, {"command": "", "file_path": ""})
            text = (
                re.sub(r"^domain:", "https://", ruled).replace(":*", "").replace("**", "x").replace("*", "x")
            )
            yield tool, {key: text if key in _RULED else value for key, value in given.items()}
    for name in _names(hooks):
        yield name, _TOOLS.get(name, _COMMAND)
    yield from _TOOLS.items()


def _names(hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield the names in a matcher, if they are plain; matches of a pattern are found by trying."""
    for hook in hooks:
        text = hook.matcher.text if hook.matcher is not None else ""
        for part in re.split(r"[|,\s]+", text[:1000]):
            name = part.strip("^$").replace(".*", "x").replace("*", "x")
            if _NAME.fullmatch(name):
                yield name


#: Name and source, by which a hook is found in its runs.
HookKey = tuple[str, str]


class Planned(Struct, frozen=True):
    """One event on one payload, with the hooks that run there in order."""

    request: EventRequest
    hooks: tuple[Hook, ...]


class LeftOut(Struct, frozen=True):
    """A hook that the payload, or no sample payload, concerns."""

    hook: Hook
    why: str


class Plan(Struct, frozen=True):
    planned: tuple[Planned, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def plan_one(engine: Engine, request: EventRequest) -> Plan:
    """Plan exactly this event, with its payload."""
    session = session_of(engine, request)
    decisions = session.explain(request.event, request.payload)
    chosen = tuple(each.prepared.hook for each in decisions if each.selected)
    left = tuple(LeftOut(each.prepared.hook, each.why) for each in decisions if not each.selected)
    return Plan((Planned(request, chosen),) if chosen else (), left)


def plan_samples(engine: Engine, info: SessionInfo, events: Sequence[EventSpec[Any]]) -> Plan:
    """Plan sample payloads of these events."""
    planned: list[Planned] = []
    left_out: list[LeftOut] = []
    for event in events:
        hooks = [hook for hook in engine.hooks if hook.event is event]
        some, others = _of_event(engine, info, event, [hook for hook in hooks if hook.broken is None])
        planned += some
        left_out += [*others, *(LeftOut(hook, hook.broken) for hook in hooks if hook.broken is not None)]
    return Plan(tuple(planned), tuple(left_out))


def _of_event(
    engine: Engine, info: SessionInfo, event: EventSpec[Any], hooks: Sequence[Hook]
) -> tuple[list[Planned], list[LeftOut]]:
    whys: dict[int, str] = {}
    found: list[Planned] = []
    for payload in samples(event, hooks):
        request = EventRequest(event, payload, info)
        decisions = session_of(engine, request).explain(event, payload)
        whys = {id(decision.prepared.hook): decision.why for decision in decisions} | whys
        chosen = tuple(
            decision.prepared.hook
            for decision in decisions
            if decision.selected and decision.prepared.hook.broken is None
        )
        if chosen:
            found.append(Planned(request, chosen))
    covered: set[int] = set()
    kept: list[Planned] = []
    # Greedy: always the one that adds most, the earliest of equals. That gives a short list, if not the shortest.
    while found:
        best = max(found, key=lambda each: len(_ids(each) - covered))
        if not _ids(best) - covered:
            break
        covered |= _ids(best)
        kept.append(best)
    left = [
        LeftOut(hook, whys.get(id(hook), f"only a host can make a payload of {event.name}"))
        for hook in hooks
        if id(hook) not in covered
    ]
    return kept, left


def _ids(planned: Planned) -> set[int]:
    return {id(hook) for hook in planned.hooks}


def chosen_events(engine: Engine, names: Sequence[str], dialect: str | None) -> list[EventSpec[Any]]:
    """Return the events that were named, or all that have a hook, in the order of the table."""
    if not names:
        with_hooks = {hook.event.name for hook in engine.hooks}
        return [event for event in engine.events.values() if event.name in with_hooks]
    found: dict[str, EventSpec[Any]] = {}
    for name in names:
        for event in _named(engine, name, dialect):
            found[event.name] = event
    return list(found.values())


def are_events(engine: Engine, words: Sequence[str]) -> bool:
    """Return True if every word is an event, by any agent's name."""
    known = {name for each in engine.loader.names for name in engine.loader.dialect(each).events}
    return all(word in engine.events or word in known for word in words)


def _named(engine: Engine, name: str, dialect: str | None) -> list[EventSpec[Any]]:
    if name in engine.events:
        return [engine.events[name]]
    own = {hook.event.name: hook.event for hook in engine.hooks if hook.policy.event_name == name}
    if own:
        return list(own.values())
    for other in [dialect] if dialect is not None else engine.loader.names:
        if name in engine.loader.dialect(other).events:
            return [engine.loader.dialect(other).events[name].event]
    raise UnknownEventError(name[:200], nearest(name, engine.events))


def only(hooks: Sequence[Hook], texts: Sequence[str]) -> Sequence[Hook]:
    """Return the hooks with one of the texts in their name or source."""
    if not texts:
        return hooks
    kept = [hook for hook in hooks if means_hook(texts, hook.name, str(hook.where))]
    if not kept:
        names: Mapping[str, None] = dict.fromkeys(hook.name for hook in hooks)
        meant = nearest(texts[0], names)
        hint = f"did you mean {meant!r}?" if meant else "`hookline list` shows them"
        raise RequestError(f"no hook is called {texts[0]!r}; {hint}")
    return kept
