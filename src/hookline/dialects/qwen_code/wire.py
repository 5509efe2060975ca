"""Encode and decode Qwen Code's payloads and answers. JSON beats exit 1, and exit 2 needs text on stderr."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import DECISION, SPECIFIC, TOP, AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.dialects.family.wire import stderr_text
from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.dialects.qwen_code.events import ROWS
from hookline.model.events import Capability
from hookline.model.raw import Exited, Replied
from hookline.model.wire import Decoded, HookInvocation

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_PERMISSION = "PermissionRequest"
_BLOCKING = frozenset(name for name, row in ROWS.items() if row.may & Capability.BLOCK)


class Reader(family.AnswerReader):
    order = "table"
    no_reason = "No reason provided"

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _FIELDS[where]

    def top_decision(self, value: str, holder: Object) -> None:
        if value in ("block", "deny"):
            self.block(holder.get("reason"))

    def go_on(self, value: bool, holder: Object) -> None:
        """Apply `continue`: what it stops is this call, or this prompt; at Stop it continues the turn."""
        if not value:
            self.block(holder.get("stopReason") or holder.get("reason"))

    def permission(self, value: str, holder: Object) -> None:
        if value in ("allow", "deny", "ask"):
            super().permission(value, holder)


_TEXT = AnswerField("text")
_CONTEXT = AnswerField(
    "text", Reader.additional_context,
    frozenset(name for name, row in ROWS.items() if row.may & Capability.CONTEXT),
)  # fmt: skip
_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {
        "continue": AnswerField("true or false", Reader.go_on, _BLOCKING), "stopReason": _TEXT, "reason": _TEXT,
        "decision": AnswerField("text", Reader.top_decision, _BLOCKING), "suppressOutput": AnswerField("anything"),
        "systemMessage": AnswerField("text", unused=True),
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission, frozenset({"PreToolUse"})),
        "decision": AnswerField("an object", Reader.decision, frozenset({_PERMISSION})),
        "additionalContext": _CONTEXT,
    },
    DECISION: {
        "behavior": AnswerField("text", choices=("allow", "deny"), required=True), "message": _TEXT,
        "updatedInput": AnswerField("an object"), "interrupt": AnswerField("true or false"),
        "updatedPermissions": AnswerField("anything", unused=True),
    },
}  # fmt: skip


class Writer(GuardWriter):
    title = "Qwen Code"
    no_reason = Reader.no_reason

    def deny(self, reason: str) -> None:
        if self.event_name == _PERMISSION:
            self.specific["decision"] = {"behavior": "deny", "message": reason}
        else:
            super().deny(reason)

    def permit(self, permission: str, reason: str) -> None:
        if self.event_name != _PERMISSION:
            super().permit(permission, reason)
        else:
            self.specific["decision"] = {"behavior": "allow", **self.specific.get("decision", {})}

    def rewrite(self, value: Any) -> None:
        """Write a new input, which goes with an allow."""
        vote = self.outcome.deciding_vote
        if vote is not None and vote.kind == "allow":
            self.specific["decision"] = {"updatedInput": value}
        else:
            self.lost.append("rewrite")
            self.deny(
                "a hook rewrote this call, which Qwen Code takes only with an allow, and no hook gave one"
            )


class QwenWire(TableWire):
    """The wire of Qwen Code. Stateless: one object serves every hook."""

    no_reason = Reader.no_reason
    rows = ROWS
    common = {  # noqa: RUF012 a table
        "session_id": "session_id", "transcript_path": "transcript_path", "cwd": "cwd",
        "permission_mode": "permission_mode", "prompt_id": "prompt_id",
    }  # fmt: skip
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.qwen_code.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def environment(self, call: HookInvocation) -> Mapping[str, str]:
        root = call.info.project_dir or call.info.cwd
        return {f"{each}_PROJECT_DIR": root for each in ("QWEN", "GEMINI", "CLAUDE")}

    def received(self, name: str, given: Object, values: dict[str, Any]) -> dict[str, Any]:
        del name, given
        if isinstance(calls := values.get("tool_calls"), list):
            kept = ("tool_name", "tool_input", "tool_use_id", "tool_response")
            listed = cast("list[Any]", calls)
            values["tool_calls"] = [
                {key: each[key] for key in kept if key in each} for each in listed if isinstance(each, dict)
            ]
        return values

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        """Read JSON on stdout, or on stderr; after exit 2, stderr alone."""
        if raw.code == 2:
            return self.blocked(call, raw) if stderr_text(raw) else self.crashed(call, raw)
        for output in (raw.stdout, raw.stderr):
            text = output.strip()
            if text.startswith((b"{", b'"{')):
                return self.printed(call, raw, text)
        return super().exited(call, raw)

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        text = output.strip()
        if text.startswith(b'"{'):
            try:
                inner = read_lenient(text)
            except JsonTextError:
                inner = None
            text = inner.encode() if isinstance(inner, str) else text
        return super().printed(call, raw, text)


def wire() -> QwenWire:
    return QwenWire()
