"""Encode and decode Copilot CLI's payloads and answers, in its own form and in Claude Code's."""

from collections.abc import Mapping
from functools import cached_property
from time import time
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.copilot_cli.events import ROWS, is_native
from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import SPECIFIC, TOP, AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.model.outcome import Outcome, Rewrite, Vote
from hookline.model.raw import Exited
from hookline.model.wire import Decoded, HookInvocation, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_NO_REASON = "No reason provided"
_ASKED = frozenset(("permissionRequest", "PermissionRequest"))
_STOPS = frozenset(("agentStop", "subagentStop", "Stop"))
_THEIRS = {"session_id": "session_id", "cwd": "cwd", "transcript_path": "transcript_path"}
_OWN = {"sessionId": "session_id", "cwd": "cwd", "transcriptPath": "transcript_path"}


class Reader(family.AnswerReader):
    order = "table"
    no_reason = _NO_REASON

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        if where == TOP and not is_native(self.event_name) and self.event_name not in (*_ASKED, *_STOPS):
            return _CLAUDE
        return _FIELDS[where]

    def turned_back(self, value: str, holder: Object) -> None:
        if value == "block":
            self.block(holder.get("reason"))

    def behave(self, value: str, holder: Object) -> None:
        if value == "deny":
            self.block(holder.get("message"))
        else:
            self.votes.append(Vote("allow"))

    def prompt(self, value: str, _holder: Object) -> None:
        self.edits.append(Rewrite(value, field="prompt"))

    def result(self, value: Object, _holder: Object) -> None:
        text = value.get("textResultForLlm")
        self.edits.append(Rewrite(text if isinstance(text, str) else value, field="tool_response"))


_TEXT, _PRE = AnswerField("text"), frozenset({"preToolUse"})
_DECISIONS = ("allow", "deny", "ask")
_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {
        "permissionDecision": AnswerField("text", Reader.permission, _PRE, choices=_DECISIONS),
        "permissionDecisionReason": _TEXT,
        "modifiedArgs": AnswerField("an object", Reader.tool_input, _PRE),
        "modifiedPrompt": AnswerField("text", Reader.prompt, frozenset({"userPromptSubmitted"})),
        "modifiedResult": AnswerField("an object", Reader.result, frozenset({"postToolUse"})),
        "additionalContext": AnswerField(
            "text", Reader.additional_context,
            frozenset(("preToolUse", "postToolUse", "userPromptSubmitted", "sessionStart")),
        ),
        "behavior": AnswerField("text", Reader.behave, _ASKED, choices=("allow", "deny")), "message": _TEXT,
        "decision": AnswerField("text", Reader.turned_back, _STOPS), "reason": _TEXT,
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission, frozenset({"PreToolUse"}), choices=_DECISIONS),
    },
}  # fmt: skip
_CLAUDE: Mapping[str, AnswerField] = {"hookSpecificOutput": AnswerField("an object", Reader.specific)}


class Writer(GuardWriter):
    title = "Copilot CLI"
    no_reason = _NO_REASON

    @property
    def _fields(self) -> dict[str, Any]:
        """The object that the fields of a decision belong into."""
        return self.top if is_native(self.event_name) else self.specific

    def deny(self, reason: str) -> None:
        if self.event_name in _ASKED:
            self.top |= {"behavior": "deny", "message": reason}
        elif self.event_name in _STOPS:
            self.top |= {"decision": "block", "reason": reason}
        else:
            self._fields.update({"permissionDecision": "deny", "permissionDecisionReason": reason})

    def permit(self, permission: str, reason: str) -> None:
        if self.event_name not in _ASKED:
            self._fields["permissionDecision"] = permission
            if reason:
                self._fields["permissionDecisionReason"] = reason
        else:
            self.top["behavior"] = "allow"

    def rewrite(self, value: Any) -> None:
        field = self.row.event.rewrites
        if field == "tool_input":
            self.top["modifiedArgs"] = value
        elif field == "prompt":
            self.top["modifiedPrompt"] = value
        elif isinstance(value, str):
            self.top["modifiedResult"] = {"resultType": "success", "textResultForLlm": value}
        else:
            self.lost.append("rewrite")

    def tell(self, text: str) -> None:
        self.top["additionalContext"] = text


class CopilotWire(TableWire):
    """The wire of Copilot CLI. Stateless: one object serves every hook."""

    rows = ROWS
    common = {**_THEIRS, **_OWN}  # noqa: RUF012 a table
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.copilot_cli.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def document(self, call: HookInvocation) -> dict[str, Any]:
        """Return the document in the spelling of the event; its own does not name the event."""
        name = call.hook.policy.event_name
        if is_native(name) or name in _ASKED:
            own = {key: getattr(call.info, fact) or None for key, fact in _OWN.items()}
            return {**own, "timestamp": int(time() * 1000)}
        theirs = {key: getattr(call.info, fact) or None for key, fact in _THEIRS.items()}
        return {"hook_event_name": name, **theirs}

    def sent(self, call: HookInvocation, field: str) -> Any:
        value = super().sent(call, field)
        if field == "tool_response" and isinstance(value, str):
            native = is_native(call.hook.policy.event_name)
            keys = ("resultType", "textResultForLlm") if native else ("result_type", "text_result_for_llm")
            return dict(zip(keys, ("success", value), strict=True))
        return {"message": value} if field == "message" else value

    def environment(self, call: HookInvocation) -> Mapping[str, str]:
        root = call.info.project_dir or call.info.cwd
        return {"COPILOT_PROJECT_DIR": root, "CLAUDE_PROJECT_DIR": root, "COPILOT_CLI": "1"}

    def received(self, name: str, given: Object, values: dict[str, Any]) -> dict[str, Any]:
        del given
        result: Any = values.get("tool_response")
        if isinstance(result, Mapping):
            key = "textResultForLlm" if is_native(name) else "text_result_for_llm"
            values["tool_response"] = cast("Object", result).get(key, result)
        if isinstance(error := values.get("message"), Mapping):
            values["message"] = str(cast("Object", error).get("message", ""))
        return values

    def parse(self, document: Object) -> Parsed:
        if "hook_event_name" not in document and isinstance(document.get("hookName"), str):
            document = {**document, "hook_event_name": document["hookName"]}
        return super().parse(document)

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        """Decode exit 2: the model does not get what the hook wrote."""
        if not ROWS[call.hook.policy.event_name].exit_2_blocks:
            return self.crashed(call, raw)
        return Decoded(Outcome(votes=(Vote("block", "hook exited with code 2"),)))


def wire() -> CopilotWire:
    return CopilotWire()
