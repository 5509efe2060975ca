"""Check what entries set: timeouts, failures of guards, modes, hosts they need, duplicates and secrets."""

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec.json import encode

from hookline.checks.commands.answers import judges
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.dialects.report import about
from hookline.handlers.specs import GUARDS, BuiltinSpec
from hookline.journal.redaction import Redactor, holds_a_secret
from hookline.matching.conditions import AllOf, Always, AnyOf, ExitCode, InMode, ToolCategory, ToolName
from hookline.model.diagnostics import Diagnostic, Repair
from hookline.model.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, Capability
from hookline.model.hook import Condition, Hook
from hookline.model.policy import Cause

#: Seconds. No program starts and answers in less.
_TOO_SHORT: Final = 0.05


def timeouts(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report timeouts so short that another unit was meant. Readers report timeouts that are too long."""
    for hook in entries(loaded):
        dialect = context.dialect(hook)
        if dialect.timeout_unit == "s" and hook.kind == "command" and hook.timeout < _TOO_SHORT:
            message = f"timeout counts seconds in {dialect.title}: no command answers in {hook.timeout:g}"
            fix = f"{hook.timeout * 1000:g}, if these are milliseconds"
            yield about(hook, "error", "timeout-unit", message, "timeout", fix=fix)


#: Not permission requests: the user is still asked there.
_GUARDED: Final = (PRE_TOOL_USE, USER_PROMPT_SUBMIT)

_COMMAND_FAILURES: Final[Mapping[Cause, str]] = {
    "not_started": "cannot start",
    "crashed": "fails with an error",
    "signalled": "is killed",
    "timed_out": "takes too long",
    "unreadable": "gives an unreadable answer",
    "truncated": "prints too much",
}
#: A line that blocks if its program fails: `guard.py || exit 2`.
_CLOSES: Final = re.compile(r"\|\|\s*+exit 2\Z")
_CLOSES_IN_BRACES: Final = re.compile(r"\|\|\s*+\{")
_SEEN_BY_SHELL: Final = frozenset(("not_started", "crashed", "signalled"))
_OTHER_FAILURES: Final[Mapping[Cause, str]] = {
    "transport": "cannot be reached",
    "timed_out": "takes too long",
    "unreadable": "gives an unreadable answer",
}


def fails_open(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Note which guards fail open, and the setting that closes them.

    A note: nothing has failed yet. A guard that did let something pass is an error, from the journal. Never
    advise to fail closed on prompts: a hook that fails closed there locks its user out.
    """
    for hook in entries(loaded):
        causes = open_cases(hook)
        judging = judges(hook, context) if causes else False
        if judging is False or (judging is None and hook.event is USER_PROMPT_SUBMIT):
            continue
        dialect = context.dialect(hook)
        cases = causes[0] if len(causes) == 1 else f"{', '.join(causes[:-1])} or {causes[-1]}"
        what = "this guard fails open: if it" if judging else "if this is a guard, it fails open: if it"
        message = f"{what} {cases}, {dialect.title} goes ahead"
        close = dialect.fails_closed_by.get(hook.kind, "the same hook in .hookline/hooks.toml fails closed")
        yield about(
            hook, "info", "fails-open", message, fix=None if hook.event is USER_PROMPT_SUBMIT else close
        )


def open_cases(hook: Hook) -> tuple[str, ...]:
    """Return the failures after which the action proceeds; none for a background hook, or one that cannot block."""
    guards = hook.event in _GUARDED and hook.policy.may & hook.event.may & Capability.BLOCK
    if not guards or hook.waiting != "wait" or hook.mode != "enforce" or hook.kind in ("builtin", "function"):
        return ()
    failures = _COMMAND_FAILURES if hook.kind == "command" else _OTHER_FAILURES
    closes = hook.kind == "command" and _closes(getattr(hook.spec, "command", ""))
    return tuple(
        text
        for cause, text in failures.items()
        if hook.reaction(cause) in ("pass", "warn") and not (closes and cause in _SEEN_BY_SHELL)
    )


def _closes(line: str) -> bool:
    """Return True for `guard || exit 2` and `guard || { …; exit 2; }`."""
    line = line.rstrip()
    if _CLOSES.search(line) is not None:
        return True
    inside = line.removesuffix("}").rstrip()
    if inside == line or not inside.endswith(";") or _CLOSES_IN_BRACES.search(inside) is None:
        return False
    return re.search(r"\bexit 2\Z", inside[:-1].rstrip()) is not None


_MODES: Final = {
    "off": "it is off and never runs",
    "shadow": "it is in shadow mode: its answers are recorded, not applied",
}


def modes_and_rewrites(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report hooks that are off or in shadow mode, and rewrites that their event does not allow."""
    del context
    for hook in entries(loaded):
        # In some dialects it only means that the hooks run in order.
        marked = hook.rewrites and hook.policy.run != "serial_if_asked"
        if marked and not hook.policy.may & Capability.REWRITE:
            message = f"rewrites is set, but nothing can be rewritten at {hook.policy.event_name}"
            yield about(hook, "warning", "beyond-its-power", message, "rewrites", fix="remove rewrites")
        if hook.in_doubt != "match" and (message := _never_in_doubt(hook)):
            yield about(hook, "warning", "no-effect", message, "in_doubt", fix="remove in_doubt")
        if hook.disabled_by is not None:
            message, fix = f"it is off: disabled by {hook.disabled_by}", "remove it from disable there"
            yield about(hook, "info", "mode-off", message, fix=fix)
        elif hook.mode in _MODES:
            message = _MODES[hook.mode]
            yield about(hook, "info", f"mode-{hook.mode}", message, "mode", fix='mode = "enforce"')


def _never_in_doubt(hook: Hook) -> str | None:
    """Explain why `in_doubt` has no effect for a hook."""
    if not _is_guard(hook) and not _can_doubt(hook.condition):
        return "in_doubt has no effect: names match or not; only a tool pattern such as Bash(git *) can be in doubt"
    if hook.in_doubt == "ask" and hook.waiting != "wait":
        return "in_doubt = ask has no effect: the hook is not waited for, so it runs"
    if hook.in_doubt == "ask" and not (Capability.PERMIT | Capability.BLOCK) & hook.policy.may:
        return f"in_doubt = ask has no effect: nothing can be stopped at {hook.policy.event_name}, so the hook runs"
    return None


def _can_doubt(condition: Condition | None) -> bool:
    if isinstance(condition, AllOf | AnyOf):
        return any(map(_can_doubt, condition.conditions))
    if condition is None or isinstance(condition, Always | ToolName | ToolCategory | InMode | ExitCode):
        return False
    rule = getattr(condition, "rule", None)  # of a tool pattern, and without an argument it is a name
    return rule is None or getattr(rule, "argument", True) is not None


#: Guards that are about files, whatever tool names them, and a tool that each of them is to see.
_OVER_FILES: Final = {"secrets-read": "Read", "write-outside-project": "Write", "self-protection": "Write"}


def guards(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find built-in guards at events or with matchers where they see nothing, or only part of it."""
    del context
    for hook in entries(loaded):
        if not _is_guard(hook):
            continue
        name: str = hook.spec.name
        if hook.event.subject != "tool_name" or not hook.event.guard:
            message = f"{name} has no effect at {hook.policy.event_name}, where no tool call can be stopped"
            yield about(hook, "error", "no-effect", message, fix="move it to PreToolUse")
            continue
        if hook.matcher is None or hook.dialect != OWN_FORMAT:
            continue
        for tool, what in (("Bash", "shell lines"), (_OVER_FILES.get(name), "files")):
            if tool is not None and not hook.matcher.matches(tool):
                message = f"{name} is about {what}, but its matcher {hook.matcher.text!r} does not let it see {tool}"
                yield about(hook, "warning", "narrow-guard", message, fix="remove the matcher")


def _is_guard(hook: Hook) -> bool:
    return isinstance(hook.spec, BuiltinSpec) and hook.spec.name in GUARDS


_NEEDED: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("a model", "`hookline fire --model NAME`, or a host that has one"),
    "agent": ("a model and an agent that runs it", "`hookline agent`, or a host that has both"),
    "mcp_tool": ("a connection to its MCP server", "a host that is connected to it"),
}


def needed_hosts(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report hooks that need a model, an agent or an MCP server, which Hookline alone does not have."""
    for hook in entries(loaded):
        if hook.kind not in _NEEDED or hook.broken is not None:
            continue
        what, where = _NEEDED[hook.kind]
        dialect = context.dialect(hook)
        if not dialect.has_agent:
            message = f"it needs {what}; without one it cannot run"
            yield about(hook, "warning", "needs-host", message, fix=where)
        else:
            message = f"it needs {what}: {dialect.title} has it, Hookline alone does not"
            yield about(hook, "info", "needs-host", message, fix=where)


def duplicates(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report equal entries: some agents run them once, others run each."""
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
            same = hook.where.file == before.where.file
            repair = Repair("remove", hook.where.path) if same else None
            yield about(hook, "info", "duplicate-hook", message, fix="remove one of them", repair=repair)
        else:
            # In one file it is a mistake; two files may have been written by two people.
            severity = "error" if hook.where.file == before.where.file else "warning"
            message = f"it is the same hook as {_place(before, hook)}, and both run"
            repair = Repair("remove", hook.where.path) if severity == "error" else None
            yield about(hook, severity, "duplicate-hook", message, fix="remove one of them", repair=repair)


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


#: A reference to a value that is kept elsewhere.
_PLACEHOLDER: Final = re.compile(r"\$\{[^}]{0,200}\}|\$\w+|\{\{[^}]{0,200}\}\}|<[^>\s]{0,200}>")
_LONGEST: Final = 64 * 1024
_TEXTS: Final = ("command", "url", "prompt")
_TABLES: Final = ("env", "headers", "variables")


def secrets(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find secrets in a configuration file, which everyone with access to the repository can read."""
    for hook in entries(loaded):
        for path, text in _texts(hook, context.dialect(hook).plugin_variables):
            if _is_secret(path, text, context.redactor):
                message = f"{'.'.join(path)} seems to contain a secret"
                fix = "move it to an environment variable, and name the variable here"
                yield about(hook, "warning", "secret-in-config", message, *path, fix=fix)


def _is_secret(path: tuple[str, ...], text: str, redactor: Redactor) -> bool:
    bare = _PLACEHOLDER.sub("", text[:_LONGEST])
    if redactor.redact(bare) != bare:
        return True
    if len(path) == 1 or bare != text:
        return False
    # The name of a header says what it holds; a variable with such a name may also name a file.
    pair = f"{path[-1]}: {bare}"
    return holds_a_secret(path[-1], text) or (path[0] == "headers" and redactor.redact(pair) != pair)


def _texts(hook: Hook, of_plugin: frozenset[str]) -> Iterator[tuple[tuple[str, ...], str]]:
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
            if isinstance(value, str) and key not in of_plugin:
                yield ("env" if name == "variables" else name, key), value
