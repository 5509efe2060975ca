"""A payload document of Claude Code read back: which event, what is known, where it happened."""

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from hookline.dialects.claude_code.payload import OWN
from hookline.dialects.claude_code.vocabulary import ROWS, WORDS
from hookline.dialects.whole_text import converted
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

_SCENE_TEXTS: Final = (
    "session_id", "transcript_path", "cwd", "permission_mode", "prompt_id", "agent_id", "agent_type", "model",
)  # fmt: skip


def parse_payload(document: Mapping[str, Any]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = document.get("hook_event_name")
    if not isinstance(name, str):
        raise _wrong("hook_event_name is missing" if name is None else "hook_event_name is not text")
    row = ROWS.get(name)
    if row is None:
        raise UnknownEventError(name, nearest(name, ROWS))
    return Parsed(row.event, _payload(name, row.event, document), _scene(name, row.event, document))


def _payload(name: str, event: EventSpec[Any], document: Mapping[str, Any]) -> Any:
    words = {claude: ours for ours, claude in WORDS.get(name, {}).items()}
    told = dict(document)
    if words and isinstance(told.get("error"), str):
        told["error"] = words.get(told["error"], told["error"])
    try:
        return converted(told, event.payload)
    except msgspec.ValidationError as error:
        raise _wrong(f"the payload of {name}: {str(error).replace('`', '')}") from None
    except RecursionError:
        raise _wrong(f"the payload of {name} is nested too deeply") from None


def _scene(name: str, event: EventSpec[Any], document: Mapping[str, Any]) -> Scene:
    known: dict[str, Any] = {}
    for field in _SCENE_TEXTS:
        value = document.get(field)
        if value is None:
            continue
        if not isinstance(value, str):
            raise _wrong(f"{field} is not text")
        known[field] = value
    fields: tuple[str, ...] = getattr(event.payload, "__struct_fields__", ())
    extra = {
        key.name: document[key.name]
        for key in OWN[name]
        if key.name not in fields and document.get(key.name) is not None
    }
    effort = document.get("effort")
    if isinstance(effort, Mapping):
        level = cast("Mapping[str, Any]", effort).get("level")
        if isinstance(level, str):
            extra["effort"] = level
    return Scene(**known, extra=extra or None)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
