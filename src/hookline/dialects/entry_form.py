"""How people's own entries are written for an agent: what `hookline convert` must know beyond what a reader reads."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.raw import Exited, RawResult

#: Fields of an answer by their path, each with values that a hook may print there; of several texts a hook says one.
Answers = Mapping[str, tuple[Any, ...]]


#: Said in place of a hook that denies and does not say why.
_UNSAID = "a hook said no"


class Ending(Struct, frozen=True):
    """What a line does after the program that it runs, so that its end is read as the program's own agent reads it."""

    #: The status in place of any but 0 and 2.
    failed: int | None = None
    #: Whether something is said on stderr with 2.
    says: bool = False

    def line(self, line: str) -> str:
        if not self:
            return line
        denied = f"{{ echo '{_UNSAID}' >&2; exit 2; }}" if self.says else "exit 2"
        end = "exit $s" if self.failed is None else f"exit {self.failed}"
        return f"{line} || {{ s=$?; [ $s = 2 ] && {denied}; {end}; }}"

    def of(self, raw: RawResult) -> RawResult:
        """The end of the line, of that of its program."""
        if not isinstance(raw, Exited) or raw.code == 0:
            return raw
        if raw.code == 2:
            return replace(raw, stderr=raw.stderr + f"{_UNSAID}\n".encode()) if self.says else raw
        return raw if self.failed is None else replace(raw, code=self.failed)

    def __bool__(self) -> bool:
        return self.says or self.failed is not None


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
    #: Whether exit 2 counts only if the hook says why.
    hears_reasons: bool = False
    #: What is peculiar to its events, as the rest of a sentence that begins with their names.
    remarks: Mapping[str, str] = MappingProxyType({})
    #: What the user does before the entries run.
    trust_step: str = ""

    @property
    def known_shell(self) -> bool:
        """Whether a line is read by a shell that is known."""
        return self.line.startswith(("sh ", "bash "))

    def endings(self, source: "EntryForm") -> tuple[Ending, ...]:
        """How a line that was written for the source may end here, the plainest first."""
        failed = self.failed if source.failed != self.failed else None
        return (Ending(failed), *([Ending(failed, says=True)] if self.hears_reasons else ()))


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
