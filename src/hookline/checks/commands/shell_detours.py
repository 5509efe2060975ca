"""Find guards of files that a shell line goes around: their agent asks them about its edit and read tools alone."""

from collections.abc import Iterator

from hookline.actions.table import ToolTable
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.model.diagnostics import Diagnostic
from hookline.model.errors import PatternError
from hookline.model.hook import Hook

#: Kinds of tools, and lines that do the same without them.
_DETOURS = {"write": "echo x > FILE", "edit": "sed -i s/a/b/ FILE", "read": "cat FILE"}


def shell_detours(loaded: Loaded, _context: CheckContext) -> Iterator[Diagnostic]:
    """Report guards of files in other agents' formats that are not asked about the shell."""
    for hook, line in detours(loaded):
        fix = (
            'actions = "all" at the top of ~/.config/hookline/hooks.toml: it is asked about shell lines, too'
        )
        message = f"`{line}` goes around it: its agent asks it about tools for files, and not about the shell"
        yield about(hook, "info", "shell-detour", message, fix=fix)


def detours(loaded: Loaded) -> Iterator[tuple[Hook, str]]:
    """Yield such guards, each with a line that goes around it."""
    if any(one.name == "all" for one in loaded.followed):
        return
    for hook in entries(loaded):
        if hook.actions == "named" and hook.event.guard and hook.mode != "off":
            line = _detour(hook)
            if line is not None:
                yield hook, line


def _detour(hook: Hook) -> str | None:
    """Return a line that does what a guard is about and that it is not asked about; None if there is none."""
    matcher = hook.matcher
    tools: ToolTable | None = getattr(hook.wire, "tools", None)
    if tools is None or matcher is None:
        return None
    kinds = (*_DETOURS, "shell")
    try:
        named = {kind: any(matcher.matches(name) for name, _ in tools.tools_of(kind)) for kind in kinds}
    except PatternError:
        return None  # a finding of its own
    if named["shell"]:
        return None
    return next((line for kind, line in _DETOURS.items() if named[kind]), None)
