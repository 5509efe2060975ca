"""Plan the changes of installing in each agent's files, show them, ask, and write."""

import argparse
import os
import shlex
import stat
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.hook.entries import faster, hook_calls, pinned_program
from hookline.cli.commands.install.choose import (
    at_terminal,
    choose,
    offer_actions,
)
from hookline.cli.commands.install.report import AgentDocument, InstallDocument, Promise, agent_document
from hookline.cli.describe import OFFER, lacks_guards
from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, note, show, show_part
from hookline.cli.requests import RequestError, answer_to
from hookline.cli.text import count_of, terminal_width
from hookline.config.engine import Engine
from hookline.config.install.plan import (
    InstallPlan,
    has_shell,
    installed_entries,
    installer_of,
    is_there,
    own_entries,
    plan_install,
)
from hookline.config.install.records import InstallRecords
from hookline.config.install.self_calls import EntryChoice, isolated_program, plain_program, program_words
from hookline.config.install.shell import own_shell
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import INSIDE, InstallError, InstallScope, Site
from hookline.dialects.registry import dialect_named, every_dialect
from hookline.disk import ancestors
from hookline.execguard.probe import capabilities
from hookline.extras import how_to_add
from hookline.hook.call.payload import event_named
from hookline.matching.nearest import nearest
from hookline.model.errors import HooklineError
from hookline.model.safe_text import one_line
from hookline.trust.project import project_root

_LONGEST = 500
SCOPES: tuple[InstallScope, ...] = get_args(InstallScope)
#: Where programs are that are run without being installed, as `uvx hookline` does.
_CACHES = frozenset((".cache", "Caches"))
_FOR_ALL = "install Hookline where every user can run it, and run this again"
_NO_MOD = "this agent cannot have a mod: it calls Hookline by its entries alone"
_KEEP = "install Hookline first (uv tool install, pipx install), and run this again"


class PlannedInstall(Struct, frozen=True):
    """Planned change for an agent, or why it is impossible."""

    dialect: Dialect
    site: Site
    plan: InstallPlan | None = None
    problem: str = ""


def run(args: argparse.Namespace) -> ExitStatus:
    site, records = site_of(args), InstallRecords(os.environ.get("HOME", ""))
    records.recover()
    dialects = agents_named(args.words) or [each for each in installable() if is_there(each, site)]
    if not dialects:
        names = ", ".join(each.name for each in installable())
        raise RequestError(
            f"no agent was found, neither its program in PATH nor its directory; name one of {names}"
        )
    events = [name for given in args.events or () for name in given.split(",") if name]
    program = isolated_program() if args.no_relay else faster(pinned_program())
    choice, brought = choose(args, dialects, site)
    wanted = _Wanted(events, program, choice)
    # If none of them can have a mod, it is refused for each.
    for_some = site.inside and any(each.inside_event for each in dialects)
    found = [
        planned(each, site, partial(_plan, each, site, wanted, records))
        if each.inside_event or not for_some
        else _without_mod(each, site, wanted, records)
        for each in dialects
    ]
    status = settle(found, args, records, "install", Promise(choice.hooks, choice.if_missing, tuple(brought)))
    if status != ExitStatus.OK or args.json:
        return status
    if not args.no_relay:
        from hookline.cli.commands.daemon.run import warn_of_other_home

        warn_of_other_home()
    offer_actions(args, site)
    if at_terminal() and lacks_guards(Engine().load(site.project).hooks):
        show(f"\n{OFFER}")
    return status


class _Wanted(Struct, frozen=True):
    """The entries that every agent should have."""

    events: Sequence[str]
    program: str
    choice: EntryChoice


def _plan(dialect: Dialect, site: Site, wanted: _Wanted, records: InstallRecords) -> InstallPlan:
    program, events = wanted.program, wanted.events
    usual = "all" in events
    names = [name for each in events if each != "all" for name in _own_names(dialect, each)]
    names = [] if usual else names or _installed_events(dialect, site)
    file = installer_of(dialect).files(site)[0]
    # A project's file is read on other machines, too.
    named = os.path.relpath(file, site.project) if site.scope == "project" else file
    calls = hook_calls(dialect, names, program, wanted.choice, named, site.scope)
    if site.inside or any(entry.path == INSIDE for entry in installed_entries(dialect, site)):
        if not dialect.inside_event:
            raise InstallError("there Hookline cannot run inside of it: leave --mod out")
        if site.scope != "user":
            raise InstallError("a mod is only installed for all your projects (--user): leave --mod out")
        (inside,) = hook_calls(dialect, [dialect.inside_event], program, wanted.choice, named)
        calls.append(replace(inside, inside=True))
    shell = ""
    if site.exec_guard or has_shell(dialect, site):
        shell = own_shell(dialect, site, os.path.dirname(program_words(shlex.split(pinned_program()))[0]))
        if capabilities().level == "none":
            raise InstallError(f"the exec guard does not work here: {capabilities().why}")
    plan = plan_install(dialect, site, calls, own_entries(dialect), records, shell)
    notes = list(plan.notes)
    if shell:
        notes.append(f"its shell commands will run under the exec guard, in {shell}")
    if not _CACHES.isdisjoint(program.split("/")):
        notes.append(f"{program} is in a cache, which may be emptied: {_KEEP}")
    if site.scope == "managed" and (closed := _closed_directory(program)):
        notes.append(f"other users cannot enter {closed}, so {program} does not start for them: {_FOR_ALL}")
    if site.scope == "plugin" and find_spec("mcp") is None:
        notes.append(f"the plugin's MCP server does not start without the package mcp: {how_to_add('agent')}")
    return replace(plan, notes=tuple(notes)) if plan.writes else plan


def _without_mod(dialect: Dialect, site: Site, wanted: _Wanted, records: InstallRecords) -> PlannedInstall:
    """Plan an agent that cannot have the mod that others get: its entries alone."""
    entries = replace(site, inside=False)
    found = planned(dialect, entries, partial(_plan, dialect, entries, wanted, records))
    if found.plan is None or not found.plan.writes:
        return found
    return replace(found, plan=replace(found.plan, notes=(*found.plan.notes, _NO_MOD)))


def _closed_directory(program: str) -> str | None:
    """Return the directory above the program that other users cannot enter; None if there is none."""
    directory = os.path.dirname(os.path.realpath(program_words(shlex.split(program))[0]))
    closed = (each for each in ancestors(directory) if not os.stat(each).st_mode & stat.S_IXOTH)
    return next(closed, None)


def _installed_events(dialect: Dialect, site: Site) -> list[str]:
    """Return the events at which the agent calls Hookline already: installing again keeps the user's choice."""
    found = [each.event for each in installed_entries(dialect, site)]
    return [name for name in dict.fromkeys(found) if name in dialect.events]


def _own_names(dialect: Dialect, name: str) -> Sequence[str]:
    """Return the agent's own names of an event, given by its own or by Hookline's name."""
    if name in dialect.events:
        return (name,)
    usual = [
        each
        for each in dialect.call_events
        if any(one.event.name == name for one in dialect.recorded_events(each))
    ]
    return usual or (event_named(dialect, name).name,)


def site_of(args: argparse.Namespace) -> Site:
    cwd = working_directory(args.cwd)
    chosen: list[InstallScope] = [each for each in SCOPES if getattr(args, each)]
    words = program_words(shlex.split(isolated_program()))
    scope = chosen[0] if chosen else "user"
    trust, inside = getattr(args, "trust", False), getattr(args, "mod", False)
    guard = getattr(args, "exec_guard", False)
    return Site(scope, project_root(cwd), os.environ, trust, inside, words, guard)


def installable() -> list[Dialect]:
    return [each for each in every_dialect() if each.installer is not None]


def agents_named(names: Sequence[str]) -> list[Dialect]:
    found: list[Dialect] = []
    for name in dict.fromkeys(names):
        dialect = dialect_named(name)
        if dialect is None or dialect.installer is None:
            known = [each.name for each in installable()]
            close = nearest(name[:100], known)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"
            raise RequestError(f"unknown agent {name[:100]!r}; {hint}")
        found.append(dialect)
    return found


def planned(dialect: Dialect, site: Site, plan: Callable[[], InstallPlan]) -> PlannedInstall:
    try:
        return PlannedInstall(dialect, site, plan())
    except HooklineError as problem:
        return PlannedInstall(dialect, site, problem=str(problem))


def problem_of(dialect: Dialect, site: Site) -> bool:
    """Return True if its files cannot be read, or hold an entry of ours."""
    try:
        return bool(installed_entries(dialect, site))
    except InstallError:
        return True


def settle(
    found: Sequence[PlannedInstall],
    args: argparse.Namespace,
    records: InstallRecords,
    command: str,
    promise: Promise | None = None,
) -> ExitStatus:
    """Show the plans, ask if needed, and carry them out. Agents that cannot be changed do not stop the others."""
    shown = [agent_document(each.dialect, each.site, each.plan, each.problem) for each in found]
    pending = [each for each in found if each.plan is not None and each.plan.writes]
    text = InstallDocument(tuple(shown), promise).as_text(terminal_width(), command, diff=args.diff)
    if not args.json and (status := show_part(text)):
        return status
    agreed = bool(pending) and (args.yes or (not args.json and _agrees(pending, command)))
    if agreed:
        shown = [_carried_out(each, document, records) for each, document in zip(found, shown, strict=True)]
    if command == "install" and (agreed or not pending):
        shown = [_trusted(each, document) for each, document in zip(found, shown, strict=True)]
    document = InstallDocument(tuple(shown), promise)
    if args.json:
        show(document.as_json(), as_json=True)
    for line in document.results() if agreed and not args.json else ():
        show(line)
    for each in shown:
        if each.problem:
            note(one_line(f"hookline {command}: {each.title}: {each.problem}", _LONGEST))
    failed = any(each.problem for each in shown) or (bool(pending) and not agreed)
    return ExitStatus.PROBLEM if failed else ExitStatus.OK


def _agrees(pending: Sequence[PlannedInstall], command: str) -> bool:
    files = count_of(sum(len(each.plan.writes) for each in pending if each.plan), "file")
    if not at_terminal():
        show(f"\nNothing was written. To change {files} as shown, run it again with --yes.")
        return False
    agreed = answer_to(f"\nChange {files} as shown? [y]es, [n]o: ") in ("y", "yes")
    if not agreed:
        show(f"nothing was {'installed' if command == 'install' else 'removed'}")
    return agreed


def _carried_out(each: PlannedInstall, document: AgentDocument, records: InstallRecords) -> AgentDocument:
    if each.plan is None or not each.plan.writes:
        return document
    try:
        with records.locked():
            backups = records.carry_out(each.plan.writes)
    except InstallError as problem:
        return replace(document, problem=str(problem))
    return replace(document, done=True, backups=tuple(backups))


def _trusted(each: PlannedInstall, document: AgentDocument) -> AgentDocument:
    if each.plan is None or document.problem:
        return document
    return replace(document, problem=trust_own_entries(each.plan))


def trust_own_entries(plan: InstallPlan) -> str | None:
    """Trust the entries that name this program: the user asked for them. Return why that failed, if it did."""
    from hookline.cli.commands.trust.run import look_around
    from hookline.trust.store import StoreError

    plain = pinned_program()
    own = [program_words(shlex.split(each)) for each in (plain, faster(plain), isolated_program())]
    found = look_around(plan.site.project)
    mine = [
        entry
        for entry in found.pending
        if entry.item.where.file in plan.before
        and any(plain_program(text.text, plan.dialect.name) in own for text in entry.texts)
    ]
    try:
        if mine:
            found.accept(mine, guards=False)
    except StoreError as problem:
        return f"it is installed, but Hookline does not trust its own entries yet: {problem}"
    return None
