"""Read and write answers of Claude Code's hooks. An object with a field of the wrong type is not used at all."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from hookline.dialects.claude_code.events import NO_REASON, ROWS, EventRow
from hookline.dialects.claude_code.payload import tool_result
from hookline.dialects.family.answers import (
    DECISION,
    SPECIFIC,
    TOP,
    AnswerField,
    AnswerReader,
    AnswerWriter,
    Object,
)
from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.dialects.json_text import whole_text
from hookline.documents.document import misshaped
from hookline.model.events import field_of
from hookline.model.outcome import ContextItem, Message, Outcome, Rewrite, Vote
from hookline.model.wire import HookReply

#: Events where text for the model keeps the turn from ending, as a block does.
TEXT_GOES_ON: Final = frozenset({"Stop", "SubagentStop"})
#: Events where stopping the run also keeps the prompt from being sent.
_PROMPTS: Final = frozenset({"UserPromptSubmit", "UserPromptExpansion"})


class Reader(AnswerReader):
    no_reason = NO_REASON
    null_is_absent = False

    payload: Any

    @property
    def row(self) -> EventRow:
        return ROWS[self.event_name]

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return TOP_FIELDS if where == TOP else SPECIFIC_FIELDS[self.event_name]

    def outcome(self) -> Outcome:
        if self.halts and self.event_name in TEXT_GOES_ON:
            self.votes = []  # ending the turn beats continuing it
        return super().outcome()

    def unknown(self, where: str, key: str, value: Any) -> None:
        if key not in (_READ_WITH_ANOTHER if where == SPECIFIC else _NOT_FOR_THE_MODEL):
            super().unknown(where, key, value)

    def go_on(self, value: bool, holder: Object) -> None:
        if value:
            return
        if "continue" in self.row.reads:
            self.halt(holder.get("stopReason"))
        else:
            self.ignored.append("continue")

    def halt(self, reason: Any) -> None:
        super().halt(reason)
        if self.event_name in _PROMPTS:
            self.votes.append(Vote("block", self.halts[-1].reason or NO_REASON))

    def message(self, value: str, _holder: Object) -> None:
        if "systemMessage" not in self.row.reads:
            self.ignored.append("systemMessage")
        elif self.event_name == "DirectoryAdded" and field_of(self.payload, "source") == "slash_command":
            super().additional_context(value, _holder)
        else:
            super().message(value, _holder)

    def top_decision(self, value: str, holder: Object) -> None:
        if not self.row.decision:
            self.ignored.append("decision")
        elif value == "block":
            self.block(holder.get("reason"))
        elif self.event_name == "PreToolUse":
            self.votes.append(Vote("allow", holder.get("reason", "")))

    def specific(self, value: Object, _holder: Object) -> None:
        named: Any = value.get("hookEventName")
        problem = "missing" if named is None else misshaped(named, "text")
        if problem is None and named not in SPECIFIC_FIELDS:
            problem = f"{str(named)[:40]!r}, which has no such output"
        elif problem is None and named != self.event_name:
            problem = f"{named!r}, not {self.event_name!r}"
        if problem is not None:
            raise UnreadableAnswerError(f"hookSpecificOutput.hookEventName is {problem}")
        super().specific(value, _holder)

    def decision(self, value: Object, _holder: Object) -> None:
        """Apply a permission decision. Its fields depend on the decision; others are skipped."""
        table = _ALLOWED if value.get("behavior") == "allow" else _DENIED
        for name, field in table.items():
            if name in value:
                self.check(value[name], field, f"{DECISION}{name}")
            elif field.required:
                raise UnreadableAnswerError(f"{DECISION}{name} is missing")
        super().decision({name: value[name] for name in table if name in value}, _holder)

    def checked(self, document: Object, where: str) -> dict[str, Any]:
        return dict(document) if where == DECISION else super().checked(document, where)

    def additional_context(self, value: str, _holder: Object) -> None:
        super().additional_context(value, _holder)
        if value.strip() and self.event_name in TEXT_GOES_ON:
            self.votes.append(Vote("block"))

    def tool_output(self, value: Any, _holder: Object) -> None:
        """Apply a new result; the client drops one of another shape than the tool's."""
        before = field_of(self.payload, "tool_response")
        if self._is_mcp() or before is None or isinstance(before, Mapping) == isinstance(value, Mapping):
            self.edits.append(Rewrite(value))
        else:
            self.ignored.append("hookSpecificOutput.updatedToolOutput (not the shape of this tool's result)")

    def mcp_output(self, value: Any, holder: Object) -> None:
        if self._is_mcp() and "updatedToolOutput" not in holder:
            self.edits.append(Rewrite(value))
        else:
            self.ignored.append("hookSpecificOutput.updatedMCPToolOutput")

    def _is_mcp(self) -> bool:
        name = field_of(self.payload, "tool_name")
        return isinstance(name, str) and name.startswith("mcp__")


_TEXT: Final = AnswerField("text")
_FLAG: Final = AnswerField("true or false")
#: Known to the client, and not to this host.
_UNUSED_TEXT: Final = AnswerField("text", unused=True)
_UNUSED_FLAG: Final = AnswerField("true or false", unused=True)

#: For the client's screen, or read with another field.
_NOT_FOR_THE_MODEL: Final = frozenset({"async", "asyncTimeout"})
#: Adds to another field: where that one is ignored, it is enough to name that one.
_READ_WITH_ANOTHER: Final = frozenset({"permissionDecisionReason", "content"})
TOP_FIELDS: Final[Mapping[str, AnswerField]] = MappingProxyType(
    {
        "continue": AnswerField("true or false", Reader.go_on),
        "suppressOutput": _FLAG,
        "stopReason": _TEXT,
        "decision": AnswerField("text", Reader.top_decision, choices=("approve", "block")),
        "reason": _TEXT,
        "systemMessage": AnswerField("text", Reader.message),
        "terminalSequence": _UNUSED_TEXT,
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
    }
)

_NAME: Final = {"hookEventName": _TEXT}
_CONTEXT: Final = {**_NAME, "additionalContext": AnswerField("text", Reader.additional_context)}
_WATCH: Final = {**_NAME, "watchPaths": AnswerField("a list of texts", Reader.watch_paths)}
_ELICITED: Final = {
    **_NAME,
    "action": AnswerField("text", Reader.action, choices=("accept", "decline", "cancel")),
    "content": AnswerField("an object"),
}


def _permission(*choices: str) -> dict[str, AnswerField]:
    return {
        "permissionDecision": AnswerField("text", Reader.permission, choices=choices),
        "permissionDecisionReason": _TEXT,
    }


#: The fields of `hookSpecificOutput`, by event. An event that is not listed has none.
SPECIFIC_FIELDS: Final[Mapping[str, Mapping[str, AnswerField]]] = MappingProxyType(
    {
        "SessionStart": {
            **_CONTEXT, **_WATCH, "initialUserMessage": AnswerField("text", Reader.initial_user_message),
            "sessionTitle": _UNUSED_TEXT, "reloadSkills": _UNUSED_FLAG,
        },
        "Setup": _CONTEXT,
        "UserPromptSubmit": {
            **_CONTEXT, "sessionTitle": _UNUSED_TEXT, "suppressOriginalPrompt": _UNUSED_FLAG,
        },
        "UserPromptExpansion": {**_CONTEXT, "suppressOriginalPrompt": _UNUSED_FLAG},
        "MessageDisplay": {**_NAME, "displayContent": AnswerField("text", Reader.answer)},
        "PreToolUse": {
            **_CONTEXT, **_permission("allow", "deny", "ask", "defer"),
            "updatedInput": AnswerField("an object", Reader.tool_input),
        },
        "PermissionRequest": {**_NAME, "decision": AnswerField("an object", Reader.decision, required=True)},
        "PermissionDenied": {**_NAME, "retry": AnswerField("true or false", Reader.try_again)},
        "PostToolUse": {
            **_CONTEXT, "updatedToolOutput": AnswerField("anything", Reader.tool_output),
            "updatedMCPToolOutput": AnswerField("anything", Reader.mcp_output), "classifierContext": _UNUSED_TEXT,
        },
        **dict.fromkeys(
            ("PostToolUseFailure", "PostToolBatch", "Notification", "SubagentStart", "SubagentStop", "Stop"),
            _CONTEXT,
        ),
        "CwdChanged": _WATCH,
        "FileChanged": _WATCH,
        "WorktreeCreate": {**_NAME, "worktreePath": AnswerField("text", Reader.answer, required=True)},
        "PreModelSwitch": {**_NAME, **_permission("allow", "deny", "ask")},
        "PostModelSwitch": _CONTEXT,
        "Elicitation": _ELICITED,
        "ElicitationResult": _ELICITED,
    }
)  # fmt: skip

_BEHAVIOR: Final = {"behavior": AnswerField("text", choices=("allow", "deny"), required=True)}
_ALLOWED: Final = {
    **_BEHAVIOR, "updatedInput": AnswerField("an object"), "updatedPermissions": AnswerField("a list of objects"),
}  # fmt: skip
_DENIED: Final = {**_BEHAVIOR, "message": _TEXT, "interrupt": _FLAG}


def read_late(document: Object) -> tuple[Outcome, tuple[str, ...]]:
    """Read the answer of an async hook: two texts are read, and values of another shape are dropped."""
    given = document.get("hookSpecificOutput")
    specific: Object = cast("Object", given) if isinstance(given, Mapping) else {}
    text, note = specific.get("additionalContext"), document.get("systemMessage")
    known = ("hookSpecificOutput", "systemMessage", "stopReason", "reason", "suppressOutput")
    ignored = [key for key in document if key not in known and key not in _NOT_FOR_THE_MODEL]
    ignored += [str(key) for key in specific if key not in ("hookEventName", "additionalContext")]
    return Outcome(
        context_items=(ContextItem(text),) if isinstance(text, str) and text.strip() else (),
        messages=(Message(note),) if isinstance(note, str) and note.strip() else (),
    ), tuple(ignored)


#: The parts of an outcome that have their own field.
_FIELD_OF = {"watch_paths": "watchPaths", "initial_user_message": "initialUserMessage", "retry": "retry"}


class Writer(AnswerWriter):
    def __init__(self, event_name: str, outcome: Outcome, payload: Any) -> None:
        super().__init__(event_name, outcome)
        self.payload = payload
        self.row = ROWS[event_name]
        #: Text for the model where only plain stdout is read as such.
        self.plain = ""

    @property
    def ends_turn(self) -> bool:
        """True for a stop where a block would continue the turn: the client cannot do both, and ends the turn."""
        return self.outcome.stop and self.event_name in TEXT_GOES_ON

    def reply(self) -> HookReply:
        self.decide()
        self.supply()
        outcome = self.outcome
        if outcome.blocked and not self._says_block():
            if self.row.exit_2_blocks and not self.ends_turn:
                return self._by_exit_code()
            self.lost.append("block")
        if self.event_name == "WorktreeCreate" and outcome.answers:
            return HookReply(stdout=whole_text(f"{outcome.answer}\n"), lost=tuple(self.lost))
        if self.plain and not self.top:
            return HookReply(stdout=whole_text(self.plain), lost=tuple(self.lost))
        return self.finished()

    def can(self, part: str) -> bool:
        return self.has(_FIELD_OF[part])

    def has(self, key: str) -> bool:
        return key in SPECIFIC_FIELDS.get(self.event_name, {})

    def decide(self) -> None:
        self._votes()
        self._edits()

    def supply(self) -> None:
        outcome = self.outcome
        self._context()
        self._messages()
        self._halts()
        self._answers()
        given = (list(outcome.watch_paths), outcome.initial_user_message, outcome.retry)
        for (part, key), value in zip(_FIELD_OF.items(), given, strict=True):
            self.put(part, key, value)
        if outcome.env_items:
            self.lost.append("env")
        if outcome.permission_updates and "decision" not in self.specific:
            self.lost.append("permission_updates")

    def _says_block(self) -> bool:
        decided = self.specific.get("permissionDecision") == "deny" or "decision" in self.specific
        as_text = self.event_name in TEXT_GOES_ON and "additionalContext" in self.specific
        return decided or "decision" in self.top or as_text

    def _by_exit_code(self) -> HookReply:
        """Deny by exit 2 where no JSON field can; the client still reads stdout."""
        worktree = self.event_name == "WorktreeCreate"
        if worktree and self.outcome.answers:
            self.lost.append("answer")
        stdout = self.finished().stdout
        reason = whole_text(self.outcome.reason or NO_REASON)
        return HookReply(1 if worktree else 2, stdout, reason, tuple(self.lost))

    def _votes(self) -> None:
        outcome, vote = self.outcome, self.outcome.deciding_vote
        if outcome.stop and self.event_name == "PreToolUse" and not outcome.blocked:
            # The client ends the turn after this call, and would run it.
            self.permit("deny", outcome.stop_reason or NO_REASON)
            return
        if vote is None:
            return
        decision = "deny" if vote.kind == "block" else vote.kind
        if self.has("permissionDecision"):
            if self.event_name == "PreModelSwitch" and decision == "defer":
                self.lost.append("defer")
                decision = "ask"
            self.permit(decision, vote.reason)
        elif self.event_name == "PermissionRequest":
            self._request(decision)
        elif vote.kind != "block":
            self.lost.append(vote.kind)
        elif self.row.decision and not self.ends_turn and (outcome.reason or not outcome.context_items):
            self.top |= {"decision": "block", "reason": outcome.reason or NO_REASON}

    def _request(self, decision: str) -> None:
        outcome = self.outcome
        if decision == "deny":
            denied: dict[str, Any] = {"behavior": "deny", "message": outcome.reason or NO_REASON}
            self.specific["decision"] = denied | {"interrupt": True} if outcome.stop else denied
            if outcome.edits:
                self.lost.append("rewrite")
            if outcome.permission_updates:
                self.lost.append("permission_updates")
        elif decision == "allow":
            allowed: dict[str, Any] = {"behavior": "allow"}
            if outcome.updated_input is not None:
                allowed["updatedInput"] = outcome.updated_input
            elif outcome.edits:
                self.lost.append("rewrite")
            if outcome.permission_updates:
                allowed["updatedPermissions"] = self.updates()
            self.specific["decision"] = allowed
        else:
            self.lost.append(decision)

    def _edits(self) -> None:
        outcome = self.outcome
        if not outcome.edits or (self.event_name == "PermissionRequest" and "decision" in self.specific):
            return
        for key, value in (
            ("updatedInput", outcome.updated_input),
            ("updatedToolOutput", tool_result(self.payload, outcome.updated_output)),
        ):
            if self.has(key) and value is not None:
                self.specific[key] = value
                return
        self.lost.append("rewrite")

    def _context(self) -> None:
        text = "\n".join(self.outcome.context)
        if not self.outcome.context:
            return
        if self.has("additionalContext") and self._context_is_read(text):
            self.specific["additionalContext"] = text
        elif self.event_name == "DirectoryAdded":
            self.top["systemMessage"] = text
        elif self._plain_is_read(text):
            self.plain = text
        else:
            self.lost.append("context")

    def _context_is_read(self, text: str) -> bool:
        """Return True if the client reads the text. At the end of a turn text makes it continue: once, unless
        a hook blocks."""
        if self.event_name in TEXT_GOES_ON:
            again = field_of(self.payload, "stop_hook_active") is True and not self.outcome.blocked
            return bool(text.strip()) and not again and not self.ends_turn
        return self.event_name != "Notification"

    def _plain_is_read(self, text: str) -> bool:
        """Return True if plain text is read: not beside a decision, and not text starting with {, which would
        be parsed as JSON."""
        alone = not self.top and not self.specific and not self.outcome.blocked
        return self.row.plain_context and alone and bool(text.strip()) and not text.lstrip().startswith("{")

    def _messages(self) -> None:
        texts = [message.text for message in self.outcome.messages if message.text]
        if not texts:
            return
        if "systemMessage" in self.row.reads and "systemMessage" not in self.top:
            self.top["systemMessage"] = "\n".join(texts)
        else:
            self.lost.append("messages")

    def _halts(self) -> None:
        outcome = self.outcome
        if not outcome.stop or (self.event_name == "PermissionRequest" and outcome.blocked):
            return
        if "continue" not in self.row.reads:
            self.lost.append("stop")
            return
        self.top["continue"] = False
        if outcome.stop_reason:
            self.top["stopReason"] = outcome.stop_reason

    def _answers(self) -> None:
        if not self.outcome.answers or self.event_name == "WorktreeCreate":
            return
        value = self.outcome.answer
        if self.has("displayContent") and isinstance(value, str):
            self.specific["displayContent"] = value
        elif self.has("action") and isinstance(value, Mapping):
            given = cast("Object", value)
            self.specific |= {key: given[key] for key in ("action", "content") if key in given}
        else:
            self.lost.append("answer")


def answer(event_name: str, outcome: Outcome, payload: Any) -> HookReply:
    """Write everything the event can express; the rest is named in `lost`."""
    row = ROWS.get(event_name)
    if row is None or not row.reads_answers:
        parts = cast("dict[str, Any]", msgspec.to_builtins(outcome))
        return HookReply(lost=tuple(name for name, value in parts.items() if value))
    return Writer(event_name, outcome, payload).reply()
