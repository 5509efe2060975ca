"""Find where the agent and the recorded client disagree about a case: what ran, what the model saw, how it ended."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookline.agent.models.port import CompletionRequest
from hookline.model.messages import Assistant
from hookline.model.messages import ToolMessage as ResultMessage
from tests.agent.recorded.case_runs import Acted
from tests.dialects.claude_code.driver import without_times
from tests.recorded import Case

#: What hooks of the recordings say, so that it is known again.
_MARK = re.compile(r"HK_\w+")
#: The lines that calls leave behind, in the words of the recording.
_RAN = {"RAN-ORIG": "original", "RAN-UPD": "updatedInput", "RAN-UPD2": "updatedInput (second hook)"}


def disagreements(case: Case, acted: Acted) -> list[str]:
    """One sentence each; none when they agree."""
    return [
        f"{what}: the client {wanted!r}, Hookline {_SHOWN[what](acted)!r}"
        for what, wanted in case["expect_agent"].items()
        if not _agrees(what, wanted, _SHOWN[what](acted), acted)
    ]


def _agrees(what: str, wanted: Any, got: Any, acted: Acted) -> bool:
    match what:
        case "seen_at_least" | "told":
            return set(wanted) <= set(got)
        case "seen_by_subagents":
            return wanted == got or not _inside(acted)
        case "why_has":
            return wanted in got
        case _:
            return wanted == got


# -- what the agent made of a case, by the names that `expect_agent` has --------------------------------------


def _inside(acted: Acted) -> list[CompletionRequest]:
    return [request for request in acted.requests if request.agent_type is not None]


def _seen(requests: Sequence[CompletionRequest]) -> list[str]:
    """The words of hooks that reached the model."""
    return sorted({mark for text in _texts(requests) for mark in _MARK.findall(text)})


def _texts(requests: Iterable[CompletionRequest]) -> Iterator[str]:
    """Return everything the model read but its own words."""
    for request in requests:
        yield request.system
        yield from (message.text for message in request.messages if not isinstance(message, Assistant))


def _call_refused(acted: Acted) -> bool:
    messages = [message for request in acted.main_requests[-1:] for message in request.messages]
    return any(message.is_error for message in messages if isinstance(message, ResultMessage))


def _stopped(acted: Acted) -> bool:
    return acted.received[-1].status == "blocked" or any(fired.outcome.stop for fired in acted.fired)


def _ran_at(acted: Acted) -> list[str]:
    """The event of each run; one in the background has two records."""
    runs = {run.run_id: fired.event for fired in acted.fired for run in fired.runs if run.status != "skipped"}
    return sorted(runs.values())


_SHOWN: Mapping[str, Callable[[Acted], Any]] = {
    "requests": lambda acted: len(acted.main_requests),
    "subagent_requests": lambda acted: len(_inside(acted)),
    "ran": lambda acted: [_RAN.get(line, line) for line in acted.effects],
    "seen": lambda acted: _seen(acted.main_requests),
    "seen_at_least": lambda acted: _seen(acted.main_requests),
    "seen_by_subagents": lambda acted: _seen(_inside(acted)),
    "call_refused": _call_refused,
    "stopped": _stopped,
    "why_has": lambda acted: acted.received[-1].why,
    "result": lambda acted: acted.received[-1].text,
    "turns": lambda acted: len([received for received in acted.received if received.turn is not None]),
    "models": lambda acted: [request.model for request in acted.main_requests],
    "hooks_ran_at": _ran_at,
    "runs": lambda acted: len(_ran_at(acted)),
    "log": lambda acted: without_times(acted.log),
    "told": lambda acted: [shown.text for shown in acted.shown if shown.kind == "notice"],
}
