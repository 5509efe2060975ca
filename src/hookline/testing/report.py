"""Explain why each hook did or did not run: pytest shows the text with a failed test."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.engine.explain import HookAccount, accounts_of
from hookline.journal.journal import Journal
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.testing.result import Result, was_skipped

if TYPE_CHECKING:
    from hookline.model.wire import EventRequest
    from hookline.testing.hooks import Firing

#: The newest events are described in full, the others in one line.
_MOST_EVENTS = 8
_LONGEST_CALL = 200
_LONGEST_TEXT = 500
_MOST_LINES = 8


def explained(fired: "Sequence[Firing]", journal: Journal, project: str) -> str:
    """Describe the events in order. Secrets are redacted: the text may end up in a log that others read."""
    if not fired:
        return "no event was fired"
    older, newest = fired[:-_MOST_EVENTS], fired[-_MOST_EVENTS:]
    lines = [journal.without_secrets(repr(each.result)) for each in older]
    for firing in newest:
        lines += _event(firing, journal, project)
    return printable("\n".join(lines))


def _event(firing: "Firing", journal: Journal, project: str) -> Iterator[str]:
    accounts, again = accounts_of(firing.decisions, firing.runs, journal.cleaned)
    yield journal.without_secrets(_title(firing.request))
    if not accounts:
        yield f"  no hook is loaded for {firing.request.event.name}"
    for account in accounts:
        yield from (f"  {line}" for line in _hook(account, project))
    for run in again:
        yield f"  {_name(run, project)}"
        yield f"    {_ended(run)}; {run.why}"
    yield f"  => {journal.without_secrets(_said(firing.result))}"


def _title(request: "EventRequest") -> str:
    event, payload = request.event, request.payload
    name = request.event_name or event.name
    shown = f"{name} ({request.dialect})" if request.dialect else name
    tool = getattr(payload, "tool_name", None)
    fields = payload.tool_input if tool is not None and hasattr(payload, "tool_input") else payload
    return f"{shown}: {tool or ''} {one_line(_json(fields), _LONGEST_CALL)}".replace(":  ", ": ")


def _hook(account: HookAccount, project: str) -> Iterator[str]:
    yield _name(account.runs[0], project)
    for run in account.runs:
        shown = (
            f" (translated to {run.translated_tool})" if run.translated_tool and len(account.runs) > 1 else ""
        )
        yield f"  {'did not run' if was_skipped(account) else _ended(run)}{shown}"
        yield f"    {run.why}"
        yield from (f"    {line}" for line in _details(run))


def _name(run: Run, project: str) -> str:
    source = run.source.removeprefix(f"{project.rstrip('/')}/")
    return f"{one_line(run.hook, _LONGEST_CALL)}{f'  {source}' if source else ''}"


def _ended(run: Run) -> str:
    """Describe in a line what it decided, why it failed, and how its process ended."""
    words = ["ran" if run.cause != "not_started" else "could not be started"]
    if run.status == "background":
        words.append("in the background")
    if run.cause is not None and run.cause != "not_started":
        words.append(run.cause.replace("_", " "))
    if run.decision is not None:
        words.append(f"{run.decision} {one_line(run.reason or '', _LONGEST_TEXT)!r}")
    elif run.failed_open:
        words.append("so it failed open")
    if run.exit_code is not None:
        words.append(f"exit code {run.exit_code}")
    if run.signal is not None:
        words.append(f"signal {run.signal}")
    return ", ".join([*words, f"{run.duration_ms:.0f} ms"])


def _details(run: Run) -> Iterator[str]:
    if run.detail:
        yield run.detail
    if run.dropped:
        yield f"not counted: {', '.join(run.dropped)}"
    for name, text in (("stdout", run.stdout), ("stderr", run.stderr)):
        lines = [one_line(line, _LONGEST_TEXT) for line in text.splitlines() if line.strip()]
        if lines:
            cut = [f"... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
            yield f"{name}:"
            yield from (f"  {line}" for line in (*lines[:_MOST_LINES], *cut))


def _said(result: Result) -> str:
    words = [
        f"{name} {one_line(text, _LONGEST_TEXT)!r}"
        for name in ("denied", "asked", "stopped")
        if (text := getattr(result, name)) is not None
    ]
    words = words or ["allowed" if result.allowed else "not allowed"]
    words += [
        f"{field} is now {one_line(_json(value), _LONGEST_CALL)}" for field, value in result.rewritten.items()
    ]
    words += [f"context {one_line(text, _LONGEST_CALL)!r}" for text in result.context]
    words += [f"message {one_line(text, _LONGEST_CALL)!r}" for text in result.messages]
    return "; ".join(words)


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError):
        return str(value)
