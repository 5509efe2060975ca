"""Read and write messages of a request as Docker Agent has them: its keys, and its own tools in the calls."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from hookline.actions.action import PathContext
from hookline.actions.rewrite import IrreversibleError
from hookline.actions.standard_tools import STANDARD
from hookline.actions.table import ToolTable
from hookline.actions.translate import ReadCall, TranslatedAction
from hookline.dialects.docker_agent.tools import TABLE
from hookline.dialects.family.messages import put_back
from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.dialects.json_text import written
from hookline.model.messages import (
    AnyMessage,
    Assistant,
    HostMessage,
    ToolMessage,
    ToolUse,
    new_message,
    tool_uses,
    with_text,
)
from hookline.model.payloads import ModelRequest
from hookline.model.session_info import SessionInfo

Object = Mapping[str, Any]


def received_messages(messages: Sequence[AnyMessage], info: SessionInfo) -> list[dict[str, Any]]:
    return [_translated(message, info) for message in messages]


def transient_messages(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the text of turn_start hooks as messages of this one request."""
    return [{"role": "system", "content": text} for text in texts]


def read_messages(wanted: Sequence[Object], payload: ModelRequest, info: SessionInfo) -> list[AnyMessage]:
    """Return the messages of the request as a hook wants them. Raises `UnreadableAnswerError` for one that has no
    such form."""
    shown = [*zip(payload.messages, received_messages(payload.messages, info), strict=True)]
    is_hosts = any(isinstance(message, HostMessage) for message in payload.messages)

    def read(document: Object, before: AnyMessage | None) -> AnyMessage:
        if before is None:
            return HostMessage(document) if is_hosts else _added(document, info)
        return _edited(document, before, info)

    return put_back(shown, wanted, read)


def _translated(message: AnyMessage, info: SessionInfo) -> dict[str, Any]:
    if isinstance(message, HostMessage) and isinstance(message.get("content"), str):
        return dict(message)
    others = message.items() if isinstance(message, HostMessage) else ()
    shown: dict[str, Any] = {name: value for name, value in others if name not in ("text", "parts")}
    shown |= {"role": message.role, "content": message.text}
    if isinstance(message, Assistant):
        if message.reasoning is not None:
            shown["reasoning_content"] = message.reasoning
        if message.tool_calls:
            shown["tool_calls"] = [_translated_call(use, info) for use in message.tool_calls]
    elif isinstance(message, ToolMessage):
        shown["tool_call_id"] = message.tool_use_id
    return shown


def _translated_call(use: ToolUse, info: SessionInfo) -> dict[str, Any]:
    view = _view(use, STANDARD, TABLE, info)
    name, arguments = (use.name, use.input) if view is None else (view[1].tool_name, view[1].arguments)
    text = arguments if isinstance(arguments, str) else written(arguments).decode()
    return {"id": use.id, "type": "function", "function": {"name": name, "arguments": text}}


def _view(
    use: ToolUse, tools: ToolTable, target: ToolTable, info: SessionInfo
) -> tuple[ReadCall, TranslatedAction] | None:
    """Return the call in another agent's terms; None where that agent has no single call for it."""
    if not isinstance(use.input, Mapping):
        return None
    path_context = PathContext(info.cwd, info.project_dir or info.cwd, os.path.expanduser("~"))
    call = ReadCall(tools, use.name, use.input, path_context)
    actions = [ways for ways in call.ways(target) if ways and not ways[0][0].action.implied]
    return (call, actions[0][0][0]) if len(actions) == 1 and len(actions[0][0]) == 1 else None


def _edited(document: Object, before: AnyMessage, info: SessionInfo) -> AnyMessage:
    if isinstance(before, HostMessage):
        return (
            HostMessage(document)
            if isinstance(before.get("content"), str)
            else with_text(before, _text(document))
        )
    message = with_text(before, _text(document))
    if isinstance(message, Assistant):
        return replace(message, tool_calls=_calls(document, message.tool_calls, info))
    return message


def _added(document: Object, info: SessionInfo) -> AnyMessage:
    role, text = document.get("role"), _text(document)
    if role == "tool":
        return ToolMessage(tool_use_id=str(document.get("tool_call_id") or ""), name="", text=text)
    if role == "assistant":
        return Assistant(text=text, tool_calls=_calls(document, (), info))
    if role in ("user", "system"):
        return new_message("user", text)
    raise UnreadableAnswerError(f"updated_messages: unknown role {str(role)[:40]!r}")


def _text(document: Object) -> str:
    content = document.get("content")
    if not isinstance(content, str):
        raise UnreadableAnswerError("updated_messages: the content of a message is not text")
    return content


def _calls(document: Object, before: Sequence[ToolUse], info: SessionInfo) -> tuple[ToolUse, ...]:
    """Return the calls in canonical terms: a translated one keeps what the hook did not change."""
    given = document.get("tool_calls")
    calls: list[Any] = cast("list[Any]", given) if isinstance(given, list) else []
    known = {use.id: use for use in before}
    shown = {use.id: _translated_call(use, info) for use in before}
    found: list[ToolUse] = []
    for call in calls:
        if not isinstance(call, Mapping):
            raise UnreadableAnswerError("updated_messages: a tool call is not an object")
        (use,) = tool_uses((cast("Object", call),))
        old = known.get(use.id)
        if old is not None and call == shown[use.id]:
            found.append(old)
        else:
            found.append(_canonical(use, old, info))
    return tuple(found)


def _canonical(use: ToolUse, old: ToolUse | None, info: SessionInfo) -> ToolUse:
    view = _view(old, STANDARD, TABLE, info) if old is not None else None
    if old is not None and view is not None and view[1].tool_name == use.name:
        try:
            return replace(old, input=view[0].rewritten(view[1], use.input, old.input).arguments)
        except IrreversibleError as problem:
            raise UnreadableAnswerError(f"updated_messages: the call {use.id}: {problem}") from None
    new = _view(use, TABLE, STANDARD, info)
    return use if new is None else replace(use, name=new[1].tool_name, input=new[1].arguments)
