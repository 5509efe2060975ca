"""The findings for people: what was found, then errors, warnings and notes, then one line that sums up."""

import os
from collections.abc import Iterator

from hookline.cli.doctor_document import WEIGHTS, Findings
from hookline.cli.paint import Colour, paint
from hookline.cli.text import paragraph, table
from hookline.config.checkup.here import AGENTS
from hookline.config.checkup.tiers import KNOWN_GAP
from hookline.config.loaded import Found
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.safetext import one_line, printable

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
                yield from _problem(findings, several, width)
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
    yield AGENTS.get(found.dialect, found.dialect)
    yield found.scope
    if found.unreadable:
        yield "cannot be read"
    elif not events and (before := findings.read_before(found)) is not None:
        yield f"as above: its hooks run as {AGENTS.get(before, before)}'s"
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


def _problem(findings: Findings, several: list[Diagnostic], width: int) -> Iterator[str]:
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
