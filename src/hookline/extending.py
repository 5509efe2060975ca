"""Export the parts for extending Hookline, besides `hookline` and `hookline.events`.

- a handler kind: a `Handler` takes a `HookInvocation` and returns a raw result; pass `standard_handlers() | {"kind":
  handler}`
- a builtin: a `Builtin` is a function; pass `standard_handlers(builtins={**standard_builtins(), "name":
  function})`
- a dialect: a subclass of `Dialect` with its wire, events and files; call `engine.loader.add(dialect)`
- admission: `Engine(admit=function)` calls it for every hook that is about to run; it returns an `Admission`
- a journal sink: `engine.journal.subscribe(function)` gets every `Run`; your own `Journal` keeps them
  elsewhere
- an observer: `Engine(observer=…)` notifies an `Observer` when dispatches begin and end, too;
  `hookline.telemetry` has one

docs/how-to/extend.md has an example of each. Modules that are not named here may change with any version.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.dialects.dialect import (
        ConfigPath,
        Dialect,
        DialectEvent,
        Layer,
        LoadedHooks,
        ReversibleWire,
        Tools,
    )
    from hookline.engine.run_hook import Admission
    from hookline.handlers.builtin import Builtin, standard_builtins
    from hookline.handlers.registry import Handler, standard_handlers
    from hookline.handlers.specs import CommandSpec
    from hookline.journal.file import JournalFile
    from hookline.journal.journal import Journal
    from hookline.journal.observer import Observer
    from hookline.journal.redaction import Redactor
    from hookline.model.hook import Hook
    from hookline.model.policy import Policy
    from hookline.model.raw import Background, Exited, Failed, RawResult, Replied, Returned
    from hookline.model.run import Run
    from hookline.model.session_info import SessionInfo
    from hookline.model.wire import Decoded, Encoded, HookInvocation, HookReply, Parsed

__all__ = [
    "Admission",
    "Background",
    "Builtin",
    "CommandSpec",
    "ConfigPath",
    "Decoded",
    "Dialect",
    "DialectEvent",
    "Encoded",
    "Exited",
    "Failed",
    "Handler",
    "Hook",
    "HookInvocation",
    "HookReply",
    "Journal",
    "JournalFile",
    "Layer",
    "LoadedHooks",
    "Observer",
    "Parsed",
    "Policy",
    "RawResult",
    "Redactor",
    "Replied",
    "Returned",
    "ReversibleWire",
    "Run",
    "SessionInfo",
    "Tools",
    "standard_builtins",
    "standard_handlers",
]

# Names are imported when first used, as in `hookline`: a host that adds a handler need not load the dialects.
_MODULES = {
    "hookline.dialects.dialect": (
        "Dialect", "DialectEvent", "Layer", "ConfigPath", "LoadedHooks", "ReversibleWire", "Tools",
    ),
    "hookline.engine.run_hook": ("Admission",),
    "hookline.handlers.builtin": ("Builtin", "standard_builtins"),
    "hookline.handlers.registry": ("Handler", "standard_handlers"),
    "hookline.handlers.specs": ("CommandSpec",),
    "hookline.journal.file": ("JournalFile",),
    "hookline.journal.journal": ("Journal",),
    "hookline.journal.observer": ("Observer",),
    "hookline.journal.redaction": ("Redactor",),
    "hookline.model.hook": ("Hook",),
    "hookline.model.policy": ("Policy",),
    "hookline.model.raw": ("Failed", "Background", "Exited", "RawResult", "Replied", "Returned"),
    "hookline.model.run": ("Run",),
    "hookline.model.session_info": ("SessionInfo",),
    "hookline.model.wire": ("HookInvocation", "Decoded", "Encoded", "HookReply", "Parsed"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module  # noqa: PLC0415 only when a name is first used

            value = getattr(import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'hookline.extending' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
