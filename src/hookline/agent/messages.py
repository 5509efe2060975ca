"""The messages of a conversation, independent of any provider. Each is a JSON object that hooks may rewrite."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct


class ToolUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call the model makes. Arguments that are not a JSON object are kept as text."""

    id: str
    name: str
    input: Mapping[str, Any] | str = {}


class User(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="user"):
    text: str
    #: The hook or the part of the agent that it comes from; empty for the user.
    by: str = ""
    #: The provider may cache everything up to here.
    cache: bool = False
    #: The id of what a durable hook said: a session that is resumed is not told it again.
    late_id: str = ""


class Assistant(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="assistant"):
    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    reasoning: str | None = None


class ToolResult(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="tool"):
    tool_use_id: str
    name: str
    text: str
    is_error: bool = False


Message = User | Assistant | ToolResult


def as_json(messages: Sequence[Message]) -> tuple[Mapping[str, Any], ...]:
    """Messages as hooks see them."""
    return tuple(cast("Mapping[str, Any]", msgspec.to_builtins(message)) for message in messages)


def from_json(documents: Any) -> tuple[Message, ...]:
    """Messages as a hook returned them. Raises ValueError that names the bad one."""
    if not isinstance(documents, Sequence) or isinstance(documents, str | bytes):
        raise ValueError("messages must be a list of objects with a role")  # noqa: TRY004 - every mistake of a hook is one
    found: list[Message] = []
    for place, document in enumerate(cast("Sequence[Any]", documents), 1):
        try:
            found.append(msgspec.convert(_plain(document), Message))
        except msgspec.ValidationError as problem:
            raise ValueError(f"message {place}: {problem}") from problem
    return tuple(found)


def _plain(document: Any) -> Any:
    """Other agents call the text `content`."""
    if not isinstance(document, Mapping):
        return document
    fields = dict(cast("Mapping[str, Any]", document))
    if "text" not in fields and isinstance(fields.get("content"), str):
        fields["text"] = fields.pop("content")
    if fields.get("role") == "system":
        fields["role"] = "user"
    return fields
