"""An outcome in gen-code's own terms: what Hookline prints when it is the hook."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET

from hookline.dialects.gencode.vocabulary import ROWS, Row, may_at
from hookline.dialects.payload_json import written_answer
from hookline.model.events import May
from hookline.model.outcome import Outcome, PermissionUpdate
from hookline.model.wire import Told

#: Where a block keeps something from happening, a run that is to stop can at least be kept from that.
_PREVENTING = frozenset({"deny_call", "reject_prompt", "cancel"})


def answer(spelled: str, outcome: Outcome) -> Told:
    """Always exit 0 and one JSON object: after exit 2 gen-code reads nothing but the reason."""
    row = ROWS[spelled]
    telling = _Telling(row, outcome)
    document = telling.document()
    if not document:
        return Told(lost=telling.lost)
    try:
        return Told(stdout=written_answer(document), lost=telling.lost)
    except (TypeError, ValueError, RecursionError) as error:
        # What cannot be written down must not let a block pass.
        return Told(2 if outcome.blocked else 0, stderr=outcome.reason or str(error), lost=("answer",))


class _Telling:
    """One outcome being told; made for it and thrown away."""

    def __init__(self, row: Row, outcome: Outcome) -> None:
        self._row = row
        self._outcome = outcome
        self._may = may_at(row)
        self._lost: list[str] = []

    @property
    def lost(self) -> tuple[str, ...]:
        return tuple(self._lost)

    def document(self) -> dict[str, Any]:
        outcome = self._outcome
        top: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        self._decide(top, specific)
        if outcome.context_items and self._heard(May.CONTEXT, "context"):
            specific["additionalContext"] = "\n".join(outcome.context)
        if outcome.watch_paths and self._can(May.WATCH, "watch_paths"):
            specific["watchPaths"] = list(outcome.watch_paths)
        if outcome.initial_user_message and self._can(May.SEED, "initial_user_message"):
            specific["initialUserMessage"] = outcome.initial_user_message
        if outcome.retry and self._can(May.RETRY, "retry"):
            specific["retry"] = True
        self._unsayable()
        if specific:
            top["hookSpecificOutput"] = {"hookEventName": self._row.event.name, **specific}
        return top

    def _can(self, what: May, name: str) -> bool:
        if not self._may & what:
            self._lost.append(name)
            return False
        return True

    def _heard(self, what: May, name: str) -> bool:
        """Nobody waits at some events; only a block (asyncRewake) and paths to watch are heard later."""
        if self._row.waits:
            return self._can(what, name)
        self._lost.append(name)
        return False

    def _decide(self, top: dict[str, Any], specific: dict[str, Any]) -> None:
        permission, reason = self._outcome.permission, self._outcome.reason or ""
        if permission is None and self._outcome.stop and self._row.block_means in _PREVENTING:
            permission, reason = "deny", self._outcome.stop_reason or ""
        elif permission == "defer":
            self._lost.append("defer")
            permission = "ask"
        if self._row.event.name == "PermissionRequest":
            self._decide_request(permission, reason, specific)
            return
        updated = self._updated()
        if updated is not None:
            specific["updatedInput"] = updated
        if self._outcome.permission_updates:
            self._lost.append("permission_updates")
        if permission == "deny":
            self._block(reason, top, specific)
        elif permission is not None and self._heard(May.PERMIT, permission):
            specific["permissionDecision"] = permission
            if allowed_because := reason or self._allow_reason():
                specific["permissionDecisionReason"] = allowed_because

    def _block(self, reason: str, top: dict[str, Any], specific: dict[str, Any]) -> None:
        if not self._can(May.BLOCK, "block"):
            return
        if self._row.event.name == "PreToolUse":
            specific["permissionDecision"] = "deny"
            specific["permissionDecisionReason"] = reason
        else:
            top["continue"] = False
            top["stopReason"] = reason

    def _decide_request(self, permission: str | None, reason: str, specific: dict[str, Any]) -> None:
        updated = self._updated()
        updates = [_update(each) for each in self._outcome.permission_updates]
        if permission == "allow":
            decision: dict[str, Any] = {"behavior": "allow"}
            if updated is not None:
                decision["updatedInput"] = updated
            if updates:
                decision["updatedPermissions"] = updates
            specific["decision"] = decision
            return
        if updates:
            self._lost.append("permission_updates")
        if permission == "deny":
            specific["decision"] = {"behavior": "deny", "message": reason}
        elif permission == "ask" and self._outcome.permission == "ask":
            # Saying nothing has the same effect: the user is asked.
            self._lost.append("ask")
        if updated is not None:
            specific["updatedInput"] = updated

    def _updated(self) -> Mapping[str, Any] | None:
        edits = self._outcome.edits
        if not edits:
            return None
        value = self._outcome.updated_input
        unknown = edits[-1].patch and edits[-1].whole is UNSET
        if not self._may & May.REWRITE or unknown or not isinstance(value, Mapping) or not value:
            self._lost.append("rewrite")
            return None
        return cast("Mapping[str, Any]", value)

    def _allow_reason(self) -> str:
        vote = self._outcome.deciding_vote
        return vote.reason if vote is not None else ""

    def _unsayable(self) -> None:
        outcome = self._outcome
        there = (
            ("messages", outcome.messages),
            ("stop", outcome.halts),
            ("env", outcome.env_items),
            ("answer", outcome.answers),
        )
        self._lost.extend(name for name, said in there if said)


def _update(update: PermissionUpdate) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(update)
    told.pop("by", None)
    return told
