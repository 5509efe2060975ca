"""Native answers, both ways: a document that a hook printed, replied or returned as an outcome, and an outcome as the
answer that Hookline prints when it is itself the hook of a host that uses the native format."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.family.answers import (
    DECISION,
    SPECIFIC,
    TOP,
    VOTES,
    AnswerReader,
    AnswerWriter,
    Field,
    Object,
)
from hookline.dialects.family.wire import UnreadableError
from hookline.dialects.native.events import PREVENTING, REWRITTEN_SHAPES
from hookline.model.events import EventSpec, May
from hookline.model.outcome import GO_ON, Edit, Outcome, Vote
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
    """What the document says, and the names of what is ignored. Raises `UnreadableError`.

    `exact`: also where a decision may be among what would be ignored; `known_only`: also for every other field that
    does not exist.
    """
    reader = Reader(
        event_name=event.name, event=event, policy=policy, who=who, exact=exact, known_only=known_only
    )
    return reader.read(document)


def write_answer(event: EventSpec[Any], outcome: Outcome) -> HookReply:
    return Writer(event, outcome).reply()


#: What `hookline` in an answer says first.
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
#: How similar a key is to one of these when it was meant to be it; `description` and `version` are not.
_MISSPELLED = 0.75


def is_decision_word(text: str) -> bool:
    """A decision and nothing else, where an answer or a text was expected."""
    return text.strip(" \t\r\n\"'`.!").casefold() in DECISION_WORDS


_UPDATED_KEYS: Mapping[str, str] = {"tool_input": "updatedInput", "tool_response": "updatedToolOutput"}


def updated_key(rewritten: str) -> str:
    """The answer field that replaces a payload field: `updatedPrompt` for prompt, and so for a host's own."""
    own = _UPDATED_KEYS.get(rewritten)
    return own or "updated" + "".join(part[:1].upper() + part[1:] for part in rewritten.split("_"))


_REWRITING = frozenset(map(updated_key, (*REWRITTEN_SHAPES, "tool_response")))


class Reader(AnswerReader, kw_only=True):
    event: EventSpec[Any]
    policy: Policy
    #: How a default reason names the hook.
    who: str
    #: A decision that would be ignored makes the answer unreadable.
    exact: bool = False
    #: So does any field that does not exist.
    known_only: bool = False

    def fields(self, where: str) -> Mapping[str, Field]:
        return FIELDS[where]

    def reason(self, given: Any) -> str:
        return given if isinstance(given, str) and given.strip() else f"{self.who} blocked and gave no reason"

    def unknown(self, where: str, key: str, value: Any) -> None:
        rewritten = self.event.rewrites
        if where == SPECIFIC and rewritten and key == updated_key(rewritten):
            if value is not None:
                self.check(value, Field(REWRITTEN_SHAPES.get(rewritten, "anything")), f"{where}{key}")
                self.edits.append(Edit(value, field=rewritten))
        elif where == TOP and key == "permissionDecision":
            raise UnreadableError("permissionDecision is outside hookSpecificOutput, where it has no effect")
        else:
            elsewhere = where == SPECIFIC and key in _REWRITING  # of another event
            if (self.known_only and not elsewhere) or (self.exact and _may_decide(key, value)):
                raise UnreadableError(
                    f"{where}{key!s:.60} is not a field of an answer; {self._meant(where, key)}"
                )
            super().unknown(where, key, value)

    def _meant(self, where: str, key: str) -> str:
        """What to write in place of a field that does not exist."""
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
            raise UnreadableError(
                f"{SPECIFIC}decision is not read at {self.event_name}; use permissionDecision"
            )
        if self.exact and ignored and outcome == GO_ON and not self._has_known_fields(document):
            raise UnreadableError(f"none of its fields is known: {', '.join(ignored)[:120]}")
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
        # A run that is to stop must not first do what was just asked about.
        if self.event.may & May.BLOCK and self.policy.block_means in PREVENTING:
            self.votes.append(Vote("block", reason or f"{self.who} stopped the run"))

    def envelope(self, value: Object, _holder: Object) -> None:
        """An answer in a version that is not known may decide by a field that is not read."""
        version = value.get("version")
        if type(version) is not int or version != ENVELOPE_VERSION:
            raise UnreadableError(
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
            raise UnreadableError(f"hookSpecificOutput.hookEventName is {str(named)[:40]!r}, not {wanted!r}")
        super().specific(value, _holder)

    def variables(self, value: Mapping[str, str], _holder: Object) -> None:
        self.env.extend(value.items())


def _may_decide(key: str, value: Any) -> bool:
    """Whether a field that nobody reads may have been meant to decide."""
    if is_decision_word(key) or (isinstance(value, str) and is_decision_word(value)):
        return True
    from hookline.matching.nearest import nearest  # noqa: PLC0415 - only for unknown fields

    return nearest(key, _DECIDING, _MISSPELLED) is not None


_TEXT, _FLAG, _BOOL = Field("text"), Field("true or false"), "true or false"
_UPDATES = Field("a list of objects", Reader.permission_updates)
_ELICITATIONS = frozenset({"Elicitation", "ElicitationResult"})
FIELDS: Mapping[str, Mapping[str, Field]] = {
    TOP: {
        "continue": Field(_BOOL, Reader.go_on), "stopReason": _TEXT, "suppressOutput": _FLAG,
        "systemMessage": Field("text", Reader.message),
        "decision": Field("text", Reader.approve_or_block, choices=("approve", "block")),
        "ok": Field(_BOOL, Reader.ok),
        "reason": Field("text", Reader.reason_alone),
        "hookSpecificOutput": Field("an object", Reader.specific),
        # What a server says about its decision; the id and how long it holds are in the headers.
        "hookline": Field("an object", Reader.envelope),
        # The mark of a hook that went on in the background, which the handler has seen to.
        "async": _FLAG, "asyncTimeout": Field("a number"),
    },
    SPECIFIC: {
        "hookEventName": _TEXT, "permissionDecisionReason": _TEXT,
        "permissionDecision": Field("text", Reader.permission, choices=tuple(VOTES)),
        "decision": Field("an object", Reader.decision, frozenset({"PermissionRequest"})),
        "updatedPermissions": _UPDATES,
        "additionalContext": Field("text", Reader.additional_context),
        "watchPaths": Field("a list of texts", Reader.watch_paths),
        "initialUserMessage": Field("text", Reader.initial_user_message),
        "retry": Field(_BOOL, Reader.try_again),
        "env": Field("an object of texts", Reader.variables),
        "answer": Field("anything", Reader.answer),
        "worktreePath": Field("text", Reader.answer, frozenset({"WorktreeCreate"})),
        "summary": Field("text", Reader.answer, frozenset({"PreCompact"})),
        "displayContent": Field("text", Reader.answer, frozenset({"MessageDisplay"})),
        "action": Field("text", Reader.action, _ELICITATIONS, ("accept", "decline", "cancel")),
        "content": Field("an object", None, _ELICITATIONS),
    },
    DECISION: {
        "behavior": Field("text", choices=("allow", "deny", "ask"), required=True), "message": _TEXT,
        "updatedInput": Field("an object"), "updatedPermissions": Field("a list of objects"), "interrupt": _FLAG,
    },
}  # fmt: skip


class Writer(AnswerWriter):
    """What the event cannot express is clipped before anything is written."""

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
        if self._event.may & May.PERMIT:
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
