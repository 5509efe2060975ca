"""A payload of CodeWhale read back: which moment, what is known, where it happened.

Most of its events tell their payload in variables only, which name no event. A document of such an event is
the variables as they are, or under their names without the prefix in small letters, beside `event`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from hookline.dialects.codewhale.texts import TOLD_CUT
from hookline.dialects.codewhale.vocabulary import BY_NAME, Row, mode_of
from hookline.dialects.lenient_json import LenientJsonError, read_lenient
from hookline.matching.nearest import nearest
from hookline.model import payloads as p
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import ConfigError, UnknownEventError
from hookline.model.events import EventSpec
from hookline.model.scene import Scene
from hookline.model.wire import Parsed

_PREFIXES = ("CODEWHALE_", "DEEPSEEK_")
_EXTRAS = ("total_tokens", "session_cost", "provider", "billing_surface", "model_backed", "created_at")


def parse_payload(document: Mapping[str, Any]) -> Parsed:
    """Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    told = _Told(document)
    name = told.text("event")
    if not name:
        raise _wrong("event is missing")
    row = BY_NAME.get(name)
    if row is None:
        raise UnknownEventError(name, nearest(name, BY_NAME))
    event, payload = _PAYLOADS[name](told, row)
    return Parsed(event, payload, _scene(told))


class _Told:
    """The fields of a document, by their plain names, each with the type it must have."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.fields: dict[str, Any] = {}
        for prefix in _PREFIXES:
            found = {key: value for key, value in document.items() if key.startswith(prefix)}
            self.fields.update({key.removeprefix(prefix).lower(): value for key, value in found.items()})
        self.fields.update(document)

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def text(self, name: str, otherwise: str = "") -> str:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise _wrong(f"{name} is not text")
        return otherwise if value is None else value

    def number(self, name: str) -> int | None:
        """A whole number; a variable holds it as text."""
        value = self.fields.get(name)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 20:
            return int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise _wrong(f"{name} is not a whole number")
        return value

    def count(self, name: str) -> int:
        return self.number(name) or 0

    def object(self, name: str) -> Mapping[str, Any]:
        value = self.fields.get(name)
        if isinstance(value, str):
            value = _decoded(name, value)
        if value is not None and not isinstance(value, Mapping):
            raise _wrong(f"{name} is not an object")
        return cast("Mapping[str, Any]", value) if value is not None else {}

    def required(self, name: str) -> str:
        if name not in self:
            raise _wrong(f"{name} is missing")
        return self.text(name)


def _decoded(name: str, text: str) -> Any:
    if text.endswith(TOLD_CUT):
        # Judging half of the arguments would be worse than not judging them.
        raise _wrong(f"{name} was cut off by CodeWhale, so nobody can know what it says")
    try:
        return read_lenient(text)
    except LenientJsonError as error:
        raise _wrong(f"{name} is not JSON: {error}") from None


def _scene(told: _Told) -> Scene:
    workspace = told.text("workspace")
    extra = {name: told.fields[name] for name in _EXTRAS if told.fields.get(name) is not None}
    if "total_tokens" in extra:
        extra["total_tokens"] = told.number("total_tokens")
    if "session_cost" in extra:
        extra["session_cost"] = _cost(told)
    return Scene(
        session_id=told.text("session_id"),
        cwd=workspace,
        project_dir=workspace or None,
        permission_mode=mode_of(told.text("mode")) or "default",
        model=told.text("model") or None,
        extra=extra or None,
    )


Found = tuple[EventSpec[Any], Any]


def _session_start(told: _Told, row: Row) -> Found:
    return row.events[0], p.SessionStarted(model=told.text("model") or None)


def _session_end(told: _Told, row: Row) -> Found:
    return row.events[0], p.SessionEnded(cost_usd=_cost(told))


def _cost(told: _Told) -> float | None:
    cost = told.fields.get("session_cost")
    try:
        return None if cost is None else float(cost)
    except (TypeError, ValueError, OverflowError):
        raise _wrong("session_cost is not a number") from None


def _message_submit(told: _Told, row: Row) -> Found:
    if told.fields.get("text_truncated") is True:
        raise _wrong("text was cut off by CodeWhale, so nobody can know what it says")
    return row.events[0], p.Prompt(prompt=told.required("text" if "text" in told else "message"))


def _call(told: _Told) -> dict[str, Any]:
    return {
        "tool_name": told.required("tool_name"),
        "tool_input": told.object("tool_args"),
        "tool_use_id": told.text("tool_call_id") or None,
    }


def _tool_call_before(told: _Told, row: Row) -> Found:
    return row.events[0], p.ToolCall(**_call(told))


def _failed(told: _Told) -> p.ToolFailure:
    error = told.text("error") or told.text("tool_result")
    return p.ToolFailure(**_call(told), error=error, exit_code=told.number("tool_exit_code"))


def _tool_call_after(told: _Told, row: Row) -> Found:
    succeeded, failed = row.events
    if told.fields.get("tool_success") in ("false", False):
        return failed, _failed(told)
    response: Any = told.text("tool_result")
    code = told.number("tool_exit_code")
    if code is not None:
        response = {"output": response, "exit_code": code}
    return succeeded, p.ToolResult(**_call(told), tool_response=response)


def _mode_change(told: _Told, row: Row) -> Found:
    old, new = mode_of(told.required("previous_mode")), mode_of(told.required("mode"))
    return row.events[0], p.ModeMove(old_mode=old, new_mode=new)


def _on_error(told: _Told, row: Row) -> Found:
    happened, failed = row.events
    if "tool_name" in told:
        return failed, _failed(told)
    return happened, p.RunError(message=told.required("error"))


def _turn_end(told: _Told, row: Row) -> Found:
    return row.events[0], p.TurnSummary(
        status=told.text("status", "completed"),
        turn_id=told.text("turn_id") or None,
        error=told.text("error") or None,
        duration_ms=told.count("duration_ms"),
        usage=told.object("usage"),
        totals=told.object("totals"),
        tool_count=told.count("tool_count"),
        queued_message_count=told.count("queued_message_count"),
    )


def _subagent_spawn(told: _Told, row: Row) -> Found:
    prompt = told.text("prompt_preview") or told.text("message")
    return row.events[0], p.SubagentBegun(agent_id=told.required("agent_id"), prompt=prompt)


def _subagent_complete(told: _Told, row: Row) -> Found:
    result = told.text("result_preview") or told.text("message")
    agent, status = told.required("agent_id"), told.text("status", "unknown")
    return row.events[0], p.SubagentEnded(agent_id=agent, status=status, last_assistant_message=result)


def _shell_env(told: _Told, row: Row) -> Found:
    given = told.object("tool_args")
    command = given.get("command")
    return row.events[0], p.ShellStart(
        tool_name=told.text("tool_name", "exec_shell"),
        command=command if isinstance(command, str) else "",
        tool_input=given,
    )


_PAYLOADS: Mapping[str, Callable[[_Told, Row], Found]] = MappingProxyType(
    {
        "session_start": _session_start,
        "session_end": _session_end,
        "message_submit": _message_submit,
        "tool_call_before": _tool_call_before,
        "tool_call_after": _tool_call_after,
        "mode_change": _mode_change,
        "on_error": _on_error,
        "turn_end": _turn_end,
        "subagent_spawn": _subagent_spawn,
        "subagent_complete": _subagent_complete,
        "shell_env": _shell_env,
    }
)


def _wrong(message: str) -> ConfigError:
    return ConfigError([Diagnostic("error", "bad-payload", message)])
