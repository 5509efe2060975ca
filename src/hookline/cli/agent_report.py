"""The document of `hookline agent --json`: all that happened, in order."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hookline.agent.modelport import Request
from hookline.agent.outside import Listener
from hookline.agent.recording import EventLog, Fired
from hookline.agent.session import Agent, Told
from hookline.cli.agent_screen import Silent
from hookline.cli.fire_document import outcome_document, run_document
from hookline.cli.text import json_lines
from hookline.engine.journal import Journal
from hookline.model.run import Run


def as_document(
    agent: Agent, told: Told | None, log: EventLog, requests: Sequence[Request], journal: Journal
) -> str:
    return json_lines(
        {
            "result": told.text if told is not None else "",
            "status": told.status if told is not None else "completed",
            "why": told.why if told is not None else "",
            "events": [_event(fired, journal) for fired in log.fired],
            "requests": [_request(request) for request in requests],
            "notices": _notices(agent.listener),
            "usage": msgspec.to_builtins(agent.totals),
            "transcript": agent.records.path or None,
        }
    )


def _notices(listener: Listener) -> list[dict[str, Any]]:
    kept = listener.notices if isinstance(listener, Silent) else ()
    return [{"kind": shown.kind, "agent": shown.agent, "text": shown.text} for shown in kept]


def _event(fired: Fired, journal: Journal) -> dict[str, Any]:
    return {
        "event": fired.event,
        "spelled": fired.spelled,
        "agent": fired.agent,
        "payload": _payload(fired.payload),
        "outcome": msgspec.to_builtins(outcome_document(fired.outcome, _named(journal)), enc_hook=str),
        "runs": [msgspec.to_builtins(run_document(journal.cleaned(run))) for run in fired.runs],
    }


def _payload(payload: Any) -> dict[str, Any]:
    """Every field that has a value, its default too: hooks of every dialect are told those."""
    fields = {name: value for name, value in msgspec.structs.asdict(payload).items() if value is not None}
    return msgspec.to_builtins(fields, enc_hook=str)


def _named(journal: Journal) -> Callable[[str], str]:
    """A hook without a name is called by its command, which may hold a secret."""
    return lambda name: journal.cleaned(Run(hook=name)).hook


def _request(request: Request) -> dict[str, Any]:
    return {
        "model": request.model,
        "agent": request.agent_type,
        "system": request.system,
        "messages": msgspec.to_builtins(request.messages),
        "tools": [tool.name for tool in request.tools],
    }
