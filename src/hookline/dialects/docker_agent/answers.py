"""What a hook answered, read as Docker Agent reads it.

Keys are found whatever their case and the last of two equal ones counts, because its JSON reader does so. A
value of the wrong type, an unknown decision or a second object make the whole answer unreadable.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import msgspec

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.docker_agent.events import INSTRUCTIONS, NEVER_APPROVES
from hookline.dialects.docker_agent.payload import encoded_answer, transient_messages
from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.dialects.outcome_builder import Gathering
from hookline.documents.shapes import misshaped
from hookline.model.errors import HooklineError
from hookline.model.events import May
from hookline.model.outcome import GO_ON, Answer, ContextItem, Edit, Message, Outcome, Vote, VoteKind
from hookline.model.wire import Call, Told

_TOP: Mapping[str, str] = MappingProxyType(
    {
        "continue": "true or false",
        "stop_reason": "text",
        "suppress_output": "true or false",
        "system_message": "text",
        "decision": "text",
        "reason": "text",
        "hook_specific_output": "an object",
    }
)
_SPECIFIC: Mapping[str, str] = MappingProxyType(
    {
        "hook_event_name": "text",
        "permission_decision": "text",
        "permission_decision_reason": "text",
        "updated_input": "an object",
        "additional_context": "text",
        "instruction_context": "a list of objects",
        "summary": "text",
        "updated_messages": "a list of objects",
        "updated_tool_response": "text",
        "metadata": "an object of texts",
    }
)
#: The key that replaces a payload field.
REWRITES: Mapping[str, str] = MappingProxyType(
    {
        "tool_input": "updated_input",
        "messages": "updated_messages",
        "tool_response": "updated_tool_response",
    }
)
_VOTES: Mapping[str, VoteKind] = {"allow": "allow", "ask": "ask", "deny": "block"}


class UnreadableError(HooklineError):
    """Why an answer cannot be understood."""


def json_object(text: str) -> Mapping[str, Any]:
    """Exactly one object. Raises `UnreadableError` and nothing else."""
    try:
        value = read_lenient(text)
    except JsonTextError as error:
        raise UnreadableError(f"its output is not one JSON object: {error}") from None
    if not isinstance(value, dict):
        raise UnreadableError("its output is not a JSON object")
    return cast("dict[str, Any]", value)


def read_answer(document: Mapping[str, Any], call: Call, *, strict: bool) -> tuple[Outcome, tuple[str, ...]]:
    """What the document says, and the names of what nobody reads here. Raises `UnreadableError`."""
    said = Gathering()
    top = _known(document, _TOP, "", said.ignored)
    specific = _known(top.get("hook_specific_output", {}), _SPECIFIC, "hook_specific_output.", said.ignored)
    _refuse_unknown_words(top, specific)
    if strict:
        _refuse_what_strict_refuses(call, top, specific, said.ignored)
    _blocks(call, top, said)
    _permission(call, specific, said)
    if top.get("system_message"):
        said.messages.append(Message(top["system_message"]))
    _text(call, specific, said)
    _rewrite(call, specific, said)
    _extras(call, specific, said)
    outcome = said.outcome()
    return GO_ON if outcome == GO_ON else outcome, tuple(said.ignored)


def _known(
    document: Mapping[str, Any], shapes: Mapping[str, str], prefix: str, ignored: list[str]
) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for key, value in document.items():
        name = key if key in shapes else str(key).lower()
        shape = shapes.get(name)
        if shape is None:
            ignored.append(f"{prefix}{key}"[:80])
        elif value is not None:
            instead = misshaped(value, shape)
            if instead is not None:
                raise UnreadableError(f"{prefix}{name} is {instead}")
            known[name] = value
    return known


def _refuse_unknown_words(top: Mapping[str, Any], specific: Mapping[str, Any]) -> None:
    decision = top.get("decision", "")
    if decision not in ("", "block"):
        raise UnreadableError(f"decision is {decision[:40]!r}, and can only be block")
    permission = specific.get("permission_decision", "")
    if permission and permission not in _VOTES:
        raise UnreadableError(f"permission_decision is {permission[:40]!r}, not one of {', '.join(_VOTES)}")


def _refuse_what_strict_refuses(
    call: Call, top: Mapping[str, Any], specific: Mapping[str, Any], unknown: list[str]
) -> None:
    event_name = call.hook.policy.event_name
    if unknown:
        raise UnreadableError(f"strict_output: no field is called {unknown[0]!r}")
    if top.get("suppress_output"):
        raise UnreadableError("strict_output: suppress_output is not supported")
    if _asks_to_block(top) and not call.hook.policy.may & May.BLOCK:
        raise UnreadableError(f"strict_output: {event_name} cannot block")
    named = specific.get("hook_event_name")
    if named and named != event_name:
        raise UnreadableError(f"strict_output: hook_event_name is {named[:40]!r}, not {event_name}")
    supported = supported_fields(call)
    for key, value in specific.items():
        empty = value == "" and key != "updated_tool_response"
        if key not in supported and key != "hook_event_name" and not empty:
            raise UnreadableError(f"strict_output: {event_name} does not support {key}")


def supported_fields(call: Call) -> set[str]:
    """The keys of hook_specific_output that are read at this event."""
    policy, may = call.hook.policy, call.hook.policy.may & call.event.may
    supported: set[str] = set()
    if may & May.PERMIT:
        supported |= {"permission_decision", "permission_decision_reason"}
    if may & May.REWRITE:
        supported.add(REWRITES[call.event.rewrites or ""])
    if may & May.CONTEXT:
        supported.add("additional_context")
    if policy.event_name in INSTRUCTIONS:
        supported.add("instruction_context")
    if may & May.ANSWER:
        supported.add("summary")
    if policy.event_name in ("permission_request", "tool_guard"):
        supported.add("metadata")
    return supported


def _asks_to_block(top: Mapping[str, Any]) -> bool:
    return top.get("continue") is False or top.get("decision") == "block"


def _blocks(call: Call, top: Mapping[str, Any], said: Gathering) -> None:
    if not _asks_to_block(top):
        return
    if not call.hook.policy.may & May.BLOCK:
        said.messages.append(cannot_block(call))
        said.ignored.append("block")
        return
    given = [top.get("stop_reason", "")] if top.get("continue") is False else []
    given += [top.get("reason", "")] if top.get("decision") == "block" else []
    reasons = [reason for reason in given if reason.strip()]
    said.votes.append(Vote("block", "\n".join(reasons) or no_reason(call)))


def cannot_block(call: Call) -> Message:
    event_name = call.hook.policy.event_name
    return Message(f"{event_name} hook {call.hook.name} tried to block, but {event_name} cannot block")


def no_reason(call: Call) -> str:
    return f"hook {call.hook.name} said no and gave no reason"


def _permission(call: Call, specific: Mapping[str, Any], said: Gathering) -> None:
    decision = specific.get("permission_decision", "")
    if not decision:
        return
    event_name = call.hook.policy.event_name
    if not call.hook.policy.may & May.PERMIT:
        text = (
            f"{event_name} hook {call.hook.name} gave a permission_decision, which {event_name} does not take"
        )
        said.messages.append(Message(text))
        said.ignored.append("permission_decision")
    elif decision == "allow" and event_name in NEVER_APPROVES:
        said.ignored.append("allow")
    else:
        reason = specific.get("permission_decision_reason", "")
        kind = _VOTES[decision]
        said.votes.append(Vote(kind, reason or (no_reason(call) if kind == "block" else "")))


def _text(call: Call, specific: Mapping[str, Any], said: Gathering) -> None:
    texts = [specific.get("additional_context", "")]
    if call.hook.policy.event_name in INSTRUCTIONS:
        texts += [_instruction(each) for each in specific.get("instruction_context", ())]
    elif specific.get("instruction_context"):
        said.ignored.append("instruction_context")
    kept = [text for text in texts if text.strip()]
    if kept and not call.hook.policy.may & call.event.may & May.CONTEXT:
        said.ignored.append("additional_context")
    else:
        said.context.extend(ContextItem(text) for text in kept)


def _instruction(item: Mapping[str, Any]) -> str:
    content = item.get("content", "")
    gone = item.get("removed") is True or item.get("unavailable") is True
    return content if isinstance(content, str) and not gone else ""


def _rewrite(call: Call, specific: Mapping[str, Any], said: Gathering) -> None:
    here = REWRITES.get(call.event.rewrites or "") if call.hook.policy.may & May.REWRITE else None
    for key in REWRITES.values():
        value = specific.get(key)
        if value is None:
            continue
        if key != here:
            said.ignored.append(key)
        elif key == "updated_messages":
            if value:
                said.edits.append(Edit(_without_transient(value, call, said)))
        else:
            said.edits.append(Edit(value, patch=key == "updated_input"))


def _without_transient(messages: list[Any], call: Call, said: Gathering) -> list[Any]:
    """The host adds that text to every request itself, so a rewrite must not hold it as well."""
    kept = list(messages)
    for shown in transient_messages(call.payload):
        if shown in kept:
            kept.reverse()
            kept.remove(shown)
            kept.reverse()
        else:
            said.ignored.append("change of turn_start text")
    return kept


def _extras(call: Call, specific: Mapping[str, Any], said: Gathering) -> None:
    if specific.get("summary"):
        if call.hook.policy.may & May.ANSWER:
            said.answers.append(Answer(specific["summary"]))
        else:
            said.ignored.append("summary")
    if specific.get("metadata"):
        said.ignored.append("metadata")


#: Parts of an outcome Docker Agent has no key for.
_NOWHERE = ("permission_updates", "watch_paths", "seeds", "env_items")
_LABELS = {"seeds": "initial_user_message", "env_items": "env"}


def answer_to(own_event: DialectEvent, outcome: Outcome) -> Told:
    """Always exit 0 with one object, or nothing when there is nothing to say."""
    telling = _Telling(own_event, outcome)
    telling.verdict()
    telling.text()
    telling.rewrite()
    telling.the_rest()
    if telling.specific:
        telling.top["hook_specific_output"] = {"hook_event_name": own_event.name, **telling.specific}
    stdout = encoded_answer(telling.top) if telling.top else ""
    return Told(0, stdout, lost=tuple(telling.lost))


class _Telling:
    """An answer being put together."""

    def __init__(self, own_event: DialectEvent, outcome: Outcome) -> None:
        self._name = own_event.name
        self._event = own_event.event
        self._may = own_event.policy.may & own_event.event.may
        self._outcome = outcome
        self.top: dict[str, Any] = {}
        self.specific: dict[str, Any] = {}
        self.lost: list[str] = []

    def verdict(self) -> None:
        permission, reason = self._outcome.permission, self._outcome.reason or ""
        if self._outcome.stop:
            self.lost.append("stop")
            if self._may & May.BLOCK:
                permission, reason = "deny", reason or self._outcome.stop_reason or "the run is to stop"
        if permission is None:
            return
        if self._may & May.PERMIT and not (permission == "allow" and self._name in NEVER_APPROVES):
            self._permit(permission, reason)
        else:
            self._stop(permission, reason)

    def _permit(self, permission: str, reason: str) -> None:
        if permission == "defer":
            self.lost.append("defer")
        self.specific["permission_decision"] = "ask" if permission == "defer" else permission
        if reason:
            self.specific["permission_decision_reason"] = reason

    def _stop(self, permission: str, reason: str) -> None:
        """Where there is no decision to give: a denial is a block, and nothing else can be said."""
        if permission != "deny":
            self.lost.append(permission)
        if permission in ("ask", "defer") and self._event.may & May.PERMIT:
            # What nobody can be asked about under this name must not happen.
            permission, reason = "deny", reason or "this needs the user's permission"
        if permission == "deny" and self._may & May.BLOCK:
            self.top.update({"decision": "block", "reason": reason})
        elif permission == "deny":
            self.lost.append("block")

    def text(self) -> None:
        texts = self._outcome.context
        if texts and self._may & May.CONTEXT:
            self.specific["additional_context"] = "\n".join(texts)
        elif texts:
            self.lost.append("context")
        if self._outcome.messages:
            self.top["system_message"] = "\n".join(message.text for message in self._outcome.messages)

    def rewrite(self) -> None:
        if not self._outcome.edits:
            return
        field = self._event.rewrites or ""
        value = self._outcome.updated(field)
        if value is None or not self._may & May.REWRITE or not _fits(field, value):
            self.lost.append("rewrite")
        else:
            self.specific[REWRITES[field]] = value
            if field == "tool_input" and not all(edit.patch for edit in self._outcome.edits):
                self.lost.append("removal of keys")  # what is told is laid over the input that is there

    def the_rest(self) -> None:
        answer = self._outcome.answer
        if isinstance(answer, str) and answer and self._may & May.ANSWER:
            self.specific["summary"] = answer
        elif self._outcome.answers:
            self.lost.append("answer")
        self.lost.extend(_LABELS.get(name, name) for name in _NOWHERE if getattr(self._outcome, name))
        if self._outcome.retry:
            self.lost.append("retry")


def _fits(field: str, value: Any) -> bool:
    """Whether it can be said here: text for a result, an object or a list for the others."""
    try:
        plain = msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError):
        return False
    if field == "tool_response":
        return isinstance(plain, str)
    if field == "tool_input":
        return isinstance(plain, dict)
    return isinstance(plain, list) and plain != []  # an empty list is read as no rewrite
