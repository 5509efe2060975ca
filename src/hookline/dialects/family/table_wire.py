"""Encode and decode by the rows of a small dialect: keys of payloads, the meaning of output, and what can be answered.

An answer of Hookline that the agent cannot express is lost by name; at guards, where losing it would let a call pass,
it becomes a denial.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from hookline.dialects.family.answers import AnswerReader, AnswerWriter, Object
from hookline.dialects.family.rows import EventRow
from hookline.dialects.family.wire import (
    ResultReader,
    encoded,
    event_name,
    info_texts,
    payload_record,
)
from hookline.dialects.json_text import read_lenient
from hookline.model.events import PERMISSION_REQUEST, Capability, field_of
from hookline.model.outcome import ContextItem, Outcome, unsaid
from hookline.model.raw import Exited, Replied
from hookline.model.session_info import SessionInfo
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

_NEEDS: Mapping[str, Capability] = {
    "block": Capability.BLOCK, "ask": Capability.PERMIT, "allow": Capability.PERMIT, "defer": Capability.PERMIT,
    "rewrite": Capability.REWRITE, "context": Capability.CONTEXT, "stop": Capability.STOP, "env": Capability.ENV,
}  # fmt: skip
#: Parts that `GuardWriter` writes, if the event's row allows them.
_WRITTEN = ("decision", "rewrite", "context", "stop")


class GuardWriter(AnswerWriter):
    """One outcome being written for an agent that cannot express everything."""

    #: The agent's name in the two reasons below.
    title: ClassVar[str]
    no_reason: ClassVar[str] = "Blocked by hook"
    #: Decisions besides a denial that it can express where it lets hooks permit.
    permits: ClassVar[tuple[str, ...]] = ("allow", "ask")
    #: Parts besides those that it has a field for, by the name of the key.
    texts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, event_name: str, outcome: Outcome, row: EventRow, payload: Any = None) -> None:
        super().__init__(event_name, outcome)
        self.row = row
        self.payload = payload

    def can(self, part: str) -> bool:
        needed = _NEEDS.get(part)
        return needed is not None and bool(self.row.may & self.row.event.may & needed)

    def decide(self) -> None:
        reason = self._refusal()
        if reason is not None:
            self.deny(reason)
            if self.outcome.edits and "rewrite" not in self.lost:
                self.lost.append("rewrite")
            return
        vote, updated = self.outcome.deciding_vote, self.rewritten()
        if updated is not None:
            self.rewrite(updated)
        if vote is None or vote.kind == "block":
            return
        if self.row.event is PERMISSION_REQUEST and vote.kind != "allow":
            self.lost.append(vote.kind)  # the user is asked if no hook decides
        elif vote.kind in self.permits and self.can(vote.kind):
            self.permit(vote.kind, vote.reason)
        elif vote.kind == "defer" and "ask" in self.permits and self.can("ask"):
            self.lost.append("defer")
            self.permit("ask", vote.reason)
        else:
            self.lost.append(vote.kind)

    def _refusal(self) -> str | None:
        """Return the reason to deny: a hook did, or said something that must not be lost."""
        outcome, vote = self.outcome, self.outcome.deciding_vote
        if vote is not None and vote.kind == "block":
            return (vote.reason or self.no_reason) if self.accepts("block") else None
        closes = self.row.event.guard and self.can("block")
        if outcome.stop and not self.can("stop"):
            self.lost.append("stop")
            return (outcome.stop_reason or self.no_reason) if closes else None
        asked = (
            vote is not None and vote.kind in ("ask", "defer") and self.row.event is not PERMISSION_REQUEST
        )
        if asked and closes and vote is not None and not ("ask" in self.permits and self.can("ask")):
            self.lost.append(vote.kind)
            return (
                vote.reason.strip()
                or f"this needs your permission, which a hook of {self.title} cannot ask for"
            )
        if outcome.edits and closes and not self.can("rewrite"):
            self.lost.append("rewrite")
            return f"a hook rewrote this, and {self.title} takes no rewrite from a hook"
        return None

    def rewritten(self) -> Any:
        """Return the new value of the event's field, or None."""
        if not self.outcome.edits or "rewrite" in self.lost:
            return None
        if self.row.event.rewrites == "tool_input":
            return self.updated_input()
        value = self.outcome.updated(self.row.event.rewrites or "")
        if value is None or not self.accepts("rewrite"):
            return None
        return value

    def deny(self, reason: str) -> None:
        if self.row.event.subject == "tool_name" and self.row.event.guard:
            super().permit("deny", reason)
        else:
            self.top |= {"decision": "block", "reason": reason}

    def rewrite(self, value: Any) -> None:
        self.specific["updatedInput"] = value

    def supply(self) -> None:
        outcome = self.outcome
        if outcome.context and self.accepts("context"):
            self.tell("\n".join(outcome.context))
        if outcome.stop and self.can("stop"):
            self.halt(outcome.stop_reason or "")
        elif outcome.stop and "stop" not in self.lost:
            self.lost.append("stop")
        for part in unsaid(outcome, *_WRITTEN):
            self.further(part)

    def tell(self, text: str) -> None:
        """Write text for the model."""
        self.specific["additionalContext"] = text

    def halt(self, reason: str) -> None:
        self.top |= {"continue": False, "stopReason": reason}

    def further(self, part: str) -> None:
        """Write a part that few agents read; usually it is lost."""
        self.lost.append(part)


class TableWire(ResultReader):
    """A wire that reads and writes by tables. Stateless: one object serves every hook."""

    rows: ClassVar[Mapping[str, EventRow]]
    #: The keys that all payloads begin with, each with the fact of the session that is sent there.
    common: ClassVar[Mapping[str, str]]
    event_key: ClassVar[str] = "hook_event_name"
    reader: ClassVar[type[AnswerReader]]
    writer: ClassVar[type[GuardWriter]]
    #: Facts of the session that are sent as null where they are not known; others are left out.
    nulls: ClassVar[tuple[str, ...]] = ()

    def encode(self, call: HookInvocation) -> Encoded:
        row = self.rows[call.hook.policy.event_name]
        document = self.document(call)
        document |= {key: self.sent(call, field) for key, field in row.sends.items()}
        document |= self.more(call)
        shown = {key: value for key, value in document.items() if value is not None or key in self.nulls}
        return Encoded(encoded(shown), self.environment(call))

    def document(self, call: HookInvocation) -> dict[str, Any]:
        """Return the keys that every payload begins with."""
        facts = {key: getattr(call.info, fact) or None for key, fact in self.common.items()}
        return {self.event_key: call.hook.policy.event_name, **facts}

    def sent(self, call: HookInvocation, field: str) -> Any:
        """Return the value of a field; the session has some that the payload does not."""
        value = field_of(call.payload, field)
        return getattr(call.info, field, None) if value is None else value

    def more(self, call: HookInvocation) -> Mapping[str, Any]:
        """Return keys that are not fields of the payload."""
        del call
        return {}

    def environment(self, call: HookInvocation) -> Mapping[str, str]:
        """Return the variables of a hook's process."""
        del call
        return {}

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = event_name(document, self.rows, self.event_key)
        row = self.rows[name]
        given = {key: value for key, value in document.items() if value is not None}
        values = {field: given[key] for key, field in row.sends.items() if key in given}
        values = self.received(name, given, values)
        keys = {field: key for key, field in row.sends.items()}
        payload = payload_record(row.event, name, values, keys)
        known = info_texts(given, [key for key in self.common if key in given])
        facts = {self.common[key]: value for key, value in known.items()}
        return Parsed(row.event, payload, SessionInfo(**facts))

    def received(self, name: str, given: Mapping[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of the payload, where the document has them in another form."""
        del name, given
        return values

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        return self.writer(event_name, outcome, self.rows[event_name], payload).reply()

    def read_json(self, text: bytes) -> Any:
        return read_lenient(text)

    def read_answer(self, call: HookInvocation, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        return self.reader(event_name=call.hook.policy.event_name).read(document)

    def blocked(self, call: HookInvocation, raw: Exited) -> Decoded:
        if not self.rows[call.hook.policy.event_name].exit_2_blocks:
            return self.crashed(call, raw)
        return super().blocked(call, raw)

    def printed(self, call: HookInvocation, raw: Exited | Replied, output: bytes) -> Decoded:
        """Read JSON; other text is for the model at some events."""
        text = output.strip()
        if not text:
            return NOTHING_SAID
        if text.startswith(b"{"):
            return self.json_answer(call, raw, text)
        return self.said_plainly(call, raw, text)

    def said_plainly(self, call: HookInvocation, raw: Exited | Replied, text: bytes) -> Decoded:
        plain = self.rows[call.hook.policy.event_name].plain
        if plain == "context":
            return Decoded(Outcome(context_items=(ContextItem(text.decode("utf-8", "replace")),)))
        if plain == "failure":
            return self.failed(call, raw, "unreadable", "its output is not a JSON object")
        return Decoded(ignored=("plain stdout",))
