"""Payloads in Docker Agent's own shape: which key says what at which event, both ways."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.json_text import written, written_answer
from hookline.dialects.surrogates import converted
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, HooklineError, UnknownEventError
from hookline.model.events import POST_TOOL_USE_FAILURE, EventSpec, field_of
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

#: Every key in the order it is written, after the three that are always there.
KEYS = (
    "agent_name", "model_id", "iteration", "last_user_message", "tool_category", "tool_name", "tool_use_id",
    "tool_input", "tool_read_only", "safety_policy", "tool_response", "tool_error", "messages", "source",
    "reason", "stop_response", "prompt", "steering_messages", "parent_session_id", "notification_level",
    "notification_message", "from_agent", "to_agent", "agent_switch_kind", "from_agent_models",
    "previous_max_iterations", "new_max_iterations", "approval_decision", "approval_source", "safety_label",
    "usage", "cost", "input_tokens", "output_tokens", "context_limit", "compaction_reason", "summary",
    "worktree_path", "worktree_branch", "worktree_source_dir",
)  # fmt: skip
#: Said even when it is nothing: a call that cost 0 was free, one without a cost has no price.
SAID_WHEN_ZERO = frozenset({"cost"})

Change = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


class Field(Struct, frozen=True):
    """One key of a payload: the field it is told from, and how a value changes on each way."""

    key: str
    field: str
    tell: Change = _same
    back: Change = _same


def _words(there: Mapping[str, str], back: Mapping[str, str] | None = None) -> tuple[Change, Change]:
    """Words that differ; every other word stays as it is."""
    reverse = back if back is not None else {value: key for key, value in there.items()}
    return _exchanged(there), _exchanged(reverse)


def _exchanged(words: Mapping[str, str]) -> Change:
    """What is no text stays too: whoever needs a text there says so."""
    return lambda word: words.get(word, word) if isinstance(word, str) else word


def _always(value: Any, back: Any = None) -> tuple[Change, Change]:
    return (lambda _: value), (lambda _: back)


def _one_message(prompt: Any) -> Any:
    return [prompt] if prompt else []


def _joined(messages: Any) -> Any:
    return "\n".join(map(str, cast("list[Any]", messages))) if isinstance(messages, list) else messages


_ENDINGS = _words(
    {
        "completed": "normal",
        "blocked": "hook_blocked",
        "failed": "error",
        "interrupted": "canceled",
        "max_iterations": "normal",
    },
    {
        "normal": "completed",
        "continue": "completed",
        "steered": "completed",
        "hook_blocked": "blocked",
        "error": "failed",
        "canceled": "interrupted",
        "loop_detected": "failed",
    },
)
_COMPACTION = _words({"auto": "threshold"}, {"threshold": "auto", "overflow": "auto"})
_TRIGGERS = _words({}, {"overflow": "auto", "tool_overflow": "auto"})
_SOURCES = _words({"fork": "startup"}, {})
_CLOSINGS = _words({"resume": "other"}, {})

_TOOL = (
    Field("tool_category", "tool_category"),
    Field("tool_name", "tool_name"),
    Field("tool_use_id", "tool_use_id"),
    Field("tool_input", "tool_input"),
)
_RESULT = (*_TOOL, Field("tool_response", "tool_response"))
_NOTICE = Field("notification_message", "message")

#: By its own event name. What is not here is told from the scene, or from what the host put into its `extra`.
FIELDS: Mapping[str, tuple[Field, ...]] = {
    "session_start": (Field("source", "source", *_SOURCES),),
    "user_prompt_submit": (Field("prompt", "prompt"),),
    "user_steering_messages_submit": (Field("steering_messages", "prompt", _one_message, _joined),),
    "user_followup_submit": (Field("prompt", "prompt"),),
    "turn_start": (),
    "before_llm_call": (
        Field("model_id", "model"),
        Field("iteration", "iteration"),
        Field("messages", "messages"),
    ),
    "after_llm_call": (
        Field("model_id", "model"),
        Field("stop_response", "response"),
        Field("usage", "usage"),
        Field("cost", "cost_usd"),
    ),
    "tool_input_transform": _TOOL,
    "tool_guard": _TOOL,
    "pre_tool_use": _TOOL,
    "permission_request": _TOOL,
    "on_tool_approval_decision": (*_TOOL, Field("approval_decision", "tool_name", *_always("deny"))),
    "tool_response_transform": _RESULT,
    "post_tool_use": _RESULT,
    "stop": (Field("stop_response", "last_assistant_message"),),
    "turn_end": (Field("reason", "status", *_ENDINGS),),
    "subagent_stop": (
        Field("agent_name", "agent_type"),
        Field("stop_response", "last_assistant_message"),
    ),
    "on_user_input": (),
    "notification": (Field("notification_level", "level"), _NOTICE),
    "on_error": (Field("notification_level", "level", *_always("error", "error")), _NOTICE),
    "on_max_iterations": (Field("notification_level", "level", *_always("warning", "warning")), _NOTICE),
    "on_session_resume": (Field("previous_max_iterations", "max_iterations"),),
    "on_agent_switch": (
        Field("from_agent", "from_agent"),
        Field("to_agent", "to_agent"),
        Field("agent_switch_kind", "agent_switch_kind"),
    ),
    "pre_compact": (Field("source", "trigger", *_TRIGGERS),),
    "before_compaction": (
        Field("input_tokens", "input_tokens"),
        Field("context_limit", "context_limit"),
        Field("compaction_reason", "trigger", *_COMPACTION),
    ),
    "after_compaction": (
        Field("compaction_reason", "trigger", *_COMPACTION),
        Field("summary", "compact_summary"),
    ),
    "worktree_create": (Field("worktree_branch", "name"),),
    "session_end": (Field("reason", "reason", *_CLOSINGS),),
}
#: A failed call: its error is the response.
FAILED = (*_TOOL, Field("tool_response", "error"), Field("tool_error", "tool_name", *_always(True)))


#: Names of the trace a host may have put into the scene's `extra`, and the variables that carry it.
_TRACE = {"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE", "baggage": "BAGGAGE"}


class PayloadError(HooklineError):
    """A payload that cannot be told to external code."""


def payload_document(
    event: EventSpec[Any], event_name: str, payload: Any, scene: Scene, agent: str
) -> dict[str, Any]:
    """What is always there, then what is not empty."""
    if payload is None:
        raise PayloadError(f"there is no payload for {event_name}")
    known = _from_scene(event_name, scene, agent)
    for field in FAILED if event is POST_TOOL_USE_FAILURE else FIELDS[event_name]:
        value = field_of(payload, field.field)
        if value is not None:
            known[field.key] = field.tell(value)
    if event_name == "before_llm_call":
        known["messages"] = with_transient(known.get("messages"), payload)
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "cwd": scene.cwd or os.getcwd(),
        "hook_event_name": event_name,
    }
    for key in KEYS:
        value = known.get(key)
        if value or (value is not None and key in SAID_WHEN_ZERO):
            document[key] = value
    return document


def _from_scene(event_name: str, scene: Scene, agent: str) -> dict[str, Any]:
    known: dict[str, Any] = dict(scene.extra or {})
    known["agent_name"] = scene.agent_type or agent
    if event_name == "worktree_create":
        known.setdefault("worktree_source_dir", scene.project_dir or scene.cwd or os.getcwd())
    return known


def transient_messages(payload: Any) -> list[dict[str, str]]:
    """The text of turn_start hooks as messages of this one request."""
    texts = field_of(payload, "transient")
    return [{"role": "system", "content": text} for text in texts or ()]


def with_transient(messages: Any, payload: Any) -> list[Any]:
    return [*(messages or ()), *transient_messages(payload)]


def encoded(document: Mapping[str, Any]) -> bytes:
    """Raises `PayloadError` for a value that has no JSON form."""
    try:
        return written(document)
    except (TypeError, ValueError, OverflowError) as error:
        raise PayloadError(f"it cannot be written as JSON: {error}") from None


def encoded_answer(document: Mapping[str, Any]) -> str:
    """An answer as one line. Raises `PayloadError` for a value that has no JSON form."""
    try:
        return written_answer(document)
    except (TypeError, ValueError, OverflowError) as error:
        raise PayloadError(f"it cannot be written as JSON: {error}") from None


def trace(scene: Scene) -> dict[str, str]:
    """The trace this run belongs to, where the host says so."""
    extra = scene.extra
    if not extra:
        return {}
    return {variable: str(extra[name]) for name, variable in _TRACE.items() if extra.get(name)}


#: What tells one name from others at the same moment.
_PROMPT_SOURCES = {"user_steering_messages_submit": "steering", "user_followup_submit": "followup"}
#: Fields of Hookline's payloads that have no key of their own here.
_STANDING_IN = {"subagent_stop": {"agent_id": "agent_name"}}

#: Where a message names a field of Hookline's payload.
_FIELD = re.compile(r"(?<=`\$\.)\w+|(?<=missing required field `)\w+")

_SCENE = {"session_id": "session_id", "cwd": "cwd", "agent_name": "agent_type", "model_id": "model"}


def parse_payload(document: Mapping[str, Any], dialect_events: Mapping[str, DialectEvent]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = document.get("hook_event_name")
    if not isinstance(name, str):
        raise _wrong("hook_event_name is missing" if name is None else "hook_event_name is not text")
    own_event = dialect_events.get(name)
    if own_event is None:
        # Only for this message.
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - see above

        raise UnknownEventError(name, nearest(name, dialect_events))
    if name == "on_tool_approval_decision" and document.get("approval_decision") == "allow":
        raise _wrong("Hookline has no event for an approval that was given, only for one that was denied")
    failed = name == "post_tool_use" and document.get("tool_error") is True
    event = POST_TOOL_USE_FAILURE if failed else own_event.event
    fields = FAILED if failed else FIELDS[name]
    known: dict[str, Any] = {}
    for field in fields:
        value = document.get(field.key)
        if value is not None:
            known.setdefault(field.field, field.back(value))
    for field, key in _STANDING_IN.get(name, {}).items():
        known[field] = document.get(key, "")
    if name in _PROMPT_SOURCES:
        known["source"] = _PROMPT_SOURCES[name]
    if failed and not isinstance(known.get("error"), str):
        known["error"] = encoded(known["error"]).decode() if known.get("error") else ""
    names = {**{field.field: field.key for field in reversed(fields)}, **_STANDING_IN.get(name, {})}
    payload = _payload(name, event, known, names)
    return Parsed(event, payload, _scene(document, {field.key for field in fields}))


def _payload(name: str, event: EventSpec[Any], known: dict[str, Any], names: Mapping[str, str]) -> Any:
    try:
        return converted(known, event.payload)
    except msgspec.ValidationError as error:
        told = _FIELD.sub(lambda found: names.get(found[0], found[0]), str(error))
        raise _wrong(f"the payload of {name}: {told.replace('`', '')}") from None
    except RecursionError:
        raise _wrong(f"the payload of {name} is nested too deeply") from None


def _scene(document: Mapping[str, Any], told: set[str]) -> Scene:
    texts: dict[str, Any] = {}
    for key, field in _SCENE.items():
        value = document.get(key)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{key} is not text")
        # Where the payload itself names an agent, it is not the one whose hooks run.
        if value and not (key == "agent_name" and key in told):
            texts[field] = value
    told = told | {"agent_name"}
    extra = {key: document[key] for key in KEYS if key not in told and document.get(key) is not None}
    return Scene(**texts, extra=extra or None)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
