"""An outcome in CodeWhale's terms: what Hookline exits with and prints when it is the hook there."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.dialects.codewhale.shell_env import write_lines
from hookline.dialects.codewhale.texts import FIELD_CHARS, SUBMIT_REASON_CHARS
from hookline.dialects.json_text import written, written_answer
from hookline.dialects.outcome_builder import unsaid
from hookline.dialects.surrogates import whole_text
from hookline.model.outcome import Outcome
from hookline.model.wire import HookReply

MAX_PROMPT_CHARS = 32_000
MAX_INPUT_BYTES = 32 << 10


def write_answer(event_name: str, outcome: Outcome) -> HookReply:
    write = _WRITERS.get(event_name)
    return HookReply(lost=tuple(unsaid(outcome))) if write is None else write(outcome)


def _reply(code: int, answer: Mapping[str, Any], lost: Sequence[str]) -> HookReply:
    return HookReply(code, written_answer(answer) if answer else "", lost=tuple(lost))


def _beyond(what: str, text: str, most: int) -> list[str]:
    return [f"{what} beyond {most} characters"] if len(text) > most else []


def _submit(outcome: Outcome) -> HookReply:
    if outcome.blocked:
        reason = outcome.reason or ""
        lost = [*unsaid(outcome, "decision"), *_beyond("the reason", reason, SUBMIT_REASON_CHARS)]
        return _reply(2, {"reason": reason} if reason else {}, lost)
    text = outcome.updated_prompt
    if isinstance(text, str) and 0 < len(text) <= MAX_PROMPT_CHARS:
        return _reply(0, {"text": text}, unsaid(outcome, "rewrite"))
    return _reply(0, {}, unsaid(outcome))


def _gate(outcome: Outcome) -> HookReply:
    answer: dict[str, Any] = {}
    lost: list[str] = []
    vote = outcome.deciding_vote
    if vote is not None:
        # It cannot be told to decide by itself; the nearest is to ask the user.
        lost += ["defer"] if vote.kind == "defer" else []
        answer["decision"] = "ask" if vote.kind == "defer" else outcome.permission
        if vote.reason:
            answer["reason"] = vote.reason
        lost += _beyond("the reason", vote.reason, FIELD_CHARS)
    if outcome.blocked:
        # On a denial nothing else is read there. The exit code denies as well, for versions that read no JSON.
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


def _environment(outcome: Outcome) -> HookReply:
    lines, unsayable = write_lines(outcome.env)
    lost = [*unsaid(outcome, "env"), *(f"env {key}" for key in unsayable)]
    return HookReply(0, whole_text(lines), lost=tuple(lost))


_WRITERS: Mapping[str, Callable[[Outcome], HookReply]] = MappingProxyType(
    {"message_submit": _submit, "tool_call_before": _gate, "shell_env": _environment}
)
