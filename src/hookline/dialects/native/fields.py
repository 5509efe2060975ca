"""The fields of a handler entry: their shapes, and which kind of handler reads them."""

from collections.abc import Mapping
from types import MappingProxyType

#: Read for every kind.
COMMON: Mapping[str, str] = MappingProxyType(
    {
        "type": "anything",  # whether there is such a handler is asked before
        "name": "text",
        "if": "text",
        "condition": "an object",
        "timeout": "a number",
        "statusMessage": "text",
        "once": "true or false",
        "async": "true or false",
        "asyncRewake": "true or false",
        "on_failure": "text or an object",
        "onFailure": "text or an object",
        "mode": "text",
        "rewrites": "true or false",
        "required": "true or false",
    }
)

#: Read for one kind, by kind; the fields it cannot do without come first, as many as NEEDED says.
BY_KIND: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "command": {
            "command": "text",
            "args": "a list of texts",
            "shell": "text",
            "env": "an object of texts",
            "cwd": "text",
        },
        "http": {"url": "text", "headers": "an object of texts", "allowedEnvVars": "a list of texts"},
        "prompt": {"prompt": "text", "model": "text", "continueOnBlock": "true or false"},
        "agent": {"prompt": "text", "model": "text", "max_steps": "a whole number"},
        "mcp_tool": {"server": "text", "tool": "text", "input": "an object"},
        "builtin": {"command": "text", "args": "a list of texts"},
    }
)

NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command": ("command",),
        "http": ("url",),
        "prompt": ("prompt",),
        "agent": ("prompt",),
        "mcp_tool": ("server", "tool"),
    }
)

#: Every field of every kind, to tell a field of another kind from one that nobody knows.
ALL: frozenset[str] = frozenset(COMMON).union(*BY_KIND.values())
