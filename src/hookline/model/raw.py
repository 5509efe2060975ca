"""Define raw results of handlers: facts, one record per way of ending. They do not interpret the answer."""

from typing import Any

from msgspec import Struct

from hookline.model.policy import Cause


class Exited(Struct, frozen=True):
    """A process that exited."""

    code: int
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    #: A process left behind still held its pipes when the hook ended.
    pipes_held: bool = False
    queue_ms: float = 0.0
    #: True if an interpreter started ahead ran it; False if it could have, but none was ready; None if it
    #: cannot.
    warm: bool | None = None


class Replied(Struct, frozen=True):
    """The reply of a server, a model or an MCP tool. `status` is the HTTP status, None elsewhere."""

    body: bytes
    status: int | None = None
    truncated: bool = False
    #: The id that the server gave its decision, or empty.
    decision_id: str = ""
    #: Seconds for which the server lets the answer be repeated; `repeated` is True if this is a repetition.
    repeatable: float = 0.0
    repeated: bool = False


class Returned(Struct, frozen=True):
    """The value that a function or a builtin returned."""

    value: Any = None


#: The result of most functions: nothing, so no step need read it.
RETURNED_NOTHING = Returned()


class Failed(Struct, frozen=True):
    """A failure without an answer. `detail` is the error, worded to follow a colon."""

    cause: Cause
    detail: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None
    signal: int | None = None
    truncated: bool = False
    queue_ms: float = 0.0
    warm: bool | None = None
    #: The hook's agent's message for this failure; empty for Hookline's.
    words: str = ""
    #: All that is known, only for the journal: the text of an exception may hold secrets. Empty: same as
    #: `detail`.
    logged: str = ""
    #: The exception itself, for the program's log and its `on_hook_error`.
    raised: BaseException | None = None
    #: The engine was closed before the hook could run: what it would have rewritten is withheld.
    engine_closed: bool = False


def failure(raw: Exited | Replied | None, cause: Cause, detail: str) -> Failed:
    """Return a failure that keeps the printed output, so that the run can show it."""
    if raw is None:
        return Failed(cause, detail)
    if isinstance(raw, Replied):
        return Failed(cause, detail, stdout=raw.body, truncated=raw.truncated)
    return Failed(
        cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms, raw.warm
    )


def first_line(output: bytes) -> str:
    """Return the first line of an output that is not blank, at most 300 characters of it."""
    return output[:2000].strip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()[:300]


class Background(Struct, frozen=True):
    """A hook that moved to the background; `rest` is an awaitable of its real result."""

    rest: Any


RawResult = Exited | Replied | Returned | Failed | Background
