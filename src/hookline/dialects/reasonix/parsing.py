"""A payload in Reasonix's shape read back: which event, what is known, where it happened."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects.dialect import Spelled
from hookline.dialects.reasonix.telling import KEYS
from hookline.dialects.whole_text import converted
from hookline.documents.shapes import misshaped
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

#: Fields a payload cannot be without, and what stands for them in a document that lacks them.
_ASSUMED: Mapping[str, Mapping[str, Any]] = {"SubagentStop": {"agent_id": ""}}


def parse(document: Mapping[str, Any], spellings: Mapping[str, Spelled]) -> Parsed:
    name = document.get("event")
    if not isinstance(name, str):
        raise _wrong("event is missing" if name is None else "event is not text")
    spelled = spellings.get(name)
    if spelled is None:
        raise UnknownEventError(name, nearest(name, spellings))
    known: dict[str, Any] = dict(_ASSUMED.get(name, {}))
    for key in KEYS[name]:
        value = document.get(key.name)
        if value is not None:
            instead = misshaped(value, key.shape)
            if instead is not None:
                raise _wrong(f"{key.name} is {instead}")
            known.update(key.take(value))
    return Parsed(spelled.event, _payload(spelled, known), _scene(document))


def _payload(spelled: Spelled, known: dict[str, Any]) -> Any:
    try:
        return converted(known, spelled.event.payload)
    except (msgspec.ValidationError, RecursionError) as error:
        said = str(error)
        if said.startswith("Object missing required field"):
            field = said.split("`")[1]
            names = {key.name for key in KEYS[spelled.name] if field in key.take({})}
            said = f"{', '.join(sorted(names)) or field} is missing"
        raise _wrong(f"the payload of {spelled.name}: {said}") from None


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
