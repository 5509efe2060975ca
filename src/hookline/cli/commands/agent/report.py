"""What a run without a screen shows: progress on stderr, and the document of `hookline agent --json`."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hookline.agent.hooks import EventLog, Fired
from hookline.agent.models.port import Request
from hookline.agent.ports import Listener, Shown
from hookline.agent.session.session import Agent, PromptResult
from hookline.cli.commands.fire.report import name_redactor, outcome_document, run_document
from hookline.cli.output import note
from hookline.cli.text import json_lines
from hookline.journal.journal import Journal
from hookline.model.safe_text import one_line, printable

_WIDEST = 160
#: What the document must have and no event has.
_NOTICES = frozenset({"warning", "notice", "blocked"})


class NoticeLog:
    """For --json: keeps the notices for the document, and shows nothing."""

    def __init__(self) -> None:
        self.notices: list[Shown] = []

    def show(self, shown: Shown) -> None:
        if shown.kind in _NOTICES:
            self.notices.append(shown)


class ProgressLines:
    """One line on stderr for each thing that happens; only the answer goes to stdout."""

    def show(self, shown: Shown) -> None:
        line = _line(shown)
        if line is not None:
            note(f"{_who(shown)}{line}")


def _who(shown: Shown) -> str:
    return f"[{one_line(shown.agent, 40)}] " if shown.agent else ""


def _line(shown: Shown) -> str | None:
    match shown.kind:
        case "call":
            given = msgspec.json.encode(shown.tool_input).decode()
            return one_line(f"- {shown.tool} {given}", _WIDEST)
        case "result":
            # A call that was refused was never shown as one, so its result names the tool.
            begins = f"x {shown.tool}:" if shown.is_error else "="
            return "  " + one_line(f"{begins} {shown.text}", _WIDEST)
        case "warning" | "notice":
            return printable(f"! {shown.text}")
        case "blocked":
            return printable(f"blocked: {shown.text}")
        case _:
            return None


def as_document(
    agent: Agent, result: PromptResult | None, log: EventLog, requests: Sequence[Request], journal: Journal
) -> str:
    return json_lines(
        {
            "result": result.text if result is not None else "",
            "status": result.status if result is not None else "completed",
            "why": result.why if result is not None else "",
            "events": [_event(fired, journal) for fired in log.fired],
            "requests": [_request(request) for request in requests],
            "notices": _notices(agent.user.listener),
            "usage": msgspec.to_builtins(agent.totals),
            "transcript": agent.conversation.records.path or None,
        }
    )


def _notices(listener: Listener) -> list[dict[str, Any]]:
    kept = listener.notices if isinstance(listener, NoticeLog) else ()
    return [{"kind": shown.kind, "agent": shown.agent, "text": shown.text} for shown in kept]


def _event(fired: Fired, journal: Journal) -> dict[str, Any]:
    return {
        "event": fired.event,
        "spelled": fired.event_name,
        "agent": fired.agent,
        "payload": _payload(fired.payload),
        "outcome": msgspec.to_builtins(outcome_document(fired.outcome, name_redactor(journal)), enc_hook=str),
        "runs": [msgspec.to_builtins(run_document(journal.cleaned(run))) for run in fired.runs],
    }


def _payload(payload: Any) -> dict[str, Any]:
    """Every field that has a value, even its default: hooks of every dialect get those."""
    fields = {name: value for name, value in msgspec.structs.asdict(payload).items() if value is not None}
    return msgspec.to_builtins(fields, enc_hook=str)


def _request(request: Request) -> dict[str, Any]:
    return {
        "model": request.model,
        "agent": request.agent_type,
        "system": request.system,
        "messages": msgspec.to_builtins(request.messages),
        "tools": [tool.name for tool in request.tools],
    }
