"""Find Python scripts that cannot run as warm scripts, and explain why."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hookline.checks.commands.command_line import directories
from hookline.checks.context import CheckContext, entries, project_of_file
from hookline.config.load import Loaded
from hookline.dialects.report import about
from hookline.handlers.command import command_words, hook_environment
from hookline.handlers.specs import CommandSpec
from hookline.handlers.warm.scripts import never_warm, unavailable
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook
from hookline.model.raw import Failed

_PYTHON: Final = re.compile(r"\bpython[\d.]*(?![\w-])|\.py\b", re.ASCII)


def cold_scripts(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report hooks that start a new Python interpreter each time."""
    if unavailable() is not None:
        return  # no change of a hook would help
    for hook in entries(loaded):
        why = why_cold(hook, context)
        if why is not None:
            yield about(hook, "info", "not-warm", f"it cannot run warm: {why}", "command")


def why_cold(hook: Hook, context: CheckContext) -> str | None:
    """Explain why a Python hook always starts a new interpreter; None for others, and for those that opted out."""
    argv = _python_words(hook)
    return None if argv is None else _never_warm(hook, argv, context)


def can_run_warm(hook: Hook, context: CheckContext) -> bool:
    argv = _python_words(hook)
    return argv is not None and unavailable() is None and _never_warm(hook, argv, context) is None


def _python_words(hook: Hook) -> Sequence[str] | None:
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or hook.broken is not None or hook.mode == "off" or not spec.warm:
        return None
    argv = command_words(spec)
    return None if isinstance(argv, Failed) or not any(map(_PYTHON.search, argv)) else argv


def _never_warm(hook: Hook, argv: Sequence[str], context: CheckContext) -> str | None:
    spec: CommandSpec = hook.spec
    project = project_of_file(hook.where.file, context.cwd) if hook.scope != "user" else context.cwd
    own = dict.fromkeys(context.dialect(hook).project_variables, project)
    env = hook_environment(context.env, hook, spec.env)
    return (
        None if isinstance(env, Failed) else never_warm(argv, {**env, **own}, directories(hook, context)[0])
    )
