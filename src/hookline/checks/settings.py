"""Timeouts in the wrong unit: milliseconds where seconds are counted, and the other way round."""

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec.json import encode

from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.journal.redaction import Redactor, holds_a_secret
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, May
from hookline.model.hook import Hook
from hookline.model.policy import Cause

#: Seconds. No program starts and answers in less.
_TOO_SHORT: Final = 0.05


def units(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Milliseconds where seconds are counted are reported by the readers; this is the other way round."""
    for hook in entries(loaded):
        dialect = context.dialect(hook)
        if dialect.timeout_unit == "s" and hook.kind == "command" and hook.timeout < _TOO_SHORT:
            message = f"timeout counts seconds in {dialect.title}: nothing answers in {hook.timeout:g}"
            fix = f"{hook.timeout * 1000:g}, if that is what was meant"
            yield about(hook, "error", "timeout-unit", message, "timeout", fix=fix)


#: At a permission request the user is still asked, so a failure there opens nothing.
_GUARDED: Final = (PRE_TOOL_USE, USER_PROMPT_SUBMIT)

_STARTED: Final[Mapping[Cause, str]] = {
    "not_started": "cannot start",
    "crashed": "fails with an error",
    "signalled": "is killed",
    "timed_out": "takes too long",
    "unreadable": "gives an answer nobody can read",
    "truncated": "prints too much",
}
_ASKED: Final[Mapping[Cause, str]] = {
    "transport": "cannot be reached",
    "timed_out": "takes too long",
    "unreadable": "gives an answer nobody can read",
}
_WORDS: Final[Mapping[str, Mapping[Cause, str]]] = {"command": _STARTED}


def fails_open(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """A warning where the entry could say otherwise, a fact where its agent gives it no choice."""
    for hook in entries(loaded):
        words = open_cases(hook)
        if not words:
            continue
        dialect = context.dialect(hook)
        close = dialect.fails_closed_by.get(hook.kind)
        cases = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        message = f"this guard fails open: when it {cases}, {dialect.title} goes ahead"
        if close is None:
            yield about(
                hook, "info", "fails-open", message, fix="the same hook in .hookline/hooks.toml fails closed"
            )
        else:
            yield about(hook, "warning", "fails-open", message, fix=close)


def open_cases(hook: Hook) -> tuple[str, ...]:
    """The failures after which the action goes ahead, in words; none for what is no guard."""
    guards = hook.event in _GUARDED and hook.policy.may & May.BLOCK
    if not guards or hook.waiting != "wait" or hook.mode != "enforce" or hook.kind in ("builtin", "function"):
        return ()
    words = _WORDS.get(hook.kind, _ASKED)
    return tuple(text for cause, text in words.items() if hook.reaction(cause) in ("pass", "warn"))


_MODES: Final = {
    "off": "it is off: it never runs",
    "shadow": "it only watches: what it says is recorded, never done",
}


def powers(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    del context
    for hook in entries(loaded):
        if hook.rewrites and not hook.policy.may & May.REWRITE:
            message = f"rewrites is set, but nothing can be rewritten at {hook.policy.event_name}"
            yield about(hook, "warning", "beyond-its-power", message, "rewrites", fix="remove rewrites")
        if hook.mode in _MODES:
            message = _MODES[hook.mode]
            yield about(hook, "info", f"mode-{hook.mode}", message, "mode", fix='mode = "enforce"')


_NEEDED: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("a model", "`hookline fire --model NAME`, or a host that brings one"),
    "agent": ("a model and an agent that runs it", "`hookline agent`, or a host that brings both"),
    "mcp_tool": ("a connection to its MCP server", "a host that is connected to it"),
}


def needs(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Agents bring their own; with Hookline it depends on who runs it."""
    for hook in entries(loaded):
        if hook.kind not in _NEEDED or hook.broken is not None:
            continue
        what, where = _NEEDED[hook.kind]
        dialect = context.dialect(hook)
        if not dialect.has_agent:
            message = f"it needs {what}; without one it cannot run"
            yield about(hook, "warning", "needs-host", message, fix=where)
        else:
            message = f"it needs {what}: {dialect.title} brings that, Hookline alone does not"
            yield about(hook, "info", "needs-host", message, fix=where)


def twice(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """An agent that leaves out copies runs them once: a fact to know. Others run each one."""
    del context
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
    return (
        None if what is None else (hook.dialect, hook.policy.event_name, hook.kind, what, matcher, condition)
    )


def _encoded(spec: Any) -> bytes | None:
    try:
        return encode(spec, order="sorted")
    except (TypeError, ValueError):
        return None


#: What stands for a value: it is somewhere else, and that is where it belongs.
_PLACEHOLDER: Final = re.compile(r"\$\{[^}]{0,200}\}|\$\w+|\{\{[^}]{0,200}\}\}|<[^>\s]{0,200}>")
_LONGEST: Final = 64 * 1024
_TEXTS: Final = ("command", "url", "prompt")
_TABLES: Final = ("env", "headers", "variables")


def secrets(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    redactor = Redactor(context.env)
    for hook in entries(loaded):
        for path, text in _texts(hook, context.dialect(hook).plugin_variables):
            if _is_secret(path, text, redactor):
                message = f"{'.'.join(path)} holds what looks like a secret"
                fix = "keep it in the environment, and name the variable here"
                yield about(hook, "warning", "secret-in-config", message, *path, fix=fix)


def _is_secret(path: tuple[str, ...], text: str, redactor: Redactor) -> bool:
    bare = _PLACEHOLDER.sub("", text[:_LONGEST])
    if redactor.redact(bare) != bare:
        return True
    if len(path) == 1 or bare != text:
        return False
    # What a header is about stands in its name; a variable may as well name a file that holds the secret.
    pair = f"{path[-1]}: {bare}"
    return holds_a_secret(path[-1], text) or (path[0] == "headers" and redactor.redact(pair) != pair)


def _texts(hook: Hook, filled_in: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in _TEXTS:
        value: Any = getattr(hook.spec, name, None)
        if isinstance(value, str):
            yield (name,), value
    for word in cast("tuple[Any, ...]", getattr(hook.spec, "args", None) or ()):
        if isinstance(word, str):
            yield ("args",), word
    for name in _TABLES:
        table: Any = getattr(hook.spec, name, None)
        for key, value in cast("Mapping[str, Any]", table).items() if isinstance(table, Mapping) else ():
            if isinstance(value, str) and key not in filled_in:
                yield ("env" if name == "variables" else name, key), value
