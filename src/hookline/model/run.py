"""The record of one hook having run, or of why it did not.

Its field names are a contract: scripts read them.
"""

from typing import Literal

from msgspec import Struct

from hookline.model.policy import Cause

Status = Literal[
    "ok", "blocked", "failed", "timed_out", "not_started", "cancelled", "untrusted", "skipped", "detached"
]
Decision = Literal["deny", "defer", "ask", "allow"]
Mode = Literal["enforce", "shadow", "off"]


# Without gc: as it holds only texts, a run that has one need not be looked at by the collector either.
class Called(Struct, frozen=True, kw_only=True, gc=False):
    """What was called, by whom and where: the same for all hooks that judge one call."""

    #: The tool, by its caller's name, and its input in one line: the command, path or address.
    tool: str = ""
    input: str = ""
    #: The id of the call, if its caller has one: by it the record is found in the caller's transcript.
    id: str = ""
    project: str = ""
    #: The agent that called: the name of its dialect, `hookline agent`, or what a host calls itself.
    caller: str = ""
    #: The command that only tried the hooks: `fire` or `bench`.
    made_by: str = ""
    #: The id of its payload in `payloads.jsonl`, if payloads are kept.
    payload: str = ""


NO_CALL = Called()


class RunResult(Struct, frozen=True, kw_only=True):
    """What one hook did, or why it did nothing."""

    hook: str
    source: str = ""
    dialect: str = "native"
    type: str = "function"
    status: Status = "ok"
    cause: Cause | None = None
    #: Why it ran, or why it did not. Only filled in on demand: dispatch does not compute it.
    why: str = ""
    #: What went wrong.
    detail: str = ""
    decision: Decision | None = None
    reason: str | None = None
    dropped: tuple[str, ...] = ()
    passed_without_answer: bool = False
    mode: Mode = "enforce"
    recheck: bool = False
    #: The tool's name as the hook was told it, if that is not the one it was called by.
    told_as: str | None = None
    #: What could not be told, if it was only in doubt that the call concerns the hook.
    doubt: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    queue_ms: float = 0.0
    duration_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False


class Run(RunResult, frozen=True, kw_only=True):
    """The same as a record of the journal: also at which event, in which session and about which call."""

    #: A Python script was run by an interpreter that was started ahead. False: it could have been, but none was ready.
    warm: bool | None = None
    event: str = ""
    spelled: str = ""
    session: str = ""
    agent: str | None = None
    run_id: str = ""
    #: The decision of a server that it took part in, or that it was answered with: the same id is in both journals.
    decision_id: str = ""
    #: That answer was given a moment ago, and the server lets it be repeated for a while.
    repeated: bool = False
    #: Seconds since the epoch when it was recorded.
    at: float = 0.0
    call: Called = NO_CALL
