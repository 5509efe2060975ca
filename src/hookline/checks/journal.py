"""Report failures of the last days from the user's journal, and check that it can be written."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from hookline.checks.commands.answers import judges
from hookline.checks.context import CheckContext
from hookline.config.job_settings import JOBS, read_job_settings
from hookline.config.load import Loaded
from hookline.dialects.files import APPROVALS, KEEP_PAYLOADS, payload_settings, user_setting
from hookline.engine.host.approvals import LONGEST
from hookline.journal.reader import Damage, scan_journal
from hookline.model.diagnostics import Diagnostic, Severity, Where
from hookline.model.run import Run
from hookline.trust.project import is_inside, project_root

DAYS: Final = 7
_DAY: Final = 86_400.0
#: The name of runs in which Hookline itself was a hook of another agent.
_AS_A_HOOK: Final = "hookline hook"
_FIX: Final = "`hookline log` shows them"
_MOST_NAMED: Final = 5
_OFF: Final = "; runs of hooks are not recorded"
_MOVE: Final = "move it away: the next run starts a new one"


class _Seen(Struct):
    answers: Counter[str] = field(default_factory=Counter[str])
    lost: dict[str, Counter[str]] = {}
    passed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    #: Whether the last run of each hook let something pass.
    last_passed: dict[tuple[str, str], bool] = {}

    def concerns(self, run: Run) -> bool:
        """Return True for a run that lost something, and for later ones of the same hook."""
        return bool(run.dropped) or run.failed_open or (run.hook, run.source) in self.last_passed

    def add(self, run: Run) -> None:
        if run.failed_open or run.status in ("ok", "blocked"):
            self.last_passed[run.hook, run.source] = run.failed_open
        if run.dropped and run.hook == _AS_A_HOOK:
            self.answers[run.dialect] += 1
            self.lost.setdefault(run.dialect, Counter()).update(run.dropped)
        if run.failed_open:
            self.passed[run.hook, run.source] += 1


def payloads(_loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report settings of the user, about keeping payloads and about questions that wait, that have no effect."""
    for document, value in payload_settings(context.env):
        if not isinstance(value, bool):
            message = f"{KEEP_PAYLOADS} is neither true nor false, so payloads are not kept"
            fix = f"{KEEP_PAYLOADS} = true, without quotes"
            yield Diagnostic("error", "bad-setting", message, document.where(KEEP_PAYLOADS), fix=fix)
    for document, value in user_setting(APPROVALS, context.env):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
            message = f"{APPROVALS} is not a number of seconds from 1 to {LONGEST:.0f}"
            fix = f"{APPROVALS} = 300"
            yield Diagnostic("error", "bad-setting", message, document.where(APPROVALS), fix=fix)
    for document, value in user_setting(JOBS, context.env):
        if isinstance(wrong := read_job_settings(value), str):
            fix = f'{JOBS} = {{ delays = [1, 60, 300], synchronous = "full" }}'
            yield Diagnostic("error", "bad-setting", f"{JOBS}: {wrong}", document.where(JOBS), fix=fix)


def writable(path: str) -> Iterator[Diagnostic]:
    """Check that the next run can be recorded: in the journal, or in the nearest existing directory above it."""
    place = path
    while not os.path.exists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if not os.access(place, os.W_OK):
        message = f"the journal cannot be written: {place} is not writable{_OFF}"
        yield Diagnostic(
            "warning",
            "no-journal",
            message,
            Where(path),
            fix="make its directory yours, or a link to one that is",
        )


def recent(path: str, now: float, loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report answers that an agent's format could not express, and guards that failed open, in this project."""
    seen, root = _Seen(), project_root(context.cwd)
    hooks = {str(hook.where): hook for hook in loaded.hooks}
    for run in scan_journal(path):
        if isinstance(run, Damage):
            # `hookline log` reports single broken records; this is a file that is not a journal.
            if run.line == 0:
                yield Diagnostic("warning", "no-journal", f"{run.problem}{_OFF}", Where(path), fix=_MOVE)
        elif run.at >= now - DAYS * _DAY and seen.concerns(run) and _is_of(root, run):
            seen.add(run)
    for dialect, count in seen.answers.items():
        what = ", ".join(name for name, _ in seen.lost[dialect].most_common(_MOST_NAMED))
        counted = "1 answer" if count == 1 else f"{count} answers"
        agent = context.title(dialect)
        message = f"in the last {DAYS} days {counted} could not be expressed to {agent} ({what})"
        yield Diagnostic("warning", "not-expressed", message, Where(path), fix=_FIX)
    guards = Counter(
        {
            (name, source): count
            for (name, source), count in seen.passed.items()
            # It may be gone by now, and one that only records guards nothing.
            if source in hooks and judges(hooks[source], context) is not False
        }
    )
    for (name, source), count in guards.most_common(_MOST_NAMED):
        times = "once" if count == 1 else f"{count} times"
        message = f"in the last {DAYS} days it failed {times} here, and the actions it guards went ahead"
        # Where it has answered since, a person has mended it.
        mended = not seen.last_passed[name, source]
        message += "; since then it has answered" if mended else ""
        severity: Severity = "info" if mended else "error"
        yield Diagnostic(severity, "failed-open", message, hooks[source].where, name, _FIX)


def _is_of(root: str, run: Run) -> bool:
    """Return True if an agent ran it in this project. Hooks that were only tried do not count."""
    project = run.call.project
    return not run.call.origin and os.path.isabs(project) and is_inside(os.path.realpath(project), root)
