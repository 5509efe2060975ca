"""Answer a call of another agent, or print the entries that make it call Hookline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hookline.cli.output import ExitStatus, note, show
from hookline.config.commands import HOOK_OPTIONS, HookArguments

if TYPE_CHECKING:
    import argparse

    from hookline.dialects.entries import HookSelection


def run(args: "argparse.Namespace") -> int:
    if args.print_config is not None:
        return _print_entries(args.print_config, args.words, args.hooks or "own")
    try:
        from hookline.cli.commands.hook.answer_stdin import answer_stdin

        return answer_stdin(arguments_of(args))
    except Exception as problem:  # noqa: BLE001 if Hookline itself breaks, even on import, a guard must still block
        from hookline.model.safe_text import one_line

        note(one_line(f"hookline hook: broke: {type(problem).__name__}: {problem}", 500))
        return ExitStatus.BLOCKED


def arguments_of(args: "argparse.Namespace") -> HookArguments:
    """Return the arguments that the command line has parsed."""
    given: dict[str, Any] = {option.field: getattr(args, option.field) for option in HOOK_OPTIONS.values()}
    given |= {"files": tuple(args.files or ()), "events": tuple(args.words)}
    return HookArguments(**{name: each for name, each in given.items() if each is not None})


def _print_entries(name: str, events: Sequence[str], hooks: "HookSelection") -> ExitStatus:
    """Print the entries to stdout, and the file they belong in to stderr."""
    from hookline.cli.commands.hook.entries import entries_text, faster, hookline_command
    from hookline.config.engine import Engine

    dialect = Engine().loader.dialect(name)
    text = entries_text(dialect, events, faster(hookline_command()), hooks)
    note(f"# add this to {dialect.call_file}")
    return show(text)
