"""Print a run without a screen, by --output-format: answers, one document, or a line for each thing that happens."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from hookline.agent.hooks import EventLog, FiredEvent
from hookline.agent.models.port import CompletionRequest
from hookline.agent.ports import Listener, Shown
from hookline.agent.session.session import Agent, PromptTurn
from hookline.cli.commands.agent.line_conversation import LineInput
from hookline.cli.commands.agent.plain import LineFront, PlainLines, PrintedAnswers, ProgressLines
from hookline.cli.commands.fire.report import name_redactor, outcome_document, run_result
from hookline.cli.output import show_part
from hookline.cli.text import json_lines
from hookline.journal.journal import Journal

#: Kinds that the document must have and no event has.
_NOTICES = frozenset({"warning", "notice", "blocked", "retry"})


class NoticeLog:
    """Listener for --json: it keeps the notices for the document, and shows nothing."""

    def __init__(self) -> None:
        self.notices: list[Shown] = []

    def show(self, shown: Shown) -> None:
        if shown.kind in _NOTICES:
            self.notices.append(shown)


class JsonLines(NoticeLog):
    """Listener for stream-json: it prints a line of JSON for each thing that is shown."""

    def show(self, shown: Shown) -> None:
        super().show(shown)
        fields = {
            name: value for name, value in msgspec.structs.asdict(shown).items() if value and name != "kind"
        }
        _line({"type": shown.kind, **fields})


def event_line(fired: FiredEvent) -> None:
    """Print an event that was fired, and its hooks' decisions, for stream-json."""
    runs = [{"hook": run.hook, "source": run.source, "status": run.status, "decision": run.decision,
             "reason": run.reason, "duration_ms": run.duration_ms} for run in fired.runs]  # fmt: skip
    _line({"type": "event", "event": fired.event, "agent": fired.agent, "runs": runs})


def result_line(agent: Agent, result: PromptTurn | None) -> None:
    """Print the result, for stream-json."""
    _line({"type": "end", **_ending(agent, result)})


def _line(fields: dict[str, Any]) -> None:
    show_part(msgspec.json.encode(fields, enc_hook=str).decode(), as_json=True)


def front_for(args: argparse.Namespace) -> LineFront:
    """Return the user interface. Prompts come from standard input at a terminal, and if none was given."""
    talks = not args.print and args.format == "text" and sys.stdin.isatty()
    lines = LineInput(0) if talks or not args.words else None
    match args.format:
        case "json":
            return LineFront(lines, NoticeLog())
        case "stream-json":
            return LineFront(lines, JsonLines(), fired=event_line)
        case _ if args.print:
            return LineFront(lines, ProgressLines(), PrintedAnswers())
        case _:
            return LineFront(lines, PlainLines())


def as_document(
    agent: Agent,
    result: PromptTurn | None,
    log: EventLog,
    requests: Sequence[CompletionRequest],
    journal: Journal,
) -> str:
    ending = _ending(agent, result)
    return json_lines(
        {
            **{name: ending.pop(name) for name in ("result", "status", "why")},
            "events": [_event(fired, journal) for fired in log.fired],
            "requests": [_request(request) for request in requests],
            "notices": _notices(agent.user.listener),
            **ending,
        }
    )


def _ending(agent: Agent, result: PromptTurn | None) -> dict[str, Any]:
    return {
        "result": result.text if result is not None else "",
        "status": result.status if result is not None else "completed",
        "why": result.why if result is not None else "",
        "usage": msgspec.to_builtins(agent.totals),
        "transcript": agent.conversation.records.path or None,
    }


def _notices(listener: Listener) -> list[dict[str, Any]]:
    kept = listener.notices if isinstance(listener, NoticeLog) else ()
    return [{"kind": shown.kind, "agent": shown.agent, "text": shown.text} for shown in kept]


def _event(fired: FiredEvent, journal: Journal) -> dict[str, Any]:
    return {
        "event": fired.event,
        "dialect_event": fired.event_name,
        "agent": fired.agent,
        "payload": _payload(fired.payload),
        "outcome": msgspec.to_builtins(outcome_document(fired.outcome, name_redactor(journal)), enc_hook=str),
        "runs": [msgspec.to_builtins(run_result(journal.cleaned(run))) for run in fired.runs],
    }


def _payload(payload: Any) -> dict[str, Any]:
    """Return every field that has a value, even its default: hooks of every dialect get those."""
    fields = {name: value for name, value in msgspec.structs.asdict(payload).items() if value is not None}
    return msgspec.to_builtins(fields, enc_hook=str)


def _request(request: CompletionRequest) -> dict[str, Any]:
    return {
        "model": request.model,
        "agent": request.agent_type,
        "system": request.system,
        "messages": msgspec.to_builtins(request.messages),
        "tools": [tool.name for tool in request.tools],
    }
