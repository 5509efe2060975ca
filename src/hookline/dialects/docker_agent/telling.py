"""A payload as the document and the environment that Docker Agent gives a hook."""

import os
from collections.abc import Mapping
from typing import Any

from hookline.dialects.docker_agent.payloads import FAILED, FIELDS, KEYS, SAID_WHEN_ZERO
from hookline.dialects.payload_json import written, written_answer
from hookline.matching.fields import read
from hookline.model.errors import HooklineError
from hookline.model.events import POST_TOOL_USE_FAILURE, EventSpec
from hookline.model.scene import Scene

#: Names of the trace a host may have put into the scene's `extra`, and the variables that carry it.
_TRACE = {"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE", "baggage": "BAGGAGE"}


class PayloadError(HooklineError):
    """A payload that cannot be told to external code."""


def payload_document(
    event: EventSpec[Any], spelled: str, payload: Any, scene: Scene, agent: str
) -> dict[str, Any]:
    """What is always there, then what is not empty."""
    if payload is None:
        raise PayloadError(f"there is no payload for {spelled}")
    known = _from_scene(spelled, scene, agent)
    for field in FAILED if event is POST_TOOL_USE_FAILURE else FIELDS[spelled]:
        value = read(payload, field.field)
        if value is not None:
            known[field.key] = field.tell(value)
    if spelled == "before_llm_call":
        known["messages"] = with_transient(known.get("messages"), payload)
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "cwd": scene.cwd or os.getcwd(),
        "hook_event_name": spelled,
    }
    for key in KEYS:
        value = known.get(key)
        if value or (value is not None and key in SAID_WHEN_ZERO):
            document[key] = value
    return document


def _from_scene(spelled: str, scene: Scene, agent: str) -> dict[str, Any]:
    known: dict[str, Any] = dict(scene.extra or {})
    known["agent_name"] = scene.agent_type or agent
    if spelled == "worktree_create":
        known.setdefault("worktree_source_dir", scene.project_dir or scene.cwd or os.getcwd())
    return known


def transient_messages(payload: Any) -> list[dict[str, str]]:
    """The text of turn_start hooks as messages of this one request."""
    texts = read(payload, "transient")
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
