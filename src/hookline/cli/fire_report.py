"""What `fire` shows: every hook of the event with its reason, and the outcome. The JSON is a contract."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.background.inbox import Late
from hookline.cli.width import columns
from hookline.engine.selection import Verdict
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.model.safetext import one_line, printable

_MEANT = ("event", "spelled", "session", "agent", "run_id", "at")


def account(
    verdicts: Sequence[Verdict], runs: Sequence[Run], cwd: str, cleaned: Callable[[Run], Run]
) -> list[Run]:
    """One entry per hook in config order, run or not, then what was asked again; files as seen from cwd.

    `cleaned` is what the journal did to the runs, so that a hook is found under the name it has there.
    """
    below = cwd.rstrip("/") + "/"
    return [replace(run, source=run.source.removeprefix(below)) for run in _entries(verdicts, runs, cleaned)]


def _entries(verdicts: Sequence[Verdict], runs: Sequence[Run], cleaned: Callable[[Run], Run]) -> list[Run]:
    left = _settled(runs)
    entries: list[Run] = []
    for verdict in verdicts:
        skipped = cleaned(_skipped(verdict.armed.hook, verdict.armed.source, verdict.why))
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
    return [
        *entries,
        *(replace(run, why="asked again: another hook rewrote what it had seen") for run in left),
    ]


def _skipped(hook: Hook, source: str, why: str) -> Run:
    return Run(
        hook=hook.name, source=source, dialect=hook.dialect, type=hook.kind, mode=hook.mode,
        status="skipped", why=why, event=hook.event.name, spelled=hook.policy.spelled,
    )  # fmt: skip


def _settled(runs: Sequence[Run]) -> list[Run]:
    """A detached hook has two records with one id; the later one knows how it ended."""
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


def as_json(
    event: EventSpec[Any],
    outcome: Outcome,
    entries: Sequence[Run],
    late: Sequence[Late],
    diagnostics: Sequence[Diagnostic],
    named: Callable[[str], str],
) -> str:
    document = {
        "event": event.name,
        "outcome": _outcome(outcome, named),
        "runs": [_run(entry) for entry in entries],
        "late": [msgspec.to_builtins(replace(item, hook=named(item.hook))) for item in late],
        "diagnostics": [
            {
                "severity": one.severity, "code": one.code, "message": one.message,
                "where": str(one.where), "hook": one.hook and named(one.hook), "fix": one.fix,
            }
            for one in diagnostics
        ],
    }  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=2).decode()


def _outcome(outcome: Outcome, named: Callable[[str], str]) -> dict[str, Any]:
    return {
        "blocked": outcome.blocked,
        "reason": outcome.reason,
        "permission": outcome.permission,
        "stop": outcome.stop,
        "stop_reason": outcome.stop_reason,
        "context": list(outcome.context),
        "context_items": [
            msgspec.structs.asdict(replace(item, hook=named(item.hook))) for item in outcome.context_items
        ],
        "updated_input": outcome.updated_input,
        "updated_prompt": outcome.updated_prompt,
        "updated_output": outcome.updated_output,
        "updated_messages": outcome.updated_messages,
        "permission_updates": [msgspec.to_builtins(update) for update in outcome.permission_updates],
        "watch_paths": list(outcome.watch_paths),
        "initial_user_message": outcome.initial_user_message,
        "retry": outcome.retry,
        "env": outcome.env,
        "answer": outcome.answer,
        "limit_reached": outcome.limit_reached,
        "messages": [message.text for message in outcome.messages],
    }


def _run(run: Run) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(run).items() if name not in _MEANT}


def as_text(
    event: EventSpec[Any],
    outcome: Outcome,
    entries: Sequence[Run],
    late: Sequence[Late],
    named: Callable[[str], str],
) -> str:
    lines, width = [event.name], columns()
    if not entries:
        lines.append(f"  no hook is configured for {event.name}")
    for number, entry in enumerate(entries, 1):
        lines += _entry_lines(number, entry, width)
    lines += ["", *_outcome_lines(outcome, named)]
    lines += [
        f"later    {item.kind}: {item.text or ', '.join(item.paths)} ({named(item.hook)})" for item in late
    ]
    return printable("\n".join(lines))


def _entry_lines(number: int, run: Run, width: int) -> list[str]:
    head = f"{one_line(run.hook, 50)}: {_said(run)}" + (f"  {run.source}" if run.source else "")
    below = [run.why, run.detail, f"not counted: {', '.join(run.dropped)}" if run.dropped else ""]
    return [
        f"{number:3} {one_line(head, width - 4)}",
        *(f"      {one_line(text, width - 6)}" for text in below if text),
    ]


def _said(run: Run) -> str:
    if run.status == "skipped":
        return "not run"
    words = [run.decision or ("pass" if run.status == "ok" else run.status.replace("_", " "))]
    if run.decision and run.status not in ("ok", "blocked"):
        words.append(run.status.replace("_", " "))
    if run.reason:
        words.append(f'"{one_line(run.reason, 60)}"')
    if run.passed_without_answer:
        words.append("let through without an answer")
    if run.mode != "enforce":
        words.append(run.mode)
    return f"{' '.join(words)}, {run.duration_ms:.0f} ms"


def _outcome_lines(outcome: Outcome, named: Callable[[str], str]) -> list[str]:
    vote = outcome.deciding_vote
    by = f" ({named(vote.by)})" if vote is not None else ""
    lines = [f"outcome  {outcome.permission or 'go on'}{by}"]
    facts: dict[str, Any] = {
        "reason": outcome.reason,
        "stop": (outcome.stop_reason or "yes") if outcome.stop else None,
        "input": outcome.updated_input,
        "prompt": outcome.updated_prompt,
        "output": outcome.updated_output,
        "messages": outcome.updated_messages,
        "watch": ", ".join(outcome.watch_paths) or None,
        "first message": outcome.initial_user_message,
        "env": outcome.env or None,
        "answer": outcome.answer,
        "retry": "yes" if outcome.retry else None,
    }
    lines += [f"  {name}: {value}" for name, value in facts.items() if value is not None]
    lines += [f"  context ({item.placement}): {item.text}" for item in outcome.context_items]
    lines += [f"  note: {message.text}" for message in outcome.messages]
    return lines
