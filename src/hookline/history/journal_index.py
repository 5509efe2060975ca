"""Index the journal by call: which hooks ran on each call, and each hook's record."""

import os
from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec
from msgspec import Struct

from hookline.dialects.recorded_event import RecordedEvent
from hookline.journal.file import journal_path
from hookline.journal.journal import RunCleaner, input_summary
from hookline.journal.reader import scan_journal
from hookline.journal.redaction import Redactor
from hookline.model.run import Called, Run

#: Under which type the answers of Hookline itself are in the journal, beside those of hooks.
_ANSWER = "answer"
_MINUTE = 60.0


class JournalHook(Struct):
    """One hook's totals in the journal."""

    runs: int = 0
    first: float = 0.0
    last: float = 0.0
    last_decision: str = ""
    last_failure: str = ""
    last_failure_at: float = 0.0
    failed_open: int = 0
    #: Its decisions in shadow mode or while it was paused, counted.
    shadow: dict[str, int] = {}
    shadow_runs: int = 0


class CallRuns(Struct):
    """Hooks that ran on one call, and hooks that were not trusted."""

    ran: set[int]
    untrusted: set[int]


HookName = tuple[str, str, str]


def hook_name(event: str, name: str, source: str) -> HookName:
    """Return the key of a hook, without its line number, which may have moved."""
    return event, name, source.rpartition(":")[0] or source


class JournalIndex:
    """Runs of the journal since a time, by call. Calls without an id are identified by their tool and input."""

    def __init__(self, env: Mapping[str, str], since: float = 0.0) -> None:
        self.hooks: dict[HookName, JournalHook] = {}
        self.first = 0.0
        self.damage = 0
        #: When each caller has first asked, and each session.
        self.callers: dict[str, float] = {}
        self.sessions: set[str] = set()
        self._numbers: dict[HookName, int] = {}
        self._calls: dict[int, CallRuns] = {}
        #: How often each hook ran on calls that have no id.
        self._counts: dict[tuple[int, int], int] = {}
        self._without_ids: set[str] = set()
        #: Calls that a hook rewrote: later hooks judged other arguments than the agent's record has.
        self._rewritten: set[int] = set()
        self._last: tuple[RecordedEvent | None, str] = (None, "")
        self._cleaner = RunCleaner(Redactor(env))
        for run in self._runs(journal_path(env)):
            self._add(run, since)

    def _runs(self, path: str) -> Iterator[Run]:
        rotated = path + ".1"
        both = chain(scan_journal(rotated) if os.path.exists(rotated) else (), scan_journal(path))
        for item in both if os.path.exists(path) or os.path.exists(rotated) else ():
            if not isinstance(item, Run):
                self.damage += 1
            elif not item.call.origin:
                yield item

    def _add(self, run: Run, since: float) -> None:
        self.first = min(self.first or run.at, run.at)
        caller = run.call.caller
        if caller and run.at < self.callers.get(caller, run.at + 1):
            self.callers[caller] = run.at
        self.sessions.add(run.session)
        if run.type == _ANSWER:
            return
        name = hook_name(run.event, run.hook, run.source)
        self._note(self.hooks.setdefault(name, JournalHook()), run)
        if run.at >= since - _MINUTE:
            self._mark(run, self._numbers.setdefault(name, len(self._numbers)))

    def _note(self, record: JournalHook, run: Run) -> None:
        record.runs += 1
        record.first = min(record.first or run.at, run.at)
        if run.at >= record.last:
            record.last = run.at
            said = run.decision or ("pass" if run.status == "ok" else run.status)
            record.last_decision = f"would {said}" if run.decision and run.mode != "enforce" else said
        if run.cause is not None and run.at >= record.last_failure_at:
            record.last_failure, record.last_failure_at = f"{run.cause}: {run.detail}"[:300], run.at
        record.failed_open += run.failed_open
        if run.mode in ("shadow", "paused"):
            record.shadow_runs += 1
            word = run.decision or "pass"
            record.shadow = {**record.shadow, word: record.shadow.get(word, 0) + 1}

    def _mark(self, run: Run, number: int) -> None:
        if run.rewrote and run.mode == "enforce" and run.call.id:
            self._rewritten.add(hash((run.session, run.call.id)))
        if not run.call.id:
            key = (hash((run.session, run.event, run.call.tool, run.call.input)), number)
            self._counts[key] = self._counts.get(key, 0) + 1
            self._without_ids.add(run.session)
            return
        asked = self._calls.setdefault(hash((run.session, run.event, run.call.id)), CallRuns(set(), set()))
        (asked.untrusted if run.status == "untrusted" else asked.ran).add(number)

    def number(self, event: str, name: str, source: str) -> int:
        """Return the number of a hook in this index, or -1 if it never ran."""
        return self._numbers.get(hook_name(event, name, source), -1)

    def asked(self, recorded: RecordedEvent, event: str) -> CallRuns | None:
        """Return the runs on the call of a recorded event, by its id."""
        return (
            self._calls.get(hash((recorded.session, event, recorded.call_id))) if recorded.call_id else None
        )

    def was_rewritten(self, recorded: RecordedEvent) -> bool:
        """Return True if a hook rewrote the call."""
        return bool(recorded.call_id) and hash((recorded.session, recorded.call_id)) in self._rewritten

    def take(self, recorded: RecordedEvent, event: str, number: int) -> bool:
        """Consume one run of a hook on a call like this. Returns False if none is left."""
        if recorded.session not in self._without_ids:
            return False
        if self._last[0] is not recorded:
            self._last = (recorded, self._summary(recorded))
        key = (hash((recorded.session, event, recorded.tool, self._last[1])), number)
        left = self._counts.get(key, 0)
        if left:
            self._counts[key] = left - 1
        return bool(left)

    def _summary(self, recorded: RecordedEvent) -> str:
        """Summarize a call's input as the journal does."""
        if not recorded.input:
            return ""
        called = Called(tool=recorded.tool, input=input_summary(msgspec.json.decode(recorded.input)))
        return self._cleaner.clean_call(called).input
