"""What a raw result of a gen-code hook says. Whatever the bytes are, the result is a `Decoded`."""

from collections.abc import Mapping
from typing import Any, cast

from hookline.dialects.gencode.answers import NO_REASON, UnreadableError, read_answer
from hookline.dialects.go_json import GoJsonError, read_go_json
from hookline.handlers.process.pipes import asks_to_detach
from hookline.model.outcome import GO_ON, Outcome, Vote
from hookline.model.policy import Cause
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.wire import NOTHING_SAID, Call, Decoded

#: Exit codes by which a shell says that it could not run the program.
_NOT_RUN = (126, 127)


def understand(call: Call, raw: RawResult) -> Decoded:
    if isinstance(raw, Exited):
        return _exited(call, raw)
    if isinstance(raw, Replied):
        return _replied(call, raw)
    if isinstance(raw, Returned):
        return _returned(call, raw.value)
    return Decoded(failure=raw) if isinstance(raw, Broke) else NOTHING_SAID


def _exited(call: Call, raw: Exited) -> Decoded:
    stdout = raw.stdout
    if raw.code not in (0, 2):
        return _failed(_crash(raw), raw)
    if asks_to_detach(stdout):
        _mark, _newline, stdout = stdout.strip().partition(b"\n")
        if call.hook.waiting != "rewake":
            # It went on in the background, where nobody listens to what it says in the end.
            return Decoded(ignored=("what it said after async",)) if stdout.strip() else NOTHING_SAID
    if raw.code == 2:
        reason = raw.stderr.decode("utf-8", "replace").strip()
        return Decoded(Outcome(votes=(Vote("block", reason or NO_REASON),)))
    if raw.truncated:
        return _failed(("truncated", "its output was cut off, so it was not read"), raw)
    said = _document(call, stdout)
    return said if isinstance(said, Decoded) else _failed(("unreadable", said), raw)


def _crash(raw: Exited) -> tuple[Cause, str]:
    first = _first_line(raw.stderr)
    detail = f"hook exited {raw.code}: {first}" if first else f"hook exited {raw.code}"
    return ("not_started" if raw.code in _NOT_RUN else "crashed"), detail


def _replied(call: Call, raw: Replied) -> Decoded:
    if raw.status is not None and raw.status >= 400:
        first = _first_line(raw.body)
        return _failed(("transport", f"HTTP {raw.status}: {first}" if first else f"HTTP {raw.status}"), raw)
    if raw.truncated:
        return _failed(("truncated", "the reply was cut off, so it was not read"), raw)
    said = _document(call, raw.body)
    return said if isinstance(said, Decoded) else _failed(("unreadable", said), raw)


def _returned(call: Call, value: Any) -> Decoded:
    if value is None:
        return NOTHING_SAID
    if isinstance(value, Outcome):
        return Decoded(value)
    if isinstance(value, Mapping):
        said = _answered(call, cast("Mapping[str, Any]", value))
        return said if isinstance(said, Decoded) else Decoded(failure=Broke("unreadable", said))
    return Decoded(failure=Broke("unreadable", f"returned {type(value).__name__}, not an answer"))


def _document(call: Call, output: bytes) -> Decoded | str:
    """One JSON object and nothing else; else why it is not read."""
    text = output.strip()
    if not text:
        return NOTHING_SAID
    try:
        document = read_go_json(text)
    except GoJsonError as error:
        return f"its output is not JSON: {error}"
    if not isinstance(document, dict):
        return "its output is not a JSON object"
    return _answered(call, cast("dict[str, Any]", document))


def _answered(call: Call, document: Mapping[str, Any]) -> Decoded | str:
    try:
        outcome, ignored = read_answer(document, call.hook.policy.event_name)
    except UnreadableError as error:
        return f"its answer does not count: {error}"
    if not ignored and outcome == GO_ON:
        return NOTHING_SAID
    return Decoded(GO_ON if outcome == GO_ON else outcome, ignored=ignored)


def _first_line(output: bytes) -> str:
    line = output[:2000].strip().split(b"\n", 1)[0]
    return line.decode("utf-8", "replace").strip()[:300]


def _failed(why: tuple[Cause, str], raw: Exited | Replied) -> Decoded:
    """A failure keeps what was printed, so that its run can show it."""
    cause, detail = why
    if isinstance(raw, Replied):
        return Decoded(failure=Broke(cause, detail, stdout=raw.body, truncated=raw.truncated))
    return Decoded(
        failure=Broke(cause, detail, raw.stdout, raw.stderr, raw.code, None, raw.truncated, raw.queue_ms)
    )
