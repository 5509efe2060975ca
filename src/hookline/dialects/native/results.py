"""What a raw result says, kind by kind. Whatever the bytes are, the result is a `Decoded`."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec.structs import replace

from hookline.dialects.native.events import PLAIN_TEXT_IS_CONTEXT, REWRITTEN_SHAPES
from hookline.documents.shapes import misshaped
from hookline.model.outcome import GO_ON, ContextItem, Outcome, Vote
from hookline.model.policy import Cause
from hookline.model.raw import Broke, Exited, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded

_BOM = b"\xef\xbb\xbf"

#: Exit codes by which a shell says that it could not run the program.
_NOT_RUN: Mapping[int, str] = {126: "the program is not executable", 127: "the program was not found"}


def read_returned(call: Call, raw: Returned) -> Decoded:
    value = raw.value
    if value is None:
        return NOTHING_SAID
    if isinstance(value, Outcome):
        return _returned_outcome(call, value)
    if isinstance(value, Mapping):
        return _answered(call, cast("Mapping[str, Any]", value))
    return _failed("unreadable", f"returned {type(value).__name__}, not an outcome, a mapping or nothing")


def _returned_outcome(call: Call, outcome: Outcome) -> Decoded:
    """A function's rewrite must have the shape a command's must have: hosts run what comes out."""
    shape = REWRITTEN_SHAPES.get(call.event.rewrites or "", "anything")
    for edit in outcome.edits:
        instead = misshaped(edit.value, "an object" if edit.patch else shape)
        if instead is not None:
            return _failed("unreadable", f"it rewrote {call.event.rewrites} to what is {instead}")
    return Decoded(outcome)


def read_exit(call: Call, raw: Exited) -> Decoded:
    if raw.code == 2:
        return _blocked(call, raw)
    if raw.code != 0:
        return Decoded(failure=_crash(raw))
    if raw.truncated:
        return Decoded(failure=_broke(raw, "truncated", "its output was cut off, so it was not read"))
    return _with_output(_text(call, _after_async_mark(raw.stdout)), raw)


def _blocked(call: Call, raw: Exited) -> Decoded:
    """Exit 2 blocks whatever stdout holds; of a readable answer only what cannot weaken the block is kept."""
    said = GO_ON
    ignored: tuple[str, ...] = ()
    stdout = _trimmed(_after_async_mark(raw.stdout))
    if stdout.startswith(b"{") and not raw.truncated:
        answer = _json(call, stdout)
        said, ignored = answer.outcome, answer.ignored
    own = next((vote.reason for vote in said.votes if vote.kind == "block" and vote.reason), "")
    reason = raw.stderr.decode("utf-8", "replace").strip() or own
    vote = Vote("block", reason or f"{_who(call)} blocked (exit 2) and gave no reason")
    kept = Outcome(votes=(vote,), context_items=said.context_items, messages=said.messages, halts=said.halts)
    return Decoded(kept, ignored=ignored)


def _crash(raw: Exited) -> Broke:
    first = _first_line(raw.stderr)
    detail = f"exit {raw.code}: {first}" if first else f"exit {raw.code}"
    if raw.code in _NOT_RUN:
        return _broke(raw, "not_started", f"{_NOT_RUN[raw.code]} ({detail})")
    return _broke(raw, "crashed", detail)


def read_http(call: Call, raw: Replied) -> Decoded:
    if raw.status is not None and not 200 <= raw.status < 300:
        first = _first_line(raw.body)
        return _failed("transport", f"HTTP {raw.status}: {first}" if first else f"HTTP {raw.status}", raw)
    if raw.truncated:
        return _failed("truncated", "the reply was cut off, so it was not read", raw)
    body = _trimmed(raw.body)
    if not body:
        return NOTHING_SAID
    return _with_output(_json(call, body), raw)


def read_completion(call: Call, raw: Replied) -> Decoded:
    if raw.truncated:
        return _failed("truncated", "the reply was cut off, so it was not read", raw)
    return _with_output(_json(call, _without_fence(_trimmed(raw.body))), raw)


def read_tool_text(call: Call, raw: Replied) -> Decoded:
    if raw.truncated:
        return _failed("truncated", "the reply was cut off, so it was not read", raw)
    return _with_output(_text(call, raw.body), raw)


#: How a reply is read, by handler kind.
REPLIES: Mapping[str, Callable[[Call, Replied], Decoded]] = {
    "http": read_http,
    "prompt": read_completion,
    "agent": read_completion,
    "mcp_tool": read_tool_text,
}


def _text(call: Call, output: bytes) -> Decoded:
    text = _trimmed(output)
    if not text:
        return NOTHING_SAID
    if text.startswith(b"{"):
        return _json(call, text)
    if call.event.name not in PLAIN_TEXT_IS_CONTEXT:
        return Decoded(ignored=("plain stdout",))
    try:
        return Decoded(Outcome(context_items=(ContextItem(text.decode()),)))
    except UnicodeDecodeError:
        return _failed("unreadable", "its text is not UTF-8")


def _json(call: Call, text: bytes) -> Decoded:
    if not text.startswith(b"{"):
        shown = text[:40].decode("utf-8", "replace")
        return _failed("unreadable", f"the answer is not a JSON object: {shown!r}")
    # Loaded with the first answer: most hooks say nothing.
    from hookline.documents.strict_json import StrictJsonError, read_strict  # noqa: PLC0415 - as said

    try:
        document = read_strict(text)
    except StrictJsonError as error:
        return _failed("unreadable", f"the answer cannot be read: {error}")
    return _answered(call, document)


def _answered(call: Call, document: Mapping[str, Any]) -> Decoded:
    from hookline.dialects.native.answers import UnreadableError, read_answer  # noqa: PLC0415 - as strict_json

    try:
        outcome, ignored = read_answer(document, call.event, call.hook.policy, _who(call))
    except UnreadableError as error:
        return _failed("unreadable", f"the answer cannot be read: {error}")
    return Decoded(outcome, ignored=ignored) if ignored or outcome is not GO_ON else NOTHING_SAID


def _who(call: Call) -> str:
    return f"hook {call.hook.name}"


def _trimmed(output: bytes) -> bytes:
    return output.strip().removeprefix(_BOM).lstrip()


def _after_async_mark(stdout: bytes) -> bytes:
    """A hook that first prints `{"async": true}` gives its real answer, if any, on the lines after it."""
    first, newline, rest = stdout.lstrip().partition(b"\n")
    if not newline or b'"async"' not in first[:200]:
        return stdout
    from hookline.documents.strict_json import StrictJsonError, read_strict  # noqa: PLC0415 - as above

    try:
        mark = read_strict(first, limit=4096)
    except StrictJsonError:
        return stdout
    if not isinstance(mark, dict):
        return stdout
    return rest if cast("dict[str, Any]", mark).get("async") is True else stdout


def _without_fence(text: bytes) -> bytes:
    """Models put JSON into a code block however often they are asked not to."""
    if not text.startswith(b"```") or not text.endswith(b"```"):
        return text
    _language, newline, inside = text[3:-3].partition(b"\n")
    return inside.strip() if newline else text[3:-3].removeprefix(b"json").strip()


def _first_line(output: bytes) -> str:
    line = output[:2000].strip().split(b"\n", 1)[0]
    return line.decode("utf-8", "replace").strip()[:300]


def _failed(cause: Cause, detail: str, raw: Replied | None = None) -> Decoded:
    failure = Broke(cause, detail)
    return Decoded(failure=_filled(failure, raw) if raw is not None else failure)


def _with_output(decoded: Decoded, raw: Exited | Replied) -> Decoded:
    """A failure found while reading keeps what was printed, so that a run can show it."""
    if decoded.failure is None:
        return decoded
    return replace(decoded, failure=_filled(decoded.failure, raw))


def _filled(failure: Broke, raw: Exited | Replied) -> Broke:
    if isinstance(raw, Exited):
        return _broke(raw, failure.cause, failure.detail)
    return replace(failure, stdout=raw.body, truncated=raw.truncated)


def _broke(raw: Exited, cause: Cause, detail: str) -> Broke:
    return Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms)
