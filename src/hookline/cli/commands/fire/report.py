"""The record of one event that was fired: every hook in config order, run or not, and the outcome; and its JSON.

The names in the JSON are a contract: `schemas/cli-fire.schema.json` is generated from the documents here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from hookline.cli.describe import reason_relative_to, relative_to
from hookline.cli.problems import DiagnosticDocument, diagnostic_documents
from hookline.cli.text import json_lines
from hookline.engine.inbox import LateMessage
from hookline.engine.lanes import Verdict
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import ContextItem, Outcome, Permission
from hookline.model.policy import Cause
from hookline.model.run import Decision, Mode, Run, Status

#: How the reason of a hook begins that a dry run would have run.
WOULD_RUN = "dry run: would run"


class Firing(Struct, frozen=True):
    """One event that was fired, or (dry) would be."""

    event: EventSpec[Any]
    #: The dialect's own name for the event and the dialect, if it was fired under that name.
    under: str
    outcome: Outcome
    entries: Sequence[Run]
    late: Sequence[LateMessage]
    #: What a block does at the event.
    block_means: str
    #: Takes secrets out of the names of hooks.
    redact: Callable[[str], str]
    diagnostics: Sequence[Diagnostic] = ()
    dry: bool = False

    def as_json(self) -> str:
        document = FireDocument(
            event=self.event.name,
            outcome=outcome_document(self.outcome, self.redact),
            runs=tuple(run_document(entry) for entry in self.entries),
            late=tuple(replace(item, hook=self.redact(item.hook)) for item in self.late),
            diagnostics=diagnostic_documents(self.diagnostics, self.redact),
        )
        return json_lines(document, convert=str)


class OutcomeDocument(Struct, frozen=True, kw_only=True):
    """What the hooks together said."""

    blocked: bool
    reason: str | None
    permission: Permission | None
    stop: bool
    stop_reason: str | None
    context: tuple[str, ...]
    context_items: tuple[ContextItem, ...]
    updated_input: Any
    updated_prompt: Any
    updated_output: Any
    updated_messages: Any
    permission_updates: tuple[Mapping[str, Any], ...]
    watch_paths: tuple[str, ...]
    initial_user_message: str | None
    retry: bool
    env: Mapping[str, str]
    answer: Any
    limit_reached: bool
    messages: tuple[str, ...]


class RunDocument(Struct, frozen=True, kw_only=True):
    """One hook of the event, run or not."""

    hook: str
    source: str
    dialect: str
    type: str
    status: Status
    cause: Cause | None
    why: str
    detail: str
    decision: Decision | None
    reason: str | None
    dropped: tuple[str, ...]
    passed_without_answer: bool
    mode: Mode
    recheck: bool
    exit_code: int | None
    signal: int | None
    queue_ms: float
    duration_ms: float
    stdout: str
    stderr: str
    truncated: bool


class FireDocument(Struct, frozen=True, kw_only=True):
    """One event fired by hand: what each hook did, and what they said together."""

    event: str
    outcome: OutcomeDocument
    runs: tuple[RunDocument, ...]
    late: tuple[LateMessage, ...]
    diagnostics: tuple[DiagnosticDocument, ...]


def outcome_document(outcome: Outcome, redact: Callable[[str], str]) -> OutcomeDocument:
    return OutcomeDocument(
        blocked=outcome.blocked,
        reason=outcome.reason,
        permission=outcome.permission,
        stop=outcome.stop,
        stop_reason=outcome.stop_reason,
        context=outcome.context,
        context_items=tuple(replace(item, hook=redact(item.hook)) for item in outcome.context_items),
        updated_input=outcome.updated_input,
        updated_prompt=outcome.updated_prompt,
        updated_output=outcome.updated_output,
        updated_messages=outcome.updated_messages,
        permission_updates=tuple(msgspec.to_builtins(update) for update in outcome.permission_updates),
        watch_paths=outcome.watch_paths,
        initial_user_message=outcome.initial_user_message,
        retry=outcome.retry,
        env=outcome.env,
        answer=outcome.answer,
        limit_reached=outcome.limit_reached,
        messages=tuple(message.text for message in outcome.messages),
    )


def run_document(run: Run) -> RunDocument:
    fields = asdict(run)
    return RunDocument(**{name: fields[name] for name in RunDocument.__struct_fields__})


def after_dispatch(
    verdicts: Sequence[Verdict], runs: Sequence[Run], cwd: str, redact: Callable[[Run], Run]
) -> list[Run]:
    """One entry per hook in config order, run or not, then the rechecks; files relative to `cwd`.

    `redact` is what the journal did to the runs: a hook is found by its redacted name.
    """
    left = _settled(runs)
    entries: list[Run] = []
    for verdict in verdicts:
        skipped = redact(_skipped(verdict.prepared.hook, verdict.prepared.source, verdict.why))
        name = (skipped.hook, skipped.source)
        run = next((one for one in left if (one.hook, one.source) == name and not one.recheck), None)
        if run is not None:
            left.remove(run)
            why = skipped.why if verdict.selected else "matched: on what another hook rewrote"
            entries.append(replace(run, why=why))
        elif verdict.selected:
            entries.append(replace(skipped, why="not reached: an earlier hook of its lane ended it"))
        else:
            entries.append(skipped)
    again = [replace(run, why="asked again: another hook rewrote what it had seen") for run in left]
    return _relative_to(cwd, [*entries, *again])


def before_dispatch(verdicts: Sequence[Verdict], cwd: str, redact: Callable[[Run], Run]) -> list[Run]:
    """The same for a dry run: which hooks would run, and why the others would not."""
    entries = [redact(_skipped(one.prepared.hook, one.prepared.source, _plan(one))) for one in verdicts]
    return _relative_to(cwd, entries)


def _plan(verdict: Verdict) -> str:
    if not verdict.selected:
        return verdict.why
    broken = verdict.prepared.hook.broken
    return f"{WOULD_RUN}{f', and fail: {broken}' if broken else ''}; {verdict.why}"


def _relative_to(cwd: str, entries: Sequence[Run]) -> list[Run]:
    return [
        replace(run, source=relative_to(cwd, run.source), why=reason_relative_to(cwd, run.why))
        for run in entries
    ]


def _skipped(hook: Hook, source: str, why: str) -> Run:
    return Run(
        hook=hook.name, source=source, dialect=hook.dialect, type=hook.kind, mode=hook.mode,
        status="skipped", why=why, event=hook.event.name, spelled=hook.policy.event_name,
    )  # fmt: skip


def _settled(runs: Sequence[Run]) -> list[Run]:
    """One record per run: a detached hook has two with one id, and the later one knows how it ended."""
    detached = {run.run_id for run in runs if run.status == "detached"}
    ends = {run.run_id: run for run in runs if run.status != "detached"}
    return [
        run if run.run_id not in detached else _ended(run, ends.get(run.run_id))
        for run in runs
        if run.status == "detached" or run.run_id not in detached
    ]


def _ended(start: Run, end: Run | None) -> Run:
    if end is None:
        return start
    return replace(end, status="detached") if end.status in ("ok", "blocked") else end
