"""The fields of a hook definition, and which type reads them."""

from collections.abc import Mapping
from types import MappingProxyType

#: Every field with its shape.
SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "type": "text",
        "command": "text",
        "args": "anything",
        "timeout": "a whole number",
        "name": "text",
        "env": "anything",
        "working_dir": "text",
        "on_error": "text",
        "strict_output": "true or false",
        "model": "text",
        "prompt": "text",
        "schema": "text",
    }
)
_COMMON = frozenset({"type", "timeout", "name", "on_error", "strict_output"})
#: What each type reads.
READ_BY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "command": _COMMON | {"command", "env", "working_dir"},
        "builtin": _COMMON | {"command", "args", "env", "working_dir"},
        "model": _COMMON | {"model", "prompt", "schema"},
    }
)
NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"command": ("command",), "builtin": ("command",), "model": ("model", "prompt")}
)
GROUP: Mapping[str, str] = MappingProxyType(
    {"matcher": "text", "preempt_yolo": "true or false", "hooks": "anything"}
)
