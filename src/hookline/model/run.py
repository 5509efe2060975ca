"""The record of one hook having run, or of why it did not.

Its field names are a contract: scripts read them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

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
    project: str = ""
    #: The agent that called: the name of its dialect, `hookline agent`, or what a host calls itself.
    caller: str = ""
    #: The command that only tried the hooks: `fire` or `bench`.
    made_by: str = ""


NOT_TOLD = Called()


class Run(Struct, frozen=True, kw_only=True):
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
    exit_code: int | None = None
    signal: int | None = None
    queue_ms: float = 0.0
    duration_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    event: str = ""
    spelled: str = ""
    session: str = ""
    agent: str | None = None
    run_id: str = ""
    #: Seconds since the epoch when it was recorded.
    at: float = 0.0
    call: Called = NOT_TOLD


#: The argument that tells most about a call, in this order.
_TELLING = (
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "url",
    "urls",
    "paths",
    "pattern",
    "query",
)
#: Characters of an input that are looked at: a summary is much shorter.
LONGEST_INPUT = 1024


def input_summary(tool_input: Any) -> str:
    """What a call is about: its command, path or address, or else its arguments. Neither redacted nor one line."""
    if (
        type(tool_input) is dict
        and type(line := cast("dict[str, Any]", tool_input).get("command")) is str
        and line
    ):
        return line[: LONGEST_INPUT + 1]
    if not isinstance(tool_input, Mapping):
        return tool_input[: LONGEST_INPUT + 1] if isinstance(tool_input, str) else ""
    arguments = cast("Mapping[Any, Any]", tool_input)
    for name in _TELLING:
        if name in arguments and (text := _shown(arguments[name])):
            return text
    return " ".join(_pairs(arguments))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value[: LONGEST_INPUT + 1]
    if isinstance(value, list | tuple):
        words = [each[:LONGEST_INPUT] for each in cast("list[Any]", value[:50]) if isinstance(each, str)]
        return " ".join(words)[: LONGEST_INPUT + 1]
    return ""


def _pairs(arguments: Mapping[Any, Any]) -> Iterator[str]:
    room = LONGEST_INPUT
    for name, value in arguments.items():
        text = str(value) if isinstance(value, int | float) else _shown(value) or ("…" if value else "")
        pair = f"{name}={text}"[: room + 1]
        yield pair
        room -= len(pair) + 1
        if room <= 0:
            return
