"""Encode and decode Grok Build's payloads and answers. A JSON denial counts whatever the exit code."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import SPECIFIC, TOP, VOTES, AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.dialects.grok.events import ROWS
from hookline.model.outcome import Rewrite, Vote
from hookline.model.raw import Exited
from hookline.model.wire import Decoded, HookInvocation

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_DECISIONS = ("allow", "deny", "ask", "defer", "approve", "block")
#: Fields that tools require and that other agents' tools lack, so that hooks leave them out.
_REQUIRED = ("description",)
_WORDS: Mapping[str, str] = {"approve": "allow", "block": "deny"}


class Reader(family.AnswerReader):
    order = "table"

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _FIELDS[where]

    def top_decision(self, value: str, holder: Object) -> None:
        specific = holder.get("hookSpecificOutput")
        if isinstance(specific, Mapping) and "permissionDecision" in specific:
            return
        word = _WORDS.get(value, value)
        if word == "deny":
            self.block(holder.get("reason"))
        else:
            self.votes.append(Vote(VOTES[word], str(holder.get("reason") or "")))

    def permission(self, value: str, holder: Object) -> None:
        super().permission(_WORDS.get(value, value), holder)

    def output(self, value: Any, _holder: Object) -> None:
        self.edits.append(Rewrite(value, field="tool_response"))


_TEXT = AnswerField("text")
_AT_CALLS = frozenset({"PreToolUse"})
_FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {
        "decision": AnswerField("text", Reader.top_decision, choices=_DECISIONS), "reason": _TEXT,
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission, _AT_CALLS, choices=_DECISIONS),
        "updatedInput": AnswerField("an object", Reader.tool_input, _AT_CALLS),
        "updatedToolOutput": AnswerField("anything", Reader.output, frozenset({"PostToolUse"})),
        "additionalContext": AnswerField("text", Reader.additional_context),
    },
}  # fmt: skip


class Writer(GuardWriter):
    title = "Grok Build"
    permits = ("allow", "ask", "defer")

    def rewrite(self, value: Any) -> None:
        """Write the new input. Grok denies one without a field that the tool requires: a rewrite keeps those."""
        given: dict[str, Any] | None = getattr(self.payload, "tool_input", None)
        if self.row.event.rewrites == "tool_input" and given is not None:
            value = {key: given[key] for key in _REQUIRED if key in given} | value
        self.specific["updatedInput" if self.row.event.rewrites == "tool_input" else "updatedToolOutput"] = (
            value
        )


class GrokWire(TableWire):
    """The wire of Grok Build. Stateless: one object serves every hook."""

    rows = ROWS
    common = {  # noqa: RUF012 a table
        "session_id": "session_id", "transcript_path": "transcript_path", "cwd": "cwd",
        "permission_mode": "permission_mode",
    }  # fmt: skip
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.grok.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def more(self, call: HookInvocation) -> Mapping[str, Any]:
        """Return the other spelling of every key."""
        name, info = call.hook.policy.event_name, call.info
        known = {key: getattr(info, fact) for key, fact in self.common.items()}
        known |= {key: self.sent(call, field) for key, field in self.rows[name].sends.items()}
        camel = {_camel(key): value for key, value in known.items() if value not in (None, "")}
        return {**camel, "hookEventName": _snake(name), "workspaceRoot": info.project_dir or info.cwd}

    def environment(self, call: HookInvocation) -> Mapping[str, str]:
        root = call.info.project_dir or call.info.cwd
        return {
            "GROK_HOOK_EVENT": _snake(call.hook.policy.event_name), "GROK_HOOK_NAME": call.hook.name.replace("\0", ""),
            "GROK_SESSION_ID": call.info.session_id, "GROK_WORKSPACE_ROOT": root, "CLAUDE_PROJECT_DIR": root,
        }  # fmt: skip

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        if raw.code != 0 and raw.stdout.lstrip().startswith(b"{"):
            said = self.json_answer(call, raw, raw.stdout.strip())
            if said.outcome.blocked:
                return said
        return super().exited(call, raw)


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def wire() -> GrokWire:
    return GrokWire()
