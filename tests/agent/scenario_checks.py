"""Compare a play's expected results with the real ones. Every difference is reported, not only the first."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from tests.agent.scenario_runs import ExpectedEvent, ExpectedRequest, Play, Played


def differences(played: Played) -> list[str]:
    """One line each; none when everything is as expected."""
    play = played.play
    found = [*_ending(played), *_files(played)]
    if play.plain:
        return found
    if not played.document:
        return [*found, f"no document was printed; stderr: {played.stderr[-2000:]}"]
    events = cast("Sequence[Mapping[str, Any]]", played.document["events"])
    names = [event["event"] for event in events]
    found += _order(play, names)
    for wanted in play.event:
        found += _event(wanted, events, played)
    said = "\n".join(notice["text"] for notice in played.document["notices"])
    found += _texts("notices", said, play.notices_have, play.notices_havent, played)
    found += _requests(played)
    found += _transcript(played)
    return found


def _ending(played: Played) -> Iterator[str]:
    play, document = played.play, played.document
    if played.exit != play.exit:
        yield f"exit: {played.exit}, expected {play.exit}; stderr: {played.stderr[-2000:]}"
    if play.status is not None and document.get("status") != play.status:
        yield f"status: {document.get('status')!r}, expected {play.status!r}; why: {document.get('why')!r}"
    if play.result is not None and document.get("result") != _filled(play.result, played):
        yield f"result: {document.get('result')!r}, expected {play.result!r}"
    if play.why is not None and _filled(play.why, played) not in document.get("why", ""):
        yield f"why: {document.get('why')!r} without {play.why!r}"
    if play.stdout is not None and played.stdout != _filled(play.stdout, played):
        yield f"stdout: {played.stdout!r}, expected {play.stdout!r}"
    yield from _texts("stderr", played.stderr, play.stderr_has, (), played)


def _order(play: Play, names: Sequence[str]) -> Iterator[str]:
    if play.events is not None and tuple(names) != play.events:
        yield f"events: {list(names)}\nexpected {list(play.events)}"
    if play.order is not None:
        among = set(play.among if play.among is not None else play.order)
        seen = [name for name in names if name in among]
        if tuple(seen) != play.order:
            yield f"order: {seen}\nexpected {list(play.order)}"
    yield from (f"{name} fired, and must not" for name in play.never if name in names)
    for name, times in play.times.items():
        if names.count(name) != times:
            yield f"{name} fired {names.count(name)} times, expected {times}"


def _event(wanted: ExpectedEvent, events: Sequence[Mapping[str, Any]], played: Played) -> Iterator[str]:
    where = f"{wanted.event} #{wanted.nth}"
    same = [
        event
        for event in events
        if event["event"] == wanted.event and (wanted.agent is None or event["agent"] == wanted.agent)
    ]
    if len(same) < wanted.nth:
        yield f"{where}: fired {len(same)} times"
        return
    event = same[wanted.nth - 1]
    yield from _unlike(wanted.payload, event["payload"], f"{where}: payload", played)
    yield from _unlike(wanted.outcome, event["outcome"], f"{where}: outcome", played)
    if wanted.runs is not None:
        yield from _unlike(list(wanted.runs), event["runs"], f"{where}: runs", played)


def _requests(played: Played) -> Iterator[str]:
    play = played.play
    requests = cast("Sequence[Mapping[str, Any]]", played.document["requests"])
    if play.requests is not None and len(requests) != play.requests:
        yield f"{len(requests)} requests, expected {play.requests}"
    for wanted in play.request:
        if len(requests) < wanted.nth:
            yield f"request {wanted.nth}: there were {len(requests)}"
        else:
            yield from _request(wanted, requests[wanted.nth - 1], played)


def _request(wanted: ExpectedRequest, request: Mapping[str, Any], played: Played) -> Iterator[str]:
    where = f"request {wanted.nth}"
    said = "\n".join([request["system"], *(_texts_of(message) for message in request["messages"])])
    yield from _texts(where, said, wanted.has, wanted.hasnt, played)
    yield from _texts(f"{where}: system", request["system"], wanted.system_has, wanted.system_hasnt, played)
    for name in ("model", "agent"):
        value = getattr(wanted, name)
        if value is not None and request[name] != value:
            yield f"{where}: {name} {request[name]!r}, expected {value!r}"
    if wanted.messages is not None:
        yield from _unlike(list(wanted.messages), request["messages"], f"{where}: messages", played)
    if wanted.last is not None:
        yield from _unlike(wanted.last, request["messages"][-1], f"{where}: last message", played)


def _texts_of(message: Mapping[str, Any]) -> str:
    return f"{message.get('text', '')}\n{json.dumps(message.get('tool_calls', []))}"


def _files(played: Played) -> Iterator[str]:
    play = played.play
    for name, text in play.files.items():
        there = played.files[name]
        if there != _filled(text, played):
            yield f"file {name}: {there!r}, expected {text!r}"
    for name, text in play.files_have.items():
        there = played.files[name]
        if there is None or _filled(text, played) not in there:
            yield f"file {name}: {there!r} without {text!r}"
    for name, text in play.files_havent.items():
        if _filled(text, played) in (played.files[name] or ""):
            yield f"file {name}: with {text!r}"
    yield from (f"file {name} is there" for name in play.no_files if played.files[name] is not None)


def _transcript(played: Played) -> Iterator[str]:
    play = played.play
    yield from _texts("transcript", played.transcript, play.transcript_has, play.transcript_hasnt, played)


def _texts(where: str, text: str, has: Sequence[str], hasnt: Sequence[str], played: Played) -> Iterator[str]:
    yield from (
        f"{where}: without {part!r}: {text[-3000:]!r}" for part in has if _filled(part, played) not in text
    )
    yield from (
        f"{where}: with {part!r}: {text[-3000:]!r}" for part in hasnt if _filled(part, played) in text
    )


def _unlike(wanted: Any, there: Any, where: str, played: Played) -> Iterator[str]:
    """Maps by the keys that are wanted; lists item by item; everything else by its value."""
    if isinstance(wanted, Mapping) and isinstance(there, Mapping):
        found = cast("Mapping[str, Any]", there)
        for key, value in cast("Mapping[str, Any]", wanted).items():
            yield from _unlike(value, found.get(key), f"{where}.{key}", played)
    elif isinstance(wanted, list | tuple) and isinstance(there, list):
        items, others = cast("Sequence[Any]", wanted), cast("list[Any]", there)
        if len(items) != len(others):
            yield f"{where}: {len(others)} items, expected {len(items)}: {others}"
            return
        for index, (item, other) in enumerate(zip(items, others, strict=True), 1):
            yield from _unlike(item, other, f"{where}[{index}]", played)
    elif (_filled(wanted, played) if isinstance(wanted, str) else wanted) != there:
        yield f"{where}: {there!r}, expected {wanted!r}"


def _filled(text: str, played: Played) -> str:
    return text.replace("$PROJECT", played.project).replace("$HOME", played.home)
