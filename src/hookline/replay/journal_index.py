"""What the journal says of calls: which hooks ran on each of them, and how each hook has done."""

import os
from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec
from msgspec import Struct

from hookline.journal.file import journal_path
from hookline.journal.journal import RunCleaner, input_summary
from hookline.journal.reader import scan_journal
from hookline.journal.redaction import Redactor
from hookline.model.run import Called, Run
from hookline.transcripts.moment import Moment

#: Under which type the answers of Hookline itself are in the journal, beside those of hooks.
_ANSWER = "answer"
_MINUTE = 60.0


class HookRecord(Struct):
    """One hook in the journal."""

    runs: int = 0
    first: float = 0.0
    last: float = 0.0
    last_verdict: str = ""
    last_failure: str = ""
    last_failure_at: float = 0.0
    unanswered: int = 0
    #: What it would have done, where it only watches: by decision.
    shadow: dict[str, int] = {}
    shadow_runs: int = 0


class Asked(Struct):
    """What is known of one call: the hooks that ran on it, and those that were not trusted."""

    ran: set[int]
    untrusted: set[int]


HookName = tuple[str, str, str]


def hook_name(event: str, name: str, source: str) -> HookName:
    """What a hook is known by: its line may have moved since."""
    return event, name, source.rpartition(":")[0] or source


class JournalIndex:
    """The runs of the journal since a time, by call. Calls without an id are known by what they were about."""

    def __init__(self, env: Mapping[str, str], since: float = 0.0) -> None:
        self.hooks: dict[HookName, HookRecord] = {}
        self.first = 0.0
        self.damage = 0
        #: When each caller has first asked, and each session.
        self.callers: dict[str, float] = {}
        self.sessions: set[str] = set()
        self._numbers: dict[HookName, int] = {}
        self._calls: dict[int, Asked] = {}
        #: How often each hook ran on calls that have no id.
        self._counts: dict[tuple[int, int], int] = {}
        self._without_ids: set[str] = set()
        self._last: tuple[Moment | None, str] = (None, "")
        self._cleaner = RunCleaner(Redactor(env))
        for run in self._runs(journal_path(env)):
            self._add(run, since)

    def _runs(self, path: str) -> Iterator[Run]:
        rotated = path + ".1"
        both = chain(scan_journal(rotated) if os.path.exists(rotated) else (), scan_journal(path))
        for item in both if os.path.exists(path) or os.path.exists(rotated) else ():
            if not isinstance(item, Run):
                self.damage += 1
            elif not item.call.made_by:
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
        self._note(self.hooks.setdefault(name, HookRecord()), run)
        if run.at >= since - _MINUTE:
            self._mark(run, self._numbers.setdefault(name, len(self._numbers)))

    def _note(self, record: HookRecord, run: Run) -> None:
        record.runs += 1
        record.first = min(record.first or run.at, run.at)
        if run.at >= record.last:
            record.last = run.at
            record.last_verdict = run.decision or ("pass" if run.status == "ok" else run.status)
        if run.cause is not None and run.at >= record.last_failure_at:
            record.last_failure, record.last_failure_at = f"{run.cause}: {run.detail}"[:300], run.at
        record.unanswered += run.passed_without_answer
        if run.mode == "shadow":
            record.shadow_runs += 1
            word = run.decision or "pass"
            record.shadow = {**record.shadow, word: record.shadow.get(word, 0) + 1}

    def _mark(self, run: Run, number: int) -> None:
        if not run.call.id:
            key = (hash((run.session, run.event, run.call.tool, run.call.input)), number)
            self._counts[key] = self._counts.get(key, 0) + 1
            self._without_ids.add(run.session)
            return
        asked = self._calls.setdefault(hash((run.session, run.event, run.call.id)), Asked(set(), set()))
        (asked.untrusted if run.status == "untrusted" else asked.ran).add(number)

    def number(self, event: str, name: str, source: str) -> int:
        """By which a hook is known in what was asked; -1 for one that never ran."""
        return self._numbers.get(hook_name(event, name, source), -1)

    def asked(self, moment: Moment, event: str) -> Asked | None:
        """What is known of the call of a moment, by its id."""
        return self._calls.get(hash((moment.session, event, moment.call_id))) if moment.call_id else None

    def take(self, moment: Moment, event: str, number: int) -> bool:
        """Whether a hook ran on a call like this, once more than calls were taken before."""
        if moment.session not in self._without_ids:
            return False
        if self._last[0] is not moment:
            self._last = (moment, self._summary(moment))
        key = (hash((moment.session, event, moment.tool, self._last[1])), number)
        left = self._counts.get(key, 0)
        if left:
            self._counts[key] = left - 1
        return bool(left)

    def _summary(self, moment: Moment) -> str:
        """What a call is about, as the journal has it."""
        if not moment.input:
            return ""
        called = Called(tool=moment.tool, input=input_summary(msgspec.json.decode(moment.input)))
        return self._cleaner.clean_call(called).input
