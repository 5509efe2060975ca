"""A payload in gen-code's shape, and back."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects.gencode.events import ROWS, Row
from hookline.dialects.json_text import written
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import field_of
from hookline.model.scene import Scene
from hookline.model.wire import Call, Encoded, Parsed

#: Sent also when it is empty: only an absent one is left out.
_SENT_EMPTY = frozenset({"tool_response"})
#: Where the payload does not say it, the scene may.
_OF_SCENE = ("model", "agent_id", "agent_type")
_COMMON = ("session_id", "transcript_path", "cwd", "permission_mode")
_PREFIXES = ("GEN_", "CLAUDE_")


def tell(call: Call) -> Encoded:
    """The document has no newline at its end: it is the whole of stdin."""
    event_name, scene = call.hook.policy.event_name, call.scene
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "transcript_path": scene.transcript_path,
        "cwd": scene.cwd,
        "hook_event_name": event_name,
        "permission_mode": scene.permission_mode,
    }
    for name in ROWS[event_name].sends:
        value = field_of(call.payload, name)
        if value is None and name in _OF_SCENE:
            value = getattr(scene, name)
        if value is not None and (value or name in _SENT_EMPTY):
            document[name] = value
    return Encoded(written(document), _environment(event_name, document.get("tool_name"), scene))


def _environment(event_name: str, tool: Any, scene: Scene) -> dict[str, str]:
    values = {
        "PROJECT_DIR": scene.project_dir or scene.cwd,
        "SESSION_ID": scene.session_id,
        "EVENT_TYPE": event_name,
    }
    if isinstance(tool, str):
        # A zero byte would keep the process from starting, and with it the guard.
        values["TOOL_NAME"] = tool.replace("\0", "")
    return {f"{prefix}{name}": value for prefix in _PREFIXES for name, value in values.items()}


def parse(document: Mapping[str, Any]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = document.get("hook_event_name")
    if not isinstance(name, str):
        raise _wrong("hook_event_name is missing" if name is None else "hook_event_name is not text")
    row = ROWS.get(name)
    if row is None:
        # Only for this message.
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - see above

        raise UnknownEventError(name, nearest(name, ROWS))
    given = {key: value for key, value in document.items() if value is not None}
    try:
        payload = msgspec.convert(given, row.event.payload)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _wrong(f"the payload of {name}: {error}") from None
    return Parsed(row.event, payload, _scene(row, given))


def _scene(row: Row, given: Mapping[str, Any]) -> Scene:
    known: dict[str, str] = {}
    for name in (*_COMMON, *(each for each in _OF_SCENE if each in row.sends)):
        value = given.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{name} is not text")
        if value:
            known[name] = value
    return msgspec.convert(known, Scene)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
