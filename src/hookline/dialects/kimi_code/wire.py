"""Encode and decode Kimi Code's payloads and answers: exit 2, or one form of a JSON denial."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import SPECIFIC, TOP, AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.dialects.family.wire import stderr_text
from hookline.dialects.kimi_code.events import ROWS
from hookline.model.events import Capability
from hookline.model.outcome import ContextItem, Outcome, Vote
from hookline.model.raw import Exited, Replied
from hookline.model.wire import Decoded, HookInvocation, HookReply

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_BLOCKING = frozenset(name for name, row in ROWS.items() if row.may & Capability.BLOCK)
#: Characters of a tool's output that its hooks get.
_OUTPUT = 2000


class Reader(family.AnswerReader):
    no_reason = ""

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _FIELDS[where]

    def permission(self, value: Any, holder: Object) -> None:
        if value == "deny":
            reason = holder.get("permissionDecisionReason")
            self.votes.append(
                Vote("block", reason if isinstance(reason, str) and reason else _blocked(self.event_name))
            )


_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {"hookSpecificOutput": AnswerField("an object", Reader.specific)},
    SPECIFIC: {
        "permissionDecision": AnswerField("anything", Reader.permission, _BLOCKING),
        "permissionDecisionReason": AnswerField("anything"), "hookEventName": AnswerField("anything"),
    },
}  # fmt: skip


class Writer(GuardWriter):
    """One outcome being written: exit 2 with the reason on stderr; text for the model on stdout."""

    title = "Kimi Code"
    reason = ""
    text = ""

    def deny(self, reason: str) -> None:
        self.reason = reason

    def tell(self, text: str) -> None:
        if self.reason:
            self.lost.append("context")  # stdout is not read then
        else:
            self.text = text

    def finished(self) -> HookReply:
        if self.reason:
            return HookReply(2, stderr=self.reason, lost=tuple(self.lost))
        return HookReply(stdout=self.text, lost=tuple(self.lost))


class KimiWire(TableWire):
    """The wire of Kimi Code. Stateless: one object serves every hook."""

    rows = ROWS
    common = {"session_id": "session_id", "cwd": "cwd"}  # noqa: RUF012 a table
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.kimi_code.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def more(self, call: HookInvocation) -> Mapping[str, Any]:
        del call
        return {"client_type": "kimi_code_cli"}

    def sent(self, call: HookInvocation, field: str) -> Any:
        value, name = super().sent(call, field), call.hook.policy.event_name
        if field == "prompt" and name == "UserPromptSubmit":
            return [{"type": "text", "text": value}]
        if field == "tool_response" and isinstance(value, str):
            return value[:_OUTPUT]
        return {"code": "internal", "message": value, "retryable": False} if field == "error" else value

    def received(self, name: str, given: Object, values: dict[str, Any]) -> dict[str, Any]:
        del name, given
        if isinstance(parts := values.get("prompt"), list):
            known = [cast("Object", each) for each in cast("list[Any]", parts) if isinstance(each, dict)]
            values["prompt"] = "\n".join(str(each.get("text", "")) for each in known)
        if isinstance(error := values.get("error"), dict):
            values["error"] = str(cast("dict[str, Any]", error).get("message", ""))
        return values

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        name = call.hook.policy.event_name
        if name not in _BLOCKING:
            return self.crashed(call, raw)
        return Decoded(Outcome(votes=(Vote("block", stderr_text(raw) or _blocked(name)),)))

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read JSON that may deny; what a prompt's hook prints is text for the model, JSON or not."""
        decoded = super().printed(call, raw, output)
        if ROWS[call.hook.policy.event_name].plain != "context" or decoded.outcome.blocked:
            return decoded
        text = output.decode("utf-8", "replace").strip()
        return Decoded(Outcome(context_items=(ContextItem(text),))) if text else decoded


def _blocked(name: str) -> str:
    return f"Blocked by {name} hook"


def wire() -> KimiWire:
    return KimiWire()
