"""Read and write payloads of CodeWhale: environment variables at every event, a document on stdin at four of
them.

Read back, variables and document keys are one set of names: `DEEPSEEK_TOOL_NAME` is `tool_name`. Variables do
not name the event, so a document made of them also has `event`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.codewhale.conditions import current_mode
from hookline.dialects.codewhale.events import BY_NAME, EventRow, mode_of
from hookline.dialects.codewhale.texts import (
    FIELD_CHARS,
    METADATA_BYTES,
    PAYLOAD_CUT,
    at_most,
    cleaned,
    cut_bytes,
    encodable,
    prefix,
)
from hookline.dialects.family.wire import bad_payload, event_name
from hookline.dialects.json_text import JsonTextError, read_lenient, written
from hookline.matching.conditions import exit_code_of
from hookline.model import events as e
from hookline.model.errors import ConfigError
from hookline.model.events import field_of
from hookline.model.messages import Totals, Usage
from hookline.model.payloads import SessionEnded, SubagentBegun, SubagentEnded, TurnSummary
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation, Parsed

DOCUMENT_BYTES = 32 << 10
_TEXT_BYTES = 5_000
_JSON_BYTES = 10_000
_PREVIEW_BYTES = 2_048

_PREFIXES = ("CODEWHALE_", "DEEPSEEK_")
#: These two variables are set under the second prefix as well.
_ALIASED = frozenset({"SESSION_ID", "TOOL_CALL_ID"})
_EXTRAS = ("provider", "billing_surface", "model_backed", "created_at")

Now = Callable[[], datetime]
Object = Mapping[str, Any]


class Outside(Struct, frozen=True):
    """Facts that payloads need beside the call."""

    #: The clock for turn_end.
    now: Now
    #: Removes secrets: the words of subagents are not meant for hooks.
    redact: Callable[[str], str]


# -- variables ---------------------------------------------------------------------------------------------


def environment(call: HookInvocation, outside: Outside) -> dict[str, str]:
    """Return the variables of this event that have a value. Their size is bounded."""
    env: dict[str, str] = {}
    payload = call.payload
    if isinstance(payload, SubagentBegun):
        payload = replace(payload, prompt=outside.redact(payload.prompt))
    elif isinstance(payload, SubagentEnded):
        payload = replace(payload, last_assistant_message=outside.redact(payload.last_assistant_message))
    for name in BY_NAME[call.hook.policy.event_name].variables:
        value = _VARIABLES[name](payload, call.info)
        if value is not None:
            env[f"DEEPSEEK_{name}"] = value
            if name in _ALIASED:
                env[f"CODEWHALE_{name}"] = value
    return env


def _metadata(value: Any) -> str | None:
    return cut_bytes(value, METADATA_BYTES) if isinstance(value, str) and value else None


def _long_text(value: Any) -> str | None:
    return cut_bytes(value, _TEXT_BYTES) if isinstance(value, str) else None


def _number_text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _first(payload: Any, *names: str) -> Any:
    return next((value for name in names if (value := field_of(payload, name)) is not None), None)


def _extra(info: SessionInfo, name: str) -> Any:
    return info.extra.get(name) if info.extra is not None else None


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _workspace(info: SessionInfo) -> str:
    return info.project_dir or info.cwd


def _session_cost(payload: Any, info: SessionInfo) -> str | None:
    cost = payload.cost_usd if isinstance(payload, SessionEnded) else None
    if cost is None:
        # A host that does not add up may give the sum by CodeWhale's own name.
        cost = _extra(info, "session_cost") if info.totals is None else info.totals.cost_usd
    return f"{cost:.6f}" if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _total_tokens(info: SessionInfo) -> int | None:
    if info.totals is None:
        return _whole_number(_extra(info, "total_tokens"))
    return info.totals.session_tokens


def _arguments(payload: Any, _info: SessionInfo) -> str:
    arguments = field_of(payload, "tool_input")
    if not arguments and (command := field_of(payload, "command")):
        arguments = {"command": command}
    return cut_bytes(written(arguments if arguments is not None else {}).decode(), _JSON_BYTES)


def _result(payload: Any, _info: SessionInfo) -> str | None:
    result = _first(payload, "error", "tool_response")
    if result is None:
        return None if field_of(payload, "tool_name") is None else ""
    return cut_bytes(result if isinstance(result, str) else written(result).decode(), _JSON_BYTES)


def _success(payload: Any, _info: SessionInfo) -> str | None:
    if field_of(payload, "tool_name") is None:
        return None
    return "true" if field_of(payload, "error") is None else "false"


def _previous_mode(payload: Any, _info: SessionInfo) -> str | None:
    mode = field_of(payload, "old_mode")
    return _metadata(mode_of(mode)) if isinstance(mode, str) else None


_VARIABLES: Mapping[str, Callable[[Any, SessionInfo], str | None]] = MappingProxyType(
    {
        "SESSION_ID": lambda _, info: _metadata(info.session_id),
        # Not made encodable: a directory whose name is not UTF-8 must reach the hook unchanged.
        "WORKSPACE": lambda _, info: _workspace(info)[:METADATA_BYTES] or None,
        "MODEL": lambda _, info: _metadata(info.model),
        "MODE": lambda payload, info: _metadata(current_mode(payload, info)),
        "TOTAL_TOKENS": lambda _, info: _number_text(_total_tokens(info)),
        "SESSION_COST": _session_cost,
        "MESSAGE": lambda payload, _: _long_text(_first(payload, "last_assistant_message", "prompt")),
        "ERROR": lambda payload, _: _long_text(_first(payload, "error", "message")),
        "PREVIOUS_MODE": _previous_mode,
        "TOOL_NAME": lambda payload, _: _metadata(field_of(payload, "tool_name")),
        "TOOL_CALL_ID": lambda payload, _: _metadata(field_of(payload, "tool_use_id")),
        "TOOL_ARGS": _arguments,
        "TOOL_RESULT": _result,
        "TOOL_SUCCESS": _success,
        "TOOL_EXIT_CODE": lambda payload, _: _number_text(exit_code_of(payload)),
    }
)


# -- documents ---------------------------------------------------------------------------------------------


def document(call: HookInvocation, outside: Outside) -> bytes:
    """Return the text for stdin: one JSON document and a newline, or nothing at all."""
    write = _DOCUMENTS.get(call.hook.policy.event_name)
    return b"" if write is None else write(call, outside)


def _line(fields: Object) -> bytes:
    return written(fields) + b"\n"


def _info_fields(call: HookInvocation, most: int = METADATA_BYTES) -> dict[str, Any]:
    info = call.info
    return {
        "session_id": cut_bytes(info.session_id, most),
        "workspace": cut_bytes(_workspace(info), most),
        "mode": cut_bytes(current_mode(call.payload, info), most),
        "model": None if info.model is None else cut_bytes(info.model, most),
        "total_tokens": _total_tokens(info),
    }


def _submitted(call: HookInvocation, _outside: Outside) -> bytes:
    """Return the message, or the longest beginning of it that fits together with the other fields."""
    text = encodable(str(field_of(call.payload, "prompt") or ""))
    size = len(text.encode())
    rest = _fields_that_leave_room(call, size)
    fits, too_much = 0, min(len(text), DOCUMENT_BYTES) + 1
    # Most messages fit as a whole, so that is tried first.
    middle = too_much - 1
    while too_much - fits > 1:
        if len(_submit_document(text[:middle], size, rest)) <= DOCUMENT_BYTES:
            fits = middle
        else:
            too_much = middle
        middle = (fits + too_much) // 2
    return _submit_document(text[:fits], size, rest)


def _fields_that_leave_room(call: HookInvocation, size: int) -> dict[str, Any]:
    """Return the other fields, shortened or null where they would leave too little space for the message."""
    for most in (METADATA_BYTES, 1024, 256):
        rest = _info_fields(call, most)
        if len(_submit_document("", size, rest)) <= DOCUMENT_BYTES // 2:
            return rest
    return dict.fromkeys(_info_fields(call, 0))


def _submit_document(text: str, original: int, rest: Object) -> bytes:
    kept = len(text.encode())
    return _line(
        {
            "event": "message_submit",
            "text": text,
            "text_bytes": kept,
            "text_original_bytes": original,
            "text_truncated": kept < original,
            **rest,
        }
    )


def _settled(call: HookInvocation, outside: Outside) -> bytes:
    payload: TurnSummary = call.payload
    info = call.info
    backed = _extra(info, "model_backed") is not False
    shared = _info_fields(call)
    error = payload.error
    fields: dict[str, Any] = {
        "event": "turn_end",
        **{key: shared[key] for key in ("session_id", "workspace", "mode")},
        "created_at": _extra(info, "created_at") or outside.now().isoformat(),
        "model_backed": backed,
        "provider": _extra(info, "provider") if backed else None,
        "billing_surface": _extra(info, "billing_surface") if backed else None,
        "model": shared["model"],
        "turn_id": payload.turn_id or (f"turn_{payload.turn}" if backed else f"lifecycle_{uuid4()}"),
        "status": payload.status or "completed",
        "error": None if error is None else at_most(cleaned(outside.redact(encodable(error))), FIELD_CHARS),
        "duration_ms": payload.duration_ms,
        "usage": _usage(payload.usage or Usage()),
        "totals": _totals(payload.totals or info.totals or Totals()),
        "tool_count": payload.tool_count,
        "queued_message_count": payload.queued_message_count,
        # Reserved by CodeWhale for hooks that send the agent back to work; nothing sets it today.
        "stop_hook_active": False,
    }
    return _line(fields)


def _usage(used: Usage) -> dict[str, int | None]:
    return {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "prompt_cache_hit_tokens": used.cache_read_tokens,
        "prompt_cache_miss_tokens": used.cache_miss_tokens,
        "prompt_cache_write_tokens": used.cache_write_tokens,
        "reasoning_tokens": used.reasoning_tokens,
        # Reasoning that is sent to the model again: no agent counts it but CodeWhale.
        "reasoning_replay_tokens": None,
    }


def _totals(used: Totals) -> dict[str, int | None]:
    return {
        "session_tokens": used.session_tokens,
        "conversation_tokens": used.conversation_tokens,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
    }


def _spawned(call: HookInvocation, outside: Outside) -> bytes:
    payload: SubagentBegun = call.payload
    prompt = _preview("prompt", payload.prompt, outside)
    return _line({**_subagent(call, payload.agent_id), **prompt})


def _completed(call: HookInvocation, outside: Outside) -> bytes:
    payload: SubagentEnded = call.payload
    status = cut_bytes(payload.status or "unknown", 256)
    result = _preview("result", payload.last_assistant_message, outside)
    return _line({**_subagent(call, payload.agent_id), **result, "status": status})


def _subagent(call: HookInvocation, agent_id: str) -> dict[str, Any]:
    agent = cut_bytes(agent_id, METADATA_BYTES)
    return {"event": call.hook.policy.event_name, "agent_id": agent, **_info_fields(call)}


def _preview(name: str, text: str, outside: Outside) -> dict[str, Any]:
    """Return the beginning of a text, redacted first: a secret that is cut in two would not be recognised."""
    kept, was_cut = prefix(outside.redact(encodable(text)), _PREVIEW_BYTES)
    return {f"{name}_preview": kept + PAYLOAD_CUT if was_cut else kept, f"{name}_truncated": was_cut}


_DOCUMENTS: Mapping[str, Callable[[HookInvocation, Outside], bytes]] = MappingProxyType(
    {
        "message_submit": _submitted,
        "turn_end": _settled,
        "subagent_spawn": _spawned,
        "subagent_complete": _completed,
    }
)


# -- read back ---------------------------------------------------------------------------------------------


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise bad_payload(f"{key} is not text")
    return value


def _mode(key: str, value: Any) -> str:
    return mode_of(_text(key, value))


def _number(key: str, value: Any) -> int:
    """Return a whole number; a variable holds it as text."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    number = _whole_number(value)
    if number is None:
        raise bad_payload(f"{key} is not a whole number")
    return number


def _cost(key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise bad_payload(f"{key} is not a number") from None


def _object(key: str, value: Any) -> Object:
    if isinstance(value, str):
        if value.endswith(PAYLOAD_CUT):
            # Judging incomplete arguments would be worse than not judging them.
            raise _cut_off(key)
        try:
            value = read_lenient(value)
        except JsonTextError as error:
            raise bad_payload(f"{key} is not JSON: {error}") from None
    if not isinstance(value, Mapping):
        raise bad_payload(f"{key} is not an object")
    return cast("Object", value)


class PayloadKey(Struct, frozen=True):
    """One payload field: the names it is read from; the first that is not empty is used."""

    field: str
    names: tuple[str, ...]
    read: Callable[[str, Any], Any] = _text
    needed: bool = False
    default: Any = None

    def value(self, given: Object) -> Any:
        value: Any = None
        for name in self.names:
            if given.get(name) is not None:
                value = self.read(name, given[name])
                if value != "":
                    break
        if value is None and self.needed:
            raise bad_payload(f"{self.names[-1]} is missing")
        return self.default if value is None or (value == "" and not self.needed) else value


_TOOL = (
    PayloadKey("tool_name", ("tool_name",), needed=True),
    PayloadKey("tool_input", ("tool_args",), _object),
    PayloadKey("tool_use_id", ("tool_call_id",)),
)
_FAILED_TOOL = (
    *_TOOL,
    PayloadKey("error", ("error", "tool_result")),
    PayloadKey("exit_code", ("tool_exit_code",), _number),
)
_AGENT = PayloadKey("agent_id", ("agent_id",), needed=True)
_KEYS: Mapping[str, tuple[PayloadKey, ...]] = MappingProxyType(
    {
        "session_start": (PayloadKey("model", ("model",)),),
        "session_end": (PayloadKey("cost_usd", ("session_cost",), _cost),),
        "message_submit": (PayloadKey("prompt", ("text", "message"), needed=True),),
        "tool_call_before": _TOOL,
        "tool_call_after": (*_TOOL, PayloadKey("tool_response", ("tool_result",), default="")),
        "mode_change": (
            PayloadKey("old_mode", ("previous_mode",), _mode, needed=True),
            PayloadKey("new_mode", ("mode",), _mode, needed=True),
        ),
        "on_error": (PayloadKey("message", ("error",), needed=True),),
        "turn_end": (
            *(PayloadKey(name, (name,)) for name in ("status", "turn_id", "error")),
            *(
                PayloadKey(name, (name,), _number)
                for name in ("duration_ms", "tool_count", "queued_message_count")
            ),
            *(PayloadKey(name, (name,), _object) for name in ("usage", "totals")),
        ),
        "subagent_spawn": (_AGENT, PayloadKey("prompt", ("prompt_preview", "message"))),
        "subagent_complete": (
            _AGENT,
            PayloadKey("status", ("status",), default="unknown"),
            PayloadKey("last_assistant_message", ("result_preview", "message")),
        ),
        "shell_env": (
            PayloadKey("tool_name", ("tool_name",), default="exec_shell"),
            PayloadKey("tool_input", ("tool_args",), _object),
        ),
    }
)


def parse_payload(document: Object) -> Parsed:
    """Parse a payload. Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    given = _by_plain_names(document)
    name = event_name(given, BY_NAME, "event")
    if name == "message_submit" and given.get("text_truncated") is True:
        raise _cut_off("text")
    event = _event_of(BY_NAME[name], given)
    keys = _FAILED_TOOL if event is e.POST_TOOL_USE_FAILURE else _KEYS[name]
    fields = {key.field: value for key in keys if (value := key.value(given)) is not None}
    if event is e.POST_TOOL_USE and given.get("tool_exit_code") is not None:
        code = _number("tool_exit_code", given["tool_exit_code"])
        fields["tool_response"] = {"output": fields["tool_response"], "exit_code": code}
    if event is e.SHELL_ENV and isinstance(command := fields.get("tool_input", {}).get("command"), str):
        fields["command"] = command
    return Parsed(event, event.payload(**fields), _info(given))


def _by_plain_names(document: Object) -> dict[str, Any]:
    """Return variables without their prefix, in lower case; a key of the document comes first."""
    given: dict[str, Any] = {}
    for prefixed in _PREFIXES:
        found = {key: value for key, value in document.items() if key.startswith(prefixed)}
        given.update({key.removeprefix(prefixed).lower(): value for key, value in found.items()})
    return {**given, **document}


def _event_of(row: EventRow, given: Object) -> e.EventSpec[Any]:
    """Return the event. Two of CodeWhale's names have a second one: a tool call that failed."""
    if row.event_name == "tool_call_after":
        return row.events[given.get("tool_success") in ("false", False)]
    if row.event_name == "on_error":
        return row.events[given.get("tool_name") is not None]
    return row.events[0]


def _info(given: Object) -> SessionInfo:
    text = {
        name: PayloadKey("", (name,)).value(given) for name in ("session_id", "workspace", "mode", "model")
    }
    extra = {name: given[name] for name in _EXTRAS if given.get(name) is not None}
    tokens, cost = given.get("total_tokens"), given.get("session_cost")
    used = Totals(
        session_tokens=None if tokens is None else _number("total_tokens", tokens),
        cost_usd=None if cost is None else _cost("session_cost", cost),
    )
    return SessionInfo(
        session_id=text["session_id"] or "",
        cwd=text["workspace"] or "",
        project_dir=text["workspace"],
        permission_mode=mode_of(text["mode"] or "") or "default",
        model=text["model"],
        totals=used if used != Totals() else None,
        extra=extra or None,
    )


def _cut_off(name: str) -> ConfigError:
    return bad_payload(f"{name} was cut off by CodeWhale, so it cannot be judged")
