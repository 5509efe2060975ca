"""Read and write answers: `AnswerReader` makes an outcome of a document, `AnswerWriter` a document of an
outcome.

A reader has one table of fields per object of the answer. The writer names the parts that the agent cannot
express.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, cast

import msgspec
from msgspec import UNSET, Struct

from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.dialects.json_text import written_answer
from hookline.documents.document import misshaped
from hookline.model.outcome import (
    Answer,
    ContextItem,
    Halt,
    Message,
    Outcome,
    OutcomeBuilder,
    PermissionUpdate,
    Rewrite,
    Vote,
    VoteKind,
)
from hookline.model.wire import HookReply

Object = Mapping[str, Any]

#: The objects inside of an answer, as prefixes of the names of their fields.
TOP = ""
SPECIFIC = "hookSpecificOutput."
DECISION = "hookSpecificOutput.decision."

VOTES: Mapping[str, VoteKind] = {"allow": "allow", "deny": "block", "ask": "ask", "defer": "defer"}


class AnswerField(Struct, frozen=True):
    """One field of an answer."""

    shape: str
    #: Called with the reader, the checked value and the object the field is in; None: not applied itself.
    apply: "Callable[[Any, Any, Object], None] | None" = None
    #: The events that read it; empty: all of them.
    events: frozenset[str] = frozenset()
    choices: tuple[str, ...] = ()
    required: bool = False
    #: The agent knows it and does nothing with it.
    unused: bool = False


class AnswerReader(OutcomeBuilder):
    """One answer being read. A field of the wrong type makes the whole answer unreadable: partly valid
    answers are rejected, because they may come from a guard."""

    #: The event's name in its agent.
    event_name: str

    no_reason: ClassVar[str] = "Blocked by hook"
    #: `table`: fields are applied in the order of the table, whatever the order of the document.
    order: ClassVar[Literal["document", "table"]] = "document"
    null_is_absent: ClassVar[bool] = True
    any_case: ClassVar[bool] = False

    def fields(self, where: str) -> Mapping[str, AnswerField]:
        """Return the table of one object of the answer."""
        raise NotImplementedError

    def read(self, document: Object) -> tuple[Outcome, tuple[str, ...]]:
        """Return the outcome of the document, and the names of ignored fields. Raises `UnreadableAnswerError`."""
        self.read_object(document, TOP)
        return self.outcome(), tuple(self.ignored)

    def read_object(self, document: Object, where: str) -> None:
        table = self.fields(where)
        found = self.checked(document, where)
        names = found if self.order == "document" else [name for name in table if name in found]
        for name in names:
            field = table[name]
            if field.apply is not None:
                field.apply(self, found[name], found)
            elif field.unused and found[name]:
                self.ignored.append(f"{where}{name}")

    def checked(self, document: Object, where: str) -> dict[str, Any]:
        """Return the fields that this event reads, each of its shape."""
        table = self.fields(where)
        found: dict[str, Any] = {}
        for key, value in document.items():
            name = key if key in table or not self.any_case else self._cased(key, table)
            field = table.get(name)
            if field is None:
                self.unknown(where, key, value)
            elif value is None and self.null_is_absent:
                continue
            elif field.events and self.event_name not in field.events:
                self.ignored.append(f"{where}{name}")
            else:
                self.check(value, field, f"{where}{name}")
                found[name] = value
        missing = [name for name, field in table.items() if field.required and name not in found]
        if missing:
            raise UnreadableAnswerError(f"{where}{missing[0]} is missing")
        return found

    def _cased(self, key: str, table: Mapping[str, AnswerField]) -> str:
        return next((name for name in table if name.lower() == str(key).lower()), key)

    def check(self, value: Any, field: AnswerField, name: str) -> None:
        instead = misshaped(value, field.shape)
        if instead is not None:
            raise UnreadableAnswerError(f"{name} is {instead}")
        if field.choices and value not in field.choices:
            raise UnreadableAnswerError(f"{name} is {str(value)[:40]!r}, not {' or '.join(field.choices)}")

    def unknown(self, where: str, key: str, value: Any) -> None:  # noqa: ARG002 for overrides
        self.ignored.append(f"{where}{key}"[:80])

    # Effects of fields: the tables name these.

    def is_blank(self, text: str) -> bool:
        return not text.strip()

    def reason(self, given: Any) -> str:
        return self.no_reason if not isinstance(given, str) or self.is_blank(given) else given

    def block(self, given_reason: Any) -> None:
        self.votes.append(Vote("block", self.reason(given_reason)))

    def specific(self, value: Object, _holder: Object) -> None:
        self.read_object(value, SPECIFIC)

    def permission(self, value: str, holder: Object) -> None:
        reason = holder.get("permissionDecisionReason", "")
        if value == "deny":
            self.block(reason)
        else:
            self.votes.append(Vote(VOTES[value], reason))

    def decision(self, value: Object, _holder: Object) -> None:
        """Apply the decision on a permission request."""
        given = self.checked(value, DECISION)
        if given.get("behavior") == "deny":
            self.block(given.get("message"))
        else:
            self.votes.append(Vote(VOTES[given["behavior"]]))
            if "updatedInput" in given:
                self.tool_input(given["updatedInput"], given)
            self.permission_updates(given.get("updatedPermissions", []), given)
        if given.get("interrupt"):
            self.halt(given.get("message"))

    def halt(self, reason: Any) -> None:
        self.halts.append(Halt(reason if isinstance(reason, str) else ""))

    def tool_input(self, value: Object, _holder: Object) -> None:
        self.edits.append(Rewrite(value, field="tool_input"))

    def permission_updates(self, value: list[Any], _holder: Object) -> None:
        self.updates.extend(self.update(each) for each in value)

    def update(self, given: Any) -> PermissionUpdate:
        try:
            return msgspec.convert({**given, "by": ""}, PermissionUpdate)
        except (msgspec.ValidationError, RecursionError) as error:
            raise UnreadableAnswerError(f"updatedPermissions: {error}") from None

    def additional_context(self, value: str, _holder: Object) -> None:
        if not self.is_blank(value):
            self.context.append(ContextItem(value))

    def message(self, value: str, _holder: Object) -> None:
        if not self.is_blank(value):
            self.messages.append(Message(value))

    def watch_paths(self, value: list[str], _holder: Object) -> None:
        self.watch.extend(path for path in value if path)

    def initial_user_message(self, value: str, _holder: Object) -> None:
        if value:
            self.seeds.append(value)

    def try_again(self, value: bool, _holder: Object) -> None:
        self.retry = self.retry or value

    def answer(self, value: Any, _holder: Object) -> None:
        self.answers.append(Answer(value))

    def action(self, value: str, holder: Object) -> None:
        content = {"content": holder["content"]} if "content" in holder else {}
        self.answers.append(Answer({"action": value, **content}))


class AnswerWriter:
    """One outcome being written. Parts that the event has no field for are named in `lost`."""

    #: The exit code when an answer without a block has no JSON form.
    unwritten_code: ClassVar[int] = 1

    def __init__(self, event_name: str, outcome: Outcome) -> None:
        self.event_name = event_name
        self.outcome = outcome
        self.top: dict[str, Any] = {}
        self.specific: dict[str, Any] = {}
        self.lost: list[str] = []

    def reply(self) -> HookReply:
        self.decide()
        self.supply()
        return self.finished()

    def can(self, part: str) -> bool:
        """Return True if the event reads it: context, rewrite, watch_paths, initial_user_message, retry, a
        kind of vote."""
        raise NotImplementedError

    def decide(self) -> None:
        raise NotImplementedError

    def supply(self) -> None:
        """Write everything that is not a decision."""
        outcome = self.outcome
        self.put("context", "additionalContext", "\n".join(outcome.context))
        self.put("watch_paths", "watchPaths", list(outcome.watch_paths))
        self.put("initial_user_message", "initialUserMessage", outcome.initial_user_message)
        self.put("retry", "retry", outcome.retry)

    def accepts(self, part: str) -> bool:
        """Return True if the event reads it; else it is lost."""
        if self.can(part):
            return True
        self.lost.append(part)
        return False

    def put(self, part: str, key: str, value: Any) -> None:
        if value and self.accepts(part):
            self.specific[key] = value

    def permit(self, permission: str, reason: str) -> None:
        self.specific["permissionDecision"] = permission
        if reason:
            self.specific["permissionDecisionReason"] = reason

    def updated_input(self) -> Object | None:
        """Return the whole input after the edits. A patch of an unknown input has none."""
        edits, value = self.outcome.edits, self.outcome.updated_input
        if not edits:
            return None
        unknown = edits[-1].patch and edits[-1].whole is UNSET
        if unknown or not isinstance(value, Mapping) or not value or not self.can("rewrite"):
            self.lost.append("rewrite")
            return None
        return cast("Object", value)

    def updates(self) -> list[dict[str, Any]]:
        """Return changes of permissions, without the hook that asked for them."""
        written: list[dict[str, Any]] = msgspec.to_builtins(self.outcome.permission_updates)
        return [{key: value for key, value in update.items() if key != "by"} for update in written]

    def with_specific(self) -> dict[str, Any]:
        if self.specific:
            self.top["hookSpecificOutput"] = {"hookEventName": self.event_name, **self.specific}
        return self.top

    def finished(self) -> HookReply:
        """Return exit 0 with one JSON object, or with nothing when there is nothing to say."""
        document = self.with_specific()
        if not document:
            return HookReply(lost=tuple(self.lost))
        try:
            return HookReply(stdout=written_answer(document), lost=tuple(self.lost))
        except (TypeError, ValueError, RecursionError) as error:
            # A value without a JSON form must not let a block pass.
            code = 2 if self.outcome.blocked else self.unwritten_code
            reason = self.outcome.reason or str(error)
            return HookReply(code, stderr=reason, lost=(*self.lost, "answer"))
