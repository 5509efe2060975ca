"""Entries that ask for more than there is at their event, and hooks that are switched off or only watch."""

from collections.abc import Iterator
from typing import Final

from hookline.config.checkup.here import Here, about, entries
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import May
from hookline.model.hook import Hook

_MODES: Final = {
    "off": "it is off: it never runs",
    "shadow": "it only watches: what it says is recorded, never done",
}


def powers(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    del here
    for hook in entries(loaded):
        if hook.rewrites and not hook.policy.may & May.REWRITE:
            message = f"rewrites is set, but nothing can be rewritten at {hook.policy.spelled}"
            yield about(hook, "warning", "beyond-its-power", message, "rewrites", fix="remove rewrites")
        if hook.dialect == "native" and _closes(hook) and not hook.policy.may & May.BLOCK:
            message = f"it is to fail closed, but nothing can be blocked at {hook.policy.spelled}"
            yield about(hook, "warning", "beyond-its-power", message, "on_failure", fix="remove on_failure")
        if hook.mode in _MODES:
            message = _MODES[hook.mode]
            yield about(hook, "info", f"mode-{hook.mode}", message, "mode", fix='mode = "enforce"')


def _closes(hook: Hook) -> bool:
    said = hook.on_failure
    reactions = () if said is None else (said,) if isinstance(said, str) else tuple(said.values())
    return "block" in reactions or "ask" in reactions
