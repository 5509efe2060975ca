"""The same hook more than once."""

from collections.abc import Hashable, Iterator
from typing import Any

from msgspec.json import encode

from hookline.config.checkup.here import Here, about, entries
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook


def twice(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """An agent that leaves out copies runs them once: a fact to know. Others run each one."""
    del here
    first: dict[Hashable, Hook] = {}
    for hook in entries(loaded):
        same = _same(hook)
        if same is None:
            continue
        before = first.setdefault(same, hook)
        if before is hook:
            continue
        if hook.identity is not None and hook.identity == before.identity and not hook.once:
            message = f"it is the same hook as {_place(before, hook)}, and runs once"
            yield about(hook, "info", "duplicate-hook", message, fix="remove one of them")
        else:
            # Within one file somebody copied a line too often; across files two people wanted the same.
            severity = "error" if hook.where.file == before.where.file else "warning"
            message = f"it is the same hook as {_place(before, hook)}, and both run"
            yield about(hook, severity, "duplicate-hook", message, fix="remove one of them")


def _place(before: Hook, hook: Hook) -> str:
    return f"on line {before.where.line}" if before.where.file == hook.where.file else f"at {before.where}"


def _same(hook: Hook) -> Hashable | None:
    if hook.broken is not None or hook.mode == "off" or hook.spec is None:
        return None
    matcher = hook.matcher.text if hook.matcher is not None else ""
    condition = hook.condition.text if hook.condition is not None else ""
    what = _encoded(hook.spec)
    return None if what is None else (hook.dialect, hook.policy.spelled, hook.kind, what, matcher, condition)


def _encoded(spec: Any) -> bytes | None:
    try:
        return encode(spec, order="sorted")
    except (TypeError, ValueError):
        return None
