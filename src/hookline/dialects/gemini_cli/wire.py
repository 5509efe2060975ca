"""Decode the output of Gemini CLI's hooks as the client does. The exit code means less than its documentation
says.

The trimmed stdout is read, or stderr where that is empty: one JSON object is used whatever the exit code.
Other text is a message with exit 0, a warning with 1, and a denial with any other code; without text no code
denies anything.
"""

import signal
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from hookline.dialects.family.answers import SPECIFIC, TOP, AnswerField, AnswerReader, AnswerWriter, Object
from hookline.dialects.family.wire import ResultReader, crash
from hookline.dialects.gemini_cli import payload as p
from hookline.dialects.gemini_cli.events import ROWS
from hookline.dialects.gemini_cli.tools import TABLE
from hookline.dialects.json_text import JsonTextError, read_lenient, written
from hookline.documents.document import misshaped
from hookline.model import events as e
from hookline.model.events import Capability, EventSpec, field_of
from hookline.model.messages import shown_messages
from hookline.model.outcome import Message, Outcome, Rewrite, Vote
from hookline.model.raw import Exited, Replied, failure
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

NO_REASON: Final = "Blocked by hook"
_UNTOLD: Final = "a hook rewrote this, which Gemini CLI does not support"


class GeminiWire(ResultReader):
    """The wire of Gemini CLI. Stateless: one object serves every hook."""

    no_reason = NO_REASON
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        return p.encode_payload(call)

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return p.parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        return Writer(event_name, outcome).reply()

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(
        self, call: HookInvocation, document: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[str, ...]]:
        name, event = call.hook.policy.event_name, call.event
        return Reader(event_name=name, event=event, payload=call.payload).read(document)

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Lay a hook's arguments over those before them, and add its text to a prompt, for the next hook in order."""
        if event is e.USER_PROMPT_SUBMIT and outcome.context_items:
            before = getattr(payload, "added_context", ())
            fields = {name: field_of(payload, name) for name in ("prompt", "source")}
            return p.PromptWithContext(**fields, added_context=(*before, *outcome.context))
        if event is e.PRE_TOOL_USE:
            edits = (replace(each, patch=True) if each.whole is UNSET else each for each in outcome.edits)
            outcome = replace(outcome, edits=tuple(edits))
        return super().advance(event, payload, outcome)

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        text = (raw.stdout.strip() or raw.stderr.strip()).decode("utf-8", "replace")
        if raw.truncated:
            return self.failed(call, raw, "truncated", "its output was cut off, so it was not read")
        if raw.code > 128 and text == signal.strsignal(min(raw.code - 128, signal.NSIG - 1)):
            # The shell reports that a signal ended the hook, which itself printed nothing.
            return self.failed(call, raw, "signalled", f"{text} (exit {raw.code})")
        document = _json(text) if text else ()
        if document is None:
            return self._plain(call, raw, text)
        said = self._object(call, raw, document)
        if raw.code == 0 or said.outcome.blocked or said.failure is not None:
            return said
        return replace(said, failure=self.crashed(call, raw).failure)

    def _object(self, call: HookInvocation, raw: Exited, document: Any) -> Decoded:
        if isinstance(document, dict):
            return self.answered(call, raw, p.as_object(document))
        return Decoded(ignored=("an answer that is not an object",)) if document != () else NOTHING_SAID

    def _plain(self, call: HookInvocation, raw: Exited, text: str) -> Decoded:
        if raw.code == 0:
            return Decoded(Outcome(messages=(Message(text),)))
        broke = failure(raw, *crash(raw))
        if raw.code == 1:
            return Decoded(failure=replace(broke, words=f"Warning: {text}"))
        reader = Reader(event_name=call.hook.policy.event_name, event=call.event)
        said, ignored = reader.read({"decision": "deny", "reason": text})
        # Where nothing is denied, it is a failure like any other.
        return Decoded(said, ignored=ignored) if said.votes or said.halts else Decoded(failure=broke)

    def replied(self, call: HookInvocation, raw: Replied) -> Decoded:
        return self.failed(call, raw, "unreadable", "Gemini CLI has only command hooks")


def _json(text: str) -> Any:
    """Return the value, None for text that is not JSON. A text in JSON is read once more: some programs
    encode twice."""
    try:
        value = read_lenient(text)
        return read_lenient(value) if isinstance(value, str) else (value if value is not None else False)
    except JsonTextError:
        return None


class Reader(AnswerReader):
    """A reader with the client's rules: a field that is unknown or of another type is skipped; the rest is used."""

    event: EventSpec[Any]
    payload: Any = None

    order = "table"

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _FIELDS[where]

    def checked(self, document: Object, where: str) -> dict[str, Any]:
        table, fitting = self.fields(where), dict[str, Any]()
        for key, value in document.items():
            field = table.get(key)
            if field is not None and value is not None and misshaped(value, field.shape) is not None:
                self.ignored.append(f"{where}{key}"[:80])
            else:
                fitting[key] = value
        return super().checked(fitting, where)

    def decide(self, value: str, holder: Object) -> None:
        reason = holder.get("reason")
        if value in ("block", "deny"):
            self.deny(self.reason(reason))
        elif value == "ask":
            self.votes.append(Vote("ask", reason or ""))
        elif value not in ("allow", "approve", ""):
            # Neither of the two approves anything: the call continues as it would have.
            self.ignored.append("decision")

    def deny(self, reason: str) -> None:
        if self.event_name == "AfterModel":
            self.halt(reason)  # the model's answer exists already
            return
        self.votes.append(Vote("block", reason))
        if self.event is e.POST_TOOL_USE:
            self.edits.append(Rewrite(reason, field="tool_response"))

    def go_on(self, value: bool, holder: Object) -> None:
        if not value:
            self.halt(holder.get("stopReason") or holder.get("reason"))

    def request(self, value: Object, _holder: Object) -> None:
        self.ignored.extend(f"{SPECIFIC}llm_request.{key}" for key in value if key != "messages")
        if isinstance(value.get("messages"), list):
            self.edits.append(Rewrite(p.read_messages(value["messages"], self.payload), field="messages"))

    def response(self, value: Object, _holder: Object) -> None:
        self.edits.append(Rewrite(p.response_text(value), field="response"))

    def selection(self, value: Object, _holder: Object) -> None:
        """Apply the names of tools to offer; Hookline cannot express that the model must call one."""
        names = [each for each in p.as_items(value.get("allowedFunctionNames")) if isinstance(each, str)]
        if value.get("mode") == "NONE":
            names = []
        elif value.get("mode") == "ANY":
            self.ignored.append(f"{SPECIFIC}toolConfig.mode")
        if names or value.get("mode") == "NONE":
            self.answer(list(dict.fromkeys(map(TABLE.canonical_name, names))), value)


def _may(what: Capability) -> frozenset[str]:
    return frozenset(name for name, row in ROWS.items() if row.may & what)


_TEXT, _FLAG = AnswerField("text"), "true or false"
_UNUSED, _UNUSED_OBJECT = AnswerField(_FLAG, unused=True), AnswerField("an object", unused=True)
_FIELDS: Final[Mapping[str, Mapping[str, AnswerField]]] = {
    TOP: {
        "decision": AnswerField("text", Reader.decide, _may(Capability.BLOCK) | {"AfterModel"}),
        "reason": _TEXT, "stopReason": _TEXT, "suppressOutput": _UNUSED,
        "continue": AnswerField(_FLAG, Reader.go_on, _may(Capability.STOP)),
        "systemMessage": AnswerField("text", Reader.message),
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
    },
    SPECIFIC: {
        "hookEventName": _TEXT,
        "additionalContext": AnswerField("text", Reader.additional_context, _may(Capability.CONTEXT)),
        "tool_input": AnswerField("an object", Reader.tool_input, frozenset({"BeforeTool"})),
        "llm_request": AnswerField("an object", Reader.request, frozenset({"BeforeModel"})),
        "llm_response": AnswerField("an object", Reader.response, frozenset({"AfterModel"})),
        "toolConfig": AnswerField("an object", Reader.selection, frozenset({"BeforeToolSelection"})),
        "tailToolCallRequest": _UNUSED_OBJECT, "clearContext": _UNUSED,
    },
}  # fmt: skip

_NEEDS: Final[Mapping[str, Capability]] = {
    "block": Capability.BLOCK, "ask": Capability.PERMIT, "context": Capability.CONTEXT,
    "rewrite": Capability.REWRITE, "stop": Capability.STOP,
    "answer": Capability.ANSWER,
}  # fmt: skip


class Writer(AnswerWriter):
    """One outcome being written: exit 0 and one object. At a guard, a part that cannot be expressed becomes a
    denial."""

    unwritten_code = 2

    def can(self, part: str) -> bool:
        row = ROWS[self.event_name]
        return bool(row.event.may & row.may & _NEEDS.get(part, Capability.NOTHING))

    def decide(self) -> None:
        outcome, vote = self.outcome, self.outcome.deciding_vote
        if vote is not None and vote.kind in ("allow", "defer"):
            self.lost.append(vote.kind)
        if vote is not None and vote.kind != "allow" and self.accepts("block"):
            self._say("ask" if vote.kind != "block" and self.can("ask") else "deny", vote.reason)
        if outcome.edits:
            self._rewrite()
        if outcome.stop and self.accepts("stop"):
            self.top |= {"continue": False, "stopReason": outcome.stop_reason or ""}

    def _say(self, decision: str, reason: str) -> None:
        self.top |= {"decision": decision, "reason": reason}

    def _rewrite(self) -> None:
        if self.event_name == "BeforeTool":
            updated = self.updated_input()
            if updated is not None:
                self.specific["tool_input"] = updated
                return
        elif self.event_name == "AfterTool" and self.can("rewrite"):
            # A result is replaced by denying it; the model gets the reason.
            if not self.outcome.blocked:
                self._say("deny", _result_text(self.outcome.updated_output))
            return
        elif self.event_name == "BeforeModel":
            self.specific["llm_request"] = {
                "messages": p.own_messages(shown_messages(self.outcome.updated_messages))
            }
            return
        elif self.event_name == "AfterModel":
            self.specific["llm_response"] = p.llm_response(p.text_of(self.outcome.updated_output))
            return
        if "rewrite" not in self.lost:
            self.lost.append("rewrite")
        if ROWS[self.event_name].event.guard and not self.outcome.blocked:
            self._say("deny", _UNTOLD)

    def supply(self) -> None:
        super().supply()
        outcome = self.outcome
        if outcome.messages:
            self.top["systemMessage"] = "\n".join(message.text for message in outcome.messages)
        if outcome.answers:
            self._select(outcome.answer)

    def _select(self, names: Any) -> None:
        """Write the tools to offer: they can be removed; a list of them would also make the model call one."""
        if self.can("answer") and isinstance(names, list | tuple) and not names:
            self.specific["toolConfig"] = {"mode": "NONE"}
        else:
            self.lost.append("answer")


def _result_text(result: Any) -> str:
    content: Any = p.as_object(result).get("llmContent", result)
    text = content if isinstance(content, str) else p.text_of(content) or written(content).decode()
    return text or NO_REASON
