"""Record, encode and print what the doctor found; the field names of its JSON are a contract.

The text says where Hookline is installed, lists the files, then errors, warnings and notes, and ends with a line that
sums up.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from hookline.checks.commands.programs import KNOWN_GAP, Tier, survivors
from hookline.checks.context import entries
from hookline.checks.coverage import Covered, GuardCoverage
from hookline.cli.commands.doctor.installation import AgentStatus, InstallationStatus
from hookline.cli.describe import OFFER, lacks_guards
from hookline.cli.output import Colour, paint
from hookline.cli.shown_hooks import USUAL
from hookline.cli.text import count_of, indented, json_lines, paragraph, relative_to, table, with_tilde
from hookline.config.dormant import Dormant
from hookline.config.install.self_calls import is_own_call
from hookline.config.load import Found, Loaded
from hookline.dialects.labels import INSTALLED_HERE
from hookline.execguard.probe import Capabilities
from hookline.model.diagnostics import Diagnostic, Severity, Where
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line, printable
from hookline.trust.trust import State, TrustStatus

Weight = Literal["error", "warning", "note"]
_WEIGHTS: dict[Severity, Weight] = {"error": "error", "warning": "warning", "info": "note"}
_COLOURS: dict[Severity, Colour] = {"error": "red", "warning": "yellow", "info": "cyan"}
_HEADS: dict[Severity, str] = {"error": "Errors", "warning": "Warnings", "info": "Notes"}
_INDENT = " " * 4
_LONGEST_NAME = 40
#: Places of one finding that are shown.
_MOST_PLACES = 5


class Findings(Struct, frozen=True, eq=False, kw_only=True):
    """Everything there is to report."""

    cwd: str
    #: None: not asked about, as with --config.
    installation: InstallationStatus | None
    loaded: Loaded
    trust: Callable[[Hook], TrustStatus]
    #: Files whose hooks are not active.
    dormant: tuple[Dormant, ...]
    #: In the order they are shown.
    problems: tuple[Diagnostic, ...]
    #: Accepted findings, and where they are accepted.
    accepted: tuple[tuple[Diagnostic, Where], ...]
    #: Files outside the request: their problems are shown, and do not decide the exit status.
    elsewhere: frozenset[str]
    #: The name of a finding, by which it can be accepted.
    finding: Callable[[Diagnostic], str]
    #: Searched paths, where none of them holds anything.
    searched: tuple[str, ...]
    #: The tools of agents that each guard sees.
    coverage: tuple[GuardCoverage, ...]
    containment: Tier
    #: How far rules hold while a command runs on this machine.
    exec_guard: Capabilities
    #: How many findings were left out, because the baseline has them.
    known: int
    #: Nothing is said about this machine.
    files_only: bool
    #: Takes secrets out of text: a hook without a name is called by its command.
    redact: Callable[[str], str]
    #: The title of a dialect's agent.
    title: Callable[[str], str]

    def count(self, severity: Severity) -> int:
        return sum(one.severity == severity for one in self.problems)

    def counted(self, severity: Severity, noun: str) -> str:
        """Count causes, and their places where one has several."""
        found = [one for one in self.problems if one.severity == severity]
        causes = count_of(len(_grouped(found)), noun)
        return causes if len(_grouped(found)) == len(found) else f"{causes} in {len(found)} places"

    def is_asked_about(self, one: Diagnostic) -> bool:
        return one.where.file not in self.elsewhere

    @property
    def hooks(self) -> int:
        """The number of hooks, without Hookline's own entries and those that represent an unreadable file."""
        unread = set(self.loaded.unreadable)
        found = entries(self.loaded)
        return sum(hook.where.file not in unread and not is_own_call(hook) for hook in found)

    @property
    def files(self) -> int:
        """The number of files, each counted once, even if two agents read it."""
        return len({found.file for found in self.loaded.found} | {each.file for each in self.dormant})

    def read_before(self, found: Found) -> str | None:
        """Return the dialect that reads the same file earlier, so that the hooks are its own."""
        first = next(each for each in self.loaded.found if each.file == found.file)
        return None if first.dialect == found.dialect else first.dialect

    def events_of(self, found: Found, *, own: bool | None = None) -> Counter[str]:
        """Count hooks per event, under the names of the file's own agent; with `own` only Hookline's own entries,
        or only the others."""
        return Counter(
            hook.policy.event_name
            for hook in entries(self.loaded)
            if hook.where.file == found.file
            and hook.dialect == found.dialect
            and own in (None, is_own_call(hook))
        )

    def has_idle_hooks(self, found: Found) -> bool:
        """Return True if something is wrong with hooks of a file, or a setting keeps its agent from running them."""
        return any(
            one.where.file == found.file and (one.hook or one.where.path[:1] == ("hooks",))
            for one in self.loaded.diagnostics
        )

    def trust_in(self, found: Found) -> dict[State, int]:
        """Count the hooks of a file in each state of trust."""
        return dict(
            Counter(
                self.trust(hook).state
                for hook in entries(self.loaded)
                if hook.where.file == found.file and hook.dialect == found.dialect
            )
        )

    def summary(self) -> str:
        """The line that sums up."""
        return _summary(self)

    def clean(self, text: str) -> str:
        """Redact a text, and remove control characters."""
        return printable(self.redact(text))

    def as_json(self) -> str:
        return json_lines(as_document(self))

    def as_text(self, width: int) -> str:
        return "\n".join(_lines(self, width))


class CheckedFile(Found, frozen=True, kw_only=True):
    hooks: int
    #: How many hooks at each event.
    events: dict[str, int]
    #: How many hooks in each state of trust.
    trust: dict[State, int]


class DormantDocument(Struct, frozen=True):
    """A file whose hooks are not active."""

    file: str
    dialect: str
    hooks: int
    events: dict[str, int]
    #: When they are active, or why they are not.
    when: str


class ProblemDocument(Struct, frozen=True, kw_only=True):
    #: By which it can be accepted: its code and its hook, or its file where it is about no hook.
    id: str
    severity: Weight
    #: A short stable name of the kind of problem.
    code: str
    message: str
    file: str
    line: int | None
    dialect: str | None
    hook: str | None
    fix: str | None


class AcceptedDocument(ProblemDocument, frozen=True, kw_only=True):
    """An accepted finding."""

    #: The file and line that says so.
    accepted_by: str


class CountDocument(Struct, frozen=True):
    hooks: int
    files: int
    errors: int
    warnings: int
    notes: int
    accepted: int
    #: Left out, because the baseline has them.
    known: int


class CoverDocument(Struct, frozen=True):
    """Tools of one agent that a guard sees."""

    #: As people call it, and the name of its dialect; null for Hookline's own agent.
    agent: str
    dialect: str | None
    #: The kinds of its tools: shell, read, write, edit, fetch ...
    kinds: tuple[str, ...]
    #: Kinds that the guard covers in its own agent, and not in this one, which has such tools.
    missing: tuple[str, ...]


class CoveredGuard(Struct, frozen=True):
    """A hook that may stop a tool call."""

    hook: str
    #: file:line
    source: str
    dialect: str
    event: str
    trust: State
    covers: tuple[CoverDocument, ...]
    #: A condition that no sample call fulfils: the coverage is computed without it.
    only_if: str | None


class DoctorDocument(Struct, frozen=True):
    """Document of `hookline doctor --json`."""

    cwd: str
    #: Where Hookline is installed and asked; empty with --config.
    agents: tuple[AgentStatus, ...]
    #: How much this project brings that Hookline does not run until you trust it.
    waiting_for_trust: int
    #: Files that are there, in the order they are read.
    found: tuple[CheckedFile, ...]
    #: Files of skills, commands and agents that are not in use, and of plugins that are off.
    dormant: tuple[DormantDocument, ...]
    #: Searched paths where nothing is configured.
    searched: tuple[str, ...]
    problems: tuple[ProblemDocument, ...]
    accepted: tuple[AcceptedDocument, ...]
    counts: CountDocument
    #: How processes that hooks leave behind are found on this system.
    containment: str
    #: Processes of hooks that may survive when Hookline is killed with SIGKILL; all others end.
    survives_kill: tuple[str, ...]
    #: The hooks that may stop a tool call, and the tools that they see.
    guards: tuple[CoveredGuard, ...]
    #: How far rules hold while a command runs on this machine.
    exec_guard: Capabilities


def as_document(findings: Findings) -> DoctorDocument:
    loaded, installed = findings.loaded, findings.installation or InstallationStatus()
    whose = {each.file: each.dialect for each in (*findings.dormant, *reversed(loaded.found))}
    return DoctorDocument(
        findings.cwd,
        installed.agents,
        installed.waiting_for_trust,
        tuple(_file_document(findings, found) for found in loaded.found),
        tuple(_dormant_document(each) for each in findings.dormant),
        tuple(line.strip() for line in findings.searched),
        tuple(
            ProblemDocument(**_problem(findings, one, whose.get(one.where.file))) for one in findings.problems
        ),
        tuple(
            AcceptedDocument(**_problem(findings, one, whose.get(one.where.file)), accepted_by=str(by))
            for one, by in findings.accepted
        ),
        CountDocument(
            findings.hooks,
            findings.files,
            findings.count("error"),
            findings.count("warning"),
            findings.count("info"),
            len(findings.accepted),
            findings.known,
        ),
        findings.containment,
        tuple(row.kind for row in survivors(findings.containment)),
        tuple(_guard_document(findings, one) for one in findings.coverage),
        findings.exec_guard,
    )


def _guard_document(findings: Findings, found: GuardCoverage) -> CoveredGuard:
    hook = found.hook
    return CoveredGuard(
        findings.clean(hook.name),
        str(hook.where),
        hook.dialect,
        hook.event.name,
        findings.trust(hook).state,
        tuple(
            CoverDocument(each.asker.title, each.asker.dialect or None, each.kinds, each.missing)
            for each in found.by_agent
        ),
        findings.clean(found.only_if) if found.only_if else None,
    )


def _file_document(findings: Findings, found: Found) -> CheckedFile:
    events = findings.events_of(found)
    trust = findings.trust_in(found)
    return CheckedFile(**asdict(found), hooks=events.total(), events=dict(events), trust=trust)


def _dormant_document(dormant: Dormant) -> DormantDocument:
    events = Counter(hook.policy.event_name for hook in dormant.hooks)
    return DormantDocument(dormant.file, dormant.dialect, events.total(), dict(events), dormant.when)


def _problem(findings: Findings, one: Diagnostic, dialect: str | None) -> dict[str, Any]:
    return {
        "id": findings.finding(one),
        "severity": _WEIGHTS[one.severity],
        "code": one.code,
        "message": findings.clean(one.message),
        "file": one.where.file,
        "line": one.where.line,
        "dialect": dialect,
        "hook": None if one.hook is None else findings.clean(one.hook),
        "fix": None if one.fix is None else findings.clean(one.fix),
    }


def _lines(findings: Findings, width: int) -> Iterator[str]:
    if findings.installation is not None:
        yield from findings.installation.lines(width)
        yield from _guard_offer(findings)
    if findings.files:
        yield from _file_lines(findings, width)
    yield from _guard_lines(findings, width)
    for severity, head in _HEADS.items():
        problems = [one for one in findings.problems if one.severity == severity]
        if problems:
            yield head
            for several in _grouped(problems):
                yield from _problem_lines(findings, several, width)
            yield ""
    if not findings.files_only:
        yield from _containment(findings, width)
        if findings.coverage:
            yield paragraph(findings.exec_guard.sentence, width)
            yield ""
    yield _summary(findings)


def _guard_offer(findings: Findings) -> Iterator[str]:
    """Offer the recommended guards where agents are, and no guard of Hookline."""
    if findings.files and lacks_guards(findings.loaded.hooks):
        yield OFFER
        yield ""


def _file_lines(findings: Findings, width: int) -> Iterator[str]:
    yield f"Found {count_of(findings.files, 'file')} for {_short(findings.cwd)}"
    rows = [list(_file_row(findings, found)) for found in findings.loaded.found]
    rows += [list(_dormant_row(findings, each)) for each in findings.dormant]
    yield indented(table(rows, width - 2), 2)
    yield ""


def _file_row(findings: Findings, found: Found) -> Iterator[str]:
    events = findings.events_of(found)
    yield _short(found.file, findings.cwd)
    yield findings.title(found.dialect)
    yield found.scope
    if found.unreadable:
        yield "cannot be read"
    elif not events and (before := findings.read_before(found)) is not None:
        yield f"as above: its hooks run as {findings.title(before)}'s"
    elif not events:
        yield "no hook that runs: see below" if findings.has_idle_hooks(found) else "no hooks"
    else:
        own, others = (findings.events_of(found, own=each).total() for each in (True, False))
        said = [f"{INSTALLED_HERE}: {count_of(own, 'event')}"] if own else []
        said += [_counted(findings, findings.events_of(found, own=False))] if others else []
        states = findings.trust_in(found).items()
        yield "; ".join([*said, *(f"{number} {state}" for state, number in states if state not in USUAL)])


def _dormant_row(findings: Findings, dormant: Dormant) -> Iterator[str]:
    yield _short(dormant.file, findings.cwd)
    yield findings.title(dormant.dialect)
    yield dormant.hooks[0].scope
    counted = _counted(findings, Counter(hook.policy.event_name for hook in dormant.hooks))
    yield f"{counted}, {'off' if dormant.off else findings.clean(dormant.when)}"


def _counted(findings: Findings, events: Counter[str]) -> str:
    each = ", ".join(name if number == 1 else f"{name} {number}" for name, number in events.items())
    return f"{count_of(events.total(), 'hook')}: {findings.clean(each)}"


def _guard_lines(findings: Findings, width: int) -> Iterator[str]:
    if findings.coverage:
        yield "Guards, and the tools that they see"
        rows = [list(_guard_row(findings, one)) for one in findings.coverage]
        yield indented(table(rows, width - 2), 2)
        yield ""


def _guard_row(findings: Findings, found: GuardCoverage) -> Iterator[str]:
    """Format the guard, and the agents by what it covers in them."""
    yield one_line(findings.clean(found.hook.name), _LONGEST_NAME)
    agents: dict[str, list[str]] = {}
    for each in found.by_agent:
        agents.setdefault(_kinds_text(each), []).append(each.asker.title)
    state = findings.trust(found.hook).state
    unusual = "" if state in USUAL else f"; {state}"
    if found.only_if and not found.is_empty:
        unusual = f"; only if {one_line(findings.clean(found.only_if), _LONGEST_NAME)}{unusual}"
    yield "; ".join(f"{said}: {', '.join(titles)}" for said, titles in agents.items()) + unusual


def _kinds_text(found: Covered) -> str:
    if not found.kinds:
        return "matches no known tool"
    missing = f" (not {', '.join(found.missing)})" if found.missing else ""
    return "every tool" if not found.others and "mcp" in found.kinds else ", ".join(found.kinds) + missing


def _grouped(problems: list[Diagnostic]) -> list[list[Diagnostic]]:
    """Group findings with one cause: the same text. It is shown once, with all its places."""
    groups: dict[object, list[Diagnostic]] = {}
    for one in problems:
        groups.setdefault((one.code, one.message, one.fix), []).append(one)
    return list(groups.values())


def _problem_lines(findings: Findings, several: list[Diagnostic], width: int) -> Iterator[str]:
    first = several[0]
    word = paint(_WEIGHTS[first.severity], _COLOURS[first.severity])
    places = {(one.where.file, one.where.line, one.hook): one for one in several}.values()
    for number, one in enumerate(places):
        line = one.where.line
        place = _short(one.where.file, findings.cwd) + (f":{line}" if line is not None else "")
        # Of a finding without a hook the rest of the name is the file.
        name = findings.finding(one) if one.hook is not None else one.code
        lead = f"{word} " if number == 0 else " " * (len(_WEIGHTS[first.severity]) + 1)
        if number < _MOST_PLACES:
            yield f"  {lead}{findings.clean(place)}  {name}"
    if len(places) > _MOST_PLACES:
        more = len(places) - _MOST_PLACES
        yield f"{_INDENT}and {more} more {'place' if more == 1 else 'places'}"
    yield paragraph(findings.clean(first.message), width, _INDENT)
    if first.fix:
        yield paragraph(f"fix: {findings.clean(first.fix)}", width, _INDENT)


def _containment(findings: Findings, width: int) -> Iterator[str]:
    if not any(hook.kind == "command" for hook in entries(findings.loaded)):
        return
    text = ""
    if findings.containment != "subreaper":
        text = f"Processes of hooks are kept together by plain process groups on this system: {KNOWN_GAP}. "
    kinds = "; ".join(row.kind for row in survivors(findings.containment))
    yield paragraph(
        f"{text}Of what hooks start, only this may survive when Hookline is killed (SIGKILL): {kinds}.", width
    )
    yield ""


def _summary(findings: Findings) -> str:
    hooks = count_of(findings.hooks, "hook")
    other = sum(one.severity == "error" and not findings.is_asked_about(one) for one in findings.problems)
    parts = [
        findings.counted("error", "error") + (f" ({other} outside of this project)" if other else ""),
        findings.counted("warning", "warning"),
        findings.counted("info", "note"),
    ]
    if findings.accepted:
        parts.append(f"{len(findings.accepted)} accepted")
    if findings.known:
        parts.append(f"{findings.known} in the baseline")
    if not findings.files and any(one.severity != "info" for one in findings.problems):
        return f"No hook runs here: {', '.join(parts)}"
    if not findings.files:
        return "No hooks are configured here. `hookline guard add recommended` adds five guards."
    off = sum(len(each.hooks) for each in findings.dormant)
    dormant = f" ({off} more not active)" if off else ""
    return f"{hooks} in {count_of(findings.files, 'file')}{dormant}: {', '.join(parts)}"


def _short(file: str, cwd: str = "") -> str:
    """Shorten a path relative to the directory, or to the home directory, if it is in one of them."""
    # A path may contain line feeds: they must not begin a line of the report.
    return printable(with_tilde(relative_to(cwd, file) if cwd else file)).replace("\n", "<U+000A>")
