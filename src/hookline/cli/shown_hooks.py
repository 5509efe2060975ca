"""Describe hooks as `list` and `explain` show them: the facts of an entry that both have."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from hookline.cli.describe import (
    EnvironmentDocument,
    Unit,
    Waits,
    environment_of,
    timeout_in,
    waits_of,
    what_it_runs,
)
from hookline.cli.text import relative_to
from hookline.cli.trust_state import trust_of
from hookline.config.engine import Engine
from hookline.model.hook import Hook, InDoubt, Scope
from hookline.model.run import Mode
from hookline.trust.trust import TrustStatus


class NamedHook(Struct, frozen=True, kw_only=True):
    """A hook as every command shows it."""

    hook: str
    source: str
    scope: Scope
    type: str
    runs: str
    trust: TrustStatus


class ShownHook(NamedHook, frozen=True, kw_only=True):
    """A hook at an event, with the settings of its entry."""

    #: Its position among all hooks of the event, counted from 1.
    order: int
    #: What happens on a match that is in doubt.
    in_doubt: InDoubt
    once: bool
    mode: Mode
    #: The line of the user's own file that switches it off.
    disabled_by: str | None
    waits: Waits
    #: In the unit of its file.
    timeout: float
    timeout_unit: Unit
    rewrites: bool
    required: bool
    #: Which variables a command gets; null for other types.
    environment: EnvironmentDocument | None
    #: Why it cannot run; it fails every time.
    broken: str | None


def named_hook(engine: Engine, hook: Hook, cwd: str, redact: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of a `NamedHook`."""
    return {
        "hook": redact(hook.name),
        "source": relative_to(cwd, str(hook.where)),
        "scope": hook.scope,
        "type": hook.kind,
        "runs": redact(what_it_runs(hook)),
        "trust": trust_of(engine, hook),
    }


def shown_hook(
    engine: Engine, hook: Hook, order: int, cwd: str, redact: Callable[[str], str]
) -> dict[str, Any]:
    """Return the fields of a `ShownHook`."""
    unit = engine.loader.dialect(hook.dialect).timeout_unit
    return {
        **named_hook(engine, hook, cwd, redact),
        **{name: getattr(hook, name) for name in ("in_doubt", "once", "mode", "rewrites", "required")},
        "order": order,
        "disabled_by": None if hook.disabled_by is None else relative_to(cwd, str(hook.disabled_by)),
        "waits": waits_of(hook),
        "timeout": timeout_in(unit, hook),
        "timeout_unit": unit,
        "environment": environment_of(hook),
        "broken": None if hook.broken is None else redact(hook.broken),
    }
