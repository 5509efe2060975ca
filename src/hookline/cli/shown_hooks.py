"""Describe hooks as commands show them: the facts that `list` and `explain` share, and their trust."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.describe import (
    EnvironmentDocument,
    Unit,
    Waits,
    environment_of,
    short_source,
    timeout_in,
    waits_of,
    what_it_runs,
)
from hookline.cli.output import note
from hookline.cli.text import count_of, relative_to
from hookline.config.engine import Engine
from hookline.model.hook import Hook, InDoubt, Scope
from hookline.model.run import Mode
from hookline.model.safe_text import one_line
from hookline.trust.trust import State, TrustStatus, only_tightens


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


_MOST_NAMED = 3
_LONGEST_NAME, _LONGEST = 60, 400
#: The usual states, which tables do not mention.
USUAL: frozenset[State] = frozenset(("trusted", "disabled"))


def trust_of(engine: Engine, hook: Hook) -> TrustStatus:
    """Return if a hook may run by the user's trust, and why, as commands show it."""
    if hook.calls_hookline:
        return TrustStatus("trusted", "it calls Hookline, which never runs it")
    if hook.disabled_by is not None:
        return TrustStatus("disabled", f"disabled by {hook.disabled_by}")
    if engine.trust is None:
        # Only files that were named have been read.
        if hook.mode == "off":
            return TrustStatus("disabled", "it is switched off")
        return TrustStatus("trusted", "you named it")
    standing = engine.trust.status(hook)
    tightens = not standing.runs and standing.state != "disabled" and only_tightens(hook)
    return TrustStatus(
        standing.state, f"{standing.why}; only its denials and questions count" if tightens else standing.why
    )


def is_held_back(engine: Engine, hook: Hook) -> bool:
    """Return True if a hook does not run because the user has not trusted it as it is."""
    trust = engine.trust
    if trust is None or hook.mode == "off" or not trust.is_foreign(hook.where.file, hook.scope):
        return False
    return not trust.status(hook).runs and not only_tightens(hook)


def report_store(engine: Engine) -> bool:
    """Print a line for each problem of the trust store. Returns False if there is none."""
    problems: Sequence[str] = () if engine.trust is None else engine.trust.problems
    for problem in problems:
        note(one_line(f"hookline: {problem}", _LONGEST))
    return bool(problems)


def report_held_back(hooks: Iterable[Hook], redact: Callable[[str], str]) -> bool:
    """Print one line about hooks that do not run because they are not trusted. Returns False if there is none."""
    held = list(hooks)
    if not held:
        return False
    names = dict.fromkeys(f"{redact(hook.name)} ({short_source(str(hook.where))})" for hook in held)
    what = f"{count_of(len(held), 'hook')}: {some_of(list(names))}"
    note(
        one_line(f"hookline: not trusted, so not run: {what}; `hookline trust` shows them and asks", _LONGEST)
    )
    return True


def some_of(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(one_line(name, _LONGEST_NAME) for name in names[:_MOST_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed
