"""Read and write payloads of Reasonix's events, key by key.

The keys of the first ten events are the pull request's. Those of the v1 line's own events are a best guess:
its source names the keys but not which event fills which.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.family import wire as family
from hookline.dialects.family.wire import bad_payload, payload_record
from hookline.dialects.json_text import written
from hookline.documents.document import misshaped
from hookline.model.events import field_of
from hookline.model.messages import Usage, totals_given, usage_of
from hookline.model.payloads import ModelRequest, ModelResponse, TurnBegun
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Parsed


class PayloadKey(Struct, frozen=True):
    """One key of a document."""

    name: str
    shape: str
    #: Returns its value, from the payload and the session; None leaves the key out.
    write: Callable[[Any, SessionInfo], Any]
    #: Returns the payload fields that its value comes from.
    read: Callable[[Any], dict[str, Any]]


def _same(name: str, attribute: str, shape: str = "text") -> PayloadKey:
    return PayloadKey(
        name, shape, lambda payload, _: field_of(payload, attribute), lambda value: {attribute: value}
    )


def _if_any(name: str, attribute: str, shape: str = "text") -> PayloadKey:
    """Make a key that is left out where it is empty."""
    return PayloadKey(
        name, shape, lambda p, _: field_of(p, attribute) or None, lambda value: {attribute: value}
    )


def _result(payload: Any, info: SessionInfo) -> str | None:
    """Return the result; for a failed call the error, unless the agent itself distinguished them."""
    found = field_of(payload, "tool_response")
    found = field_of(payload, "error") if found is None else found
    if found is None:
        return None if _said(info, "error") else ""
    return found if isinstance(found, str) else written(found).decode()


def _said(info: SessionInfo, name: str) -> Any:
    """Return a fact of the agent beside the fields that the event has."""
    return info.extra.get(name) if info.extra is not None else None


def _beside(name: str, attribute: str) -> PayloadKey:
    """Make a key for which not every payload of its event has a field."""
    return PayloadKey(
        name, "text", lambda p, s: field_of(p, attribute) or _said(s, name) or None, lambda _: {}
    )


def _arguments(value: Any) -> dict[str, Any]:
    """Read arguments; those the agent could not parse arrive as text."""
    return {"tool_input": value if isinstance(value, Mapping) else {"raw": value}}


def _messages(payload: ModelRequest, _info: SessionInfo) -> list[dict[str, str]]:
    """Return all messages for the model, also the text for this request alone."""
    said = [(each.role, each.text) for each in payload.messages]
    said += [("user", text) for text in payload.transient]
    return [{"role": role, "content": text} for role, text in said]


def _response(payload: ModelResponse, _info: SessionInfo) -> dict[str, str]:
    response = {"role": "assistant", "content": payload.response}
    return response if payload.reasoning is None else {**response, "reasoning_content": payload.reasoning}


def _counts(usage: Usage | None) -> dict[str, int] | None:
    """Return counts by Reasonix's names; unknown ones are left out."""
    if usage is None:
        return None
    counts = {
        "promptTokens": usage.input_tokens,
        "completionTokens": usage.output_tokens,
        "cacheHitTokens": usage.cache_read_tokens,
        "cacheMissTokens": usage.cache_miss_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None} or None


def _used_before(payload: TurnBegun, info: SessionInfo) -> dict[str, int] | None:
    return _counts(payload.totals or info.totals)


def _cost_before(payload: TurnBegun, info: SessionInfo) -> float | None:
    totals = payload.totals or info.totals
    return totals.cost_usd if totals is not None else None


def _read_usage(value: Any) -> dict[str, Any]:
    return {"usage": usage_of(value)}


def _read_totals(value: Any) -> dict[str, Any]:
    return {"totals": totals_given(value)}


def _session_name(payload: Any, info: SessionInfo) -> Any:
    known = _said(info, "sessionName")
    if known is None:
        known = field_of(payload, "session_title") or info.session_id
    return known or None


_TURN = _same("turn", "turn", "a whole number")
#: Used where the payload does not have it.
_TURN_OF_SCENE = PayloadKey("turn", "a whole number", lambda _, info: info.turn, lambda _: {})
_ANSWER = _same("lastAssistantText", "last_assistant_message")
_TOOL = (
    _same("toolName", "tool_name"),
    PayloadKey("toolArgs", "anything", lambda payload, _: field_of(payload, "tool_input") or {}, _arguments),
)
_NAMED = PayloadKey("sessionName", "text", _session_name, lambda _: {})
_CALL = _same("toolCallId", "tool_use_id")

KEYS: Mapping[str, tuple[PayloadKey, ...]] = MappingProxyType(
    {
        "SessionStart": (_NAMED, _same("source", "source")),
        # What a check of a budget needs: the pull request names no fields for it.
        "TurnStart": (
            _TURN,
            _same("sessionDurationMs", "session_ms", "a whole number"),
            PayloadKey("totalCostUsd", "a number", _cost_before, lambda _: {}),
            PayloadKey("usage", "an object", _used_before, _read_totals),
        ),
        "PreToolUse": _TOOL,
        "PostToolUse": (
            *_TOOL, PayloadKey("toolResult", "text", _result, lambda text: {"tool_response": text}),
            _beside("error", "error"),
        ),
        "UserPromptSubmit": (_same("prompt", "prompt"), _TURN_OF_SCENE),
        "PreModelCall": (
            _TURN,
            PayloadKey("model", "text", lambda p, s: field_of(p, "model") or s.model, lambda name: {"model": name}),
            PayloadKey("modelMessages", "a list of objects", _messages, lambda each: {"messages": each}),
        ),
        "PostModelCall": (
            _TURN,
            PayloadKey(
                "modelResponse", "an object", _response,
                lambda value: {"response": value.get("content") or "", "reasoning": value.get("reasoning_content")},
            ),
            PayloadKey("usage", "an object", lambda payload, _: _counts(payload.usage), _read_usage),
        ),
        # One text under two keys: its own, and the one hooks for other agents look for.
        "TurnEnd": (_TURN, _ANSWER, _same("last_assistant_message", "last_assistant_message")),
        "Stop": (
            PayloadKey(
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
            # For a summary report, beyond the pull request's own fields.
            _same("turn", "turns", "a whole number"),
            PayloadKey("usage", "an object", lambda payload, info: _counts(payload.totals or info.totals),
            _read_totals),
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


def document(event_name: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    """Return the payload in Reasonix's shape; unknown facts are left out."""
    values = {key.name: key.write(payload, info) for key in KEYS[event_name]}
    known = {name: value for name, value in values.items() if value is not None}
    session = {"sessionId": info.session_id} if info.session_id else {}
    return {"event": event_name, **session, "cwd": info.cwd, **known}


#: Fields a payload cannot be without, and their values where a document lacks them.
_ASSUMED: Mapping[str, Mapping[str, Any]] = {"SubagentStop": {"agent_id": ""}}


def parse(document: Mapping[str, Any], events: Mapping[str, DialectEvent]) -> Parsed:
    """Parse a payload. Raises `ConfigError` or `UnknownEventError` with the error."""
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
    return Parsed(event, payload_record(event, name, known, missing), _info(document))


#: A key that the payload of its event has no field for: empty where the agent did not send it.
_KEPT = {
    "SessionStart": "sessionName", "SessionEnd": "sessionName", "PostToolUse": "error",
    "PostToolUseFailure": "toolResult",
}  # fmt: skip


def _info(document: Mapping[str, Any]) -> SessionInfo:
    known = family.info_texts(document, ("cwd", "sessionId", "model"))
    if "sessionId" in known:
        known["session_id"] = known.pop("sessionId")
    turn, kept = document.get("turn"), _KEPT.get(str(document.get("event")))
    if isinstance(turn, int) and not isinstance(turn, bool):
        known["turn"] = turn
    if kept is not None:
        value = document.get(kept)
        known["extra"] = {kept: value if isinstance(value, str) else ""}
    return SessionInfo(**known)
