"""What a handler returns: facts, one record per way of ending. No opinion about the answer."""

from typing import Any

from msgspec import Struct

from hookline.model.policy import Cause


class Exited(Struct, frozen=True):
    """A process ended by itself."""

    code: int
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    #: A process that the hook left behind still held its pipes when it ended.
    pipes_held: bool = False
    queue_ms: float = 0.0
    #: Run by an interpreter that was started ahead. False: it could have been, but none was ready. None: never.
    warm: bool | None = None


class Replied(Struct, frozen=True):
    """A server, a model or an MCP tool replied. `status` is the HTTP status, None elsewhere."""

    body: bytes
    status: int | None = None
    truncated: bool = False
    #: The id that the server gave its decision; empty: none.
    decision_id: str = ""
    #: Seconds for which the server lets the answer be repeated, and whether this is such a repetition.
    repeatable: float = 0.0
    repeated: bool = False


class Returned(Struct, frozen=True):
    """A function or a builtin returned a value."""

    value: Any = None


#: What most functions return: they have nothing to say, so nobody need read it.
RETURNED_NOTHING = Returned()


class Broke(Struct, frozen=True):
    """There is no answer. `detail` says what went wrong, worded to follow a colon."""

    cause: Cause
    detail: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None
    signal: int | None = None
    truncated: bool = False
    queue_ms: float = 0.0
    warm: bool | None = None
    #: The message of the hook's own agent for this; empty: Hookline's own.
    words: str = ""
    #: All that is known, for the journal alone: the text of an exception may hold secrets. Empty: `detail`.
    logged: str = ""


def failure(raw: Exited | Replied | None, cause: Cause, detail: str) -> Broke:
    """A failure that keeps what was printed, so that the run can show it."""
    if raw is None:
        return Broke(cause, detail)
    if isinstance(raw, Replied):
        return Broke(cause, detail, stdout=raw.body, truncated=raw.truncated)
    return Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms, raw.warm)


def first_line(output: bytes) -> str:
    """Return the first line of an output that is not blank, at most 300 characters of it."""
    return output[:2000].strip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()[:300]


class Detached(Struct, frozen=True):
    """The hook asked to go on in the background; `rest` is an awaitable of its real result."""

    rest: Any


RawResult = Exited | Replied | Returned | Broke | Detached
