"""An outcome in Claude Code's own terms: what Hookline prints when it is itself the hook."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hookline.dialects.claude_code.output import NO_REASON, TEXT_GOES_ON
from hookline.dialects.claude_code.schema import SPECIFIC
from hookline.dialects.claude_code.vocabulary import ROWS, Row
from hookline.dialects.payload_json import written_answer
from hookline.dialects.whole_text import whole_text
from hookline.model.outcome import Outcome
from hookline.model.wire import Told


class _Draft(Struct):
    """The answer while it is being written."""

    spelled: str
    row: Row
    outcome: Outcome
    top: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    lost: list[str] = []
    #: Text for the model where only plain stdout is read as such.
    plain: str = ""

    @property
    def ends_turn(self) -> bool:
        """A stop where a block would mean to go on: the client cannot do both, and ends the turn."""
        return self.outcome.stop and self.spelled in TEXT_GOES_ON

    def can(self, key: str) -> bool:
        return key in SPECIFIC.get(self.spelled, {})


def answer(spelled: str, outcome: Outcome) -> Told:
    """Everything the event can be told; the rest by name in `lost`."""
    row = ROWS.get(spelled)
    if row is None or not row.heard:
        return Told(lost=_everything(outcome))
    draft = _Draft(spelled, row, outcome)
    for write in _PARTS:
        write(draft)
    if outcome.blocked and not _block_is_told(draft):
        if row.exit_2_blocks and not draft.ends_turn:
            return _by_exit_code(draft)
        draft.lost.append("block")
    if spelled == "WorktreeCreate" and outcome.answers:
        return Told(stdout=whole_text(f"{outcome.answer}\n"), lost=tuple(draft.lost))
    if draft.plain and not draft.top:
        return Told(stdout=whole_text(draft.plain), lost=tuple(draft.lost))
    if draft.specific:
        draft.top["hookSpecificOutput"] = {"hookEventName": spelled, **draft.specific}
    return Told(stdout=_json(draft.top), lost=tuple(draft.lost))


def _json(document: dict[str, Any]) -> str:
    return written_answer(document) if document else ""


def _everything(outcome: Outcome) -> tuple[str, ...]:
    parts = cast("dict[str, Any]", msgspec.to_builtins(outcome))
    return tuple(name for name, value in parts.items() if value)


def _by_exit_code(draft: _Draft) -> Told:
    """Where no field says no, the exit code does; the client still reads what stands on stdout."""
    code = 1 if draft.spelled == "WorktreeCreate" else 2
    if draft.spelled == "WorktreeCreate" and draft.outcome.answers:
        draft.lost.append("answer")
    if draft.specific:
        draft.top["hookSpecificOutput"] = {"hookEventName": draft.spelled, **draft.specific}
    return Told(code, _json(draft.top), whole_text(draft.outcome.reason or NO_REASON), tuple(draft.lost))


def _block_is_told(draft: _Draft) -> bool:
    decided = draft.specific.get("permissionDecision") == "deny" or "decision" in draft.specific
    told_as_text = draft.spelled in TEXT_GOES_ON and "additionalContext" in draft.specific
    return decided or "decision" in draft.top or told_as_text


def _votes(draft: _Draft) -> None:
    outcome, vote = draft.outcome, draft.outcome.deciding_vote
    if vote is None:
        return
    decision = "deny" if vote.kind == "block" else vote.kind
    if draft.can("permissionDecision"):
        if draft.spelled == "PreModelSwitch" and decision == "defer":
            draft.lost.append("defer")
            decision = "ask"
        draft.specific["permissionDecision"] = decision
        if vote.reason:
            draft.specific["permissionDecisionReason"] = vote.reason
    elif draft.spelled == "PermissionRequest":
        _request(draft, decision)
    elif vote.kind != "block":
        draft.lost.append(vote.kind)
    elif draft.row.decision and not draft.ends_turn and (outcome.reason or not outcome.context_items):
        draft.top |= {"decision": "block", "reason": outcome.reason or NO_REASON}


def _request(draft: _Draft, decision: str) -> None:
    outcome = draft.outcome
    if decision == "deny":
        denied: dict[str, Any] = {"behavior": "deny", "message": outcome.reason or NO_REASON}
        draft.specific["decision"] = denied | {"interrupt": True} if outcome.stop else denied
        if outcome.edits:
            draft.lost.append("rewrite")
        if outcome.permission_updates:
            draft.lost.append("permission_updates")
    elif decision == "allow":
        allowed: dict[str, Any] = {"behavior": "allow"}
        if outcome.updated_input is not None:
            allowed["updatedInput"] = outcome.updated_input
        elif outcome.edits:
            draft.lost.append("rewrite")
        if outcome.permission_updates:
            updates = cast("list[dict[str, Any]]", msgspec.to_builtins(outcome.permission_updates))
            allowed["updatedPermissions"] = [_unsigned(update) for update in updates]
        draft.specific["decision"] = allowed
    else:
        draft.lost.append(decision)


def _unsigned(update: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in update.items() if key != "by"}


def _edits(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.edits or (draft.spelled == "PermissionRequest" and "decision" in draft.specific):
        return
    for key, value in (
        ("updatedInput", outcome.updated_input),
        ("updatedToolOutput", outcome.updated_output),
    ):
        if draft.can(key) and value is not None:
            draft.specific[key] = value
            return
    draft.lost.append("rewrite")


def _context(draft: _Draft) -> None:
    texts = draft.outcome.context
    if not texts:
        return
    joined = "\n".join(texts)
    if draft.can("additionalContext") and _context_is_heard(draft, joined):
        draft.specific["additionalContext"] = joined
    elif draft.spelled == "DirectoryAdded":
        draft.top["systemMessage"] = joined
    elif _plain_is_heard(draft, joined):
        draft.plain = joined
    else:
        draft.lost.append("context")


def _context_is_heard(draft: _Draft, text: str) -> bool:
    """At the end of a turn text means to go on with it, so there it needs a block that says so too."""
    if draft.spelled in TEXT_GOES_ON:
        return bool(text.strip()) and draft.outcome.blocked and not draft.ends_turn
    return draft.spelled != "Notification"


def _plain_is_heard(draft: _Draft, text: str) -> bool:
    """Beside a decision there is no place for it, and what begins like an answer is read as one."""
    alone = not draft.top and not draft.specific and not draft.outcome.blocked
    return draft.row.plain_context and alone and bool(text.strip()) and not text.lstrip().startswith("{")


def _messages(draft: _Draft) -> None:
    texts = [message.text for message in draft.outcome.messages if message.text]
    if not texts:
        return
    if "systemMessage" in draft.row.reads and "systemMessage" not in draft.top:
        draft.top["systemMessage"] = "\n".join(texts)
    else:
        draft.lost.append("messages")


def _halts(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.stop or (draft.spelled == "PermissionRequest" and outcome.blocked):
        return
    if "continue" not in draft.row.reads:
        draft.lost.append("stop")
        return
    draft.top["continue"] = False
    if outcome.stop_reason:
        draft.top["stopReason"] = outcome.stop_reason


def _answers(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.answers or draft.spelled == "WorktreeCreate":
        return
    value = outcome.answer
    if draft.can("displayContent") and isinstance(value, str):
        draft.specific["displayContent"] = value
    elif draft.can("action") and isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        draft.specific |= {key: given[key] for key in ("action", "content") if key in given}
    else:
        draft.lost.append("answer")


def _others(draft: _Draft) -> None:
    outcome = draft.outcome
    for name, key, value in (
        ("watch_paths", "watchPaths", list(outcome.watch_paths)),
        ("initial_user_message", "initialUserMessage", outcome.initial_user_message),
        ("retry", "retry", outcome.retry),
    ):
        if value and draft.can(key):
            draft.specific[key] = value
        elif value:
            draft.lost.append(name)
    if outcome.env_items:
        draft.lost.append("env")
    if outcome.permission_updates and "decision" not in draft.specific:
        draft.lost.append("permission_updates")


_PARTS: Final[tuple[Callable[[_Draft], None], ...]] = (
    _votes, _edits, _context, _messages, _halts, _answers, _others,
)  # fmt: skip
