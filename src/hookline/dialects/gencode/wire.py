"""The wire of gen-code, both ways.

Answers are read as Go reads JSON into a record: keys in any case, null for nothing, unknown keys passed over; one value
of the wrong type and the whole answer does not count.
"""

from collections.abc import Mapping
from typing import Any, cast

from hookline.dialects.family.answers import (
    DECISION,
    SPECIFIC,
    TOP,
    AnswerReader,
    AnswerWriter,
    Field,
    Object,
)
from hookline.dialects.family.wire import (
    Key,
    ResultReader,
    UnreadableError,
    encoded,
    event_name,
    key_values,
    payload_of,
    payload_record,
    scene_document,
    scene_texts,
    split_async_mark,
)
from hookline.dialects.gencode.events import ROWS, Row, may_at
from hookline.dialects.json_text import read_go_json
from hookline.model.events import May, fields_of
from hookline.model.outcome import ContextItem, Outcome, PermissionUpdate, Vote
from hookline.model.raw import Exited
from hookline.model.scene import Scene
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed

NO_REASON = "Hook blocked execution"
DENIED = "denied by hook"

#: Where a block prevents the action, a stop is sent as a block.
_PREVENTING = frozenset({"deny_call", "reject_prompt", "cancel"})


class Reader(AnswerReader):
    no_reason = NO_REASON
    order = "table"
    any_case = True

    def fields(self, where: str) -> Mapping[str, Field]:
        return _FIELDS[where]

    def is_blank(self, text: str) -> bool:
        return not text

    def outcome(self) -> Outcome:
        if self.context:
            self.context = [ContextItem("\n".join(item.text for item in self.context))]
        return super().outcome()

    def go_on(self, value: bool, holder: Object) -> None:
        """There is no `stop`: `continue: false` is a block."""
        if not value:
            self.block(holder.get("stopReason") or holder.get("reason"))

    def tool_input(self, value: Object, _holder: Object) -> None:
        # An empty object replaces nothing: gen-code cannot tell {} from a missing object.
        if value:
            super().tool_input(value, _holder)

    def permission(self, value: str, holder: Object) -> None:
        # Only PreToolUse takes a permission from it; a deny is a block, and a block counts everywhere.
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
        """The document writes `behavior` and `updatedPermissions` without an object around them."""
        if holder.get("hookEventName") not in (None, "", self.event_name):
            self.ignored.append("hookSpecificOutput.behavior")
            return
        if "hookEventName" in holder:
            # Inside of hookSpecificOutput a new input is a field of its own, which is read there.
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
        """gen-code ignores the field unless hookEventName matches."""
        if holder.get("hookEventName") == self.event_name == event:
            return True
        self.ignored.append(f"hookSpecificOutput.{field}")
        return False

    def permission_updates(self, value: Any, _holder: Object) -> None:
        if not isinstance(value, list):
            raise UnreadableError("hookSpecificOutput.decision.updatedPermissions is not a list")
        super().permission_updates(cast("list[Any]", value), _holder)

    def update(self, given: Any) -> PermissionUpdate:
        if isinstance(given, str):
            # A bare text is a rule that allows, for this session.
            rule = {"ruleContent": given}
            return PermissionUpdate("addRules", rules=(rule,), behavior="allow", destination="session")
        if not isinstance(given, Mapping):
            raise UnreadableError("an item of updatedPermissions is neither an object nor text")
        known = {key: value for key, value in cast("Object", given).items() if value is not None}
        return super().update({"type": "", **known})


_TEXT, _FLAG, _FLAG_SHAPE = Field("text"), Field("true or false"), "true or false"
_REQUESTS = frozenset({"PermissionRequest"})
_FLAT: Mapping[str, Field] = {
    "behavior": Field("text", Reader.flat_decision, _REQUESTS), "message": Field("text", events=_REQUESTS),
    "interrupt": Field(_FLAG_SHAPE, events=_REQUESTS),
    "updatedPermissions": Field("anything", Reader.flat_updates, _REQUESTS),
}  # fmt: skip
_FIELDS: Mapping[str, Mapping[str, Field]] = {
    TOP: {
        "decision": Field("text", unused=True), "suppressOutput": Field(_FLAG_SHAPE, unused=True),
        "continue": Field(_FLAG_SHAPE, Reader.go_on), "stopReason": _TEXT, "reason": _TEXT, "async": _FLAG,
        "systemMessage": Field("text", Reader.additional_context),
        "hookSpecificOutput": Field("an object", Reader.specific),
        **_FLAT, "updatedInput": Field("an object", events=_REQUESTS),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": Field("text", Reader.permission),
        "updatedInput": Field("an object", Reader.tool_input),
        "additionalContext": Field("text", Reader.additional_context),
        "watchPaths": Field("a list of texts", Reader.watch_paths),
        "initialUserMessage": Field("text", Reader.initial_user_message),
        "retry": Field(_FLAG_SHAPE, Reader.try_again),
        "decision": Field("an object", Reader.decision), **_FLAT,
    },
    DECISION: {
        "behavior": _TEXT, "message": _TEXT, "interrupt": _FLAG,
        "updatedInput": Field("an object"), "updatedPermissions": Field("anything"),
    },
}  # fmt: skip

_NEEDS: Mapping[str, May] = {
    "block": May.BLOCK, "rewrite": May.REWRITE, "watch_paths": May.WATCH, "initial_user_message": May.SEED,
    "retry": May.RETRY,
}  # fmt: skip
#: At events that are not waited for, only a block (asyncRewake) and paths to watch are used later.
_NEEDS_WAITING: Mapping[str, May] = {"context": May.CONTEXT, "allow": May.PERMIT, "ask": May.PERMIT}


class Writer(AnswerWriter):
    """Always exit 0 and one JSON object: after exit 2 gen-code reads nothing but the reason."""

    unwritten_code = 0

    def __init__(self, event_name: str, outcome: Outcome, row: Row) -> None:
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
            # Saying nothing has the same effect: the user is asked.
            self.lost.append("ask")
        self.specific |= edited


_COMMON = ("session_id", "transcript_path", "cwd", "permission_mode")
#: Where the payload does not say it, the scene may.
_OF_SCENE = ("model", "agent_id", "agent_type")
_PREFIXES = ("GEN_", "CLAUDE_")


class GenCodeWire(ResultReader):
    """Stateless: one object serves every hook."""

    no_reason = NO_REASON

    def __init__(self, rows: Mapping[str, Row] = ROWS) -> None:
        self._rows = rows

    def encode(self, call: Call) -> Encoded:
        """The document has no newline at its end: it is the whole of stdin."""
        name, scene = call.hook.policy.event_name, call.scene
        sends = self._rows[name].sends
        values = key_values(
            [Key(name, keeps_empty=True) for name in fields_of(call.payload)] if sends is None else sends,
            call.payload,
            otherwise=lambda key: getattr(scene, key) if key in _OF_SCENE else None,
            is_empty=lambda value: not value,
        )
        document = encoded(scene_document(name, scene) | values)
        return Encoded(document, _environment(name, values.get("tool_name"), scene))

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = event_name(document, self._rows)
        row = self._rows[name]
        given = {key: value for key, value in document.items() if value is not None}
        payload = (
            payload_record(row.event, name, given) if row.sends is not None else payload_of(row.event, given)
        )
        sent = (key.name for key in row.sends or () if key.name in _OF_SCENE)
        known = scene_texts(given, (*_COMMON, *sent))
        return Parsed(row.event, payload, Scene(**{key: value for key, value in known.items() if value}))

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        return Writer(event_name, outcome, self._rows[event_name]).reply()

    def read_json(self, text: bytes) -> Any:
        return read_go_json(text)

    def read_answer(self, call: Call, document: Mapping[str, Any]) -> tuple[Outcome, tuple[str, ...]]:
        return Reader(event_name=call.hook.policy.event_name).read(document)

    def exited(self, call: Call, raw: Exited) -> Decoded:
        detached, rest = split_async_mark(raw.stdout)
        if not detached or raw.code not in (0, 2):
            return super().exited(call, raw)
        if call.hook.waiting != "rewake":
            # It went on in the background, where what it prints in the end is not read.
            return Decoded(ignored=("what it said after async",)) if rest.strip() else NOTHING_SAID
        if raw.code == 2 or raw.truncated:
            return super().exited(call, raw)
        return self.printed(call, raw, rest)

    def says_go_on(self, document: Mapping[str, Any]) -> bool:
        """Keys are read in any case; `{}` is what models are asked for."""
        return not document or super().says_go_on({key.lower(): value for key, value in document.items()})

    def is_http_error(self, status: int | None) -> bool:
        return status is not None and status >= 400


def _environment(name: str, tool: Any, scene: Scene) -> dict[str, str]:
    values = {
        "PROJECT_DIR": scene.project_dir or scene.cwd,
        "SESSION_ID": scene.session_id,
        "EVENT_TYPE": name,
    }
    if isinstance(tool, str):
        # A zero byte would keep the process from starting, and with it the guard.
        values["TOOL_NAME"] = tool.replace("\0", "")
    return {f"{prefix}{key}": value for prefix in _PREFIXES for key, value in values.items()}
