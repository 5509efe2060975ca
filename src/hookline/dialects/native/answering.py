"""An outcome as a native answer: what Hookline prints when it is itself the hook of a host that speaks native."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from hookline.dialects.native.answer import updated_key
from hookline.dialects.payload_json import written_answer
from hookline.model.events import EventSpec, May
from hookline.model.outcome import Outcome, PermissionUpdate
from hookline.model.wire import Told

_NO_REASON = "a hook said no and gave no reason"


def answer(event: EventSpec[Any], outcome: Outcome) -> Told:
    """Always exit 0 with one object, or nothing when there is nothing to say."""
    said, lost = outcome.clipped(event.may)
    top: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    _decide(event, said, top, specific)
    _supply(event, said, specific)
    if specific:
        # Before a stop: of two blocks the first one gives the reason.
        top["hookSpecificOutput"] = {"hookEventName": event.name, **specific}
    if said.halts:
        top["continue"] = False
        if said.stop_reason:
            top["stopReason"] = said.stop_reason
    if said.messages:
        top["systemMessage"] = "\n".join(message.text for message in said.messages)
    if not top:
        return Told(lost=lost)
    try:
        return Told(stdout=written_answer(top), lost=lost)
    except (TypeError, ValueError, OverflowError) as error:
        # What cannot be written down must not let a block pass.
        return Told(2 if said.blocked else 1, stderr=said.reason or str(error), lost=(*lost, "answer"))


def _decide(event: EventSpec[Any], said: Outcome, top: dict[str, Any], specific: dict[str, Any]) -> None:
    vote = said.deciding_vote
    if vote is None:
        return
    reason = vote.reason or (_NO_REASON if vote.kind == "block" else "")
    if event.may & May.PERMIT:
        specific["permissionDecision"] = "deny" if vote.kind == "block" else vote.kind
        if reason:
            specific["permissionDecisionReason"] = reason
    else:
        top.update({"decision": "block", "reason": reason})


def _supply(event: EventSpec[Any], said: Outcome, specific: dict[str, Any]) -> None:
    """Everything that is not a decision."""
    if said.edits and event.rewrites is not None:
        specific[updated_key(event.rewrites)] = said.updated(event.rewrites)
    given: Mapping[str, Any] = {
        "additionalContext": "\n".join(said.context),
        "updatedPermissions": [_unsigned(update) for update in said.permission_updates],
        "watchPaths": list(said.watch_paths),
        "initialUserMessage": said.initial_user_message,
        "retry": said.retry,
        "env": said.env,
    }
    specific.update({key: value for key, value in given.items() if value})
    if said.answers:
        specific["answer"] = said.answer


def _unsigned(update: PermissionUpdate) -> dict[str, Any]:
    told = cast("dict[str, Any]", msgspec.to_builtins(update))
    told.pop("by", None)
    return told
