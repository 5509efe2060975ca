"""Find out in which agents Hookline is installed, if they run it, and when they last called it."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.checks.coverage import GuardCoverage
from hookline.cli.commands.hook.entries import GONE, moved_program, moved_text
from hookline.cli.commands.install.report import WHERE
from hookline.cli.text import count_of, paragraph, with_tilde, with_tildes
from hookline.config.install.plan import further, installer_of, is_there, look, own_entries
from hookline.config.install.self_calls import plain_program
from hookline.config.install.shell import is_own_shell, other_shells, shell_in
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import Entry, InstallScope, Site, Standing
from hookline.dialects.registry import dialects_here, standard_dialects
from hookline.dialects.report import about
from hookline.execguard.probe import capabilities
from hookline.journal.file import journal_path
from hookline.journal.reader import scan_journal
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.errors import HooklineError
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.trust.project import project_root
from hookline.trust.review import Review
from hookline.trust.sessions import SessionStore

_LONGEST = 500


class SiteStatus(Struct, frozen=True):
    """One agent's files, of the user or of the project."""

    scope: InstallScope
    #: The file that has the entries, or would have them.
    file: str | None
    #: The line of the first entry; null where it is not installed.
    line: int | None = None
    events: tuple[str, ...] = ()
    #: Why the entries cannot start Hookline.
    program_problem: str | None = None
    #: Whether the agent will run the entries, judging by files, and why.
    trusted_by_agent: Standing | None = None
    agent_says: str | None = None
    #: True if Hookline trusts them: entries of a project need it.
    trusted_by_us: bool | None = None
    #: Why the files cannot be read.
    problem: str | None = None
    #: The shell under the exec guard that its commands run in; null where it has another.
    shell: str | None = None
    #: Why that shell is not used.
    shell_problem: str | None = None

    @property
    def is_silent(self) -> bool:
        """True if the agent runs none of the entries, or they name a Hookline that does not exist."""
        return self.trusted_by_agent == "untrusted" or (self.program_problem or "").endswith(GONE)


class SeenCall(Struct, frozen=True):
    """Last call of Hookline by the agent."""

    #: Seconds since the epoch.
    at: float
    project: str
    #: Empty where only the session is known.
    event: str = ""


class AgentStatus(Struct, frozen=True):
    """One agent, and Hookline in its files."""

    agent: str
    title: str
    #: Its programs in PATH, and its directories.
    found: tuple[str, ...]
    sites: tuple[SiteStatus, ...]
    #: Null: never, by the journal and the remembered sessions.
    seen: SeenCall | None = None

    @property
    def installed(self) -> bool:
        return any(site.events for site in self.sites)

    @property
    def is_silent(self) -> bool:
        """True if it is installed, and the agent asks all the same nowhere."""
        return self.installed and all(site.is_silent for site in self.sites if site.events)


class InstallationStatus(Struct, frozen=True):
    """State of Hookline in each agent: where it is installed, and when it was called."""

    agents: tuple[AgentStatus, ...] = ()
    #: How much this project brings that Hookline does not run until you trust it.
    waiting_for_trust: int = 0
    #: The agents on this machine: a project's directory for an agent is not one.
    here: frozenset[str] = frozenset()

    def findings(self) -> Iterator[Diagnostic]:
        """Warn of entries that their agent will not run."""
        for each in self.agents:
            for site in each.sites:
                if site.trusted_by_agent == "untrusted":
                    message = f"{each.title} does not run the entries that call Hookline: {site.agent_says}"
                    fix = f"change that in {each.title}, or run: hookline install {each.agent}"
                    yield Diagnostic(
                        "warning", "agent-does-not-run", message, Where(site.file or ""), fix=fix
                    )
                if site.shell_problem:
                    message = f"commands of {each.title} run without the exec guard: {site.shell_problem}"
                    yield Diagnostic(
                        "warning", "shell-unguarded", message, Where(site.file or ""),
                        fix=f"change that, or run: hookline install {each.agent} --exec-guard",
                    )  # fmt: skip

    def unasked(self, guards: Iterable[GuardCoverage]) -> Iterator[Diagnostic]:
        """Report guards that no agent on this machine asks: they stop nothing.

        A guard in an agent's own file is asked by that agent.
        """
        here = [each for each in self.agents if each.agent in self.here]
        titles = [each.title for each in here]
        silent = {each.agent for each in here if each.is_silent}
        for one in guards:
            asking = {each.asker.dialect for each in one.by_agent} - {""}
            if not here or asking - (silent - {one.hook.dialect}):
                continue
            names = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
            verb = "does" if len(titles) == 1 else "do"
            at = f" at {one.hook.event.name}" if any(each.installed for each in here) else ""
            message = f"this guard stops nothing in your agents: {names} {verb} not ask Hookline{at}"
            yield about(one.hook, "error", "unasked-guard", message, fix="hookline install")

    def lines(self, width: int) -> Iterator[str]:
        yield "Where Hookline is installed and asked"
        for each in self.agents:
            yield from _agent_lines(each, width)
        if not any(each.installed for each in self.agents):
            where = "" if self.agents else "not installed in any agent; "
            yield f"  {where}`hookline install` installs it"
        if self.waiting_for_trust:
            what = count_of(self.waiting_for_trust, "item")
            them = "it" if self.waiting_for_trust == 1 else "them"
            yield f"  Hookline itself runs {what} found here only once you trust {them}: `hookline trust`"
        yield ""


def installation(cwd: str, only: Dialect | None, review: Review) -> InstallationStatus:
    """Read the files of each agent that is here, or of one, and the journal."""
    seen = last_calls()
    here = dialects_here(cwd, os.environ) if only is None else (only,)
    chosen = [each for each in here if each.installer is not None]
    every = [_status(each, project_root(cwd), review, seen) for each in chosen]
    shown = (each for each in every if only is not None or each.found or each.installed)
    site = Site("user", project_root(cwd), os.environ)
    there = frozenset(each.name for each in chosen if is_there(each, site))
    return InstallationStatus(tuple(shown), len(review.pending), there)


def _status(dialect: Dialect, project: str, review: Review, seen: Mapping[str, SeenCall]) -> AgentStatus:
    sites = [Site(scope, project, os.environ) for scope in WHERE]
    found = dict.fromkeys(sign for site in sites for sign in is_there(dialect, site))
    every = (_site(dialect, site, review) for site in sites)
    shown = tuple(site for site in every if site.scope in ("user", "project") or site.events)
    return AgentStatus(dialect.name, dialect.title, tuple(found), shown, seen.get(dialect.name))


def _site(dialect: Dialect, site: Site, review: Review) -> SiteStatus:
    installer = installer_of(dialect)
    try:
        file = installer.files(site)[0]
    except HooklineError:  # the agent has no such file
        return SiteStatus(site.scope, None)
    try:
        texts = further(installer, site, {each.file: each.text for each in look(dialect, site).values()})
        is_own = own_entries(dialect)
        own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
        if not own:
            return SiteStatus(site.scope, file)
        said = _asked(dialect, own, site)
        standing, why = said if said is not None else installer.standing(texts, own, site)
    except HooklineError as problem:
        return SiteStatus(site.scope, file, problem=str(problem))
    shell = shell_in(dialect, file, texts.get(file))
    return SiteStatus(
        site.scope,
        file,
        own[0].line,
        tuple(dict.fromkeys(entry.event for entry in own)),
        _program_problem(dialect, own),
        standing,
        why,
        _is_trusted(own, review),
        shell=shell if is_own_shell(shell) else None,
        shell_problem=_shell_problem(dialect, site, shell),
    )


def _shell_problem(dialect: Dialect, site: Site, shell: str) -> str | None:
    """Return why the agent's commands do not run in our shell, if that was chosen."""
    if not is_own_shell(shell):
        return None
    if not os.access(shell, os.X_OK):
        return f"{shell} {GONE}"
    level = capabilities()
    if level.level == "none":
        return f"it does not work here, so they do not start: {level.why}"
    # The administrator's settings come before those of a project.
    others = other_shells(dialect, site.project) if site.scope != "managed" else ()
    return next((f"{file} chooses {other}" for file, other in others if other != shell), None)


def _asked(dialect: Dialect, own: Sequence[Entry], site: Site) -> tuple[Standing, str] | None:
    """Ask the agent's program, but none that is in the project: opening a directory must not start its programs."""
    real = os.path.realpath(site.project)
    path = [each for each in site.env.get("PATH", "").split(os.pathsep) if not _is_below(each, real)]
    env = {**site.env, "PATH": os.pathsep.join(path)}
    outside = [
        each for each in standard_dialects()[dialect.name].programs_in_path(env) if not _is_below(each, real)
    ]
    return installer_of(dialect).asked(outside[0], own, replace(site, env=env)) if outside else None


def _is_below(path: str, directory: str) -> bool:
    return f"{os.path.realpath(path)}/".startswith(f"{directory.rstrip('/')}/")


def _program_problem(dialect: Dialect, own: Sequence[Entry]) -> str | None:
    programs = dict.fromkeys(plain_program(entry.command, dialect.name) for entry in own)
    return next((wrong for words in programs if words and (wrong := moved_program(words)) is not None), None)


def _is_trusted(own: Sequence[Entry], review: Review) -> bool:
    """Return True if none of our entries waits for the user: those of a project and of plugins do."""
    file, paths = own[0].file, {entry.path for entry in own}
    return not any(
        entry.item.where.file == file and entry.item.where.path in paths for entry in review.pending
    )


def last_calls() -> dict[str, SeenCall]:
    """Return the last call by dialect: from the journal, and from remembered sessions, where no hook may have run."""
    found: dict[str, SeenCall] = {}
    for run in scan_journal(journal_path(os.environ)):
        if not isinstance(run, Run) or run.call.origin or not run.call.caller:
            continue
        known = found.get(run.call.caller)
        if known is None or known.at < run.at:
            found[run.call.caller] = SeenCall(run.at, run.call.project, run.dialect_event)
    for dialect, (at, root) in SessionStore(os.environ.get("HOME", "")).last_calls().items():
        # The file of a session is written at the same time as the record of its run.
        if dialect not in found or found[dialect].at + 1 < at:
            found[dialect] = SeenCall(at, root)
    return found


def _agent_lines(each: AgentStatus, width: int) -> Iterator[str]:
    sites = [site for site in each.sites if site.events or site.problem]
    if not sites and each.seen is None:
        yield f"  {each.title}: not installed"
        return
    yield f"  {each.title}" if sites else f"  {each.title}: not installed"
    for site in sites:
        first, *more = _site_lines(site, each.title)
        yield paragraph(with_tildes(first), width, "    ")
        yield from (paragraph(with_tildes(line), width, "      ") for line in more)
    yield paragraph(_seen_line(each.seen), width, "    ")


def _site_lines(site: SiteStatus, title: str) -> Iterator[str]:
    where = WHERE[site.scope]
    if site.problem:
        yield f"{where}: {one_line(site.problem, _LONGEST)}"
        return
    place = f"{with_tilde(site.file or '')}:{site.line}" if site.line else with_tilde(site.file or "")
    yield f"{where}: {printable(place)}, {count_of(len(site.events), 'event')}"
    if site.program_problem:
        yield f"{moved_text(site.program_problem)}; run `hookline install` again"
    said = {"trusted": "yes", "untrusted": "no", "unknown": "not known", None: "not known"}[
        site.trusted_by_agent
    ]
    yield f"trusted by {title}: {said}; {one_line(site.agent_says or '', _LONGEST)}"
    if site.shell:
        yield f"shell commands run under the exec guard: {with_tilde(printable(site.shell))}"
    ours = "yes" if site.trusted_by_us else "no; `hookline trust` asks"
    yield f"trusted by Hookline: {ours}"


def _seen_line(seen: SeenCall | None) -> str:
    if seen is None:
        return "last asked: never"
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seen.at))
    event = f" at {seen.event}" if seen.event else ""
    project = f" in {one_line(with_tilde(seen.project), _LONGEST)}" if seen.project else ""
    return f"last asked: {at}{event}{project}"
