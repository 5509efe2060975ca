"""Payloads of Reasonix's events, key by key, both ways.

The keys of the first ten events are the pull request's. Those of the v1 line's own events are a best guess:
its source names the keys but not which event fills which.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import wire as family
from hookline.dialects.family.wire import bad_payload, payload_record
from hookline.dialects.json_text import written
from hookline.documents.document import misshaped
from hookline.model.events import field_of
from hookline.model.scene import Scene
from hookline.model.wire import Parsed


class Key(Struct, frozen=True):
    """One key of a document."""

    name: str
    shape: str
    #: Its value, from the payload and the scene; None: the agent leaves the key out.
    write: Callable[[Any, Scene], Any]
    #: The payload fields that its value comes from.
    read: Callable[[Any], dict[str, Any]]


def _same(name: str, attribute: str, shape: str = "text") -> Key:
    return Key(name, shape, lambda payload, _: field_of(payload, attribute), lambda value: {attribute: value})


def _if_any(name: str, attribute: str, shape: str = "text") -> Key:
    """Left out also where it is empty."""
    return Key(name, shape, lambda p, _: field_of(p, attribute) or None, lambda value: {attribute: value})


def _text(value: Any) -> str:
    """Text as it is; anything else as the JSON it would be."""
    return value if isinstance(value, str) else written(value).decode()


def _result(payload: Any, scene: Scene) -> str | None:
    """Of a call that failed it is the error, unless the agent itself said which is which."""
    found = field_of(payload, "tool_response")
    found = field_of(payload, "error") if found is None else found
    if found is None:
        return None if _said(scene, "error") else ""
    return _text(found)


def _said(scene: Scene, name: str) -> Any:
    """What the agent said beside the fields that the event has."""
    return scene.extra.get(name) if scene.extra is not None else None


def _beside(name: str, attribute: str) -> Key:
    """A key for which not every payload of its event has a field."""
    return Key(name, "text", lambda p, s: field_of(p, attribute) or _said(s, name) or None, lambda _: {})


def _arguments(value: Any) -> dict[str, Any]:
    """Arguments the agent could not parse arrive as text."""
    return {"tool_input": value if isinstance(value, Mapping) else {"raw": value}}


def _messages(payload: Any, _scene: Scene) -> list[dict[str, str]]:
    found: Any = field_of(payload, "messages") or ()
    return [{"role": _text(each.get("role", "")), "content": _content(each.get("content"))} for each in found]


def _content(content: Any) -> str:
    """A message's content as one text; of several parts, those that are text."""
    if content is None:
        return ""
    if not isinstance(content, list | tuple):
        return _text(content)
    parts: list[Any] = [field_of(each, "text") or each for each in cast("list[Any]", content)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _response(payload: Any, _scene: Scene) -> dict[str, str]:
    response = {"role": "assistant", "content": _text(field_of(payload, "response") or "")}
    reasoning = field_of(payload, "reasoning")
    return response if reasoning is None else {**response, "reasoning_content": reasoning}


#: The names by which other providers count tokens.
_TOKENS: Mapping[str, tuple[str, ...]] = {
    "promptTokens": ("promptTokens", "prompt_tokens", "input_tokens"),
    "completionTokens": ("completionTokens", "completion_tokens", "output_tokens"),
    "cacheHitTokens": ("cacheHitTokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
    "cacheMissTokens": ("cacheMissTokens", "prompt_cache_miss_tokens", "cache_creation_input_tokens"),
}


def _usage(payload: Any, _scene: Scene) -> dict[str, Any] | None:
    usage: Any = field_of(payload, "usage")
    if not usage:
        return None
    return {
        name: next((usage[other] for other in others if other in usage), 0)
        for name, others in _TOKENS.items()
    }


def _session_name(payload: Any, scene: Scene) -> Any:
    known = _said(scene, "sessionName")
    if known is None:
        known = field_of(payload, "session_title") or scene.session_id
    return known or None


_TURN = _same("turn", "turn", "a whole number")
#: Where the payload does not have it.
_TURN_OF_SCENE = Key("turn", "a whole number", lambda _, scene: scene.turn, lambda _: {})
_ANSWER = _same("lastAssistantText", "last_assistant_message")
_TOOL = (
    _same("toolName", "tool_name"),
    Key("toolArgs", "anything", lambda payload, _: field_of(payload, "tool_input") or {}, _arguments),
)
_NAMED = Key("sessionName", "text", _session_name, lambda _: {})
_CALL = _same("toolCallId", "tool_use_id")

KEYS: Mapping[str, tuple[Key, ...]] = MappingProxyType(
    {
        "SessionStart": (_NAMED, _same("source", "source")),
        "TurnStart": (_TURN,),
        "PreToolUse": _TOOL,
        "PostToolUse": (
            *_TOOL, Key("toolResult", "text", _result, lambda text: {"tool_response": text}), _beside("error", "error"),
        ),
        "UserPromptSubmit": (_same("prompt", "prompt"), _TURN_OF_SCENE),
        "PreModelCall": (
            _TURN,
            Key("model", "text", lambda p, s: field_of(p, "model") or s.model, lambda name: {"model": name}),
            Key("modelMessages", "a list of objects", _messages, lambda each: {"messages": each}),
        ),
        "PostModelCall": (
            _TURN,
            Key(
                "modelResponse", "an object", _response,
                lambda value: {"response": value.get("content") or "", "reasoning": value.get("reasoning_content")},
            ),
            Key("usage", "an object", _usage, lambda value: {"usage": value}),
        ),
        # One text under two keys: its own, and the one hooks for other agents look for.
        "TurnEnd": (_TURN, _ANSWER, _same("last_assistant_message", "last_assistant_message")),
        "Stop": (
            Key(
                "lastAssistantText", "text", lambda p, _: p.last_assistant_message or (None if p.error else ""),
                lambda text: {"last_assistant_message": text},
            ),
            _TURN, _same("error", "error"),
        ),
        "SessionEnd": (
            _NAMED,
            _same("sessionDurationMs", "duration_ms", "a whole number"),
            _same("totalCostUsd", "cost_usd", "a number"),
            _same("reason", "reason"),
        ),
        "PostToolUseFailure": (
            *_TOOL, _beside("toolResult", "tool_response"), _same("error", "error"),
            _if_any("isInterrupt", "is_interrupt", "true or false"), _CALL,
        ),
        "PermissionRequest": (*_TOOL, _CALL),
        "StopFailure": (_TURN_OF_SCENE, _same("error", "error"), _same("message", "error_details")),
        "PostLLMCall": (
            _TURN, _same("reasoning", "reasoning"), _if_any("lastAssistantText", "response"),
        ),
        "SubagentStop": (_ANSWER, _same("subject", "agent_type")),
        "Notification": (_same("message", "message"), _same("notificationType", "notification_type")),
        "PreCompact": (_same("trigger", "trigger"),),
    }
)  # fmt: skip


def document(event_name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """The payload in Reasonix's shape; what is not known is left out."""
    values = {key.name: key.write(payload, scene) for key in KEYS[event_name]}
    known = {name: value for name, value in values.items() if value is not None}
    session = {"sessionId": scene.session_id} if scene.session_id else {}
    return {"event": event_name, **session, "cwd": scene.cwd, **known}


#: Fields a payload cannot be without, and their values where a document lacks them.
_ASSUMED: Mapping[str, Mapping[str, Any]] = {"SubagentStop": {"agent_id": ""}}


def parse(document: Mapping[str, Any], events: Mapping[str, DialectEvent]) -> Parsed:
    """Raises `ConfigError` or `UnknownEventError` with what is wrong."""
    name = family.event_name(document, events, "event")
    known: dict[str, Any] = dict(_ASSUMED.get(name, {}))
    missing: dict[str, str] = {}
    for key in KEYS[name]:
        value = document.get(key.name)
        if value is None:
            missing |= dict.fromkeys(key.read({}), key.name)
        elif (instead := misshaped(value, key.shape)) is not None:
            raise bad_payload(f"{key.name} is {instead}")
        else:
            known.update(key.read(value))
    event = events[name].event
    return Parsed(event, payload_record(event, name, known, missing), _scene(document))


#: A key that the payload of its event has no field for: empty where the agent did not send it.
_KEPT = {
    "SessionStart": "sessionName", "SessionEnd": "sessionName", "PostToolUse": "error",
    "PostToolUseFailure": "toolResult",
}  # fmt: skip


def _scene(document: Mapping[str, Any]) -> Scene:
    known = family.scene_texts(document, ("cwd", "sessionId", "model"))
    if "sessionId" in known:
        known["session_id"] = known.pop("sessionId")
    turn, kept = document.get("turn"), _KEPT.get(str(document.get("event")))
    if isinstance(turn, int) and not isinstance(turn, bool):
        known["turn"] = turn
    if kept is not None:
        value = document.get(kept)
        known["extra"] = {kept: value if isinstance(value, str) else ""}
    return Scene(**known)
