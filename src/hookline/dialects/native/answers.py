"""Read and write native answers: a document that a hook printed, replied or returned as an outcome, and an
outcome as Hookline's answer when it is itself the hook of a host that uses the native format."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.family.answers import (
    DECISION,
    SPECIFIC,
    TOP,
    VOTES,
    AnswerField,
    AnswerReader,
    AnswerWriter,
    Object,
)
from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.dialects.native.events import PREVENTING, REWRITTEN_SHAPES
from hookline.model.events import Capability, EventSpec
from hookline.model.outcome import PASS, Outcome, Rewrite, Vote
from hookline.model.policy import Policy
from hookline.model.wire import HookReply


def read_answer(
    document: Mapping[str, Any],
    event: EventSpec[Any],
    policy: Policy,
    who: str,
    *,
    exact: bool = False,
    known_only: bool = False,
) -> tuple[Outcome, tuple[str, ...]]:
    """Return the outcome of the document, and the names of ignored fields. Raises `UnreadableAnswerError`.

    `exact` also raises it where an ignored field may be a decision; `known_only` for every other unknown
    field.
    """
    reader = Reader(
        event_name=event.name, event=event, policy=policy, who=who, exact=exact, known_only=known_only
    )
    return reader.read(document)


def write_answer(event: EventSpec[Any], outcome: Outcome) -> HookReply:
    return Writer(event, outcome).reply()


#: The version in the field `hookline` of an answer.
ENVELOPE_VERSION = 1

#: Words that people and other agents decide with.
DECISION_WORDS = frozenset(
    {
        "accept", "allow", "allowed", "approve", "approved", "ask", "block", "blocked", "cancel", "decline", "defer",
        "denied", "deny", "forbid", "refuse", "reject", "rejected", "stop",
    }
)  # fmt: skip
#: Keys that decide, in whichever object of the answer.
_DECIDING = (
    "decision",
    "permissionDecision",
    "behavior",
    "continue",
    "hookSpecificOutput",
    "updatedInput",
    "interrupt",
)
#: The similarity from which a key was meant to be one of these; `description` and `version` are below it.
_MISSPELLED = 0.75


def is_decision_word(text: str) -> bool:
    """Return True for a decision and nothing else, where an answer or a text was expected."""
    return text.strip(" \t\r\n\"'`.!").casefold() in DECISION_WORDS


_UPDATED_KEYS: Mapping[str, str] = {"tool_input": "updatedInput", "tool_response": "updatedToolOutput"}


def updated_key(rewritten: str) -> str:
    """Return the answer field that replaces a payload field: `updatedPrompt` for prompt, and so for a host's own."""
    own = _UPDATED_KEYS.get(rewritten)
    return own or "updated" + "".join(part[:1].upper() + part[1:] for part in rewritten.split("_"))


_REWRITING = frozenset(map(updated_key, (*REWRITTEN_SHAPES, "tool_response")))


class Reader(AnswerReader, kw_only=True):
    event: EventSpec[Any]
    policy: Policy
    #: The hook's name in a default reason.
    who: str
    #: A decision that would be ignored makes the answer unreadable.
    exact: bool = False
    #: So does any field that does not exist.
    known_only: bool = False

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        return FIELDS[where]

    def reason(self, given: Any) -> str:
        return given if isinstance(given, str) and given.strip() else f"{self.who} blocked and gave no reason"

    def unknown(self, where: str, key: str, value: Any) -> None:
        rewritten = self.event.rewrites
        if where == SPECIFIC and rewritten and key == updated_key(rewritten):
            if value is not None:
                self.check(value, AnswerField(REWRITTEN_SHAPES.get(rewritten, "anything")), f"{where}{key}")
                self.edits.append(Rewrite(value, field=rewritten))
        elif where == TOP and key == "permissionDecision":
            raise UnreadableAnswerError(
                "permissionDecision has no effect outside hookSpecificOutput; move it there"
            )
        else:
            elsewhere = where == SPECIFIC and key in _REWRITING  # of another event
            if (self.known_only and not elsewhere) or (self.exact and _may_decide(key, value)):
                raise UnreadableAnswerError(
                    f"{where}{key!s:.60} is not a field of an answer; {self._meant(where, key)}"
                )
            super().unknown(where, key, value)

    def _meant(self, where: str, key: str) -> str:
        """Return what to write instead of an unknown field."""
        from hookline.matching.nearest import nearest  # noqa: PLC0415 - only for unknown fields

        own = updated_key(self.event.rewrites) if self.event.rewrites else ""
        known = {
            place: (*table, own) if place == SPECIFIC and own else (*table,)
            for place, table in FIELDS.items()
        }
        here = nearest(str(key), known[where], _MISSPELLED)
        if here is not None:
            return f"did you mean {here}?"
        for place in (TOP, SPECIFIC):
            there = nearest(str(key), known[place], _MISSPELLED)
            if there is not None:
                return f"did you mean {place}{there}?"
        return f"there are {', '.join(known[where])}"

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        outcome, ignored = super().read(document)
        if self.exact and f"{SPECIFIC}decision" in ignored:
            raise UnreadableAnswerError(
                f"{SPECIFIC}decision is not read at {self.event_name}; use permissionDecision"
            )
        if self.exact and ignored and outcome == PASS and not self._has_known_fields(document):
            raise UnreadableAnswerError(f"none of its fields is known: {', '.join(ignored)[:120]}")
        return outcome, ignored

    def _has_known_fields(self, document: Object) -> bool:
        inner: Object = document.get("hookSpecificOutput") or {}
        return any(key in FIELDS[TOP] and key != "hookSpecificOutput" for key in document) or any(
            key in FIELDS[SPECIFIC] and key != "hookEventName" for key in inner
        )

    def go_on(self, value: bool, holder: Object) -> None:
        if value:
            return
        reason = holder.get("stopReason", "")
        self.halt(reason)
        # A run that is to stop must not first do the action in question.
        if self.event.may & Capability.BLOCK and self.policy.block_means in PREVENTING:
            self.votes.append(Vote("block", reason or f"{self.who} stopped the run"))

    def envelope(self, value: Object, _holder: Object) -> None:
        """Check the version: an answer in an unknown one may decide by a field that is not read."""
        version = value.get("version")
        if type(version) is not int or version != ENVELOPE_VERSION:
            raise UnreadableAnswerError(
                f"the answer has version {str(version)[:20]} of the envelope, "
                f"and this Hookline reads version {ENVELOPE_VERSION}"
            )

    def approve_or_block(self, value: str, holder: Object) -> None:
        if value == "block":
            self.block(holder.get("reason"))
        else:
            self.votes.append(Vote("allow", holder.get("reason", "")))

    def ok(self, value: bool, holder: Object) -> None:
        if not value:
            self.block(holder.get("reason"))

    def reason_alone(self, _value: str, holder: Object) -> None:
        if "decision" not in holder and "ok" not in holder:
            self.ignored.append("reason")

    def specific(self, value: Object, _holder: Object) -> None:
        named = value.get("hookEventName")
        if named is not None and named not in (self.policy.event_name, self.event.name):
            wanted = self.policy.event_name
            raise UnreadableAnswerError(
                f"hookSpecificOutput.hookEventName is {str(named)[:40]!r}, not {wanted!r}"
            )
        super().specific(value, _holder)

    def variables(self, value: Mapping[str, str], _holder: Object) -> None:
        self.env.extend(value.items())


def _may_decide(key: str, value: Any) -> bool:
    """Return True if an unread field may have been meant to decide."""
    if is_decision_word(key) or (isinstance(value, str) and is_decision_word(value)):
        return True
    from hookline.matching.nearest import nearest  # noqa: PLC0415 - only for unknown fields

    return nearest(key, _DECIDING, _MISSPELLED) is not None


_TEXT, _FLAG, _BOOL = AnswerField("text"), AnswerField("true or false"), "true or false"
_UPDATES = AnswerField("a list of objects", Reader.permission_updates)
_ELICITATIONS = frozenset({"Elicitation", "ElicitationResult"})
FIELDS: Mapping[str, Mapping[str, AnswerField]] = {
    TOP: {
        "continue": AnswerField(_BOOL, Reader.go_on), "stopReason": _TEXT, "suppressOutput": _FLAG,
        "systemMessage": AnswerField("text", Reader.message),
        "decision": AnswerField("text", Reader.approve_or_block, choices=("approve", "block")),
        "ok": AnswerField(_BOOL, Reader.ok),
        "reason": AnswerField("text", Reader.reason_alone),
        "hookSpecificOutput": AnswerField("an object", Reader.specific),
        # A server's facts about its decision; the id and the lifetime are in the headers.
        "hookline": AnswerField("an object", Reader.envelope),
        # The mark of a hook that moved to the background, which the handler has handled.
        "async": _FLAG, "asyncTimeout": AnswerField("a number"),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": AnswerField("text", Reader.permission, choices=tuple(VOTES)),
        "decision": AnswerField("an object", Reader.decision, frozenset({"PermissionRequest"})),
        "updatedPermissions": _UPDATES,
        "additionalContext": AnswerField("text", Reader.additional_context),
        "watchPaths": AnswerField("a list of texts", Reader.watch_paths),
        "initialUserMessage": AnswerField("text", Reader.initial_user_message),
        "retry": AnswerField(_BOOL, Reader.try_again),
        "env": AnswerField("an object of texts", Reader.variables),
        "answer": AnswerField("anything", Reader.answer),
        "worktreePath": AnswerField("text", Reader.answer, frozenset({"WorktreeCreate"})),
        "summary": AnswerField("text", Reader.answer, frozenset({"PreCompact"})),
        "displayContent": AnswerField("text", Reader.answer, frozenset({"MessageDisplay"})),
        "action": AnswerField("text", Reader.action, _ELICITATIONS, ("accept", "decline", "cancel")),
        "content": AnswerField("an object", None, _ELICITATIONS),
    },
    DECISION: {
        "behavior": AnswerField("text", choices=("allow", "deny", "ask"), required=True), "message": _TEXT,
        "updatedInput": AnswerField("an object"), "updatedPermissions": AnswerField("a list of objects"),
        "interrupt": _FLAG,
    },
}  # fmt: skip


class Writer(AnswerWriter):
    """One outcome being written. Parts that the event cannot express are removed before."""

    def __init__(self, event: EventSpec[Any], outcome: Outcome) -> None:
        said, lost = outcome.clipped(event.may)
        super().__init__(event.name, said)
        self.lost.extend(lost)
        self._event = event

    def can(self, part: str) -> bool:
        del part
        return True

    def decide(self) -> None:
        vote = self.outcome.deciding_vote
        if vote is None:
            return
        reason = vote.reason or ("a hook blocked and gave no reason" if vote.kind == "block" else "")
        if self._event.may & Capability.PERMIT:
            self.permit("deny" if vote.kind == "block" else vote.kind, reason)
        else:
            self.top |= {"decision": "block", "reason": reason}

    def supply(self) -> None:
        outcome, rewritten = self.outcome, self._event.rewrites
        if outcome.edits and rewritten is not None:
            self.specific[updated_key(rewritten)] = outcome.updated(rewritten)
        super().supply()
        self.put("permission_updates", "updatedPermissions", self.updates())
        self.put("env", "env", outcome.env)
        if outcome.answers:
            self.specific["answer"] = outcome.answer
        # Before a stop: of two blocks the first one gives the reason.
        self.with_specific()
        if outcome.halts:
            self.top["continue"] = False
            if outcome.stop_reason:
                self.top["stopReason"] = outcome.stop_reason
        if outcome.messages:
            self.top["systemMessage"] = "\n".join(message.text for message in outcome.messages)
