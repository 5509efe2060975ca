"""Answers of hooks, both ways: what Gemini CLI reads in an object, and an outcome as such an object."""

from collections.abc import Mapping
from typing import Any, Final

from hookline.dialects.family.answers import SPECIFIC, TOP, AnswerReader, AnswerWriter, Field, Object
from hookline.dialects.gemini_cli import payload as p
from hookline.dialects.gemini_cli.events import ROWS
from hookline.dialects.gemini_cli.tools import TABLE
from hookline.dialects.json_text import written
from hookline.documents.document import misshaped
from hookline.model import events as e
from hookline.model.events import EventSpec, May
from hookline.model.messages import shown_messages
from hookline.model.outcome import Edit, Vote

NO_REASON: Final = "Blocked by hook"
_UNTOLD: Final = "a hook rewrote this, and Gemini CLI cannot be told so"


class Reader(AnswerReader):
    """As the client reads: a field that it does not know, or of another type, is passed over; the rest counts."""

    event: EventSpec[Any]
    payload: Any = None

    order = "table"

    def fields(self, where: str) -> Mapping[str, Field]:
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
            # Neither of the two approves anything: the call goes on as it would have.
            self.ignored.append("decision")

    def deny(self, reason: str) -> None:
        if self.event_name == "AfterModel":
            self.halt(reason)  # what the model said is there already
            return
        self.votes.append(Vote("block", reason))
        if self.event is e.POST_TOOL_USE:
            self.edits.append(Edit(reason, field="tool_response"))

    def go_on(self, value: bool, holder: Object) -> None:
        if not value:
            self.halt(holder.get("stopReason") or holder.get("reason"))

    def request(self, value: Object, _holder: Object) -> None:
        self.ignored.extend(f"{SPECIFIC}llm_request.{key}" for key in value if key != "messages")
        if isinstance(value.get("messages"), list):
            self.edits.append(Edit(p.read_messages(value["messages"], self.payload), field="messages"))

    def response(self, value: Object, _holder: Object) -> None:
        self.edits.append(Edit(p.response_text(value), field="response"))

    def selection(self, value: Object, _holder: Object) -> None:
        """Names of tools to offer; that the model must call one cannot be told."""
        names = [each for each in p.as_items(value.get("allowedFunctionNames")) if isinstance(each, str)]
        if value.get("mode") == "NONE":
            names = []
        elif value.get("mode") == "ANY":
            self.ignored.append(f"{SPECIFIC}toolConfig.mode")
        if names or value.get("mode") == "NONE":
            self.answer(list(dict.fromkeys(map(TABLE.canonical_name, names))), value)


def _may(what: May) -> frozenset[str]:
    return frozenset(name for name, row in ROWS.items() if row.may & what)


_TEXT, _FLAG = Field("text"), "true or false"
_UNUSED, _UNUSED_OBJECT = Field(_FLAG, unused=True), Field("an object", unused=True)
_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    TOP: {
        "decision": Field("text", Reader.decide, _may(May.BLOCK) | {"AfterModel"}),
        "reason": _TEXT, "stopReason": _TEXT, "suppressOutput": _UNUSED,
        "continue": Field(_FLAG, Reader.go_on, _may(May.STOP)),
        "systemMessage": Field("text", Reader.message),
        "hookSpecificOutput": Field("an object", Reader.specific),
    },
    SPECIFIC: {
        "hookEventName": _TEXT,
        "additionalContext": Field("text", Reader.additional_context, _may(May.CONTEXT)),
        "tool_input": Field("an object", Reader.tool_input, frozenset({"BeforeTool"})),
        "llm_request": Field("an object", Reader.request, frozenset({"BeforeModel"})),
        "llm_response": Field("an object", Reader.response, frozenset({"AfterModel"})),
        "toolConfig": Field("an object", Reader.selection, frozenset({"BeforeToolSelection"})),
        "tailToolCallRequest": _UNUSED_OBJECT, "clearContext": _UNUSED,
    },
}  # fmt: skip

_NEEDS: Final[Mapping[str, May]] = {
    "block": May.BLOCK, "ask": May.PERMIT, "context": May.CONTEXT, "rewrite": May.REWRITE, "stop": May.STOP,
    "answer": May.ANSWER,
}  # fmt: skip


class Writer(AnswerWriter):
    """Exit 0 and one object. What cannot be told at a guard is a denial that says so."""

    unwritten_code = 2

    def can(self, part: str) -> bool:
        row = ROWS[self.event_name]
        return bool(row.event.may & row.may & _NEEDS.get(part, May.NOTHING))

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
            # A result is replaced by denying it; the reason is what the model gets.
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
        """The tools can be taken away; a list of them would also make the model call one."""
        if self.can("answer") and isinstance(names, list | tuple) and not names:
            self.specific["toolConfig"] = {"mode": "NONE"}
        else:
            self.lost.append("answer")


def _result_text(result: Any) -> str:
    content: Any = p.as_object(result).get("llmContent", result)
    text = content if isinstance(content, str) else p.text_of(content) or written(content).decode()
    return text or NO_REASON
