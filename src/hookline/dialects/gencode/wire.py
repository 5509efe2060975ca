"""Encode and decode gen-code's payloads and answers.

Answers are read as Go reads JSON into a record: keys in any case, null for nothing, unknown keys passed over;
one value of the wrong type and the whole answer is ignored.
"""

from collections.abc import Mapping
from typing import Any, cast

from hookline.dialects.family.answers import (
    DECISION,
    SPECIFIC,
    TOP,
    AnswerField,
    AnswerReader,
    AnswerWriter,
    Object,
)
from hookline.dialects.family.wire import (
    PayloadKey,
    ResultReader,
    UnreadableAnswerError,
    encoded,
    event_name,
    info_document,
    info_texts,
    key_values,
    payload_of,
    payload_record,
    split_async_mark,
)
from hookline.dialects.gencode.events import ROWS, EventRow, may_at
from hookline.dialects.json_text import read_go_json
from hookline.model.events import Capability, fields_of
from hookline.model.outcome import ContextItem, Outcome, PermissionUpdate, Vote
from hookline.model.raw import Exited
from hookline.model.session_info import SessionInfo
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

NO_REASON = "Hook blocked execution"
DENIED = "denied by hook"

#: Blocks that prevent the action: there a stop is sent as a block.
_PREVENTING = frozenset({"deny_call", "reject_prompt", "cancel"})


class Reader(AnswerReader):
    no_reason = NO_REASON
    order = "table"
    any_case = True

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _FIELDS[where]

    def is_blank(self, text: str) -> bool:
        return not text

    def outcome(self) -> Outcome:
        if self.context:
            self.context = [ContextItem("\n".join(item.text for item in self.context))]
        return super().outcome()

    def go_on(self, value: bool, holder: Object) -> None:
        """Apply `continue`: there is no `stop`, so `continue: false` is a block."""
        if not value:
            self.block(holder.get("stopReason") or holder.get("reason"))

    def tool_input(self, value: Object, _holder: Object) -> None:
        # An empty object replaces nothing: gen-code cannot distinguish {} from a missing object.
        if value:
            super().tool_input(value, _holder)

    def permission(self, value: str, holder: Object) -> None:
        # Only PreToolUse takes a permission from it; a deny is a block, and a block applies everywhere.
        if value == "deny" or (value in ("allow", "ask") and self.event_name == "PreToolUse"):
            super().permission(value, holder)
        elif value:
            self.ignored.append("hookSpecificOutput.permissionDecision")

    def try_again(self, value: bool, holder: Object) -> None:
        if value and self._is_for("PermissionDenied", "retry", holder):
            self.retry = True

    def decision(self, value: Object, holder: Object) -> None:
        if self._is_for("PermissionRequest", "decision", holder):
            self._decide(self.checked(value, DECISION))

    def flat_decision(self, _value: str, holder: Object) -> None:
        """Apply `behavior` and `updatedPermissions` that the document writes without an object around them."""
        if holder.get("hookEventName") not in (None, "", self.event_name):
            self.ignored.append("hookSpecificOutput.behavior")
            return
        if "hookEventName" in holder:
            # Inside of hookSpecificOutput a new input is a separate field, which is read there.
            holder = {key: value for key, value in holder.items() if key != "updatedInput"}
        self._decide(holder)

    def flat_updates(self, _value: Any, holder: Object) -> None:
        if "behavior" not in holder:
            self.ignored.append("updatedPermissions without behavior")

    def _decide(self, given: Object) -> None:
        behavior = given.get("behavior")
        if behavior == "allow":
            self.votes.append(Vote("allow"))
            self.tool_input(given.get("updatedInput", {}), given)
            self.permission_updates(given.get("updatedPermissions", []), given)
        elif behavior == "deny" or given.get("interrupt"):
            self.block(given.get("message") or DENIED)
        elif behavior:
            self.ignored.append("hookSpecificOutput.decision.behavior")

    def _is_for(self, event: str, field: str, holder: Object) -> bool:
        """Return True if hookEventName matches; gen-code ignores the field otherwise."""
        if holder.get("hookEventName") == self.event_name == event:
            return True
        self.ignored.append(f"hookSpecificOutput.{field}")
        return False

    def permission_updates(self, value: Any, _holder: Object) -> None:
        if not isinstance(value, list):
            raise UnreadableAnswerError("hookSpecificOutput.decision.updatedPermissions is not a list")
        super().permission_updates(cast("list[Any]", value), _holder)

    def update(self, given: Any) -> PermissionUpdate:
        if isinstance(given, str):
            # A bare text is a rule that allows, for this session.
            rule = {"ruleContent": given}
            return PermissionUpdate("addRules", rules=(rule,), behavior="allow", destination="session")
        if not isinstance(given, Mapping):
            raise UnreadableAnswerError("an item of updatedPermissions is neither an object nor text")
        known = {key: value for key, value in cast("Object", given).items() if value is not None}
        return super().update({"type": "", **known})


_TEXT, _FLAG, _FLAG_SHAPE = AnswerField("text"), AnswerField("true or false"), "true or false"
_REQUESTS = frozenset({"PermissionRequest"})
_FLAT: Mapping[str, AnswerField] = {
    "behavior": AnswerField("text", Reader.flat_decision, _REQUESTS), "message": AnswerField("text", events=_REQUESTS),
    "interrupt": AnswerField(_FLAG_SHAPE, events=_REQUESTS),
    "updatedPermissions": AnswerField("anything", Reader.flat_updates, _REQUESTS),
}  # fmt: skip
_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {
        "decision": AnswerField("text", unused=True), "suppressOutput": AnswerField(_FLAG_SHAPE, unused=True),
        "continue": AnswerField(_FLAG_SHAPE, Reader.go_on), "stopReason": _TEXT, "reason": _TEXT, "async": _FLAG,
        "systemMessage": AnswerField("text", Reader.additional_context),
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
        **_FLAT, "updatedInput": AnswerField("an object", events=_REQUESTS),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission),
        "updatedInput": AnswerField("an object", Reader.tool_input),
        "additionalContext": AnswerField("text", Reader.additional_context),
        "watchPaths": AnswerField("a list of texts", Reader.watch_paths),
        "initialUserMessage": AnswerField("text", Reader.initial_user_message),
        "retry": AnswerField(_FLAG_SHAPE, Reader.try_again),
        "decision": AnswerField("an object", Reader.decision), **_FLAT,
    },
    DECISION: {
        "behavior": _TEXT, "message": _TEXT, "interrupt": _FLAG,
        "updatedInput": AnswerField("an object"), "updatedPermissions": AnswerField("anything"),
    },
}  # fmt: skip

_NEEDS: Mapping[str, Capability] = {
    "block": Capability.BLOCK, "rewrite": Capability.REWRITE, "watch_paths": Capability.WATCH,
    "initial_user_message": Capability.SEED,
    "retry": Capability.RETRY,
}  # fmt: skip
#: At events where the agent does not wait, only a block (asyncRewake) and paths to watch are used later.
_NEEDS_WAITING: Mapping[str, Capability] = {
    "context": Capability.CONTEXT,
    "allow": Capability.PERMIT,
    "ask": Capability.PERMIT,
}


class Writer(AnswerWriter):
    """One outcome being written: always exit 0 and one JSON object; after exit 2 gen-code reads nothing but
    the reason."""

    unwritten_code = 0

    def __init__(self, event_name: str, outcome: Outcome, row: EventRow) -> None:
        super().__init__(event_name, outcome)
        self.row = row

    def can(self, part: str) -> bool:
        row = self.row
        if part in _NEEDS_WAITING:
            return row.waits and bool(may_at(row) & _NEEDS_WAITING[part])
        return bool(may_at(row) & _NEEDS[part])

    def supply(self) -> None:
        super().supply()
        outcome = self.outcome
        parts = ("messages", "stop", "env", "answer")
        said = (outcome.messages, outcome.halts, outcome.env_items, outcome.answers)
        self.lost.extend(part for part, value in zip(parts, said, strict=True) if value)

    def decide(self) -> None:
        permission, reason = self._decision()
        updated = self.updated_input()
        if self.event_name == "PermissionRequest":
            self._decide_request(permission, reason, updated)
            return
        if updated is not None:
            self.specific["updatedInput"] = updated
        if self.outcome.permission_updates:
            self.lost.append("permission_updates")
        if permission == "deny":
            self._block(reason)
        elif permission is not None and self.accepts(permission):
            self.permit(permission, reason)

    def _decision(self) -> tuple[str | None, str]:
        outcome, vote = self.outcome, self.outcome.deciding_vote
        reason = vote.reason if vote is not None else ""
        if vote is None and outcome.stop and self.row.block_means in _PREVENTING:
            return "deny", outcome.stop_reason or ""
        if outcome.permission == "defer":
            self.lost.append("defer")
            return "ask", reason
        return outcome.permission, reason

    def _block(self, reason: str) -> None:
        if not self.accepts("block"):
            return
        if self.event_name == "PreToolUse":
            self.specific |= {"permissionDecision": "deny", "permissionDecisionReason": reason}
        else:
            self.top |= {"continue": False, "stopReason": reason}

    def _decide_request(self, permission: str | None, reason: str, updated: Object | None) -> None:
        edited: dict[str, Any] = {} if updated is None else {"updatedInput": updated}
        updates = self.updates()
        if permission == "allow":
            changed = {"updatedPermissions": updates} if updates else {}
            self.specific["decision"] = {"behavior": "allow", **edited, **changed}
            return
        if updates:
            self.lost.append("permission_updates")
        if permission == "deny":
            self.specific["decision"] = {"behavior": "deny", "message": reason}
        elif self.outcome.permission == "ask":
            # No answer has the same effect: the user is asked.
            self.lost.append("ask")
        self.specific |= edited


_COMMON = ("session_id", "transcript_path", "cwd", "permission_mode")
#: Fields that come from the session where the payload does not have them.
_OF_SCENE = ("model", "agent_id", "agent_type")
_PREFIXES = ("GEN_", "CLAUDE_")


class GenCodeWire(ResultReader):
    """The wire of gen-code. Stateless: one object serves every hook."""

    no_reason = NO_REASON

    def __init__(self, rows: Mapping[str, EventRow] = ROWS) -> None:
        self._rows = rows

    def encode(self, call: HookInvocation) -> Encoded:
        """Encode a call. The document has no newline at its end: it is the whole of stdin."""
        name, info = call.hook.policy.event_name, call.info
        sends = self._rows[name].sends
        values = key_values(
            [PayloadKey(name, keeps_empty=True) for name in fields_of(call.payload)]
            if sends is None
            else sends,
            call.payload,
            otherwise=lambda key: getattr(info, key) if key in _OF_SCENE else None,
            is_empty=lambda value: not value,
        )
        document = encoded(info_document(name, info) | values)
        return Encoded(document, _environment(name, values.get("tool_name"), info))

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = event_name(document, self._rows)
        row = self._rows[name]
        given = {key: value for key, value in document.items() if value is not None}
        payload = (
            payload_record(row.event, name, given) if row.sends is not None else payload_of(row.event, given)
        )
        sent = (key.name for key in row.sends or () if key.name in _OF_SCENE)
        known = info_texts(given, (*_COMMON, *sent))
        return Parsed(
            row.event, payload, SessionInfo(**{key: value for key, value in known.items() if value})
        )

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        return Writer(event_name, outcome, self._rows[event_name]).reply()

    def read_json(self, text: bytes) -> Any:
        return read_go_json(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        return Reader(event_name=call.hook.policy.event_name).read(document)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        is_async, rest = split_async_mark(raw.stdout)
        if not is_async or raw.code not in (0, 2):
            return super().exited(call, raw)
        if call.hook.waiting != "rewake":
            # It continued in the background, where its final output is not read.
            return Decoded(ignored=("its output after async",)) if rest.strip() else NOTHING_SAID
        if raw.code == 2 or raw.truncated:
            return super().exited(call, raw)
        return self.printed(call, raw, rest)

    def says_go_on(self, document: Mapping[str, Any]) -> bool:
        """Return True for `{}` and the like, which models are asked for; keys are read in any case."""
        return not document or super().says_go_on({key.lower(): value for key, value in document.items()})

    def is_http_error(self, status: int | None) -> bool:
        return status is not None and status >= 400


def _environment(name: str, tool: Any, info: SessionInfo) -> dict[str, str]:
    values = {
        "PROJECT_DIR": info.project_dir or info.cwd,
        "SESSION_ID": info.session_id,
        "EVENT_TYPE": name,
    }
    if isinstance(tool, str):
        # A zero byte would keep the process from starting, and with it the guard.
        values["TOOL_NAME"] = tool.replace("\0", "")
    return {f"{prefix}{key}": value for prefix in _PREFIXES for key, value in values.items()}
