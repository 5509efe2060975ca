"""An answer that has its shape, as an outcome. What nobody reads at this event is listed as ignored."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from hookline.dialects.claude_code.schema import SPECIFIC, Object, UnreadableError, check
from hookline.dialects.claude_code.vocabulary import ROWS, Row
from hookline.dialects.gathering import Gathering
from hookline.matching.fields import read
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

#: What the client says for a hook that blocks and gives no reason.
NO_REASON: Final = "Blocked by hook"
#: Where text for the model keeps the turn from ending, as a block does.
TEXT_GOES_ON: Final = frozenset({"Stop", "SubagentStop"})
#: Where stopping the run means that the prompt is not even sent.
_PROMPTS: Final = frozenset({"UserPromptSubmit", "UserPromptExpansion"})


class Said(Gathering):
    """An answer while it is being read."""

    spelled: str
    row: Row
    payload: Any

    def outcome(self) -> Outcome:
        if self.halts and self.spelled in TEXT_GOES_ON:
            self.votes = []  # ending the turn beats going on with it
        return super().outcome()


def read_output(document: Object, spelled: str, payload: Any) -> tuple[Outcome, tuple[str, ...]]:
    """What the document says, and the names of what nobody reads here. Raises `UnreadableError`."""
    check(document, spelled)
    said = Said(spelled, ROWS[spelled], payload)
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
    if said.spelled in _PROMPTS:
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
    elif said.spelled == "DirectoryAdded" and read(said.payload, "source") == "slash_command":
        said.context.append(ContextItem(value))
    else:
        said.messages.append(Message(value))


def _decision(value: str, document: Object, said: Said) -> None:
    if not said.row.decision:
        said.ignored.append("decision")
    elif value == "block":
        vote_block(said, document.get("reason"))
    elif said.spelled == "PreToolUse":
        said.votes.append(Vote("allow", document.get("reason", "")))


def _specific(value: Object, _document: Object, said: Said) -> None:
    for key, inner in value.items():
        apply = _INNER.get(key) if key in SPECIFIC[said.spelled] else None
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
    name = read(said.payload, "tool_name")
    return isinstance(name, str) and name.startswith("mcp__")


def _output(value: Any, _document: Object, said: Said) -> None:
    """A result of another shape than the tool's would not be understood, so the client drops it."""
    before = read(said.payload, "tool_response")
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
    if said.spelled in TEXT_GOES_ON:
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
