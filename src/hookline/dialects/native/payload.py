"""Native payloads, both ways: the document and the environment that external code gets, and a document read back."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.family.payload import (
    PayloadError,
    event_name,
    payload_of,
    scene_document,
    scene_texts,
)
from hookline.dialects.json_text import plain_copy, written
from hookline.model.events import EventSpec
from hookline.model.scene import SCENE_TEXTS, Scene
from hookline.model.wire import Call, Encoded, Parsed

#: What a hook is given at most.
STDIN_LIMIT = 8 << 20

#: Payload fields that hooks rely on even when they are at their default.
_ALWAYS = ("tool_input", "stop_hook_active")
_WHEN_SET = ("agent_id", "agent_type", "parent_agent_id", "prompt_id", "model", "turn")


def encode_payload(call: Call, limit: int = STDIN_LIMIT) -> Encoded:
    name = call.hook.policy.event_name
    try:
        document = payload_document(call.event, name, call.payload, call.scene)
        text = written(document)
        if len(text) >= limit:
            from hookline.dialects.native.truncation import fitted  # noqa: PLC0415 - rare

            text = fitted(text, lambda: plain_copy(document), limit - 1, written)
    except (TypeError, ValueError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None
    if text is None:
        raise PayloadError(f"the payload needs more than {limit:,} bytes, and has no long texts to cut")
    return Encoded(text + b"\n", environment(name, call.scene))


def payload_document(event: EventSpec[Any], name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """The native payload: where and who first, then what is known at this event."""
    document = scene_document(name, scene)
    for key in _WHEN_SET:
        value = getattr(scene, key)
        if value is not None:
            document[key] = value
    document.update(_fields(event, payload))
    return document


def environment(event_name: str, scene: Scene) -> dict[str, str]:
    project = scene.project_dir or scene.cwd
    return {
        "HOOKLINE_EVENT": event_name,
        "HOOKLINE_SESSION_ID": scene.session_id,
        "HOOKLINE_CWD": scene.cwd,
        "HOOKLINE_PROJECT_DIR": project,
        # A native file may be one that was written for Claude Code.
        "CLAUDE_PROJECT_DIR": project,
    }


def _fields(event: EventSpec[Any], payload: Any) -> dict[str, Any]:
    if isinstance(payload, Mapping):
        return dict(cast("Mapping[str, Any]", payload))
    if isinstance(payload, Struct):
        return _struct_fields(event, payload)
    import dataclasses  # noqa: PLC0415 - only hosts with rows of their own have such payloads

    if dataclasses.is_dataclass(payload) and not isinstance(payload, type):
        return {each.name: getattr(payload, each.name) for each in dataclasses.fields(payload)}
    raise PayloadError(f"a payload of type {type(payload).__name__} is no record and no mapping")


def _struct_fields(event: EventSpec[Any], payload: Struct) -> dict[str, Any]:
    """Left at its default, a field is not sent, unless a matcher, a rewrite or a usual script reads it."""
    fields: dict[str, Any] = plain_copy(payload)
    names = payload.__struct_fields__
    for name in (*_ALWAYS, event.subject, event.rewrites):
        if name in names and name not in fields:
            fields[name] = getattr(payload, name)
    return fields


def parse_payload(document: Mapping[str, Any], events: Mapping[str, EventSpec[Any]]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    event = events[event_name(document, events)]
    known = scene_texts(document, SCENE_TEXTS)
    turn = document.get("turn")
    if isinstance(turn, int):
        known["turn"] = turn
    return Parsed(event, payload_of(event, document), Scene(**known))
