"""A payload document of Docker Agent read back: which event, what is known, where it happened."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects.dialect import Spelled
from hookline.dialects.docker_agent.payloads import FAILED, FIELDS, KEYS
from hookline.dialects.docker_agent.telling import encoded
from hookline.dialects.whole_text import converted
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import POST_TOOL_USE_FAILURE, EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

#: What tells one name from others at the same moment.
_PROMPT_SOURCES = {"user_steering_messages_submit": "steering", "user_followup_submit": "followup"}
#: Fields of Hookline's payloads that have no key of their own here.
_STANDING_IN = {"subagent_stop": {"agent_id": "agent_name"}}

#: Where a message names a field of Hookline's payload.
_FIELD = re.compile(r"(?<=`\$\.)\w+|(?<=missing required field `)\w+")

_SCENE = {"session_id": "session_id", "cwd": "cwd", "agent_name": "agent_type", "model_id": "model"}


def parse_payload(document: Mapping[str, Any], spellings: Mapping[str, Spelled]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = document.get("hook_event_name")
    if not isinstance(name, str):
        raise _wrong("hook_event_name is missing" if name is None else "hook_event_name is not text")
    spelled = spellings.get(name)
    if spelled is None:
        # Only for this message.
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - see above

        raise UnknownEventError(name, nearest(name, spellings))
    if name == "on_tool_approval_decision" and document.get("approval_decision") == "allow":
        raise _wrong("Hookline has no event for an approval that was given, only for one that was denied")
    failed = name == "post_tool_use" and document.get("tool_error") is True
    event = POST_TOOL_USE_FAILURE if failed else spelled.event
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
