"""What the end of a hook says: exit code and stdout, event by event. Whatever the bytes are, it is a `Decoded`.

stderr is never shown but for one case: a tool gate that denies by its exit code alone.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from msgspec.structs import replace

from hookline.dialects.codewhale.events import BY_NAME
from hookline.dialects.codewhale.redaction import redacted
from hookline.dialects.codewhale.shell_env import read_lines
from hookline.dialects.codewhale.texts import (
    CAPTURE,
    CUT,
    FIELD_CHARS,
    LABEL_CHARS,
    SUBMIT_REASON_CHARS,
    captured,
    cleaned,
    field_text,
    one_line,
)
from hookline.dialects.json_text import JsonTextError, read_lenient, written
from hookline.model.outcome import ContextItem, Edit, Message, Outcome, Vote, VoteKind
from hookline.model.raw import Broke, Exited, RawResult
from hookline.model.wire import NOTHING_SAID, Call, Decoded

REPLACEMENT_CHARS = 32_000
UPDATED_INPUT_BYTES = 32 << 10

#: A gate that denied by its exit code gives the reason before one that denied in words.
_EXIT_RANK = 2
_VOTES: Mapping[str, VoteKind] = MappingProxyType({"allow": "allow", "deny": "block", "ask": "ask"})


def read_result(call: Call, raw: RawResult) -> Decoded:
    if isinstance(raw, Broke):
        return Decoded(failure=_worded(call, raw))
    if not isinstance(raw, Exited):
        return NOTHING_SAID
    read = _READERS.get(call.hook.policy.event_name)
    # A background hook has no exit code and prints to nowhere, so it can say nothing.
    if read is None or call.hook.waiting != "wait":
        return Decoded(failure=_failed(call, raw)) if raw.code else NOTHING_SAID
    return read(call, raw)


def _submit(call: Call, raw: Exited) -> Decoded:
    stdout = _stdout(raw)
    if raw.code == 2:
        answer, _ = _object(stdout)
        reason = _shown_reason(one_line(_text(answer.get("reason")), CAPTURE), SUBMIT_REASON_CHARS)
        fallback = f"hook {_shown_name(call)} blocked this message and gave no reason"
        return Decoded(Outcome(votes=(Vote("block", reason or fallback),)))
    if raw.code:
        return Decoded(failure=_failed(call, raw))
    answer, problem = _object(stdout)
    problem = problem or _unusable_text(answer)
    if problem is not None:
        return Decoded(Outcome(messages=(_warning(call, problem),)))
    return Decoded(Outcome(edits=(Edit(answer["text"]),))) if "text" in answer else NOTHING_SAID


def _unusable_text(answer: Mapping[str, Any]) -> str | None:
    text = answer.get("text", "-")
    if not isinstance(text, str):
        return "its text is no text"
    if not text:
        return "its text is empty"
    if len(text) > REPLACEMENT_CHARS:
        return f"its text has more than {REPLACEMENT_CHARS:,} characters"
    return None


def _gate(call: Call, raw: Exited) -> Decoded:
    stdout = _stdout(raw)
    answer, problem = _object(stdout)
    if raw.code == 2:
        return Decoded(Outcome(votes=(Vote("block", _exit_reason(call, raw, answer), _EXIT_RANK),)))
    said = _GateAnswer(call, answer)
    if stdout and problem is not None:
        # A gate may chat; but what starts like an answer and is none was meant to be one.
        if stdout[0] in "{[":
            said.warn(problem)
        else:
            said.ignored.append("plain stdout")
    # The answer counts whatever the exit code; a strict gate that fails must have decided something.
    failure = _failed(call, raw) if raw.code and not said.votes else None
    return Decoded(said.outcome(), failure, tuple(said.ignored))


def _environment(call: Call, raw: Exited) -> Decoded:
    if raw.code:
        return Decoded(failure=_failed(call, raw))
    items, dropped = read_lines(captured(raw.stdout, truncated=raw.truncated))
    if not items and not dropped:
        return NOTHING_SAID
    return Decoded(Outcome(env_items=items), ignored=tuple(f"env {one_line(key, 64)}" for key in dropped))


_READERS: Mapping[str, Callable[[Call, Exited], Decoded]] = MappingProxyType(
    {"message_submit": _submit, "tool_call_before": _gate, "shell_env": _environment}
)


class _GateAnswer:
    """What the JSON of a tool gate says, part by part; a part that cannot be used is told and left out."""

    def __init__(self, call: Call, answer: Mapping[str, Any]) -> None:
        self._call = call
        self.ignored: list[str] = []
        self._messages: list[Message] = []
        self.votes = self._read_decision(answer)
        self._edits = self._read_input(answer)
        context = field_text(answer.get("additionalContext"))
        self._context = (ContextItem(context),) if context else ()

    def outcome(self) -> Outcome:
        return Outcome(
            votes=self.votes,
            edits=self._edits,
            context_items=self._context,
            messages=tuple(self._messages),
        )

    def warn(self, problem: str) -> None:
        self._messages.append(_warning(self._call, problem))

    def _read_decision(self, answer: Mapping[str, Any]) -> tuple[Vote, ...]:
        word = answer.get("decision")
        if word is None:
            return ()
        kind = _VOTES.get(word) if isinstance(word, str) else None
        if kind is None:
            shown = one_line(str(word), 40)
            self.warn(f"its decision is {shown!r}, not one of {', '.join(_VOTES)}")
            return ()
        if kind == "block":
            return (Vote("block", _denial(self._call, _text(answer.get("reason")))),)
        # There, an allow takes no approval away: it is one gate that has nothing against the call.
        means = "no_objection" if kind == "allow" else ""
        return (Vote(kind, field_text(answer.get("reason")), means=means),)

    def _read_input(self, answer: Mapping[str, Any]) -> tuple[Edit, ...]:
        if "updatedInput" not in answer:
            return ()
        value = answer["updatedInput"]
        if not isinstance(value, dict):
            self.warn("its updatedInput is not an object")
        elif not _small_enough(value):
            self.warn(f"its updatedInput has more than {UPDATED_INPUT_BYTES:,} bytes")
        else:
            return (Edit(value),)
        return ()


def _small_enough(value: Any) -> bool:
    try:
        return len(written({"": value})) - len('{"":}') <= UPDATED_INPUT_BYTES
    except (TypeError, ValueError, OverflowError):
        return False


def _stdout(raw: Exited) -> str:
    return captured(raw.stdout, truncated=raw.truncated).strip()


def _object(text: str) -> tuple[Mapping[str, Any], str | None]:
    """The object a text holds, or none and why not."""
    if not text:
        return {}, None
    try:
        value = read_lenient(text)
    except JsonTextError as error:
        return {}, f"its stdout is not JSON: {error}"
    if not isinstance(value, dict):
        return {}, "its stdout is JSON, but not an object"
    return cast("dict[str, Any]", value), None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _exit_reason(call: Call, raw: Exited, answer: Mapping[str, Any]) -> str:
    """What the gate put into words: its JSON, else its plain output, else its errors."""
    own = _text(answer.get("reason"))
    plain = "" if answer else _stdout(raw)
    return _denial(call, own if own.strip() else plain or captured(raw.stderr).strip())


def _denial(call: Call, reason: str) -> str:
    shown = _shown_reason(cleaned(reason), FIELD_CHARS)
    return shown or f"hook {_shown_name(call)} denied this call and gave no reason"


def _shown_reason(reason: str, most: int) -> str:
    """Redacted first and cut then, so that nothing is shown by half. Nobody reads more than a few pages of it."""
    head = reason[: 4 * most]
    shown = redacted(head)
    return shown[:most] + CUT if len(shown) > most or head != reason else shown


def _warning(call: Call, problem: str) -> Message:
    return Message(f"hook {_shown_name(call)} answered something that is not read: {problem}")


def _failed(call: Call, raw: Exited) -> Broke:
    return _worded(call, Broke("crashed", f"exit {raw.code}", exit_code=raw.code, truncated=raw.truncated))


#: How a sentence about a failure starts, where its detail goes on from there.
_STARTS: Mapping[str, str] = MappingProxyType({"timed_out": "timed out", "signalled": "it was ended"})


def _worded(call: Call, failure: Broke) -> Broke:
    """Where a failure denies something its words reach the model, so they carry no path and no command."""
    detail = one_line(failure.detail, SUBMIT_REASON_CHARS)
    said = f"{_STARTS.get(failure.cause, '')} {detail}".strip() or failure.cause.replace("_", " ")
    if BY_NAME[call.hook.policy.event_name].guards:
        said = redacted(said)
    return replace(failure, words=f"hook {_shown_name(call)} gave no answer: {said}")


def _shown_name(call: Call) -> str:
    return redacted(one_line(call.hook.name, LABEL_CHARS)) or "(unnamed)"
