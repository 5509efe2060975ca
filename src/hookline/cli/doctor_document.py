"""What the doctor found, and the same as a document for scripts. Its field names are a contract."""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hookline.config.checkup.here import entries
from hookline.config.loaded import Found, Loaded
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.hook import Scope
from hookline.model.safetext import printable

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
            hook.policy.spelled
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
