"""The shape of an answer. An object that breaks it is void as a whole; keys nobody knows do no harm."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hookline.documents.shapes import misshaped
from hookline.model.errors import HooklineError

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


def check(document: Object, spelled: str) -> None:
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
    if named != spelled:
        raise UnreadableError(f"hookSpecificOutput.hookEventName is {named!r}, not {spelled!r}")
    _check(specific, SPECIFIC[spelled], "hookSpecificOutput.")
    if spelled == "PermissionRequest":
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
