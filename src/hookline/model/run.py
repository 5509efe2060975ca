"""Record that a hook ran, or why it did not.

Its field names are a contract: scripts read them.
"""

from typing import Literal

from msgspec import Struct

from hookline.model.policy import Cause

Status = Literal[
    "ok", "blocked", "failed", "timed_out", "not_started", "cancelled", "untrusted", "skipped", "background"
]
Decision = Literal["deny", "defer", "ask", "allow"]
Mode = Literal["enforce", "shadow", "off"]
#: The mode in which a hook has run: a person may have paused one that is enforced.
RunMode = Literal["enforce", "shadow", "off", "paused"]


# Without gc: it holds only texts, so the collector need not visit a run that has one.
class Called(Struct, frozen=True, kw_only=True, gc=False):
    """The call, its caller and its directory: the same for all hooks that judge one call."""

    #: The tool, by its caller's name, and its input in one line: the command, path or address.
    tool: str = ""
    input: str = ""
    #: The id of the call, if its caller has one: by it the record is found in the caller's transcript.
    id: str = ""
    project: str = ""
    #: The agent that called: the name of its dialect, `hookline agent`, or the host's name for itself.
    caller: str = ""
    #: Set if no agent called: `fire` for that command, `hand` for `hookline hook` at a terminal.
    origin: str = ""
    #: The id of its payload in `payloads.jsonl`, if payloads are kept.
    payload: str = ""


NO_CALL = Called()


class RunResult(Struct, frozen=True, kw_only=True):
    """The result of one hook, or the reason why it did not run."""

    hook: str
    source: str = ""
    dialect: str = "native"
    type: str = "function"
    status: Status = "ok"
    cause: Cause | None = None
    #: The reason why it ran or did not. Only filled in on demand: dispatch does not compute it.
    why: str = ""
    #: The error, if any.
    detail: str = ""
    decision: Decision | None = None
    reason: str | None = None
    dropped: tuple[str, ...] = ()
    failed_open: bool = False
    #: With another one than `enforce`, its decision was recorded and not applied.
    mode: RunMode = "enforce"
    recheck: bool = False
    #: It rewrote the call, the prompt or the result.
    rewrote: bool = False
    #: The tool's name in the hook's format, if it differs from the call's.
    translated_tool: str | None = None
    #: Why the match is uncertain, if it is.
    doubt: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    queue_ms: float = 0.0
    duration_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False


class Run(RunResult, frozen=True, kw_only=True):
    """A run as a record of the journal: with event, session and call."""

    #: True if an interpreter started ahead ran a Python script; False if it could have, but none was ready.
    warm: bool | None = None
    event: str = ""
    dialect_event: str = ""
    session: str = ""
    agent: str | None = None
    run_id: str = ""
    #: The decision of a server that it contributed to or was answered with: the same id is in both journals.
    decision_id: str = ""
    #: The answer is cached: the server lets it be repeated for a while.
    repeated: bool = False
    #: Seconds since the epoch when it was recorded.
    at: float = 0.0
    call: Called = NO_CALL


def has_denied(run: RunResult) -> bool:
    """Return True if a hook denied, or failed where a failure blocks; its mode says if that was applied."""
    return run.status == "blocked" or run.decision == "deny"


def is_block(run: RunResult) -> bool:
    """Return True if a run blocked the action."""
    return run.mode == "enforce" and has_denied(run)


def would_have_blocked(run: RunResult) -> bool:
    """Return True if a run only would have blocked the action: in shadow mode, or while the hook was paused."""
    return run.mode != "enforce" and has_denied(run)
