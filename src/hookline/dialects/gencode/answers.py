"""An answer document of a gen-code hook as an outcome.

Read as Go reads JSON into a record: keys in any case, null for nothing, unknown keys passed over; one value of
the wrong type and the whole answer does not count.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import UNSET

from hookline.dialects.gencode.events import ROWS, Row, may_at
from hookline.dialects.json_text import written_answer
from hookline.documents.shapes import misshaped
from hookline.model.errors import HooklineError
from hookline.model.events import May
from hookline.model.outcome import ContextItem, Edit, Outcome, PermissionUpdate, Vote, VoteKind
from hookline.model.wire import Told

NO_REASON = "Hook blocked execution"
DENIED = "denied by hook"

Object = Mapping[str, Any]

_TOP: Mapping[str, str] = MappingProxyType(
    {
        "continue": "true or false",
        "suppressOutput": "true or false",
        "stopReason": "text",
        "systemMessage": "text",
        "decision": "text",
        "reason": "text",
        "hookSpecificOutput": "an object",
        "async": "true or false",
    }
)
_SPECIFIC: Mapping[str, str] = MappingProxyType(
    {
        "hookEventName": "text",
        "permissionDecision": "text",
        "permissionDecisionReason": "text",
        "updatedInput": "an object",
        "additionalContext": "text",
        "watchPaths": "a list of texts",
        "initialUserMessage": "text",
        "retry": "true or false",
        "decision": "an object",
    }
)
_DECISION: Mapping[str, str] = MappingProxyType(
    {
        "behavior": "text",
        "updatedInput": "an object",
        "updatedPermissions": "anything",
        "message": "text",
        "interrupt": "true or false",
    }
)
_FOLDED: Mapping[str, str] = {
    name.lower(): name for shapes in (_TOP, _SPECIFIC, _DECISION) for name in shapes
}
#: Understood, and never used.
_UNUSED = ("decision", "suppressOutput")


class UnreadableError(HooklineError):
    """Why an answer does not count."""


def read_answer(document: Object, event_name: str) -> tuple[Outcome, tuple[str, ...]]:
    """What the document says at this event, and the names of what nobody reads. Raises `UnreadableError`."""
    ignored: list[str] = []
    top = _fields(document, _TOP, "", ignored)
    ignored.extend(name for name in _UNUSED if top.get(name))
    specific = _fields(top.get("hookSpecificOutput", {}), _SPECIFIC, "hookSpecificOutput.", ignored)
    named = specific.get("hookEventName")
    said = Outcome(
        votes=(*_continue(top), *_permission(specific, event_name, ignored)),
        edits=_edits(specific),
        context_items=_context(top, specific),
        watch_paths=tuple(path for path in specific.get("watchPaths", ()) if path),
        seeds=_seeds(specific),
    )
    if specific.get("retry"):
        # An answer that does not name the event has never been heard there.
        if named == event_name == "PermissionDenied":
            said += Outcome(retry=True)
        else:
            ignored.append("hookSpecificOutput.retry")
    if "decision" in specific:
        if named == event_name == "PermissionRequest":
            said += _decision(specific["decision"], ignored)
        else:
            ignored.append("hookSpecificOutput.decision")
    return said, tuple(ignored)


def _fields(document: Object, shapes: Mapping[str, str], prefix: str, ignored: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in document.items():
        name = key if key in shapes else _FOLDED.get(key.lower(), "")
        shape = shapes.get(name)
        if shape is None:
            ignored.append(f"{prefix}{key}"[:80])
        elif value is not None:
            instead = misshaped(value, shape)
            if instead is not None:
                raise UnreadableError(f"{prefix}{name} is {instead}")
            found[name] = value
    return found


def _continue(top: Object) -> tuple[Vote, ...]:
    if top.get("continue", True):
        return ()
    return (Vote("block", _text(top, "stopReason") or _text(top, "reason") or NO_REASON),)


_KINDS: Mapping[str, VoteKind] = {"deny": "block", "ask": "ask", "allow": "allow"}


def _permission(specific: Object, event_name: str, ignored: list[str]) -> tuple[Vote, ...]:
    decision = specific.get("permissionDecision")
    if not decision:
        return ()
    kind = _KINDS.get(decision)
    # Only PreToolUse takes a permission from it; a no is a block, and a block counts everywhere.
    if kind is None or (kind != "block" and event_name != "PreToolUse"):
        ignored.append("hookSpecificOutput.permissionDecision")
        return ()
    reason = _text(specific, "permissionDecisionReason")
    return (Vote(kind, reason or (NO_REASON if kind == "block" else "")),)


def _context(top: Object, specific: Object) -> tuple[ContextItem, ...]:
    texts = [text for text in (_text(top, "systemMessage"), _text(specific, "additionalContext")) if text]
    return (ContextItem("\n".join(texts)),) if texts else ()


def _edits(holder: Object) -> tuple[Edit, ...]:
    # An empty object replaces nothing: that is how one that is not there looks.
    given = holder.get("updatedInput")
    return (Edit(given, field="tool_input"),) if given else ()


def _seeds(specific: Object) -> tuple[str, ...]:
    text = specific.get("initialUserMessage")
    return (text,) if text else ()


def _decision(given: Object, ignored: list[str]) -> Outcome:
    decision = _fields(given, _DECISION, "hookSpecificOutput.decision.", ignored)
    behavior = decision.get("behavior")
    if behavior == "allow":
        updates = _updates(decision.get("updatedPermissions", []))
        return Outcome(votes=(Vote("allow"),), edits=_edits(decision), permission_updates=updates)
    if behavior == "deny" or decision.get("interrupt"):
        return Outcome(votes=(Vote("block", _text(decision, "message") or DENIED),))
    if behavior:
        ignored.append("hookSpecificOutput.decision.behavior")
    return Outcome()


def _updates(given: Any) -> tuple[PermissionUpdate, ...]:
    if not isinstance(given, list):
        raise UnreadableError("hookSpecificOutput.decision.updatedPermissions is not a list")
    return tuple(_update(each) for each in cast("list[Any]", given))


def _update(given: Any) -> PermissionUpdate:
    if isinstance(given, str):
        # A bare text is a rule that allows, for this session.
        rules: tuple[Object, ...] = ({"ruleContent": given},)
        return PermissionUpdate("addRules", rules=rules, behavior="allow", destination="session")
    if not isinstance(given, Mapping):
        raise UnreadableError("an item of updatedPermissions is neither an object nor text")
    present = {key: value for key, value in cast("Object", given).items() if value is not None}
    try:
        return msgspec.convert({"type": "", **present, "by": ""}, PermissionUpdate)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UnreadableError(f"updatedPermissions: {error}") from None


def _text(holder: Object, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


#: Where a block keeps something from happening, a run that is to stop can at least be kept from that.
_PREVENTING = frozenset({"deny_call", "reject_prompt", "cancel"})


def answer(event_name: str, outcome: Outcome) -> Told:
    """Always exit 0 and one JSON object: after exit 2 gen-code reads nothing but the reason."""
    row = ROWS[event_name]
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
        updates = [_update_answering(each) for each in self._outcome.permission_updates]
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


def _update_answering(update: PermissionUpdate) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(update)
    told.pop("by", None)
    return told
