"""What the doctor found, and the same as a document for scripts. Its field names are a contract."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

from hookline.checks.containment import KNOWN_GAP
from hookline.checks.context import entries
from hookline.cli.terminal import Colour, paint
from hookline.cli.text import paragraph, table
from hookline.config.load import Found, Loaded
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.hook import Scope
from hookline.model.safe_text import one_line, printable

Weight = Literal["error", "warning", "note"]
WEIGHTS: dict[Severity, Weight] = {"error": "error", "warning": "warning", "info": "note"}


class Findings(Struct, frozen=True, eq=False):
    """Everything there is to report."""

    cwd: str
    loaded: Loaded
    #: In the order they are told.
    problems: tuple[Diagnostic, ...]
    looked_for: tuple[str, ...]
    containment: str
    #: Takes secrets out of text: a hook without a name is called by its command.
    redact: Callable[[str], str]
    #: What people call the agent of a dialect.
    title: Callable[[str], str]

    def count(self, severity: Severity) -> int:
        return sum(one.severity == severity for one in self.problems)

    @property
    def hooks(self) -> int:
        """Without those that only stand in for a file nobody could read."""
        unread = set(self.loaded.unreadable)
        return sum(hook.where.file not in unread for hook in entries(self.loaded))

    @property
    def files(self) -> int:
        """Two agents may read the same one."""
        return len({found.file for found in self.loaded.found})

    def read_before(self, found: Found) -> str | None:
        """The dialect that reads this file as well, and whose hooks they are."""
        first = next(each for each in self.loaded.found if each.file == found.file)
        return None if first.dialect == found.dialect else first.dialect

    def events_of(self, found: Found) -> Counter[str]:
        """Hooks per event, under the names of the file's own agent."""
        return Counter(
            hook.policy.event_name
            for hook in entries(self.loaded)
            if hook.where.file == found.file and hook.dialect == found.dialect
        )

    def said(self, text: str) -> str:
        return printable(self.redact(text))


class FileDocument(Struct, frozen=True):
    file: str
    dialect: str
    scope: Scope
    needs_trust: bool
    unreadable: bool
    hooks: int
    #: How many hooks at each event.
    events: dict[str, int]


class ProblemDocument(Struct, frozen=True):
    severity: Weight
    #: A short stable name of the kind of problem.
    code: str
    message: str
    file: str
    line: int | None
    dialect: str | None
    hook: str | None
    fix: str | None


class CountDocument(Struct, frozen=True):
    hooks: int
    files: int
    errors: int
    warnings: int
    notes: int


class DoctorDocument(Struct, frozen=True):
    """`hookline doctor --json`."""

    cwd: str
    #: Files that are there, in the order they are read.
    found: tuple[FileDocument, ...]
    #: Places that were looked at where nothing is configured.
    looked_for: tuple[str, ...]
    problems: tuple[ProblemDocument, ...]
    counts: CountDocument
    #: How processes that hooks leave behind are found on this system.
    containment: str


def as_document(findings: Findings) -> DoctorDocument:
    loaded = findings.loaded
    whose = {found.file: found.dialect for found in reversed(loaded.found)}
    return DoctorDocument(
        findings.cwd,
        tuple(_file(findings, found) for found in loaded.found),
        tuple(line.strip() for line in findings.looked_for) if not loaded.found else (),
        tuple(_problem(findings, one, whose.get(one.where.file)) for one in findings.problems),
        CountDocument(
            findings.hooks,
            findings.files,
            findings.count("error"),
            findings.count("warning"),
            findings.count("info"),
        ),
        findings.containment,
    )


def _file(findings: Findings, found: Found) -> FileDocument:
    events = findings.events_of(found)
    return FileDocument(
        found.file,
        found.dialect,
        found.scope,
        found.needs_trust,
        found.unreadable,
        events.total(),
        dict(events),
    )


def _problem(findings: Findings, one: Diagnostic, dialect: str | None) -> ProblemDocument:
    return ProblemDocument(
        WEIGHTS[one.severity],
        one.code,
        findings.said(one.message),
        one.where.file,
        one.where.line,
        dialect,
        None if one.hook is None else findings.said(one.hook),
        None if one.fix is None else findings.said(one.fix),
    )


_COLOURS: dict[Severity, Colour] = {"error": "red", "warning": "yellow", "info": "cyan"}
_HEADS: dict[Severity, str] = {"error": "Errors", "warning": "Warnings", "info": "Notes"}
_INDENT = " " * 4
_LONGEST_NAME = 60


def as_text(findings: Findings, width: int) -> str:
    return "\n".join(_lines(findings, width))


def _lines(findings: Findings, width: int) -> Iterator[str]:
    if findings.loaded.found:
        yield from _found(findings, width)
    else:
        yield "Nothing is configured here. Looked for"
        yield from (f"  {_home(place.strip())}" for place in findings.looked_for)
        yield ""
    for severity, head in _HEADS.items():
        problems = [one for one in findings.problems if one.severity == severity]
        if problems:
            yield head
            for several in _grouped(problems):
                yield from _problem_doctor_report(findings, several, width)
            yield ""
    yield from _containment(findings, width)
    yield _sum(findings)


def _found(findings: Findings, width: int) -> Iterator[str]:
    yield f"Found {_counted(findings.files, 'file')} for {_home(findings.cwd)}"
    rows = [list(_row(findings, found)) for found in findings.loaded.found]
    for line in table(rows, width - 2).split("\n"):
        yield f"  {line}"
    yield ""


def _row(findings: Findings, found: Found) -> Iterator[str]:
    events = findings.events_of(found)
    yield _shown(found.file, findings.cwd)
    yield findings.title(found.dialect)
    yield found.scope
    if found.unreadable:
        yield "cannot be read"
    elif not events and (before := findings.read_before(found)) is not None:
        yield f"as above: its hooks run as {findings.title(before)}'s"
    elif not events:
        yield "no hooks"
    else:
        each = ", ".join(name if number == 1 else f"{name} {number}" for name, number in events.items())
        yield f"{_counted(events.total(), 'hook')}: {findings.said(each)}"


def _grouped(problems: list[Diagnostic]) -> list[list[Diagnostic]]:
    """What is said of several hooks in the same words is said once, with all their places."""
    groups: dict[object, list[Diagnostic]] = {}
    for one in problems:
        groups.setdefault((one.code, one.message, one.fix, one.where.file), []).append(one)
    return list(groups.values())


def _problem_doctor_report(findings: Findings, several: list[Diagnostic], width: int) -> Iterator[str]:
    first = several[0]
    word = paint(WEIGHTS[first.severity], _COLOURS[first.severity])
    for number, one in enumerate(several):
        line = one.where.line
        place = _shown(one.where.file, findings.cwd) + (f":{line}" if line is not None else "")
        hook = f"  {one_line(findings.said(one.hook), _LONGEST_NAME)}" if one.hook else ""
        lead = f"{word} " if number == 0 else " " * (len(WEIGHTS[first.severity]) + 1)
        yield f"  {lead}{findings.said(place)}{hook}"
    yield paragraph(findings.said(first.message), width, _INDENT)
    if first.fix:
        yield paragraph(f"fix: {findings.said(first.fix)}", width, _INDENT)


def _containment(findings: Findings, width: int) -> Iterator[str]:
    if findings.loaded.found and findings.containment != "subreaper":
        text = f"Processes of hooks are kept together by plain process groups on this system: {KNOWN_GAP}."
        yield paragraph(text, width)
        yield ""


def _sum(findings: Findings) -> str:
    hooks = _counted(findings.hooks, "hook")
    parts = [
        _counted(findings.count("error"), "error"),
        _counted(findings.count("warning"), "warning"),
        _counted(findings.count("info"), "note"),
    ]
    if not findings.files:
        return "0 hooks: nothing is configured; `hookline init` writes a first guard"
    return f"{hooks} in {_counted(findings.files, 'file')}: {', '.join(parts)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shown(file: str, cwd: str) -> str:
    """As short as it stays clear: below the directory, or below the home."""
    below = os.path.relpath(file, cwd) if os.path.isabs(file) else file
    return _home(file) if below.startswith("..") else below


def _home(text: str) -> str:
    home = os.environ.get("HOME", "")
    return printable(text.replace(f"{home}/", "~/") if len(home) > 1 else text)
