"""Decode the end of CodeWhale's hooks, and write outcomes as answers.

Three events read an exit code and stdout; at the others a hook can only fail. stderr is the reason of a block
that gives no other, and its first line is part of a failure's message; where the model may read it, it is
redacted.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.dialects.codewhale.events import BY_NAME
from hookline.dialects.codewhale.payload import Now, Outside, document, environment, parse_payload
from hookline.dialects.codewhale.shell_env import read_lines, write_lines
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
    redacted,
)
from hookline.dialects.family.wire import ResultReader, with_first_line
from hookline.dialects.json_text import JsonTextError, read_lenient, whole_text, written, written_answer
from hookline.journal.redaction import Redactor
from hookline.model.outcome import (
    ContextItem,
    Message,
    Outcome,
    OutcomeBuilder,
    Rewrite,
    Vote,
    VoteKind,
    unsaid,
)
from hookline.model.raw import Exited, Failed, RawResult, failure
from hookline.model.wire import NOTHING_SAID, Decoded, Encoded, HookInvocation, HookReply, Parsed

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

MAX_PROMPT_CHARS = 32_000
MAX_INPUT_BYTES = 32 << 10
#: A gate that denied by its exit code gives the reason before one that denied in its answer.
_EXIT_RANK = 2
_VOTES: Mapping[str, VoteKind] = MappingProxyType({"allow": "allow", "deny": "block", "ask": "ask"})
#: The beginning of a sentence about a failure, where its detail continues it.
_STARTS: Mapping[str, str] = MappingProxyType({"timed_out": "timed out", "signalled": "it was ended"})

Object = Mapping[str, Any]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CodeWhaleWire(ResultReader):
    """The wire of CodeWhale. Stateless: one object serves every hook. `now` is the clock for the payload of
    turn_end."""

    standard_tools = False

    def __init__(self, now: Now = _utc_now) -> None:
        self._outside = Outside(now, Redactor(os.environ).redact)

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.codewhale.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE

    def encode(self, call: HookInvocation) -> Encoded:
        return Encoded(document(call, self._outside), environment(call, self._outside))

    def parse(self, document: Object) -> Parsed:
        return parse_payload(document)

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:  # noqa: ARG002 not needed
        write = _WRITERS.get(event_name)
        return HookReply(lost=tuple(unsaid(outcome))) if write is None else write(outcome)

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        """Decode a result. Its hooks are commands, so only an exit or a failure has a meaning."""
        return super().decode(call, raw) if isinstance(raw, Exited | Failed) else NOTHING_SAID

    def exited(self, call: HookInvocation, raw: Exited) -> Decoded:
        read = _READERS.get(call.hook.policy.event_name)
        # There, a background hook has no exit code and its output is discarded, so it has no answer.
        if read is None or call.hook.waiting != "wait":
            return Decoded(failure=_crashed(call, raw)) if raw.code else NOTHING_SAID
        return read(call, raw)

    def broke(self, call: HookInvocation, raw: Failed) -> Decoded:
        return Decoded(failure=_worded(call, raw))


def _read_submit(call: HookInvocation, raw: Exited) -> Decoded:
    answer, problem = _object(_stdout(raw))
    if raw.code == 2:
        reason = _shown_reason(one_line(_submit_reason(raw, answer), CAPTURE), SUBMIT_REASON_CHARS)
        fallback = f"hook {_shown_name(call)} blocked this message and gave no reason"
        return Decoded(Outcome(votes=(Vote("block", reason or fallback),)))
    if raw.code:
        return Decoded(failure=_crashed(call, raw))
    problem = problem or _unusable_text(answer)
    if problem is not None:
        return Decoded(Outcome(messages=(_warning(call, problem),)))
    return Decoded(Outcome(edits=(Rewrite(answer["text"]),))) if "text" in answer else NOTHING_SAID


def _submit_reason(raw: Exited, answer: Object) -> str:
    """Return the reason of its JSON, else its errors, else its plain output. CodeWhale shows only the first."""
    own, plain = _text(answer.get("reason")), "" if answer else _stdout(raw)
    return own if own.strip() else captured(raw.stderr).strip() or plain


def _unusable_text(answer: Object) -> str | None:
    text = answer.get("text", "-")
    if not isinstance(text, str):
        return "its text is not text"
    if not text:
        return "its text is empty"
    return f"its text has more than {MAX_PROMPT_CHARS:,} characters" if len(text) > MAX_PROMPT_CHARS else None


def _read_gate(call: HookInvocation, raw: Exited) -> Decoded:
    stdout = _stdout(raw)
    answer, problem = _object(stdout)
    if raw.code == 2:
        return Decoded(Outcome(votes=(Vote("block", _exit_reason(call, raw, answer), _EXIT_RANK),)))
    gate = _GateAnswer(call=call)
    gate.read(answer)
    if problem is not None:
        # A gate may print text; but text that starts like JSON was meant to be an answer.
        if stdout[0] in "{[":
            gate.warn(problem)
        else:
            gate.ignored.append("plain stdout")
    # The answer is used whatever the exit code; a strict gate that fails must have decided something.
    failure = _crashed(call, raw) if raw.code and not gate.votes else None
    return Decoded(gate.outcome(), failure, tuple(gate.ignored))


def _read_variables(call: HookInvocation, raw: Exited) -> Decoded:
    if raw.code:
        return Decoded(failure=_crashed(call, raw))
    items, dropped = read_lines(captured(raw.stdout, truncated=raw.truncated))
    if not items and not dropped:
        return NOTHING_SAID
    return Decoded(Outcome(env_items=items), ignored=tuple(f"env {one_line(key, 64)}" for key in dropped))


_READERS: Mapping[str, Callable[[HookInvocation, Exited], Decoded]] = MappingProxyType(
    {"message_submit": _read_submit, "tool_call_before": _read_gate, "shell_env": _read_variables}
)


class _GateAnswer(OutcomeBuilder):
    """The JSON of a tool gate, part by part; a part that cannot be used is left out with a warning."""

    call: HookInvocation

    def read(self, answer: Object) -> None:
        self._read_decision(answer)
        if "updatedInput" in answer:
            self._read_input(answer["updatedInput"])
        context = field_text(answer.get("additionalContext"))
        if context:
            self.context.append(ContextItem(context))

    def warn(self, problem: str) -> None:
        self.messages.append(_warning(self.call, problem))

    def _read_decision(self, answer: Object) -> None:
        word = answer.get("decision")
        if word is None:
            return
        kind = _VOTES.get(word) if isinstance(word, str) else None
        if kind is None:
            shown = one_line(str(word), 40)
            self.warn(f"its decision is {shown!r}, not one of {', '.join(_VOTES)}")
        elif kind == "block":
            self.votes.append(Vote("block", _denial(self.call, _text(answer.get("reason")))))
        else:
            # There, an allow skips no approval: it only means that this gate does not object.
            means = "no_objection" if kind == "allow" else ""
            self.votes.append(Vote(kind, field_text(answer.get("reason")), means=means))

    def _read_input(self, value: Any) -> None:
        if not isinstance(value, dict):
            self.warn("its updatedInput is not an object")
        elif not _small_enough(value):
            self.warn(f"its updatedInput has more than {MAX_INPUT_BYTES:,} bytes")
        else:
            self.edits.append(Rewrite(value))


def _small_enough(value: Any) -> bool:
    try:
        return len(written(value)) <= MAX_INPUT_BYTES
    except (TypeError, ValueError, OverflowError):
        return False


def _stdout(raw: Exited) -> str:
    return captured(raw.stdout, truncated=raw.truncated).strip()


def _object(text: str) -> tuple[Object, str | None]:
    """Return the object a text holds; or an empty one, and why."""
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


def _exit_reason(call: HookInvocation, raw: Exited, answer: Object) -> str:
    """Return the reason of its JSON, else its plain output, else its errors."""
    own = _text(answer.get("reason"))
    plain = "" if answer else _stdout(raw)
    return _denial(call, own if own.strip() else plain or captured(raw.stderr).strip())


def _denial(call: HookInvocation, reason: str) -> str:
    shown = _shown_reason(cleaned(reason), FIELD_CHARS)
    return shown or f"hook {_shown_name(call)} denied this call and gave no reason"


def _shown_reason(reason: str, most: int) -> str:
    """Redact a reason first and cut it then, so that no part of a secret is shown. Only its start is used."""
    head = reason[: 4 * most]
    # A text that looks like a secret to Hookline is one, whatever CodeWhale knows of it.
    shown = redacted(Redactor(os.environ).redact(head))
    return shown[:most] + CUT if len(shown) > most or head != reason else shown


def _warning(call: HookInvocation, problem: str) -> Message:
    return Message(f"hook {_shown_name(call)} gave an answer that cannot be used: {problem}", warns=True)


def _crashed(call: HookInvocation, raw: Exited) -> Failed:
    return _worded(call, failure(raw, "crashed", f"exit {raw.code}"))


def _worded(call: HookInvocation, broke: Failed) -> Failed:
    """Reword a failure that denies something: the model reads it, so it must hold no path and no command."""
    start = f"{_STARTS.get(broke.cause, '')} {broke.detail}".strip() or broke.cause.replace("_", " ")
    words = one_line(with_first_line(start, broke.stderr), SUBMIT_REASON_CHARS)
    if BY_NAME[call.hook.policy.event_name].guards:
        words = redacted(words)
    # Without stderr: the words contain the part that may be shown.
    return replace(broke, words=f"hook {_shown_name(call)} gave no answer: {words}", stderr=b"")


def _shown_name(call: HookInvocation) -> str:
    return redacted(one_line(call.hook.name, LABEL_CHARS)) or "(unnamed)"


def _reply(code: int, answer: Mapping[str, Any], lost: Sequence[str]) -> HookReply:
    return HookReply(code, written_answer(answer) if answer else "", lost=tuple(lost))


def _beyond(what: str, text: str, most: int) -> list[str]:
    return [f"{what} beyond {most} characters"] if len(text) > most else []


def _write_submit(outcome: Outcome) -> HookReply:
    if outcome.blocked:
        reason = outcome.reason or ""
        lost = [*unsaid(outcome, "decision"), *_beyond("the reason", reason, SUBMIT_REASON_CHARS)]
        return _reply(2, {"reason": reason} if reason else {}, lost)
    text = outcome.updated_prompt
    if isinstance(text, str) and 0 < len(text) <= MAX_PROMPT_CHARS:
        return _reply(0, {"text": text}, unsaid(outcome, "rewrite"))
    return _reply(0, {}, unsaid(outcome))


def _write_gate(outcome: Outcome) -> HookReply:
    answer: dict[str, Any] = {}
    lost: list[str] = []
    vote = outcome.deciding_vote
    if vote is not None:
        # CodeWhale has no way to leave the decision to itself; the closest is to ask the user.
        lost += ["defer"] if vote.kind == "defer" else []
        answer["decision"] = "ask" if vote.kind == "defer" else outcome.permission
        if vote.reason:
            answer["reason"] = vote.reason
        lost += _beyond("the reason", vote.reason, FIELD_CHARS)
    if outcome.blocked:
        # On a denial nothing else is read there. The exit code denies as well, for versions that read no
        # JSON.
        return _reply(2, answer, [*unsaid(outcome, "decision"), *lost])
    said = ["decision", "context"]
    value, context = outcome.updated_input, "\n".join(outcome.context)
    if isinstance(value, Mapping) and len(written(value)) <= MAX_INPUT_BYTES:
        answer["updatedInput"] = value
        said.append("rewrite")
    if context:
        answer["additionalContext"] = context[:FIELD_CHARS]
        lost += _beyond("context", context, FIELD_CHARS)
    return _reply(0, answer, [*unsaid(outcome, *said), *lost])


def _write_variables(outcome: Outcome) -> HookReply:
    lines, unsayable = write_lines(outcome.env)
    lost = [*unsaid(outcome, "env"), *(f"env {key}" for key in unsayable)]
    return HookReply(0, whole_text(lines), lost=tuple(lost))


_WRITERS: Mapping[str, Callable[[Outcome], HookReply]] = MappingProxyType(
    {"message_submit": _write_submit, "tool_call_before": _write_gate, "shell_env": _write_variables}
)
