"""Messages of a request as Docker Agent has them, both ways: its keys, and its own tools in the calls."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from hookline.dialects.docker_agent.tools import TABLE
from hookline.dialects.family.messages import put_back
from hookline.dialects.family.wire import UnreadableError
from hookline.dialects.json_text import written
from hookline.model.messages import (
    AnyMessage,
    Assistant,
    HostMessage,
    ToolResult,
    ToolUse,
    new_message,
    tool_uses,
    with_text,
)
from hookline.model.payloads import ModelRequest
from hookline.model.scene import Scene
from hookline.tools.acts import Place
from hookline.tools.rewrite import IrreversibleError
from hookline.tools.standard import STANDARD
from hookline.tools.table import ToolTable
from hookline.tools.tell import ReadCall, View

Object = Mapping[str, Any]


def told_messages(messages: Sequence[AnyMessage], scene: Scene) -> list[dict[str, Any]]:
    return [_told(message, scene) for message in messages]


def transient_messages(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The text of turn_start hooks as messages of this one request."""
    return [{"role": "system", "content": text} for text in texts]


def read_messages(wanted: Sequence[Object], payload: ModelRequest, scene: Scene) -> list[AnyMessage]:
    """The messages of the request as a hook wants them. Raises `UnreadableError` for one that has no such form."""
    shown = [*zip(payload.messages, told_messages(payload.messages, scene), strict=True)]
    is_hosts = any(isinstance(message, HostMessage) for message in payload.messages)

    def read(document: Object, before: AnyMessage | None) -> AnyMessage:
        if before is None:
            return HostMessage(document) if is_hosts else _added(document, scene)
        return _edited(document, before, scene)

    return put_back(shown, wanted, read)


def _told(message: AnyMessage, scene: Scene) -> dict[str, Any]:
    if isinstance(message, HostMessage) and isinstance(message.get("content"), str):
        return dict(message)
    others = message.items() if isinstance(message, HostMessage) else ()
    told: dict[str, Any] = {name: value for name, value in others if name not in ("text", "parts")}
    told |= {"role": message.role, "content": message.text}
    if isinstance(message, Assistant):
        if message.reasoning is not None:
            told["reasoning_content"] = message.reasoning
        if message.tool_calls:
            told["tool_calls"] = [_told_call(use, scene) for use in message.tool_calls]
    elif isinstance(message, ToolResult):
        told["tool_call_id"] = message.tool_use_id
    return told


def _told_call(use: ToolUse, scene: Scene) -> dict[str, Any]:
    view = _view(use, STANDARD, TABLE, scene)
    name, arguments = (use.name, use.input) if view is None else (view[1].tool_name, view[1].arguments)
    text = arguments if isinstance(arguments, str) else written(arguments).decode()
    return {"id": use.id, "type": "function", "function": {"name": name, "arguments": text}}


def _view(use: ToolUse, tools: ToolTable, target: ToolTable, scene: Scene) -> tuple[ReadCall, View] | None:
    """The call in another agent's terms; None where that agent has no single call for it."""
    if not isinstance(use.input, Mapping):
        return None
    place = Place(scene.cwd, scene.project_dir or scene.cwd, os.path.expanduser("~"))
    call = ReadCall(tools, use.name, use.input, place)
    acts = [ways for ways in call.ways(target) if ways and not ways[0][0].act.implied]
    return (call, acts[0][0][0]) if len(acts) == 1 and len(acts[0][0]) == 1 else None


def _edited(document: Object, before: AnyMessage, scene: Scene) -> AnyMessage:
    if isinstance(before, HostMessage):
        return (
            HostMessage(document)
            if isinstance(before.get("content"), str)
            else with_text(before, _text(document))
        )
    message = with_text(before, _text(document))
    if isinstance(message, Assistant):
        return replace(message, tool_calls=_calls(document, message.tool_calls, scene))
    return message


def _added(document: Object, scene: Scene) -> AnyMessage:
    role, text = document.get("role"), _text(document)
    if role == "tool":
        return ToolResult(tool_use_id=str(document.get("tool_call_id") or ""), name="", text=text)
    if role == "assistant":
        return Assistant(text=text, tool_calls=_calls(document, (), scene))
    if role in ("user", "system"):
        return new_message("user", text)
    raise UnreadableError(f"updated_messages: there is no role {str(role)[:40]!r}")


def _text(document: Object) -> str:
    content = document.get("content")
    if not isinstance(content, str):
        raise UnreadableError("updated_messages: the content of a message is not text")
    return content


def _calls(document: Object, before: Sequence[ToolUse], scene: Scene) -> tuple[ToolUse, ...]:
    """The calls in canonical terms: one that was told keeps what the hook did not change."""
    given = document.get("tool_calls")
    calls: list[Any] = cast("list[Any]", given) if isinstance(given, list) else []
    known = {use.id: use for use in before}
    told = {use.id: _told_call(use, scene) for use in before}
    found: list[ToolUse] = []
    for call in calls:
        if not isinstance(call, Mapping):
            raise UnreadableError("updated_messages: a tool call is not an object")
        (use,) = tool_uses((cast("Object", call),))
        old = known.get(use.id)
        if old is not None and call == told[use.id]:
            found.append(old)
        else:
            found.append(_canonical(use, old, scene))
    return tuple(found)


def _canonical(use: ToolUse, old: ToolUse | None, scene: Scene) -> ToolUse:
    view = _view(old, STANDARD, TABLE, scene) if old is not None else None
    if old is not None and view is not None and view[1].tool_name == use.name:
        try:
            return replace(old, input=view[0].rewritten(view[1], use.input, old.input).arguments)
        except IrreversibleError as problem:
            raise UnreadableError(f"updated_messages: the call {use.id}: {problem}") from None
    new = _view(use, TABLE, STANDARD, scene)
    return use if new is None else replace(use, name=new[1].tool_name, input=new[1].arguments)
