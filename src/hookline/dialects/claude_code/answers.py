"""The shape of an answer. An object that breaks it is void as a whole; keys nobody knows do no harm."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hookline.dialects.claude_code.events import ROWS, Row
from hookline.dialects.json_text import written_answer
from hookline.dialects.outcome_builder import Gathering
from hookline.dialects.surrogates import whole_text
from hookline.documents.shapes import misshaped
from hookline.model.errors import HooklineError
from hookline.model.events import field_of
from hookline.model.outcome import (
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
from hookline.model.wire import HookReply

Object = Mapping[str, Any]


class UnreadableError(HooklineError):
    """Why an answer cannot be understood."""


class Field(Struct, frozen=True):
    shape: str
    choices: tuple[str, ...] = ()
    required: bool = False


_TEXT: Final = Field("text")
_FLAG: Final = Field("true or false")
_OBJECT: Final = Field("an object")
_PATHS: Final = Field("a list of texts")

TOP: Final[Mapping[str, Field]] = MappingProxyType(
    {
        "continue": _FLAG,
        "suppressOutput": _FLAG,
        "stopReason": _TEXT,
        "decision": Field("text", ("approve", "block")),
        "reason": _TEXT,
        "systemMessage": _TEXT,
        "terminalSequence": _TEXT,
        "hookSpecificOutput": _OBJECT,
    }
)

_CONTEXT: Final = {"additionalContext": _TEXT}
_ELICITED: Final = {"action": Field("text", ("accept", "decline", "cancel")), "content": _OBJECT}

#: What `hookSpecificOutput` may hold, by event. An event that is not here has none.
SPECIFIC: Final[Mapping[str, Mapping[str, Field]]] = MappingProxyType(
    {
        "SessionStart": {
            **_CONTEXT, "initialUserMessage": _TEXT, "sessionTitle": _TEXT, "watchPaths": _PATHS,
            "reloadSkills": _FLAG,
        },
        "Setup": _CONTEXT,
        "UserPromptSubmit": {**_CONTEXT, "sessionTitle": _TEXT, "suppressOriginalPrompt": _FLAG},
        "UserPromptExpansion": {**_CONTEXT, "suppressOriginalPrompt": _FLAG},
        "MessageDisplay": {"displayContent": _TEXT},
        "PreToolUse": {
            **_CONTEXT, "permissionDecision": Field("text", ("allow", "deny", "ask", "defer")),
            "permissionDecisionReason": _TEXT, "updatedInput": _OBJECT,
        },
        "PermissionRequest": {"decision": Field("an object", required=True)},
        "PermissionDenied": {"retry": _FLAG},
        "PostToolUse": {
            **_CONTEXT, "updatedToolOutput": Field("anything"), "updatedMCPToolOutput": Field("anything"),
            "classifierContext": _TEXT,
        },
        "PostToolUseFailure": _CONTEXT,
        "PostToolBatch": _CONTEXT,
        "Notification": _CONTEXT,
        "SubagentStart": _CONTEXT,
        "SubagentStop": _CONTEXT,
        "Stop": _CONTEXT,
        "CwdChanged": {"watchPaths": _PATHS},
        "FileChanged": {"watchPaths": _PATHS},
        "WorktreeCreate": {"worktreePath": Field("text", required=True)},
        "PreModelSwitch": {
            "permissionDecision": Field("text", ("allow", "deny", "ask")), "permissionDecisionReason": _TEXT,
        },
        "PostModelSwitch": _CONTEXT,
        "Elicitation": _ELICITED,
        "ElicitationResult": _ELICITED,
    }
)  # fmt: skip

_ALLOWED: Final = {"updatedInput": _OBJECT, "updatedPermissions": Field("a list of objects")}
_DENIED: Final = {"message": _TEXT, "interrupt": _FLAG}
_BEHAVIOUR: Final = {"behavior": Field("text", ("allow", "deny"), required=True)}


def check(document: Object, event_name: str) -> None:
    """Raises `UnreadableError` that names the field."""
    _check(document, TOP, "")
    specific = document.get("hookSpecificOutput")
    if specific is None:
        return
    named = specific.get("hookEventName")
    if named is None:
        raise UnreadableError("hookSpecificOutput.hookEventName is missing")
    instead = misshaped(named, "text")
    if instead is not None:
        raise UnreadableError(f"hookSpecificOutput.hookEventName is {instead}")
    if named not in SPECIFIC:
        raise UnreadableError(f"hookSpecificOutput.hookEventName is {named[:40]!r}, which has no such output")
    if named != event_name:
        raise UnreadableError(f"hookSpecificOutput.hookEventName is {named!r}, not {event_name!r}")
    _check(specific, SPECIFIC[event_name], "hookSpecificOutput.")
    if event_name == "PermissionRequest":
        decision = specific["decision"]
        own = _ALLOWED if decision.get("behavior") == "allow" else _DENIED
        _check(decision, {**_BEHAVIOUR, **own}, "hookSpecificOutput.decision.")


def _check(document: Object, fields: Mapping[str, Field], prefix: str) -> None:
    for key, field in fields.items():
        if key not in document:
            if field.required:
                raise UnreadableError(f"{prefix}{key} is missing")
            continue
        value = document[key]
        instead = misshaped(value, field.shape)
        if instead is not None:
            raise UnreadableError(f"{prefix}{key} is {instead}")
        if field.choices and value not in field.choices:
            raise UnreadableError(
                f"{prefix}{key} is {str(value)[:40]!r}, not one of {', '.join(field.choices)}"
            )


#: What the client says for a hook that blocks and gives no reason.
NO_REASON: Final = "Blocked by hook"
#: Where text for the model keeps the turn from ending, as a block does.
TEXT_GOES_ON: Final = frozenset({"Stop", "SubagentStop"})
#: Where stopping the run means that the prompt is not even sent.
_PROMPTS: Final = frozenset({"UserPromptSubmit", "UserPromptExpansion"})


class Said(Gathering):
    """An answer while it is being read."""

    event_name: str
    row: Row
    payload: Any

    def outcome(self) -> Outcome:
        if self.halts and self.event_name in TEXT_GOES_ON:
            self.votes = []  # ending the turn beats going on with it
        return super().outcome()


def read_output(document: Object, event_name: str, payload: Any) -> tuple[Outcome, tuple[str, ...]]:
    """What the document says, and the names of what nobody reads here. Raises `UnreadableError`."""
    check(document, event_name)
    said = Said(event_name, ROWS[event_name], payload)
    for key, value in document.items():
        apply = _TOP.get(key)
        if apply is not None:
            apply(value, document, said)
        elif key not in _SILENT:
            said.ignored.append(key)
    return said.outcome(), tuple(said.ignored)


def read_late(document: Object) -> tuple[Outcome, tuple[str, ...]]:
    """The answer of a hook nobody waits for: two texts are read, and what has another shape is dropped."""
    specific: Any = document.get("hookSpecificOutput")
    text: Any = specific.get("additionalContext") if isinstance(specific, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] any JSON object
    note = document.get("systemMessage")
    ignored = [key for key in document if key not in ("hookSpecificOutput", "systemMessage", *_SILENT)]
    if isinstance(specific, Mapping):
        inner: list[Any] = list(specific)  # pyright: ignore[reportUnknownArgumentType] any JSON object
        ignored += [str(key) for key in inner if key not in ("hookEventName", "additionalContext")]
    return Outcome(
        context_items=(ContextItem(text),) if isinstance(text, str) and text.strip() else (),
        messages=(Message(note),) if isinstance(note, str) and note.strip() else (),
    ), tuple(ignored)


def vote_block(said: Said, reason: Any) -> None:
    said.votes.append(Vote("block", reason if isinstance(reason, str) and reason.strip() else NO_REASON))


def halt(said: Said, reason: Any) -> None:
    text = reason if isinstance(reason, str) else ""
    said.halts.append(Halt(text))
    if said.event_name in _PROMPTS:
        said.votes.append(Vote("block", text or NO_REASON))


Apply = Callable[[Any, Object, Said], None]


def _continue(value: bool, document: Object, said: Said) -> None:
    if value:
        return
    if "continue" in said.row.reads:
        halt(said, document.get("stopReason"))
    else:
        said.ignored.append("continue")


def _message(value: str, _document: Object, said: Said) -> None:
    if "systemMessage" not in said.row.reads:
        said.ignored.append("systemMessage")
    elif not value.strip():
        return
    elif said.event_name == "DirectoryAdded" and field_of(said.payload, "source") == "slash_command":
        said.context.append(ContextItem(value))
    else:
        said.messages.append(Message(value))


def _decision(value: str, document: Object, said: Said) -> None:
    if not said.row.decision:
        said.ignored.append("decision")
    elif value == "block":
        vote_block(said, document.get("reason"))
    elif said.event_name == "PreToolUse":
        said.votes.append(Vote("allow", document.get("reason", "")))


def _specific(value: Object, _document: Object, said: Said) -> None:
    for key, inner in value.items():
        apply = _INNER.get(key) if key in SPECIFIC[said.event_name] else None
        if apply is not None:
            apply(inner, value, said)
        elif key not in ("hookEventName", "permissionDecisionReason", "content"):
            said.ignored.append(f"hookSpecificOutput.{key}")


_VOTES: Final[Mapping[str, VoteKind]] = MappingProxyType(
    {"allow": "allow", "deny": "block", "ask": "ask", "defer": "defer"}
)


def _permission(value: str, document: Object, said: Said) -> None:
    reason = document.get("permissionDecisionReason", "")
    if value == "deny":
        vote_block(said, reason)
    else:
        said.votes.append(Vote(_VOTES[value], reason))


def _behaviour(value: Object, _document: Object, said: Said) -> None:
    if value["behavior"] == "deny":
        vote_block(said, value.get("message"))
        if value.get("interrupt"):
            halt(said, value.get("message"))
        return
    said.votes.append(Vote("allow"))
    if "updatedInput" in value:
        said.edits.append(Edit(value["updatedInput"]))
    for update in value.get("updatedPermissions", ()):
        try:
            said.updates.append(msgspec.convert({**update, "by": ""}, PermissionUpdate))
        except msgspec.ValidationError as error:
            raise UnreadableError(f"updatedPermissions: {error}") from None


def _input(value: Object, _document: Object, said: Said) -> None:
    said.edits.append(Edit(value))


def _is_mcp(said: Said) -> bool:
    name = field_of(said.payload, "tool_name")
    return isinstance(name, str) and name.startswith("mcp__")


def _output(value: Any, _document: Object, said: Said) -> None:
    """A result of another shape than the tool's would not be understood, so the client drops it."""
    before = field_of(said.payload, "tool_response")
    if _is_mcp(said) or before is None or isinstance(before, Mapping) == isinstance(value, Mapping):
        said.edits.append(Edit(value))
    else:
        said.ignored.append("hookSpecificOutput.updatedToolOutput (not the shape of this tool's result)")


def _mcp_output(value: Any, document: Object, said: Said) -> None:
    if _is_mcp(said) and "updatedToolOutput" not in document:
        said.edits.append(Edit(value))
    else:
        said.ignored.append("hookSpecificOutput.updatedMCPToolOutput")


def _context(value: str, _document: Object, said: Said) -> None:
    if not value.strip():
        return
    said.context.append(ContextItem(value))
    if said.event_name in TEXT_GOES_ON:
        said.votes.append(Vote("block"))


def _watch(value: list[str], _document: Object, said: Said) -> None:
    said.watch.extend(value)


def _seed(value: str, _document: Object, said: Said) -> None:
    said.seeds.append(value)


def _retry(value: bool, _document: Object, said: Said) -> None:
    said.retry = value


def _answer(value: Any, _document: Object, said: Said) -> None:
    said.answers.append(Answer(value))


def _action(value: str, document: Object, said: Said) -> None:
    answer = {"action": value, "content": document["content"]} if "content" in document else {"action": value}
    said.answers.append(Answer(answer))


#: Read together with another field, or by the client's screen alone.
_SILENT: Final = frozenset({"stopReason", "reason", "suppressOutput", "async", "asyncTimeout"})
_TOP: Final[Mapping[str, Apply]] = MappingProxyType(
    {
        "continue": _continue,
        "systemMessage": _message,
        "decision": _decision,
        "hookSpecificOutput": _specific,
    }
)
_INNER: Final[Mapping[str, Apply]] = MappingProxyType(
    {
        "permissionDecision": _permission,
        "decision": _behaviour,
        "updatedInput": _input,
        "updatedToolOutput": _output,
        "updatedMCPToolOutput": _mcp_output,
        "additionalContext": _context,
        "watchPaths": _watch,
        "initialUserMessage": _seed,
        "retry": _retry,
        "worktreePath": _answer,
        "displayContent": _answer,
        "action": _action,
    }
)


class _Draft(Struct):
    """The answer while it is being written."""

    event_name: str
    row: Row
    outcome: Outcome
    top: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    lost: list[str] = []
    #: Text for the model where only plain stdout is read as such.
    plain: str = ""

    @property
    def ends_turn(self) -> bool:
        """A stop where a block would mean to go on: the client cannot do both, and ends the turn."""
        return self.outcome.stop and self.event_name in TEXT_GOES_ON

    def can(self, key: str) -> bool:
        return key in SPECIFIC.get(self.event_name, {})


def answer(event_name: str, outcome: Outcome) -> HookReply:
    """Everything the event can be told; the rest by name in `lost`."""
    row = ROWS.get(event_name)
    if row is None or not row.heard:
        return HookReply(lost=_everything(outcome))
    draft = _Draft(event_name, row, outcome)
    for write in _PARTS:
        write(draft)
    if outcome.blocked and not _block_is_told(draft):
        if row.exit_2_blocks and not draft.ends_turn:
            return _by_exit_code(draft)
        draft.lost.append("block")
    if event_name == "WorktreeCreate" and outcome.answers:
        return HookReply(stdout=whole_text(f"{outcome.answer}\n"), lost=tuple(draft.lost))
    if draft.plain and not draft.top:
        return HookReply(stdout=whole_text(draft.plain), lost=tuple(draft.lost))
    if draft.specific:
        draft.top["hookSpecificOutput"] = {"hookEventName": event_name, **draft.specific}
    return HookReply(stdout=_json(draft.top), lost=tuple(draft.lost))


def _json(document: dict[str, Any]) -> str:
    return written_answer(document) if document else ""


def _everything(outcome: Outcome) -> tuple[str, ...]:
    parts = cast("dict[str, Any]", msgspec.to_builtins(outcome))
    return tuple(name for name, value in parts.items() if value)


def _by_exit_code(draft: _Draft) -> HookReply:
    """Where no field says no, the exit code does; the client still reads what stands on stdout."""
    code = 1 if draft.event_name == "WorktreeCreate" else 2
    if draft.event_name == "WorktreeCreate" and draft.outcome.answers:
        draft.lost.append("answer")
    if draft.specific:
        draft.top["hookSpecificOutput"] = {"hookEventName": draft.event_name, **draft.specific}
    return HookReply(code, _json(draft.top), whole_text(draft.outcome.reason or NO_REASON), tuple(draft.lost))


def _block_is_told(draft: _Draft) -> bool:
    decided = draft.specific.get("permissionDecision") == "deny" or "decision" in draft.specific
    told_as_text = draft.event_name in TEXT_GOES_ON and "additionalContext" in draft.specific
    return decided or "decision" in draft.top or told_as_text


def _votes(draft: _Draft) -> None:
    outcome, vote = draft.outcome, draft.outcome.deciding_vote
    if vote is None:
        return
    decision = "deny" if vote.kind == "block" else vote.kind
    if draft.can("permissionDecision"):
        if draft.event_name == "PreModelSwitch" and decision == "defer":
            draft.lost.append("defer")
            decision = "ask"
        draft.specific["permissionDecision"] = decision
        if vote.reason:
            draft.specific["permissionDecisionReason"] = vote.reason
    elif draft.event_name == "PermissionRequest":
        _request(draft, decision)
    elif vote.kind != "block":
        draft.lost.append(vote.kind)
    elif draft.row.decision and not draft.ends_turn and (outcome.reason or not outcome.context_items):
        draft.top |= {"decision": "block", "reason": outcome.reason or NO_REASON}


def _request(draft: _Draft, decision: str) -> None:
    outcome = draft.outcome
    if decision == "deny":
        denied: dict[str, Any] = {"behavior": "deny", "message": outcome.reason or NO_REASON}
        draft.specific["decision"] = denied | {"interrupt": True} if outcome.stop else denied
        if outcome.edits:
            draft.lost.append("rewrite")
        if outcome.permission_updates:
            draft.lost.append("permission_updates")
    elif decision == "allow":
        allowed: dict[str, Any] = {"behavior": "allow"}
        if outcome.updated_input is not None:
            allowed["updatedInput"] = outcome.updated_input
        elif outcome.edits:
            draft.lost.append("rewrite")
        if outcome.permission_updates:
            updates = cast("list[dict[str, Any]]", msgspec.to_builtins(outcome.permission_updates))
            allowed["updatedPermissions"] = [_unsigned(update) for update in updates]
        draft.specific["decision"] = allowed
    else:
        draft.lost.append(decision)


def _unsigned(update: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in update.items() if key != "by"}


def _edits(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.edits or (draft.event_name == "PermissionRequest" and "decision" in draft.specific):
        return
    for key, value in (
        ("updatedInput", outcome.updated_input),
        ("updatedToolOutput", outcome.updated_output),
    ):
        if draft.can(key) and value is not None:
            draft.specific[key] = value
            return
    draft.lost.append("rewrite")


def _context_answering(draft: _Draft) -> None:
    texts = draft.outcome.context
    if not texts:
        return
    joined = "\n".join(texts)
    if draft.can("additionalContext") and _context_is_heard(draft, joined):
        draft.specific["additionalContext"] = joined
    elif draft.event_name == "DirectoryAdded":
        draft.top["systemMessage"] = joined
    elif _plain_is_heard(draft, joined):
        draft.plain = joined
    else:
        draft.lost.append("context")


def _context_is_heard(draft: _Draft, text: str) -> bool:
    """At the end of a turn text means to go on with it, so there it needs a block that says so too."""
    if draft.event_name in TEXT_GOES_ON:
        return bool(text.strip()) and draft.outcome.blocked and not draft.ends_turn
    return draft.event_name != "Notification"


def _plain_is_heard(draft: _Draft, text: str) -> bool:
    """Beside a decision there is no place for it, and what begins like an answer is read as one."""
    alone = not draft.top and not draft.specific and not draft.outcome.blocked
    return draft.row.plain_context and alone and bool(text.strip()) and not text.lstrip().startswith("{")


def _messages(draft: _Draft) -> None:
    texts = [message.text for message in draft.outcome.messages if message.text]
    if not texts:
        return
    if "systemMessage" in draft.row.reads and "systemMessage" not in draft.top:
        draft.top["systemMessage"] = "\n".join(texts)
    else:
        draft.lost.append("messages")


def _halts(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.stop or (draft.event_name == "PermissionRequest" and outcome.blocked):
        return
    if "continue" not in draft.row.reads:
        draft.lost.append("stop")
        return
    draft.top["continue"] = False
    if outcome.stop_reason:
        draft.top["stopReason"] = outcome.stop_reason


def _answers(draft: _Draft) -> None:
    outcome = draft.outcome
    if not outcome.answers or draft.event_name == "WorktreeCreate":
        return
    value = outcome.answer
    if draft.can("displayContent") and isinstance(value, str):
        draft.specific["displayContent"] = value
    elif draft.can("action") and isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        draft.specific |= {key: given[key] for key in ("action", "content") if key in given}
    else:
        draft.lost.append("answer")


def _others(draft: _Draft) -> None:
    outcome = draft.outcome
    for name, key, value in (
        ("watch_paths", "watchPaths", list(outcome.watch_paths)),
        ("initial_user_message", "initialUserMessage", outcome.initial_user_message),
        ("retry", "retry", outcome.retry),
    ):
        if value and draft.can(key):
            draft.specific[key] = value
        elif value:
            draft.lost.append(name)
    if outcome.env_items:
        draft.lost.append("env")
    if outcome.permission_updates and "decision" not in draft.specific:
        draft.lost.append("permission_updates")


_PARTS: Final[tuple[Callable[[_Draft], None], ...]] = (
    _votes, _edits, _context_answering, _messages, _halts, _answers, _others,
)  # fmt: skip
