"""An answer document (what a hook printed, replied or returned) as an outcome.

The fields are a table. A field that nobody reads at this event is listed as ignored; a field of the wrong
type makes the whole answer unreadable, because a guard's half-understood answer is no answer.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.json_text import written_answer
from hookline.dialects.native.events import PREVENTING, REWRITTEN_SHAPES
from hookline.dialects.outcome_builder import Gathering
from hookline.documents.shapes import misshaped
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec, May
from hookline.model.outcome import (
    GO_ON,
    Answer,
    ContextItem,
    Edit,
    Halt,
    Message,
    Outcome,
    PermissionUpdate,
    Vote,
    VoteKind,
)
from hookline.model.policy import Policy
from hookline.model.wire import Told


class UnreadableError(HooklineError):
    """Why an answer cannot be understood."""


class Said(Gathering):
    """An answer while it is being read."""

    event: EventSpec[Any]
    policy: Policy
    #: How a default reason names the hook.
    who: str


def read_answer(
    document: Mapping[str, Any], event: EventSpec[Any], policy: Policy, who: str
) -> tuple[Outcome, tuple[str, ...]]:
    """What the document says, and the names of what nobody reads. Raises `UnreadableError`."""
    said = Said(event, policy, who)
    _read(document, _TOP, said, "")
    outcome = said.outcome()
    return GO_ON if outcome == GO_ON else outcome, tuple(said.ignored)


Object = Mapping[str, Any]
#: Gets a value that was checked, the object it stands in, and where to put it.
Apply = Callable[[Any, Object, Said], None]


class _Field(Struct, frozen=True):
    shape: str
    apply: Apply | None = None
    #: The events that read it; empty: all of them.
    events: frozenset[str] = frozenset()
    choices: tuple[str, ...] = ()


def _read(document: Object, fields: Mapping[str, _Field], said: Said, prefix: str) -> None:
    for key, value in document.items():
        name = f"{prefix}{key}"
        field = fields.get(key)
        if field is None or (field.events and said.event.name not in field.events):
            _unknown(key, name, value, said)
        elif value is not None:
            _check(value, field, name)
            if field.apply is not None:
                field.apply(value, document, said)


def _unknown(key: str, name: str, value: Any, said: Said) -> None:
    rewritten = said.event.rewrites
    if name.startswith(_IN_SPECIFIC) and rewritten and key == updated_key(rewritten):
        if value is not None:
            _check(value, _Field(REWRITTEN_SHAPES.get(rewritten, "anything")), name)
            said.edits.append(Edit(value, field=rewritten))
    elif name == "permissionDecision":
        raise UnreadableError("permissionDecision stands outside hookSpecificOutput, where nobody reads it")
    else:
        said.ignored.append(name)


_IN_SPECIFIC = "hookSpecificOutput."
_UPDATED_KEYS: Mapping[str, str] = {"tool_input": "updatedInput", "tool_response": "updatedToolOutput"}


def updated_key(rewritten: str) -> str:
    """The answer field that replaces a payload field: `updatedPrompt` for prompt, and so for a host's own."""
    own = _UPDATED_KEYS.get(rewritten)
    return own or "updated" + "".join(part[:1].upper() + part[1:] for part in rewritten.split("_"))


def _check(value: Any, field: _Field, name: str) -> None:
    instead = misshaped(value, field.shape)
    if instead is not None:
        raise UnreadableError(f"{name} is {instead}")
    if field.choices and value not in field.choices:
        raise UnreadableError(f"{name} is {str(value)[:40]!r}, not one of {', '.join(field.choices)}")


def _reason(document: Object, key: str, said: Said) -> str:
    value = document.get(key)
    if isinstance(value, str) and value.strip():
        return value
    return f"{said.who} said no and gave no reason"


def _continue(value: bool, document: Object, said: Said) -> None:
    if value:
        return
    reason = document.get("stopReason")
    text = reason if isinstance(reason, str) else ""
    said.halts.append(Halt(text))
    # A run that is to stop must not first do what was just asked about.
    if said.event.may & May.BLOCK and said.policy.block_means in PREVENTING:
        said.votes.append(Vote("block", text or f"{said.who} stopped the run"))


def _decision(value: str, document: Object, said: Said) -> None:
    if value == "block":
        said.votes.append(Vote("block", _reason(document, "reason", said)))
    else:
        reason = document.get("reason")
        said.votes.append(Vote("allow", reason if isinstance(reason, str) else ""))


def _ok(value: bool, document: Object, said: Said) -> None:
    if not value:
        said.votes.append(Vote("block", _reason(document, "reason", said)))


def _alone(_value: str, document: Object, said: Said) -> None:
    if document.get("decision") is None and document.get("ok") is None:
        said.ignored.append("reason")


def _specific(value: Object, _document: Object, said: Said) -> None:
    named = value.get("hookEventName")
    if named is not None and named not in (said.policy.event_name, said.event.name):
        wanted = said.policy.event_name
        raise UnreadableError(f"hookSpecificOutput.hookEventName is {str(named)[:40]!r}, not {wanted!r}")
    _read(value, _SPECIFIC, said, _IN_SPECIFIC)


_VOTES: Mapping[str, VoteKind] = {"allow": "allow", "deny": "block", "ask": "ask", "defer": "defer"}


def _permission(value: str, document: Object, said: Said) -> None:
    kind = _VOTES[value]
    given = document.get("permissionDecisionReason")
    reason = given if isinstance(given, str) else ""
    if kind == "block":
        reason = _reason(document, "permissionDecisionReason", said)
    said.votes.append(Vote(kind, reason))


def _behavior(value: Object, _document: Object, said: Said) -> None:
    _read(value, _DECISION, said, f"{_IN_SPECIFIC}decision.")
    if value.get("behavior") is None:
        raise UnreadableError("hookSpecificOutput.decision has no behavior")


def _allow_or_deny(value: str, document: Object, said: Said) -> None:
    if value == "deny":
        said.votes.append(Vote("block", _reason(document, "message", said)))
    else:
        said.votes.append(Vote(_VOTES[value]))


def _interrupt(value: bool, document: Object, said: Said) -> None:
    if value:
        said.halts.append(Halt(_reason(document, "message", said)))


def _input(value: Object, _document: Object, said: Said) -> None:
    said.edits.append(Edit(value, field="tool_input"))


def _rules(value: list[Object], _document: Object, said: Said) -> None:
    for update in value:
        try:
            said.updates.append(msgspec.convert({**update, "by": ""}, PermissionUpdate))
        except msgspec.ValidationError as error:
            raise UnreadableError(f"updatedPermissions: {error}") from None


def _context(value: str, _document: Object, said: Said) -> None:
    if value.strip():
        said.context.append(ContextItem(value))


def _message(value: str, _document: Object, said: Said) -> None:
    if value.strip():
        said.messages.append(Message(value))


def _watch(value: list[str], _document: Object, said: Said) -> None:
    said.watch.extend(value)


def _seed(value: str, _document: Object, said: Said) -> None:
    said.seeds.append(value)


def _retry(value: bool, _document: Object, said: Said) -> None:
    said.retry = said.retry or value


def _env(value: Mapping[str, str], _document: Object, said: Said) -> None:
    said.env.extend(value.items())


def _answer(value: Any, _document: Object, said: Said) -> None:
    said.answers.append(Answer(value))


def _action(value: str, document: Object, said: Said) -> None:
    content = document.get("content")
    said.answers.append(
        Answer({"action": value} if content is None else {"action": value, "content": content})
    )


_TOP: Mapping[str, _Field] = MappingProxyType(
    {
        "continue": _Field("true or false", _continue),
        "stopReason": _Field("text"),
        "systemMessage": _Field("text", _message),
        "suppressOutput": _Field("true or false"),
        "decision": _Field("text", _decision, choices=("approve", "block")),
        "ok": _Field("true or false", _ok),
        "reason": _Field("text", _alone),
        "hookSpecificOutput": _Field("an object", _specific),
        # The mark of a hook that goes on in the background; whoever ran it has seen to that.
        "async": _Field("true or false"),
        "asyncTimeout": _Field("a number"),
    }
)

_ELICITATIONS = frozenset({"Elicitation", "ElicitationResult"})
_SPECIFIC: Mapping[str, _Field] = MappingProxyType(
    {
        "hookEventName": _Field("text"),
        "permissionDecision": _Field("text", _permission, choices=tuple(_VOTES)),
        "permissionDecisionReason": _Field("text"),
        "decision": _Field("an object", _behavior, frozenset({"PermissionRequest"})),
        "updatedPermissions": _Field("a list of objects", _rules),
        "additionalContext": _Field("text", _context),
        "watchPaths": _Field("a list of texts", _watch),
        "initialUserMessage": _Field("text", _seed),
        "retry": _Field("true or false", _retry),
        "env": _Field("an object of texts", _env),
        "answer": _Field("anything", _answer),
        "worktreePath": _Field("text", _answer, frozenset({"WorktreeCreate"})),
        "summary": _Field("text", _answer, frozenset({"PreCompact"})),
        "displayContent": _Field("text", _answer, frozenset({"MessageDisplay"})),
        "action": _Field("text", _action, _ELICITATIONS, ("accept", "decline", "cancel")),
        "content": _Field("an object", None, _ELICITATIONS),
    }
)

_DECISION: Mapping[str, _Field] = MappingProxyType(
    {
        "behavior": _Field("text", _allow_or_deny, choices=("allow", "deny", "ask")),
        "message": _Field("text"),
        "updatedInput": _Field("an object", _input),
        "updatedPermissions": _Field("a list of objects", _rules),
        "interrupt": _Field("true or false", _interrupt),
    }
)


_NO_REASON = "a hook said no and gave no reason"


def answer(event: EventSpec[Any], outcome: Outcome) -> Told:
    """Always exit 0 with one object, or nothing when there is nothing to say."""
    said, lost = outcome.clipped(event.may)
    top: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    _decide(event, said, top, specific)
    _supply(event, said, specific)
    if specific:
        # Before a stop: of two blocks the first one gives the reason.
        top["hookSpecificOutput"] = {"hookEventName": event.name, **specific}
    if said.halts:
        top["continue"] = False
        if said.stop_reason:
            top["stopReason"] = said.stop_reason
    if said.messages:
        top["systemMessage"] = "\n".join(message.text for message in said.messages)
    if not top:
        return Told(lost=lost)
    try:
        return Told(stdout=written_answer(top), lost=lost)
    except (TypeError, ValueError, OverflowError) as error:
        # What cannot be written down must not let a block pass.
        return Told(2 if said.blocked else 1, stderr=said.reason or str(error), lost=(*lost, "answer"))


def _decide(event: EventSpec[Any], said: Outcome, top: dict[str, Any], specific: dict[str, Any]) -> None:
    vote = said.deciding_vote
    if vote is None:
        return
    reason = vote.reason or (_NO_REASON if vote.kind == "block" else "")
    if event.may & May.PERMIT:
        specific["permissionDecision"] = "deny" if vote.kind == "block" else vote.kind
        if reason:
            specific["permissionDecisionReason"] = reason
    else:
        top.update({"decision": "block", "reason": reason})


def _supply(event: EventSpec[Any], said: Outcome, specific: dict[str, Any]) -> None:
    """Everything that is not a decision."""
    if said.edits and event.rewrites is not None:
        specific[updated_key(event.rewrites)] = said.updated(event.rewrites)
    given: Mapping[str, Any] = {
        "additionalContext": "\n".join(said.context),
        "updatedPermissions": [_unsigned(update) for update in said.permission_updates],
        "watchPaths": list(said.watch_paths),
        "initialUserMessage": said.initial_user_message,
        "retry": said.retry,
        "env": said.env,
    }
    specific.update({key: value for key, value in given.items() if value})
    if said.answers:
        specific["answer"] = said.answer


def _unsigned(update: PermissionUpdate) -> dict[str, Any]:
    told = cast("dict[str, Any]", msgspec.to_builtins(update))
    told.pop("by", None)
    return told
