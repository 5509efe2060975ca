"""The document each event puts on stdin, key by key: how it is told, and how it is read back.

The keys of the first ten events are the pull request's. Those of the v1 line's own events are a best guess:
its source names the keys but not which event fills which.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.json_text import written
from hookline.dialects.surrogates import converted
from hookline.documents.shapes import misshaped
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

#: Not told: the agent leaves the key out.
_NOTHING: Any = None

Tell = Callable[[Any, Scene], Any]
Take = Callable[[Any], dict[str, Any]]


class Key(Struct, frozen=True):
    """One key of a document."""

    name: str
    shape: str
    tell: Tell
    #: The payload fields its value stands for.
    take: Take


def field(payload: Any, *names: str) -> Any:
    """The first of these fields the payload has, be it a record or a host's own mapping."""
    for name in names:
        if isinstance(payload, Mapping):
            found: Any = cast("Mapping[str, Any]", payload).get(name)
        else:
            found = getattr(payload, name, None)
        if found is not None:
            return found
    return None


def _same(name: str, attribute: str, shape: str = "text") -> Key:
    return Key(name, shape, lambda payload, _: field(payload, attribute), lambda value: {attribute: value})


def _text(value: Any) -> str:
    """Text as it is; anything else as the JSON it would be."""
    return value if isinstance(value, str) else written(value).decode()


def _result(payload: Any, _scene: Scene) -> str:
    found = field(payload, "tool_response", "error")
    return "" if found is None else _text(found)


def _arguments(value: Any) -> dict[str, Any]:
    """Arguments the agent could not parse arrive as text."""
    return {"tool_input": value if isinstance(value, Mapping) else {"raw": value}}


def _messages(payload: Any, _scene: Scene) -> list[dict[str, str]]:
    found: Any = field(payload, "messages") or ()
    return [{"role": _text(each.get("role", "")), "content": _content(each.get("content"))} for each in found]


def _content(content: Any) -> str:
    """A message's content as one text; of several parts, those that are text."""
    if content is None:
        return ""
    if not isinstance(content, list | tuple):
        return _text(content)
    parts: list[Any] = [field(each, "text") or each for each in cast("list[Any]", content)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _response(payload: Any, _scene: Scene) -> dict[str, str]:
    told = {"role": "assistant", "content": _text(field(payload, "response") or "")}
    reasoning = field(payload, "reasoning")
    return told if reasoning is None else {**told, "reasoning_content": reasoning}


def _response_back(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"response": value.get("content") or "", "reasoning": value.get("reasoning_content")}


#: Names other providers count tokens by.
_TOKENS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "promptTokens": ("promptTokens", "prompt_tokens", "input_tokens"),
        "completionTokens": ("completionTokens", "completion_tokens", "output_tokens"),
        "cacheHitTokens": ("cacheHitTokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        "cacheMissTokens": ("cacheMissTokens", "prompt_cache_miss_tokens", "cache_creation_input_tokens"),
    }
)


def _usage(payload: Any, _scene: Scene) -> dict[str, Any] | None:
    usage: Any = field(payload, "usage")
    if not usage:
        return None
    return {
        name: next((usage[other] for other in others if other in usage), 0)
        for name, others in _TOKENS.items()
    }


def _session_name(payload: Any, scene: Scene) -> Any:
    known = scene.extra.get("sessionName") if scene.extra is not None else None
    return known or field(payload, "session_title") or scene.session_id or None


def _unread(_value: Any) -> dict[str, Any]:
    return {}


_TURN = _same("turn", "turn", "a whole number")
_ANSWER = _same("lastAssistantText", "last_assistant_message")
_TOOL = (
    _same("toolName", "tool_name"),
    Key("toolArgs", "anything", lambda payload, _: field(payload, "tool_input") or {}, _arguments),
)
_NAMED = Key("sessionName", "text", _session_name, _unread)
_SESSION = Key("sessionId", "text", lambda _, scene: scene.session_id or None, _unread)
_CALL = _same("toolCallId", "tool_use_id")

KEYS: Mapping[str, tuple[Key, ...]] = MappingProxyType(
    {
        "SessionStart": (_NAMED, _same("source", "source")),
        "TurnStart": (_TURN,),
        "PreToolUse": _TOOL,
        "PostToolUse": (*_TOOL, Key("toolResult", "text", _result, lambda text: {"tool_response": text})),
        "UserPromptSubmit": (_same("prompt", "prompt"),),
        "PreModelCall": (
            _TURN,
            Key("model", "text", lambda p, s: field(p, "model") or s.model, lambda name: {"model": name}),
            Key("modelMessages", "a list of objects", _messages, lambda each: {"messages": each}),
        ),
        "PostModelCall": (
            _TURN,
            Key("modelResponse", "an object", _response, _response_back),
            Key("usage", "an object", _usage, lambda value: {"usage": value}),
        ),
        # One text under two keys: its own, and the one hooks for other agents look for.
        "TurnEnd": (_TURN, _ANSWER, _same("last_assistant_message", "last_assistant_message")),
        "Stop": (_ANSWER, _TURN),
        "SessionEnd": (
            _NAMED,
            _same("sessionDurationMs", "duration_ms", "a whole number"),
            _same("totalCostUsd", "cost_usd", "a number"),
            _same("reason", "reason"),
        ),
        "PostToolUseFailure": (
            *_TOOL, _same("error", "error"), _same("isInterrupt", "is_interrupt", "true or false"), _CALL, _SESSION,
        ),
        "PermissionRequest": (*_TOOL, _CALL, _SESSION),
        "StopFailure": (_same("error", "error"), _same("message", "error_details"), _ANSWER, _SESSION),
        "PostLLMCall": (_TURN, _same("reasoning", "reasoning"), _same("lastAssistantText", "response"), _SESSION),
        "SubagentStop": (_ANSWER, _same("subject", "agent_type"), _SESSION),
        "Notification": (_same("message", "message"), _same("notificationType", "notification_type"), _SESSION),
        "PreCompact": (_same("trigger", "trigger"), _SESSION),
    }
)  # fmt: skip


def document(event_name: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """The payload in Reasonix's shape; what is not known is left out."""
    told: dict[str, Any] = {"event": event_name, "cwd": scene.cwd}
    for key in KEYS[event_name]:
        value = key.tell(payload, scene)
        if value is not _NOTHING:
            told[key.name] = value
    return told


#: Fields a payload cannot be without, and what stands for them in a document that lacks them.
_ASSUMED: Mapping[str, Mapping[str, Any]] = {"SubagentStop": {"agent_id": ""}}


def parse(document: Mapping[str, Any], dialect_events: Mapping[str, DialectEvent]) -> Parsed:
    name = document.get("event")
    if not isinstance(name, str):
        raise _wrong("event is missing" if name is None else "event is not text")
    own_event = dialect_events.get(name)
    if own_event is None:
        raise UnknownEventError(name, nearest(name, dialect_events))
    known: dict[str, Any] = dict(_ASSUMED.get(name, {}))
    for key in KEYS[name]:
        value = document.get(key.name)
        if value is not None:
            instead = misshaped(value, key.shape)
            if instead is not None:
                raise _wrong(f"{key.name} is {instead}")
            known.update(key.take(value))
    return Parsed(own_event.event, _payload(own_event, known), _scene(document))


def _payload(own_event: DialectEvent, known: dict[str, Any]) -> Any:
    try:
        return converted(known, own_event.event.payload)
    except (msgspec.ValidationError, RecursionError) as error:
        said = str(error)
        if said.startswith("Object missing required field"):
            field = said.split("`")[1]
            names = {key.name for key in KEYS[own_event.name] if field in key.take({})}
            said = f"{', '.join(sorted(names)) or field} is missing"
        raise _wrong(f"the payload of {own_event.name}: {said}") from None


def _scene(document: Mapping[str, Any]) -> Scene:
    known: dict[str, Any] = {}
    for key, name in (("cwd", "cwd"), ("sessionId", "session_id"), ("model", "model")):
        value = document.get(key)
        if value is not None:
            if not isinstance(value, str):
                raise _wrong(f"{key} is not text")
            known[name] = value
    turn, session = document.get("turn"), document.get("sessionName")
    if isinstance(turn, int) and not isinstance(turn, bool):
        known["turn"] = turn
    if isinstance(session, str):
        known["extra"] = {"sessionName": session}
    return Scene(**known)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
