"""Where the agent and the recorded client disagree about a case: what ran, what the model saw, how it ended."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hookline.agent.messages import Assistant, Message
from hookline.agent.messages import ToolResult as ResultMessage
from hookline.agent.models.port import Request
from tests.agent.recorded.acting import Acted
from tests.dialects.claude_code.agreement import bare
from tests.dialects.claude_code.driver import Case, without_times

#: What hooks of the recordings say, so that it is known again.
_MARK = re.compile(r"HK_\w+")
#: What the client itself, not a hook, had against a call: there need only be an objection.
_NOT_A_HOOK = re.compile(
    r"Exit code \d|Output redirection to|Permission to use|This Bash command contains|<tool_use_error>"
    r"|.* needs approval"
)
#: The lines that calls leave behind, in the words of the recording.
_RAN = {"RAN-ORIG": "original", "RAN-UPD": "updatedInput", "RAN-UPD2": "updatedInput (second hook)"}
#: The recording does not show what was put inside a tool result for older models.
_IN_TOOL_RESULT = ("post-exit2-sonnet45", "post-context-sonnet45")
_MOST_REPORTED = 12

Compared = Iterator[tuple[str, Any, Any]]


def disagreements(case: Case, acted: Acted) -> list[str]:
    """One sentence each; none when they agree."""
    return [
        f"{what}: the client {wanted!r}, Hookline {got!r}"
        for what, wanted, got in _compared(case, acted)
        if wanted != got
    ]


def _compared(case: Case, acted: Acted) -> Compared:
    observed = case["observed"]
    if not _race(case):
        yield "requests", observed["model_requests"], len(acted.main_requests)
    wanted_inside = observed.get("other_model_requests", {}).get("sub", 0)
    yield "requests of sub-agents", wanted_inside, len(acted.requests) - len(acted.main_requests)
    yield "ran", observed["tool_ran_with"] or [], [_RAN.get(line, line) for line in acted.effects]
    yield from _seen(case, acted)
    yield from _objected(case, acted)
    yield from _ended(case, acted)
    yield from _counted(case, acted)
    yield from _told(case, acted)


def _seen(case: Case, acted: Acted) -> Compared:
    """The words of hooks that reached the model, and no others."""
    if case["id"] in _IN_TOOL_RESULT:
        return
    observed = case["observed"]
    texts = [one["text"] for one in observed["context_seen_by_model"]]
    reason = observed["reason_seen_by_model"]
    if reason and not _NOT_A_HOOK.match(reason):
        texts.append(reason)
    wanted, got = _marks(bare(text, case) for text in texts), _marks(_said(acted.main_requests))
    # Where the outcome is a race, the recording shows one way it may go.
    yield "seen by the model", wanted, got & wanted if _race(case) else got
    extra: list[Any] = observed.get("extra") or []
    inside: list[str] = [one["text"] for one in extra if isinstance(one, dict) and "text" in one]
    others = [request for request in acted.requests if request.agent_type is not None]
    heard = _marks(bare(text, case) for text in inside) if others else set[str]()
    yield "seen by sub-agents", heard, _marks(_said(others))


def _said(requests: Sequence[Request]) -> Iterator[str]:
    """All that the model was told but its own words."""
    for request in requests:
        yield request.system
        yield from (text for message in request.messages if (text := _told_by_others(message)) is not None)


def _told_by_others(message: Message) -> str | None:
    return None if isinstance(message, Assistant) else message.text


def _race(case: Case) -> bool:
    return "race" in case.get("note", "")


def _marks(texts: Iterable[str]) -> set[str]:
    return {mark for text in texts for mark in _MARK.findall(text)}


def _objected(case: Case, acted: Acted) -> Compared:
    reason = case["observed"]["reason_seen_by_model"] or ""
    results = [
        message
        for request in acted.main_requests[-1:]
        for message in request.messages
        if isinstance(message, ResultMessage)
    ]
    if _NOT_A_HOOK.match(reason):
        yield "an objection to a call", True, any(result.is_error for result in results)


def _ended(case: Case, acted: Acted) -> Compared:
    observed = case["observed"]
    if case["event"] != "PreCompact":
        stopped = acted.told[-1].status == "blocked" or any(fired.outcome.stop for fired in acted.fired)
        yield "stopped by a hook", observed["session_stopped_by_hook"], stopped
    result: str = observed.get("result_text") or ""
    if "blocked by" in result or "stopped by hook" in result:
        yield "why", True, bare(result, case) in acted.told[-1].why or acted.told[-1].why
    elif result:
        yield "result", result, acted.told[-1].text
    if "results_all" in observed and case["event"] != "PreCompact":
        turns = [told for told in acted.told if told.turn is not None]
        yield "turns", len(observed["results_all"]), len(turns)
    if case["event"] in ("PreModelSwitch", "PostModelSwitch"):
        yield "models", observed["extra"], [request.model for request in acted.main_requests]


def _counted(case: Case, acted: Acted) -> Compared:
    observed = case["observed"]
    if _race(case):
        return
    # A hook nobody waits for has two records of one run.
    ran = {run.run_id: fired.event for fired in acted.fired for run in fired.runs if run.status != "skipped"}
    heard = [payload["hook_event_name"] for payload in case.get("payloads") or ()]
    reported = observed.get("hook_reported_as")
    if reported is None:
        yield "hooks asked at", sorted(heard), sorted(ran.values())
    elif len(reported) < _MOST_REPORTED:
        yield "runs", len(reported) + len(set(heard) - {case["event"]}), len(ran)
    if "hook_log" in observed:
        yield "log", without_times(observed["hook_log"]), without_times(acted.log)


def _told(case: Case, acted: Acted) -> Compared:
    notices = [shown.text for shown in acted.shown if shown.kind == "notice"]
    for told in case["observed"].get("user_was_told", ()):
        _event, says, text = told.partition(" says: ")
        if says:
            yield "told", True, text in notices
