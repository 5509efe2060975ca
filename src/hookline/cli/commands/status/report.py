"""What `hookline status` prints."""

import time
from collections.abc import Iterator

from msgspec import Struct

from hookline.cli.output import paint
from hookline.cli.text import count_of, json_lines, paragraph, with_tilde, with_tildes
from hookline.dialects.installer import InstallScope, Standing
from hookline.model.safe_text import one_line, printable

_LONGEST = 500
_WHERE: dict[InstallScope, str] = {"user": "for you", "project": "in this project"}


class SiteStatus(Struct, frozen=True):
    """One agent's files, of the user or of the project."""

    scope: InstallScope
    #: The file that has the entries, or would have them.
    file: str | None
    #: The line of the first entry; null where it is not installed.
    line: int | None = None
    events: tuple[str, ...] = ()
    #: What is wrong with how the entries start Hookline.
    program_problem: str | None = None
    #: Whether the agent will run the entries, as far as files tell, and why.
    trusted_by_agent: Standing | None = None
    agent_says: str | None = None
    #: Whether Hookline trusts them: entries of a project need it.
    trusted_by_us: bool | None = None
    #: Why the files cannot be read.
    problem: str | None = None

    @property
    def installed(self) -> bool:
        return bool(self.events)

    @property
    def wrong(self) -> bool:
        held = self.trusted_by_agent == "untrusted" or self.trusted_by_us is False
        return bool(self.problem or (self.installed and (held or self.program_problem)))


class SeenCall(Struct, frozen=True):
    """The last time that the agent asked Hookline."""

    #: Seconds since the epoch.
    at: float
    project: str
    #: Empty where only the session is known.
    event: str = ""


class AgentStatus(Struct, frozen=True):
    agent: str
    title: str
    #: Its programs in PATH, and its folders.
    found: tuple[str, ...]
    sites: tuple[SiteStatus, ...]
    #: Null: never, as far as the journal and the sessions that are remembered tell.
    seen: SeenCall | None = None

    @property
    def installed(self) -> bool:
        return any(site.installed for site in self.sites)


class StatusDocument(Struct, frozen=True):
    project: str
    #: How much this project brings that Hookline does not run until you trust it.
    waiting_for_trust: int
    agents: tuple[AgentStatus, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        lines = [line for each in self.agents for line in _agent_lines(each, width)]
        if not any(each.installed for each in self.agents):
            lines.append("Hookline is not installed in any of them; `hookline install` does it")
        if self.waiting_for_trust:
            what = count_of(self.waiting_for_trust, "item")
            lines.append(f"{what} of this project will not run until you trust it: `hookline trust`")
        return "\n".join(lines)


def _agent_lines(each: AgentStatus, width: int) -> Iterator[str]:
    yield paint(each.title, "bold")
    for site in each.sites:
        first, *more = _site_lines(site, each.title)
        yield paragraph(with_tildes(first), width, "  ")
        yield from (paragraph(with_tildes(line), width, "    ") for line in more)
    if each.installed or each.seen:
        yield paragraph(_seen_line(each.seen), width, "  ")
    yield ""


def _site_lines(site: SiteStatus, title: str) -> Iterator[str]:
    where = _WHERE[site.scope]
    if site.problem:
        yield f"{where}: {one_line(site.problem, _LONGEST)}"
        return
    if not site.installed:
        yield f"{where}: not installed"
        return
    place = f"{with_tilde(site.file or '')}:{site.line}" if site.line else with_tilde(site.file or "")
    yield f"{where}: {printable(place)}, {count_of(len(site.events), 'event')}"
    if site.program_problem:
        yield f"Hookline has moved: {site.program_problem}; run `hookline install` again"
    said = {"trusted": "yes", "untrusted": "no", "unknown": "not known", None: "not known"}[
        site.trusted_by_agent
    ]
    yield f"trusted by {title}: {said}; {one_line(site.agent_says or '', _LONGEST)}"
    ours = "yes" if site.trusted_by_us else "no; `hookline trust` asks"
    yield f"trusted by Hookline: {ours}"


def _seen_line(seen: SeenCall | None) -> str:
    if seen is None:
        return "seen at work: never"
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seen.at))
    event = f" at {seen.event}" if seen.event else ""
    project = f" in {one_line(with_tilde(seen.project), _LONGEST)}" if seen.project else ""
    return f"seen at work: {at}{event}{project}"
