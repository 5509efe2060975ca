"""What a call of a server's tool came to, as text for the model and as blocks for hooks."""

from typing import Any

import msgspec
from msgspec import Struct


class CallResult(Struct, frozen=True):
    text: str
    #: As the server sent them.
    blocks: tuple[dict[str, Any], ...] = ()
    is_error: bool = False


def call_result(answered: Any) -> CallResult:
    """`answered` is the package's CallToolResult; only what it can be written down as is looked at."""
    document: dict[str, Any] = answered.model_dump(mode="json", by_alias=True, exclude_none=True)
    blocks: tuple[dict[str, Any], ...] = tuple(document.get("content", ()))
    text = "\n".join(filter(None, map(_text, blocks)))
    structured = document.get("structuredContent")
    if not text and structured is not None:
        text = msgspec.json.encode(structured).decode()
    return CallResult(text, blocks, bool(document.get("isError")))


def _text(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            size = len(str(block.get("data", ""))) * 3 // 4
            return f"[{kind} of type {block.get('mimeType', 'unknown')}, {size} bytes, not shown]"
        case "resource":
            resource: dict[str, Any] = block.get("resource", {})
            return str(resource.get("text") or f"[resource {resource.get('uri', '')}, not shown]")
        case "resource_link":
            return f"[{block.get('name', 'resource')}]({block.get('uri', '')})"
        case other:
            return f"[a part of type {other}, not shown]"
