"""Read and write answers of Docker Agent's hooks.

Keys are found whatever their case, because its JSON reader does so. A value of the wrong type, an unknown
decision or a second object make the whole answer unreadable.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.events import INSTRUCTIONS, NEVER_APPROVES
from hookline.dialects.docker_agent.messages import read_messages, received_messages, transient_messages
from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import TOP, VOTES, AnswerField, Object
from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.model.events import Capability, field_of
from hookline.model.messages import shown_messages
from hookline.model.outcome import Answer, Message, Outcome, Rewrite, Vote, unsaid
from hookline.model.payloads import ModelRequest
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation

SPECIFIC = "hook_specific_output."
#: The key that replaces a payload field.
REWRITES: Mapping[str, str] = MappingProxyType(
    {
        "tool_input": "updated_input",
        "messages": "updated_messages",
        "tool_response": "updated_tool_response",
    }
)


def no_reason(call: HookInvocation) -> str:
    return f"hook {call.hook.name} blocked and gave no reason"


def cannot_block(call: HookInvocation) -> Message:
    name = call.hook.policy.event_name
    return Message(f"{name} hook {call.hook.name} tried to block, but {name} cannot block")


class Part(AnswerField, frozen=True):
    """A field of `hook_specific_output`, and the capability that hooks need at the events where it is read."""

    needs: Capability = Capability.NOTHING
    only_at: frozenset[str] = frozenset()


class AnswerReader(family.AnswerReader):
    call: HookInvocation
    strict: bool = False

    any_case = True

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return _TOP if where == TOP else _SPECIFIC

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        top = self.checked(document, TOP)
        specific = self.checked(top.get("hook_specific_output", {}), SPECIFIC)
        if self.strict:
            self._refuse_unsupported(top, specific)
        if self._blocks(top):
            self._block(top)
        for name, part in _SPECIFIC.items():
            value = specific.get(name)
            if value is None or part.apply is None:
                continue
            if self.supports(name):
                part.apply(self, value, specific)
            elif value or name in REWRITES.values():
                self._unsupported(name)
        if top.get("system_message"):
            self.messages.append(Message(top["system_message"]))
        return self.outcome(), tuple(self.ignored)

    def check(self, value: Any, field: AnswerField, name: str) -> None:
        """Check a value; an empty decision is the same as none."""
        super().check(value, AnswerField(field.shape) if value == "" else field, name)

    @property
    def may(self) -> Capability:
        return self.call.hook.policy.may & self.call.event.may

    def supports(self, name: str) -> bool:
        """Return True if a key of `hook_specific_output` is read at this event."""
        if name in REWRITES.values() and name != REWRITES.get(self.call.event.rewrites or ""):
            return False
        part = _SPECIFIC[name]
        return bool(self.may & part.needs) or self.event_name in part.only_at

    def _refuse_unsupported(self, top: Object, specific: Object) -> None:
        """Refuse answers as `strict_output` does. Raises `UnreadableAnswerError`."""
        if self.ignored:
            raise UnreadableAnswerError(f"strict_output: no field is called {self.ignored[0]!r}")
        if top.get("suppress_output"):
            raise UnreadableAnswerError("strict_output: suppress_output is not supported")
        if self._blocks(top) and not self.may & Capability.BLOCK:
            raise UnreadableAnswerError(f"strict_output: {self.event_name} cannot block")
        named = specific.get("hook_event_name")
        if named and named != self.event_name:
            raise UnreadableAnswerError(
                f"strict_output: hook_event_name is {named[:40]!r}, not {self.event_name}"
            )
        for key, value in specific.items():
            empty = value == "" and key != "updated_tool_response"
            if key != "hook_event_name" and not empty and not self.supports(key):
                raise UnreadableAnswerError(f"strict_output: {self.event_name} does not support {key}")

    def _unsupported(self, name: str) -> None:
        self.ignored.append(name)
        if name == "permission_decision":
            given = f"{self.event_name} hook {self.call.hook.name} gave a permission_decision"
            self.messages.append(Message(f"{given}, which {self.event_name} does not take"))

    def _blocks(self, top: Object) -> bool:
        return top.get("continue") is False or top.get("decision") == "block"

    def _block(self, top: Object) -> None:
        if not self.may & Capability.BLOCK:
            self.messages.append(cannot_block(self.call))
            self.ignored.append("block")
            return
        given = [top.get("stop_reason", "")] if top.get("continue") is False else []
        given += [top.get("reason", "")] if top.get("decision") == "block" else []
        self.block("\n".join(reason for reason in given if not self.is_blank(reason)))

    # Effects of the fields: the table names these.

    def reason(self, given: Any) -> str:
        return given or no_reason(self.call)

    def permission(self, value: str, holder: Object) -> None:
        reason = holder.get("permission_decision_reason", "")
        if value == "deny":
            self.block(reason)
        elif value == "allow" and self.event_name in NEVER_APPROVES:
            self.ignored.append("allow")
        elif value:
            self.votes.append(Vote(VOTES[value], reason))

    def instructions(self, value: list[Object], _holder: Object) -> None:
        for item in value:
            text = item.get("content", "")
            gone = item.get("removed") is True or item.get("unavailable") is True
            if isinstance(text, str) and not gone:
                self.additional_context(text, item)

    def patch(self, value: Object, _holder: Object) -> None:
        self.edits.append(Rewrite(value, patch=True))

    def new_messages(self, value: list[Any], _holder: Object) -> None:
        """Apply new messages without the text of turn_start hooks: the host adds it to every request itself."""
        if not value:
            return
        kept = value[::-1]
        payload: ModelRequest = self.call.payload
        for shown in transient_messages(payload.transient):
            if shown in kept:
                kept.remove(shown)
            else:
                self.ignored.append("change of turn_start text")
        self.edits.append(Rewrite(read_messages(kept[::-1], payload, self.call.info)))

    def new_response(self, value: str, _holder: Object) -> None:
        self.edits.append(Rewrite(value))

    def summary(self, value: str, _holder: Object) -> None:
        if value:
            self.answers.append(Answer(value))

    def metadata(self, value: Object, _holder: Object) -> None:
        if value:
            self.ignored.append("metadata")


_TOP: Mapping[str, AnswerField] = MappingProxyType(
    {
        "continue": AnswerField("true or false"),
        "stop_reason": AnswerField("text"),
        "suppress_output": AnswerField("true or false"),
        "system_message": AnswerField("text"),
        "decision": AnswerField("text", choices=("block",)),
        "reason": AnswerField("text"),
        "hook_specific_output": AnswerField("an object"),
    }
)
_SPECIFIC: Mapping[str, Part] = MappingProxyType(
    {
        "hook_event_name": Part("text"),
        "permission_decision": Part(
            "text", AnswerReader.permission, choices=("allow", "ask", "deny"), needs=Capability.PERMIT
        ),
        "permission_decision_reason": Part("text", needs=Capability.PERMIT),
        "additional_context": Part("text", AnswerReader.additional_context, needs=Capability.CONTEXT),
        "instruction_context": Part("a list of objects", AnswerReader.instructions, only_at=INSTRUCTIONS),
        "updated_input": Part("an object", AnswerReader.patch, needs=Capability.REWRITE),
        "updated_messages": Part("a list of objects", AnswerReader.new_messages, needs=Capability.REWRITE),
        "updated_tool_response": Part("text", AnswerReader.new_response, needs=Capability.REWRITE),
        "summary": Part("text", AnswerReader.summary, needs=Capability.ANSWER),
        "metadata": Part(
            "an object of texts",
            AnswerReader.metadata,
            only_at=frozenset({"permission_request", "tool_guard"}),
        ),
    }
)


class AnswerWriter(family.AnswerWriter):
    """One outcome being written: always exit 0 with one object, or nothing when there is nothing to say."""

    def __init__(self, own_event: DialectEvent, outcome: Outcome, payload: Any) -> None:
        super().__init__(own_event.name, outcome)
        self._payload = payload
        self._event = own_event.event
        self._may = own_event.policy.may & own_event.event.may

    def can(self, part: str) -> bool:
        return bool(self._may & _NEEDS[part])

    def decide(self) -> None:
        outcome = self.outcome
        permission, reason = outcome.permission, outcome.reason or ""
        if outcome.stop:
            self.lost.append("stop")
            if self.can("block"):
                permission, reason = "deny", reason or outcome.stop_reason or "the run is to stop"
        if permission is None:
            return
        if self.can("permission") and not (permission == "allow" and self.event_name in NEVER_APPROVES):
            self.permit(permission, reason)
        else:
            self._block(permission, reason)

    def permit(self, permission: str, reason: str) -> None:
        if permission == "defer":
            self.lost.append("defer")
        self.specific["permission_decision"] = "ask" if permission == "defer" else permission
        if reason:
            self.specific["permission_decision_reason"] = reason

    def _block(self, permission: str, reason: str) -> None:
        """Write a vote where the event takes no decision: a denial becomes a block; anything else is lost."""
        if permission != "deny":
            self.lost.append(permission)
        if permission in ("ask", "defer") and self._event.may & Capability.PERMIT:
            # This event cannot ask the user, and the call must not proceed without asking.
            permission, reason = "deny", reason or "this needs the user's permission"
        if permission == "deny" and self.accepts("block"):
            self.top.update({"decision": "block", "reason": reason})

    def supply(self) -> None:
        outcome = self.outcome
        self.put("context", "additional_context", "\n".join(outcome.context))
        if outcome.messages:
            self.top["system_message"] = "\n".join(message.text for message in outcome.messages)
        self._rewrite()
        summary = outcome.answer if isinstance(outcome.answer, str) else ""
        self.put("answer", "summary", summary)
        if outcome.answers and not summary:
            self.lost.append("answer")
        self.lost += unsaid(outcome, "decision", "rewrite", "context", "messages", "stop", "answer")

    def _rewrite(self) -> None:
        edits, field = self.outcome.edits, self._event.rewrites or ""
        value = self.outcome.updated(field)
        if not edits:
            return
        if value is None or not self.can("rewrite") or not _fits(field, value):
            self.lost.append("rewrite")
            return
        if field == "messages":
            value = received_messages(shown_messages(value), SessionInfo())
        self.specific[REWRITES[field]] = value
        if field == "tool_input" and not all(edit.patch for edit in edits) and self._removes_keys(value):
            self.lost.append("removal of keys")  # there, an input is laid over the one before

    def _removes_keys(self, value: Any) -> bool:
        """Return True if the rewrite removes keys, or the input before is not known."""
        before = field_of(self._payload, "tool_input")
        return not isinstance(before, Mapping) or not set(cast("Mapping[str, Any]", before)) <= set(value)

    def with_specific(self) -> dict[str, Any]:
        if self.specific:
            self.top["hook_specific_output"] = {"hook_event_name": self.event_name, **self.specific}
        return self.top


_NEEDS: Mapping[str, Capability] = {
    "block": Capability.BLOCK,
    "permission": Capability.PERMIT,
    "context": Capability.CONTEXT,
    "rewrite": Capability.REWRITE,
    "answer": Capability.ANSWER,
}


def _fits(field: str, value: Any) -> bool:
    """Return True if the key takes the value: text for a result, an object for an input, a list for messages."""
    try:
        plain = msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError):
        return False
    if field == "tool_response":
        return isinstance(plain, str)
    if field == "tool_input":
        return isinstance(plain, dict)
    return isinstance(plain, list) and plain != []  # an empty list is read as no rewrite
