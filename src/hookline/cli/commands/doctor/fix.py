"""Mend what is certain: show the change as a diff, ask, write it with a backup, and undo it."""

import os
import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff

from hookline.cli.commands.doctor.report import Findings
from hookline.cli.output import ExitStatus, note, paint, show, show_part
from hookline.cli.text import count_of, pieces, relative_to, with_tilde
from hookline.config.fixes import Fixes, PlannedFix, plan_fixes
from hookline.dialects.installer import InstallError
from hookline.model.safe_text import one_line, printable, spelled_out
from hookline.trust.project import is_inside, project_root

_LONGEST = 500
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_UNDO = "`hookline doctor --undo` restores them"


def fix(findings: Findings, width: int, *, yes: bool) -> ExitStatus:
    """Mend the findings that can be mended with certainty; those of other files are left."""
    project = project_root(findings.cwd)
    asked = [one for one in findings.problems if findings.is_asked_about(one)]
    planned, problems = plan_fixes(asked, project)
    for problem in problems:
        note(one_line(f"hookline doctor: {problem}", _LONGEST))
    mended = [one for each in planned for one in each.findings]
    left = sum(one.severity != "info" and one not in mended for one in asked)
    if not planned:
        said = f"{count_of(left, 'finding')} left to you: `hookline doctor` shows them." if left else ""
        return show(f"There is nothing that --fix can mend with certainty. {said}".rstrip())
    if status := show_part("\n".join(_lines(findings, planned, width))):
        return status
    if not yes and not _agrees(len(planned)):
        return ExitStatus.PROBLEM
    try:
        Fixes(os.environ.get("HOME", "")).carry_out(planned)
    except InstallError as problem:
        note(one_line(f"hookline doctor: {problem}", _LONGEST))
        return ExitStatus.PROBLEM
    rest = f" {count_of(left, 'finding')} left to you: `hookline doctor` shows them." if left else ""
    show(f"Mended {count_of(len(mended), 'finding')} in {count_of(len(planned), 'file')}; {_UNDO}.{rest}")
    if any(is_inside(each.before.real, project) for each in planned):
        show("Hookline itself runs changed hooks of this project only once you trust them: `hookline trust`.")
    return ExitStatus.PROBLEM if problems else ExitStatus.OK


def undo() -> ExitStatus:
    """Restore the files of the last --fix."""
    try:
        restored, problems = Fixes(os.environ.get("HOME", "")).undo()
    except InstallError as problem:
        note(one_line(f"hookline doctor: {problem}", _LONGEST))
        return ExitStatus.PROBLEM
    for file in restored:
        show(f"restored {printable(with_tilde(file))}")
    for problem in problems:
        note(one_line(f"hookline doctor: {problem}", _LONGEST))
    return ExitStatus.PROBLEM if problems else ExitStatus.OK


def _lines(findings: Findings, planned: Sequence[PlannedFix], width: int) -> Iterator[str]:
    for each in planned:
        shown = printable(with_tilde(relative_to(findings.cwd, each.file)))
        codes = ", ".join(dict.fromkeys(one.code for one in each.findings))
        yield paint(f"{shown}: {codes}", "bold")
        if each.after is None:
            yield "  + executable"
            continue
        for line in _difference(findings, each, shown):
            colour = _COLOURS.get(line[:1])
            for piece in pieces(spelled_out(line.expandtabs(4)), max(width - 2, 20)):
                yield f"  {paint(piece, colour) if colour else piece}"  # pyright: ignore[reportArgumentType] one of its colours


def _difference(findings: Findings, each: PlannedFix, shown: str) -> Iterator[str]:
    before = (each.before.content or b"").decode("utf-8", "replace")
    after = (each.after or b"").decode("utf-8", "replace")
    if before.replace("\r\n", "\n") == after:
        yield f"+ line ends: LF in place of CRLF, in {count_of(before.count(chr(13)), 'line')}"
        return
    old, new = findings.redact(before).splitlines(), findings.redact(after).splitlines()
    yield from unified_diff(old, new, shown, shown, lineterm="", n=1)


def _agrees(files: int) -> bool:
    counted = count_of(files, "file")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        show(f"\nNothing was written. To change {counted} as shown, run it again with --yes.")
        return False
    import termios

    # Text typed before the question is not an answer to it.
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stdout.write(f"\nChange {counted} as shown? [y]es, [n]o: ")
    sys.stdout.flush()
    agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not agreed:
        show("nothing was changed")
    return agreed
