"""Read and write payloads of Docker Agent: one table maps keys to payload fields for each event."""

import os
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.messages import received_messages, transient_messages
from hookline.dialects.family.wire import PayloadError, bad_payload, encoded, event_name
from hookline.dialects.json_text import converted
from hookline.model.events import POST_TOOL_USE_FAILURE, EventSpec, field_of
from hookline.model.messages import Usage, usage_of
from hookline.model.payloads import ModelRequest
from hookline.model.session_info import SessionInfo
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
#: Sent even when it is 0: a call that cost 0 was free, one without a cost has no price.
_SENT_WHEN_ZERO = frozenset({"cost"})
_INFO = {"session_id": "session_id", "cwd": "cwd", "agent_name": "agent_type", "model_id": "model"}
#: Entries of the session's `extra` that become variables of a trace.
_TRACE = {"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE", "baggage": "BAGGAGE"}
#: The payload field in a message of msgspec.
_FIELD_NAME = re.compile(r"(?<=`\$\.)\w+|(?<=missing required field `)\w+")

Object = Mapping[str, Any]
Change = Callable[[Any], Any]


class PayloadKey(Struct, frozen=True):
    """One key of a payload: the field it holds, and how the value is converted each way."""

    name: str
    field: str
    encode: Change = lambda value: value
    decode: Change = lambda value: value


def _keys(*names: str, **renamed: str) -> tuple[PayloadKey, ...]:
    """Make keys that are called like their field, and keys that are not."""
    return (
        *(PayloadKey(name, name) for name in names),
        *(PayloadKey(name, field) for name, field in renamed.items()),
    )


def _words(name: str, field: str, there: Mapping[str, str], back: Mapping[str, str]) -> PayloadKey:
    """Make a key some of whose words differ; anything else is passed on unchanged."""
    return PayloadKey(name, field, _translated(there), _translated(back))


def _translated(words: Mapping[str, str]) -> Change:
    return lambda word: words.get(word, word) if isinstance(word, str) else word


def _fixed(name: str, field: str, value: Any, back: Any = None) -> PayloadKey:
    return PayloadKey(name, field, lambda _: value, lambda _: back)


def _joined(messages: Any) -> Any:
    return "\n".join(map(str, cast("list[Any]", messages))) if isinstance(messages, list) else messages


def _usage(used: Usage) -> dict[str, int]:
    """Return counts by Docker Agent's names; unknown ones are left out."""
    counts = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cached_input_tokens": used.cache_read_tokens,
        "cached_write_tokens": used.cache_write_tokens,
        "reasoning_tokens": used.reasoning_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}


_TOOL = _keys("tool_category", "tool_name", "tool_use_id", "tool_input")
_RESULT = (*_TOOL, *_keys("tool_response"))
#: A failed call: its error is the response.
_FAILED = (*_TOOL, *_keys(tool_response="error"), _fixed("tool_error", "tool_name", value=True))
_NOTICE = _keys(notification_message="message")
_ENDINGS = _words(
    "reason",
    "status",
    {
        "completed": "normal", "blocked": "hook_blocked", "failed": "error", "interrupted": "canceled",
        "max_iterations": "normal",
    },
    {
        "normal": "completed", "continue": "completed", "steered": "completed", "hook_blocked": "blocked",
        "error": "failed", "canceled": "interrupted", "loop_detected": "failed",
    },
)  # fmt: skip
_COMPACTION = _words(
    "compaction_reason", "trigger", {"auto": "threshold"}, {"threshold": "auto", "overflow": "auto"}
)

#: By its own event name. Any other key comes from the session, or from the host's `extra`.
EVENT_KEYS: Mapping[str, tuple[PayloadKey, ...]] = MappingProxyType(
    {
        "session_start": (_words("source", "source", {"fork": "startup"}, {}),),
        "user_prompt_submit": _keys("prompt"),
        "user_steering_messages_submit": (
            PayloadKey("steering_messages", "prompt", lambda prompt: [prompt] if prompt else [], _joined),
        ),
        "user_followup_submit": _keys("prompt"),
        "turn_start": (),
        "before_llm_call": (*_keys("iteration", model_id="model"), PayloadKey("messages", "messages")),
        "after_llm_call": (
            PayloadKey("usage", "usage", _usage, usage_of),
            *_keys(model_id="model", stop_response="response", cost="cost_usd"),
        ),
        "tool_input_transform": _TOOL,
        "tool_guard": _TOOL,
        "pre_tool_use": _TOOL,
        "permission_request": _TOOL,
        "on_tool_approval_decision": (*_TOOL, _fixed("approval_decision", "tool_name", "deny")),
        "tool_response_transform": _RESULT,
        "post_tool_use": _RESULT,
        "stop": _keys(stop_response="last_assistant_message"),
        "turn_end": (_ENDINGS,),
        "subagent_stop": _keys(agent_name="agent_type", stop_response="last_assistant_message"),
        "on_user_input": (),
        "notification": (*_keys(notification_level="level"), *_NOTICE),
        "on_error": (_fixed("notification_level", "level", "error", "error"), *_NOTICE),
        "on_max_iterations": (_fixed("notification_level", "level", "warning", "warning"), *_NOTICE),
        "on_session_resume": _keys(previous_max_iterations="max_iterations"),
        "on_agent_switch": _keys("from_agent", "to_agent", "agent_switch_kind"),
        "pre_compact": (_words("source", "trigger", {}, {"overflow": "auto", "tool_overflow": "auto"}),),
        "before_compaction": (*_keys("input_tokens", "context_limit"), _COMPACTION),
        "after_compaction": (_COMPACTION, *_keys(summary="compact_summary")),
        "worktree_create": _keys(worktree_branch="name"),
        "session_end": (_words("reason", "reason", {"resume": "other"}, {}),),
    }
)
#: Payload fields that an event's name implies, and fields that share the key of another.
_IMPLIED = {
    "user_steering_messages_submit": {"source": "steering"},
    "user_followup_submit": {"source": "followup"},
}
_SHARED = {"subagent_stop": {"agent_id": "agent_name"}}


def payload_document(
    event: EventSpec[Any], name: str, payload: Any, info: SessionInfo, agent: str
) -> dict[str, Any]:
    """Make the document: the three keys that are always there, then every key that has a value."""
    if payload is None:
        raise PayloadError(f"no payload for {name}")
    known: dict[str, Any] = {"last_user_message": info.prompt, **(info.extra or {})}
    known["agent_name"] = info.agent_type or agent
    known.setdefault("model_id", info.model)
    if name == "worktree_create":
        known.setdefault("worktree_source_dir", info.project_dir or info.cwd or os.getcwd())
    for key in _FAILED if event is POST_TOOL_USE_FAILURE else EVENT_KEYS[name]:
        value = field_of(payload, key.field)
        if value is not None:
            known[key.name] = key.encode(value)
    if name == "before_llm_call":
        request = cast("ModelRequest", payload)
        known["messages"] = [
            *received_messages(request.messages, info),
            *transient_messages(request.transient),
        ]
    document = {
        "session_id": info.session_id,
        "cwd": info.cwd or os.getcwd(),
        "hook_event_name": name,
    }
    sent = {name: known[name] for name in KEYS if known.get(name) is not None}
    return document | {name: value for name, value in sent.items() if value or name in _SENT_WHEN_ZERO}


def trace_variables(info: SessionInfo) -> dict[str, str]:
    """Return the variables of the trace this run belongs to, if the host gave one."""
    extra = info.extra or {}
    return {variable: str(extra[name]) for name, variable in _TRACE.items() if extra.get(name)}


def parse_payload(document: Object, events: Mapping[str, DialectEvent]) -> Parsed:
    """Parse a payload. Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = event_name(document, events)
    if name == "on_tool_approval_decision" and document.get("approval_decision") == "allow":
        raise bad_payload(
            "Hookline has no event for an approval that was given, only for one that was denied"
        )
    failed = name == "post_tool_use" and document.get("tool_error") is True
    event = POST_TOOL_USE_FAILURE if failed else events[name].event
    keys = _FAILED if failed else EVENT_KEYS[name]
    known: dict[str, Any] = {field: document.get(key, "") for field, key in _SHARED.get(name, {}).items()}
    for key in keys:
        value = document.get(key.name)
        if value is not None:
            known.setdefault(key.field, key.decode(value))
    known.update(_IMPLIED.get(name, {}))
    if failed and not isinstance(known.get("error"), str):
        known["error"] = encoded(known["error"]).decode() if known.get("error") else ""
    names = {**{key.field: key.name for key in reversed(keys)}, **_SHARED.get(name, {})}
    payload = _payload(name, event, known, names)
    return Parsed(event, payload, _info(document, {key.name for key in keys}))


def _payload(name: str, event: EventSpec[Any], known: Object, names: Mapping[str, str]) -> Any:
    try:
        return converted(known, event.payload)
    except msgspec.ValidationError as error:
        problem = _FIELD_NAME.sub(lambda found: names.get(found[0], found[0]), str(error))
        raise bad_payload(f"the payload of {name}: {problem.replace('`', '')}") from None
    except RecursionError:
        raise bad_payload(f"the payload of {name} is nested too deeply") from None


def _info(document: Object, of_payload: set[str]) -> SessionInfo:
    texts: dict[str, Any] = {}
    for key, field in _INFO.items():
        value = document.get(key)
        if value is not None and not isinstance(value, str):
            raise bad_payload(f"{key} is not text")
        # Where the payload itself names an agent, it is not the one whose hooks run.
        if value and not (key == "agent_name" and key in of_payload):
            texts[field] = value
    known = of_payload | {"agent_name"}
    extra = {key: document[key] for key in KEYS if key not in known and document.get(key) is not None}
    return SessionInfo(**texts, extra=extra or None)
