"""Choose what an installation brings: which hooks run in the agents, and what happens once Hookline is gone."""

import argparse
import sys
from collections.abc import Sequence

from msgspec import Struct

from hookline.checks.commands.shell_detours import detours
from hookline.cli.commands.guard.files import file_for
from hookline.cli.engines import inspection_engine
from hookline.cli.output import show
from hookline.cli.requests import answer_to
from hookline.cli.text import count_of, with_tilde
from hookline.config.install import files
from hookline.config.install.plan import installed_entries
from hookline.config.install.self_calls import EntryChoice, entry_choice
from hookline.dialects.dialect import Dialect
from hookline.dialects.entries import IfMissing
from hookline.dialects.installer import InstallError, Site
from hookline.dialects.registry import OWN_FORMAT, dialect_named
from hookline.disk import DISK
from hookline.hook.call.project import hooks_for
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line

_LONGEST_NAME = 60
#: Keys of a file in TOML come before its tables.
_FOLLOWS = 'actions = "all"'


class BroughtHook(Struct, frozen=True):
    """A hook written for other agents, and the agents in which it would run where it did not before."""

    hook: str
    event: str
    source: str
    #: The agent that it was written for.
    written_for: str
    runs_in: tuple[str, ...]

    @property
    def line(self) -> str:
        name = one_line(self.hook, _LONGEST_NAME)
        where = one_line(with_tilde(self.source), 200)
        return f"{name} ({self.written_for}, {self.event}, {where}) in {', '.join(self.runs_in)}"


def choose(
    args: argparse.Namespace, dialects: Sequence[Dialect], site: Site
) -> tuple[EntryChoice, list[BroughtHook]]:
    """Return the user's choices, asked for where they are open; and the hooks that they would bring."""
    brought = brought_hooks(dialects, site)
    known = _installed_choice(dialects, site)
    hooks = args.hooks or (known.hooks if known is not None else None)
    if hooks is None and brought and not args.yes and not args.json and at_terminal():
        hooks = "all" if _wants_all(brought) else "own"
    missing: IfMissing = args.if_missing or (
        "block" if _has_required_guard(site) else known.if_missing if known is not None else "allow"
    )
    return EntryChoice(hooks or "own", missing), brought


def _wants_all(brought: Sequence[BroughtHook]) -> bool:
    show("What should run in these agents?")
    show("  1  Hookline's own guards only")
    show(f"  2  also {count_of(len(brought), 'hook')} written for other agents:")
    for each in brought:
        show(f"       {each.line}")
    return answer_to("[1] or 2: ") == "2"


def brought_hooks(dialects: Sequence[Dialect], site: Site) -> list[BroughtHook]:
    """List the hooks of other agents that would run in these agents, and do not now."""
    found: dict[tuple[str, str, str], tuple[Hook, list[str]]] = {}
    for dialect in dialects:
        for hook in hooks_for(inspection_engine(), site.project, dialect.name, None, disk=DISK).hooks:
            if hook.dialect != OWN_FORMAT and hook.mode != "off":
                key = hook.event.name, str(hook.where), hook.name
                found.setdefault(key, (hook, []))[1].append(dialect.title)
    return [
        BroughtHook(
            hook.name, hook.event_label, str(hook.where), _title(hook.dialect), tuple(dict.fromkeys(agents))
        )
        for hook, agents in found.values()
    ]


def _title(name: str) -> str:
    dialect = dialect_named(name)
    return name if dialect is None else dialect.title


def _has_required_guard(site: Site) -> bool:
    """Return True if a guard of this scope must not be missing."""
    scopes = {"user": ("managed", "user"), "managed": ("managed",)}.get(site.scope)
    return any(
        (hook.required or hook.scope == "managed") and hook.mode == "enforce" and hook.event.guard
        for hook in hooks_for(
            inspection_engine(), site.project, OWN_FORMAT, None, hooks="own", disk=DISK
        ).hooks
        if scopes is None or hook.scope in scopes
    )


def _installed_choice(dialects: Sequence[Dialect], site: Site) -> EntryChoice | None:
    """Return the choices of an earlier installation, which stay unless the user makes others."""
    choices: list[EntryChoice] = []
    for dialect in dialects:
        try:
            entries = installed_entries(dialect, site)
        except InstallError:
            continue
        for entry in entries:
            event = dialect.events.get(entry.event)
            choice = entry_choice(entry.command, event_guards=event is not None and event.guards)
            choices += [choice] if choice is not None else []
    if not choices:
        return None
    return EntryChoice(
        "all" if any(each.hooks == "all" for each in choices) else "own",
        "block" if any(each.if_missing == "block" for each in choices) else "allow",
    )


def offer_actions(args: argparse.Namespace, site: Site) -> None:
    """Offer that hooks about files, written for other agents, are asked about shell lines that touch such files.

    It is a setting of the user's own file.
    """
    engine = inspection_engine()
    found = list(detours(engine.loader.directory(site.project)))
    if not found:
        return
    hooks = f"{count_of(len(found), 'hook')} about files, written for other agents"
    wanted = args.actions == "all"
    if not wanted and not args.yes and at_terminal():
        show(f"\n{hooks}: a shell line such as `{found[0][1]}` goes around them.")
        wanted = answer_to("Ask them about such lines, too? [y]es, [n]o: ") in ("y", "yes")
    if not wanted:
        show(f"{hooks}: not asked about shell lines such as `{found[0][1]}` (--actions all)")
        return
    before = files.snapshot(file_for(engine, site.project, user=True), None)
    files.refuse_unwritable(before)
    files.replace(before, f"{_FOLLOWS}\n{before.text or ''}".encode())
    show(f"{hooks}: asked about shell lines, too ({with_tilde(before.file)}:1)")


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
