"""What a raw result says, kind by kind. Whatever the bytes are, the result is a `Decoded`."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.dialects.claude_code.answers import (
    NO_REASON,
    Said,
    UnreadableError,
    halt,
    read_late,
    read_output,
    vote_block,
)
from hookline.dialects.claude_code.events import ROWS, Row
from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.handlers.agent import AgentSpec
from hookline.model.outcome import GO_ON, Answer, ContextItem, Message, Outcome, Vote
from hookline.model.policy import Cause
from hookline.model.raw import Broke, Exited, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded

_NO_STDERR: Final = "No stderr output"
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
#: Exit codes by which a shell says that it could not run the program.
_NOT_RUN: Final[Mapping[int, str]] = {
    126: "the program is not executable",
    127: "the program was not found",
}


def read_exit(call: Call, raw: Exited) -> Decoded:
    row = ROWS[call.hook.policy.event_name]
    if not row.heard:
        return NOTHING_SAID if raw.code == 0 else Decoded(failure=_crash(call, raw))
    if call.hook.policy.event_name == "WorktreeCreate":
        return _worktree(call, raw)
    detached, stdout = _after_async_mark(raw.stdout)
    text = stdout.decode("utf-8", "replace").strip().strip("\ufeff").strip()
    if detached or call.hook.waiting == "async":
        return _late(call, raw, text)
    answer = _json(call, text, raw) if text.startswith("{") and text.endswith("}") else None
    if raw.code == 2:
        return _exit_2(call, row, raw, answer, text)
    if raw.code != 0:
        return _exit_other(call, raw, answer)
    return answer if answer is not None else _plain(call, row, raw, text)


def _json(call: Call, text: str, raw: Exited | Replied) -> Decoded:
    """An object, or why it is none; printed in the shape of one it is never plain text."""
    if raw.truncated:
        return _failed(call, raw, "truncated", "its output was cut off, so it was not read")
    try:
        document = read_lenient(text.encode("utf-8", "replace"))
        outcome, ignored = read_output(document, call.hook.policy.event_name, call.payload)
    except (JsonTextError, UnreadableError) as error:
        return _failed(call, raw, "unreadable", f"its answer cannot be read: {error}")
    return Decoded(outcome, ignored=ignored) if ignored or outcome != GO_ON else NOTHING_SAID


def _plain(call: Call, row: Row, raw: Exited | Replied, text: str) -> Decoded:
    if not text:
        return NOTHING_SAID
    if not row.plain_context:
        return Decoded(ignored=("plain stdout",))
    if raw.truncated and text.startswith("{"):
        return _failed(call, raw, "truncated", "its output was cut off, so it was not read")
    return Decoded(Outcome(context_items=(ContextItem(text),)))


def _exit_2(call: Call, row: Row, raw: Exited, answer: Decoded | None, text: str) -> Decoded:
    """A block wherever the event knows one, whatever stdout holds; the answer's own reason comes first."""
    said = answer.outcome if answer is not None else GO_ON
    ignored = answer.ignored if answer is not None else ()
    stderr = _stderr(raw)
    if not row.exit_2_blocks:
        told = (*said.messages, Message(stderr)) if stderr else said.messages
        return Decoded(replace(said, messages=told), ignored=(*ignored, "exit code 2"))
    if said.blocked:
        return Decoded(said, ignored=ignored)
    if call.hook.waiting == "rewake":
        stderr = stderr or text
    return Decoded(replace(said, votes=(*said.votes, Vote("block", stderr or _NO_STDERR))), ignored=ignored)


def _exit_other(call: Call, raw: Exited, answer: Decoded | None) -> Decoded:
    """A readable answer counts, whatever the code; but to `onFailure` the code is a failure all the same."""
    if answer is None or answer.failure is not None:
        return Decoded(failure=_crash(call, raw))
    if call.hook.on_failure is not None:
        return replace(answer, failure=_crash(call, raw))
    return replace(answer, ignored=(*answer.ignored, f"exit code {raw.code}"))


def _late(call: Call, raw: Exited, text: str) -> Decoded:
    """Nobody waits any more: only the two texts of an object reach anyone."""
    if raw.code not in (0, 2):
        return Decoded(failure=_crash(call, raw))
    unread = ("exit code 2",) if raw.code == 2 else ()
    if not text.startswith("{"):
        return Decoded(ignored=(*unread, "plain stdout") if text else unread)
    try:
        document: Any = read_lenient(text.encode("utf-8", "replace"))
    except JsonTextError as error:
        return _failed(call, raw, "unreadable", f"its answer cannot be read: {error}")
    outcome, ignored = read_late(document)
    return Decoded(outcome, ignored=(*unread, *ignored))


def _worktree(call: Call, raw: Exited) -> Decoded:
    """Any failure is a no, and the last line that says something is the path."""
    if raw.code != 0:
        return Decoded(Outcome(votes=(Vote("block", _stderr(raw) or f"exit code {raw.code}"),)))
    text = _ANSI.sub("", raw.stdout.decode("utf-8", "replace")).strip()
    if text.startswith("{") and text.endswith("}"):
        return _json(call, text, raw)
    path = text.split("\n")[-1].strip()
    if not path:
        return _failed(call, raw, "unreadable", "it printed no path")
    return Decoded(Outcome(answers=(Answer(path),)))


def read_http(call: Call, raw: Replied) -> Decoded:
    row = ROWS[call.hook.policy.event_name]
    text = raw.body.decode("utf-8", "replace").strip().strip("\ufeff").strip()
    if raw.status is not None and not 200 <= raw.status < 300:
        first = _first_line(raw.body)
        return _failed(
            call, raw, "transport", f"HTTP {raw.status}: {first}" if first else f"HTTP {raw.status}"
        )
    if not row.heard or not text:
        return NOTHING_SAID
    if not text.startswith("{"):
        shown = _first_line(raw.body)
        return _failed(call, raw, "unreadable", f"an HTTP hook must return JSON, but this did: {shown}")
    if call.hook.waiting == "async":
        return _late(call, Exited(0, raw.body), text)
    return _json(call, text, raw)


def read_tool_text(call: Call, raw: Replied) -> Decoded:
    """The text of an MCP tool is read as the stdout of a command that ended well."""
    return read_exit(call, Exited(0, raw.body, truncated=raw.truncated))


def read_completion(call: Call, raw: Replied) -> Decoded:
    """A model's verdict. What a no does depends on the event, and on whether the entry says to go on."""
    text = _without_fence(raw.body.decode("utf-8", "replace").strip())
    try:
        document: Any = read_lenient(text.encode("utf-8", "replace"))
    except JsonTextError as error:
        return _failed(call, raw, "unreadable", f"the model's verdict cannot be read: {error}")
    verdict: Mapping[str, Any] = cast("Any", document) if isinstance(document, dict) else {}
    ok, reason = verdict.get("ok"), verdict.get("reason", "")
    if not isinstance(ok, bool) or not isinstance(reason, str):
        return _failed(call, raw, "unreadable", "the model gave no verdict with ok and reason")
    return NOTHING_SAID if ok else _objected(call, reason, impossible=verdict.get("impossible") is True)


def _objected(call: Call, reason: str, *, impossible: bool) -> Decoded:
    event_name = call.hook.policy.event_name
    goes_on = isinstance(call.hook.spec, AgentSpec) or getattr(call.hook.spec, "continue_on_block", False)
    said = Said(event_name, ROWS[event_name], call.payload)
    reason = reason.strip() or NO_REASON
    if event_name in _DEAF_TO_MODELS:
        return Decoded(ignored=("ok",))
    if event_name in _FED_BACK and impossible:
        return Decoded(ignored=("ok (said to be impossible)",))
    if event_name in _ENDS_TURN and not goes_on:
        halt(said, reason)
    if not said.votes and (goes_on or event_name not in _ONLY_ENDS):
        vote_block(said, reason)
    return Decoded(said.outcome())


_DEAF_TO_MODELS: Final = frozenset({"PermissionRequest", "PermissionDenied"})
_FED_BACK: Final = frozenset({"Stop", "SubagentStop"})
_ENDS_TURN: Final = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "TeammateIdle"}
)
#: Here the verdict ends the turn and is no remark to the model.
_ONLY_ENDS: Final = frozenset({"PostToolUse", "TeammateIdle"})


#: How a reply is read, by handler kind.
REPLIES: Final[Mapping[str, Callable[[Call, Replied], Decoded]]] = {
    "http": read_http,
    "prompt": read_completion,
    "agent": read_completion,
    "mcp_tool": read_tool_text,
}


def read_returned(call: Call, raw: Returned) -> Decoded:
    value = raw.value
    if value is None:
        return NOTHING_SAID
    if isinstance(value, Outcome):
        return Decoded(value)
    if not isinstance(value, Mapping):
        return Decoded(failure=Broke("unreadable", f"returned {type(value).__name__}, not an answer"))
    try:
        document = cast("Mapping[str, Any]", value)
        outcome, ignored = read_output(document, call.hook.policy.event_name, call.payload)
    except UnreadableError as error:
        return Decoded(failure=Broke("unreadable", f"its answer cannot be read: {error}"))
    return Decoded(outcome, ignored=ignored)


def read_broken(call: Call, raw: Broke) -> Decoded:
    """What went wrong, in the client's words where the entry says that a failure blocks."""
    happened = "timed out" if raw.cause == "timed_out" else "failed"
    shown = raw.stderr.decode("utf-8", "replace").strip() or (raw.detail if happened == "failed" else "")
    return Decoded(failure=_worded(call, raw, happened, shown))


def _after_async_mark(stdout: bytes) -> tuple[bool, bytes]:
    """A hook that first prints `{"async": true}` gives its real answer, if any, on the lines after it."""
    first, _newline, rest = stdout.lstrip().partition(b"\n")
    if b'"async"' not in first[:200]:
        return False, stdout
    try:
        mark: Any = read_lenient(first[:4096])
    except JsonTextError:
        return False, stdout
    asked = isinstance(mark, dict) and cast("dict[str, Any]", mark).get("async") is True
    return asked, rest if asked else stdout


def _without_fence(text: str) -> str:
    """Models put JSON into a code block however often they are asked not to."""
    if not text.startswith("```") or not text.endswith("```"):
        return text
    _language, newline, inside = text[3:-3].partition("\n")
    return inside.strip() if newline else text[3:-3].removeprefix("json").strip()


def _stderr(raw: Exited) -> str:
    return raw.stderr.decode("utf-8", "replace").rstrip()


def _first_line(output: bytes) -> str:
    line = output[:2000].strip().split(b"\n", 1)[0]
    return line.decode("utf-8", "replace").strip()[:300]


def _crash(call: Call, raw: Exited) -> Broke:
    first = _first_line(raw.stderr)
    detail = f"exit {raw.code}: {first}" if first else f"exit {raw.code}"
    cause: Cause = "crashed"
    if raw.code in _NOT_RUN:
        cause, detail = "not_started", f"{_NOT_RUN[raw.code]} ({detail})"
    broke = Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms)
    return _worded(call, broke, "failed", _stderr(raw) or _NO_STDERR)


def _failed(call: Call, raw: Exited | Replied, cause: Cause, detail: str) -> Decoded:
    if isinstance(raw, Exited):
        broke = Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms)
    else:
        broke = Broke(cause, detail, raw.body, truncated=raw.truncated)
    return Decoded(failure=_worded(call, broke, "failed", detail))


def _worded(call: Call, broke: Broke, happened: str, shown: str) -> Broke:
    if call.hook.on_failure != "block":
        return broke
    return replace(broke, words=f'{happened}; blocking because onFailure is "block"\n{shown}'.rstrip())
