"""Plan what installing changes in each agent's files, show it, ask, and write."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.hook.run import faster, hook_calls, pinned_program
from hookline.cli.commands.install.report import AgentDocument, InstallDocument, agent_document
from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, note, show, show_part
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of, terminal_width
from hookline.config.install.plan import IsOwn, Plan, installer_of, is_there, look, plan_install
from hookline.config.install.records import Records
from hookline.config.install.self_calls import isolated_program, plain_program, program_words
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import Entry, InstallError, Site
from hookline.dialects.registry import dialect_named, every_dialect
from hookline.matching.nearest import nearest
from hookline.model.errors import HooklineError
from hookline.model.safe_text import one_line
from hookline.resident.call.payload import event_named
from hookline.trust.project import project_root

_LONGEST = 500
#: Where programs are that are run without being installed, as `uvx hookline` does.
_CACHES = frozenset((".cache", "Caches"))
_KEEP = "install Hookline first (uv tool install, pipx install), and run this again"


class Planned(Struct, frozen=True):
    """What is to be done for an agent, or why it cannot be."""

    dialect: Dialect
    site: Site
    plan: Plan | None = None
    problem: str = ""


def run(args: argparse.Namespace) -> ExitStatus:
    site, records = site_of(args), Records(os.environ.get("HOME", ""))
    records.recover()
    dialects = agents_named(args.words) or [each for each in installable() if is_there(each, site)]
    if not dialects:
        names = ", ".join(each.name for each in installable())
        raise RequestError(
            f"no agent was found, neither its program in PATH nor its folder; name one of {names}"
        )
    events = [name for given in args.events or () for name in given.split(",") if name]
    program = isolated_program() if args.no_relay else faster(pinned_program())
    found = [planned(each, site, partial(_plan, each, site, events, program, records)) for each in dialects]
    return settle(found, args, records, "install")


def _plan(dialect: Dialect, site: Site, events: Sequence[str], program: str, records: Records) -> Plan:
    usual = "all" in events
    names = [name for each in events if each != "all" for name in _own_names(dialect, each)]
    names = [] if usual else names or _installed_events(dialect, site)
    plan = plan_install(dialect, site, hook_calls(dialect, names, program), own_entries(dialect), records)
    if plan.writes and not _CACHES.isdisjoint(program.split("/")):
        return replace(plan, notes=(*plan.notes, f"{program} is in a cache, which may be emptied: {_KEEP}"))
    return plan


def _installed_events(dialect: Dialect, site: Site) -> list[str]:
    """The events at which the agent asks already: installing again does not add to what the user chose."""
    texts = {file: each.text for file, each in look(dialect, site).items()}
    is_own = own_entries(dialect)
    found = [each.event for each in installer_of(dialect).entries(texts, site) if is_own(each)]
    return [name for name in dict.fromkeys(found) if name in dialect.events]


def _own_names(dialect: Dialect, name: str) -> Sequence[str]:
    """The agent's own names of an event that is called by its own or by Hookline's name."""
    if name in dialect.events:
        return (name,)
    usual = [
        each for each in dialect.call_events if any(one.event.name == name for one in dialect.moments(each))
    ]
    return usual or (event_named(dialect, name).name,)


def site_of(args: argparse.Namespace) -> Site:
    cwd = working_directory(args.cwd)
    return Site("project" if args.project else "user", project_root(cwd), os.environ)


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
            raise RequestError(f"there is no agent {name[:100]!r} to install into; {hint}")
        found.append(dialect)
    return found


def own_entries(dialect: Dialect) -> IsOwn:
    """Whether an entry is one that `hookline install` or `hookline hook --print-config` wrote."""

    def is_own(entry: Entry) -> bool:
        own = plain_program(entry.command, dialect.name) is not None
        return own and entry.everywhere and "args" not in entry.value

    return is_own


def planned(dialect: Dialect, site: Site, plan: Callable[[], Plan]) -> Planned:
    try:
        return Planned(dialect, site, plan())
    except HooklineError as problem:
        return Planned(dialect, site, problem=str(problem))


def problem_of(dialect: Dialect, site: Site) -> bool:
    """Whether its files cannot be read, or hold an entry of ours."""
    installer, is_own = installer_of(dialect), own_entries(dialect)
    try:
        texts = {file: each.text for file, each in look(dialect, site).items()}
        return any(is_own(entry) for entry in installer.entries(texts, site))
    except InstallError:
        return True


def settle(found: Sequence[Planned], args: argparse.Namespace, records: Records, command: str) -> ExitStatus:
    """Show the plans, ask if need be, and carry them out. Agents that cannot be served do not stop the others."""
    shown = [agent_document(each.dialect, each.site, each.plan, each.problem) for each in found]
    pending = [each for each in found if each.plan is not None and each.plan.writes]
    width = terminal_width()
    if not args.json and (status := show_part(InstallDocument(tuple(shown)).as_text(width, command))):
        return status
    agreed = bool(pending) and (args.yes or (not args.json and _agrees(pending, command)))
    if agreed:
        shown = [_carried_out(each, document, records) for each, document in zip(found, shown, strict=True)]
    if command == "install" and (agreed or not pending):
        shown = [_trusted(each, document) for each, document in zip(found, shown, strict=True)]
    document = InstallDocument(tuple(shown))
    if args.json:
        show(document.as_json(), as_json=True)
    for line in document.results() if agreed and not args.json else ():
        show(line)
    for each in shown:
        if each.problem:
            note(one_line(f"hookline {command}: {each.title}: {each.problem}", _LONGEST))
    failed = any(each.problem for each in shown) or (bool(pending) and not agreed)
    return ExitStatus.PROBLEM if failed else ExitStatus.OK


def _agrees(pending: Sequence[Planned], command: str) -> bool:
    files = count_of(sum(len(each.plan.writes) for each in pending if each.plan), "file")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        show(f"\nNothing was written. To change {files} as shown, run it again with --yes.")
        return False
    import termios

    # What lay in the terminal before the question is not an answer to it.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stdout.write(f"\nChange {files} as shown? [y]es, [n]o: ")
    sys.stdout.flush()
    agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not agreed:
        show(f"nothing was {'installed' if command == 'install' else 'removed'}")
    return agreed


def _carried_out(each: Planned, document: AgentDocument, records: Records) -> AgentDocument:
    if each.plan is None or not each.plan.writes:
        return document
    try:
        with records.locked():
            backups = records.carry_out(each.plan.writes)
    except InstallError as problem:
        return replace(document, problem=str(problem))
    return replace(document, done=True, backups=tuple(backups))


def _trusted(each: Planned, document: AgentDocument) -> AgentDocument:
    if each.plan is None or document.problem:
        return document
    return replace(document, problem=trust_own_entries(each.plan))


def trust_own_entries(plan: Plan) -> str | None:
    """Trust the entries that name this program: the user asked for them. Why that did not work, if it did not."""
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
