"""Let code outside an AI agent see, change or stop what the agent does.

An event goes in, one outcome comes out::

    engine = Engine()

    @engine.on(PRE_TOOL_USE, "Bash")
    def no_force_push(call: ToolCall): ...

    outcome = await engine.session("me").dispatch(PRE_TOOL_USE, call)

The events and their payloads are in `hookline.events`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.config.load import Loaded, load
    from hookline.config.watch import Reload, Watch
    from hookline.engine.host.bridge import Blocking
    from hookline.engine.session import Session
    from hookline.model.diagnostics import Diagnostic
    from hookline.model.errors import (
        ConfigError,
        EngineClosedError,
        HooklineError,
        PatternError,
        ToolError,
    )
    from hookline.model.outcome import ContextItem, Outcome, allow, ask, context, deny, halt, rewrite
    from hookline.model.session_info import SessionInfo

#: The version is written only here: the build, `hookline --version` and hosts read it here.
__version__ = "0.1.0"

__all__ = [
    "Blocking",
    "ConfigError",
    "ContextItem",
    "Diagnostic",
    "Engine",
    "EngineClosedError",
    "HooklineError",
    "Loaded",
    "Outcome",
    "PatternError",
    "Reload",
    "Session",
    "SessionInfo",
    "ToolError",
    "Watch",
    "allow",
    "ask",
    "context",
    "deny",
    "halt",
    "load",
    "rewrite",
]

# Names are loaded when first used: a command line that only prints its help must not pay for the engine.
_HOMES = {
    "hookline.config.engine": ("Engine",),
    "hookline.config.load": ("Loaded", "load"),
    "hookline.config.watch": ("Reload", "Watch"),
    "hookline.engine.host.bridge": ("Blocking",),
    "hookline.engine.session": ("Session",),
    "hookline.model.diagnostics": ("Diagnostic",),
    "hookline.model.errors": (
        "ConfigError", "EngineClosedError", "HooklineError", "PatternError", "ToolError",
    ),
    "hookline.model.outcome": (
        "ContextItem", "Outcome", "allow", "ask", "context", "deny", "halt", "rewrite",
    ),
    "hookline.model.session_info": ("SessionInfo",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module  # noqa: PLC0415 only when a name is first used

            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'hookline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
