"""How people's own entries are written for an agent: what `hookline convert` must know beyond what a reader reads."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

#: Fields of an answer by their path, each with values that a hook may print there; of several texts a hook says one.
Answers = Mapping[str, tuple[Any, ...]]


class EntryForm(Struct, frozen=True, kw_only=True):
    #: The command by which the agent runs a line; {} is the line, quoted.
    line: str
    #: What hooks may print as JSON.
    answers: Answers
    #: The matcher that means exactly these tools; {} is their names with | between them.
    exact_names: str = "{}"
    #: Whether a matcher that is not about tools may be a list.
    lists_values: bool = True
    #: Whether a timeout must be a whole number, in seconds or whatever the unit is.
    whole_timeouts: bool = False
    #: Seconds that the agent waits at most, by its own event names.
    longest: Mapping[str, float] = MappingProxyType({})
    #: Further fields that its entries read.
    fields: frozenset[str] = frozenset()
    #: The exit status that a hook must have where another agent only notes a failure. None: any but 0 and 2.
    failed: int | None = None
    #: What is peculiar to its events, as the rest of a sentence that begins with their names.
    remarks: Mapping[str, str] = MappingProxyType({})
    #: What the user does before the entries run.
    trust_step: str = ""


#: What hooks of the Claude family print.
FAMILY_ANSWERS: Answers = MappingProxyType(
    {
        "decision": ("block", "approve"), "reason": ("why",), "continue": (False,), "stopReason": ("why",),
        "suppressOutput": (True,), "systemMessage": ("said",),
        "hookSpecificOutput.permissionDecision": ("allow", "deny", "ask", "defer"),
        "hookSpecificOutput.permissionDecisionReason": ("why",),
        "hookSpecificOutput.updatedInput": ({"command": "true"},),
        "hookSpecificOutput.additionalContext": ("text",),
        "hookSpecificOutput.updatedToolOutput": ("text",), "hookSpecificOutput.updatedMCPToolOutput": ("text",),
        "hookSpecificOutput.decision.behavior": ("allow", "deny"),
        "hookSpecificOutput.decision.message": ("why",),
        "hookSpecificOutput.decision.updatedInput": ({"command": "true"},),
        "hookSpecificOutput.decision.updatedPermissions": ([],),
        "hookSpecificOutput.decision.interrupt": (True,),
        "hookSpecificOutput.initialUserMessage": ("text",), "hookSpecificOutput.watchPaths": ([],),
        "hookSpecificOutput.sessionTitle": ("text",), "hookSpecificOutput.suppressOriginalPrompt": (True,),
        "hookSpecificOutput.retry": (True,), "hookSpecificOutput.worktreePath": ("text",),
        "hookSpecificOutput.hookEventName": ("",), "async": (True,), "terminalSequence": ("text",),
    }
)  # fmt: skip
