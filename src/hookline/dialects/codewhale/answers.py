"""An outcome in CodeWhale's terms: what Hookline exits with and prints when it is the hook there."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.dialects.codewhale.results import REPLACEMENT_CHARS, UPDATED_INPUT_BYTES
from hookline.dialects.codewhale.shell_env import write_lines
from hookline.dialects.codewhale.texts import FIELD_CHARS, SUBMIT_REASON_CHARS
from hookline.dialects.json_text import written, written_answer
from hookline.dialects.surrogates import whole_text
from hookline.model.outcome import Outcome
from hookline.model.wire import HookReply

#: It has no word for a decision that is left to the agent; there, that is to ask.
_DECISIONS: Mapping[str, str] = {"deny": "deny", "ask": "ask", "allow": "allow", "defer": "ask"}


def tell_outcome(event_name: str, outcome: Outcome) -> HookReply:
    return _TELLERS.get(event_name, _observed)(outcome)


class _Lost:
    """What the agent cannot be told, by name."""

    def __init__(self, outcome: Outcome, *said: str) -> None:
        self.names = [name for part, name in _PARTS if getattr(outcome, part) and name not in said]

    def add(self, name: str) -> None:
        self.names.append(name)

    def told(self, code: int, answer: Mapping[str, Any] | None, stdout: str = "") -> HookReply:
        text = written_answer(answer) if answer else whole_text(stdout)
        return HookReply(code, text, lost=tuple(self.names))


_PARTS = (
    ("votes", "decision"),
    ("edits", "rewrite"),
    ("context_items", "context"),
    ("messages", "messages"),
    ("halts", "stop"),
    ("permission_updates", "permission_updates"),
    ("watch_paths", "watch_paths"),
    ("seeds", "initial_user_message"),
    ("env_items", "env"),
    ("answers", "answer"),
    ("retry", "retry"),
)


def _submit(outcome: Outcome) -> HookReply:
    if outcome.blocked:
        lost = _Lost(outcome, "decision")
        reason = outcome.reason or ""
        if len(reason) > SUBMIT_REASON_CHARS:
            lost.add(f"the reason beyond {SUBMIT_REASON_CHARS} characters")
        return lost.told(2, {"reason": reason} if reason else None)
    lost = _Lost(outcome, "rewrite")
    text = outcome.updated_prompt
    if not outcome.edits:
        return lost.told(0, None)
    if not isinstance(text, str) or not text or len(text) > REPLACEMENT_CHARS:
        lost.add("rewrite")
        return lost.told(0, None)
    return lost.told(0, {"text": text})


def _gate(outcome: Outcome) -> HookReply:
    # On a denial nothing but the denial is read there.
    lost = _Lost(outcome, "decision") if outcome.blocked else _Lost(outcome, "decision", "rewrite", "context")
    answer: dict[str, Any] = {}
    decision = _DECISIONS.get(outcome.permission or "")
    if decision is not None:
        answer["decision"] = decision
        vote = outcome.deciding_vote
        if vote is not None and vote.reason:
            answer["reason"] = vote.reason
            if len(vote.reason) > FIELD_CHARS:
                lost.add(f"the reason beyond {FIELD_CHARS} characters")
    if outcome.permission == "defer":
        lost.add("defer")
    if outcome.blocked:
        # The exit code as well: it is what every version there understands.
        return lost.told(2, answer)
    _tell_input(outcome, answer, lost)
    _tell_context(outcome, answer, lost)
    return lost.told(0, answer)


def _tell_input(outcome: Outcome, answer: dict[str, Any], lost: _Lost) -> None:
    value = outcome.updated_input
    if not outcome.edits:
        return
    if isinstance(value, Mapping) and len(written({"": value})) - len('{"":}') <= UPDATED_INPUT_BYTES:
        answer["updatedInput"] = value
    else:
        lost.add("rewrite")


def _tell_context(outcome: Outcome, answer: dict[str, Any], lost: _Lost) -> None:
    text = "\n".join(outcome.context)
    if not text:
        return
    answer["additionalContext"] = text[:FIELD_CHARS]
    if len(text) > FIELD_CHARS:
        lost.add(f"context beyond {FIELD_CHARS} characters")


def _environment(outcome: Outcome) -> HookReply:
    lost = _Lost(outcome, "env")
    lines, unsaid = write_lines(outcome.env)
    for key in unsaid:
        lost.add(f"env {key}")
    return lost.told(0, None, lines)


def _observed(outcome: Outcome) -> HookReply:
    return _Lost(outcome).told(0, None)


_TELLERS: Mapping[str, Callable[[Outcome], HookReply]] = MappingProxyType(
    {"message_submit": _submit, "tool_call_before": _gate, "shell_env": _environment}
)
