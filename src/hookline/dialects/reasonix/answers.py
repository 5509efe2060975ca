"""An outcome in Reasonix's terms: what Hookline exits with and prints when it is a hook there."""

from collections.abc import Iterator

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.reasonix.events import LONGEST_TEXT, TEXT_EVENTS, gates
from hookline.dialects.reasonix.markers import INJECT, WARN, marked_lines
from hookline.dialects.surrogates import whole_text
from hookline.model.outcome import Outcome
from hookline.model.wire import HookReply

#: Parts of an outcome that have no words in Reasonix, and what they are called.
_UNSPEAKABLE = (
    ("edits", "rewrite"),
    ("permission_updates", "permission_updates"),
    ("watch_paths", "watch_paths"),
    ("seeds", "initial_user_message"),
    ("env_items", "env"),
    ("answers", "answer"),
    ("retry", "retry"),
)
#: Where a block is the end of what was begun, so that it also says stop.
_STOPS = frozenset({"TurnStart", "UserPromptSubmit"})


def answer(own_event: DialectEvent, outcome: Outcome) -> HookReply:
    told = _told(own_event, outcome)
    return HookReply(told.code, whole_text(told.stdout), whole_text(told.stderr), told.lost)


def _told(own_event: DialectEvent, outcome: Outcome) -> HookReply:
    gate, name = gates(own_event.policy), own_event.name
    lost = [label for part, label in _UNSPEAKABLE if getattr(outcome, part)]
    refused = _refusal(name, outcome) if gate else None
    lost.extend(_lost_votes(outcome, gate=gate))
    if outcome.stop and (refused is None or name not in _STOPS):
        lost.append("stop")
    if name == "TurnEnd":
        return _at_turn_end(outcome, refused, lost)
    if outcome.messages:
        lost.append("messages")
    if refused is not None or (outcome.blocked and not gate):
        # Where nothing can be stopped, Reasonix at least shows the reason to the user.
        if outcome.context_items:
            lost.append("context")
        return HookReply(2, "", refused if refused is not None else outcome.reason or "", tuple(lost))
    return _passed(name, outcome, lost)


def _refusal(name: str, outcome: Outcome) -> str | None:
    """Why the action is stopped. Reasonix cannot ask, and what nobody was asked about must not happen."""
    vote = outcome.deciding_vote
    if vote is not None and vote.kind in ("block", "ask", "defer"):
        return vote.reason or ("this needs the user's permission" if vote.kind != "block" else "")
    # At TurnEnd a block would be the opposite of a stop.
    return outcome.stop_reason or "a hook stopped the run" if outcome.stop and name != "TurnEnd" else None


def _lost_votes(outcome: Outcome, *, gate: bool) -> Iterator[str]:
    said = {vote.kind for vote in outcome.votes}
    if outcome.blocked and not gate:
        yield "block"
    strongest = outcome.deciding_vote
    if strongest is not None and strongest.kind != "block":
        yield from sorted(said - {"block"})


def _at_turn_end(outcome: Outcome, refused: str | None, lost: list[str]) -> HookReply:
    warnings = "".join(f"{WARN}{' '.join(message.text.split())}\n" for message in outcome.messages)
    if refused is None:
        if outcome.context_items:
            lost.append("context")
        return HookReply(0, warnings, "", tuple(lost))
    injected = "".join(marked_lines(INJECT, item.text) for item in outcome.context_items)
    return HookReply(2, injected + warnings, refused, tuple(lost))


def _passed(name: str, outcome: Outcome, lost: list[str]) -> HookReply:
    text = "\n\n".join(item.text.strip() for item in outcome.context_items)
    if text and name not in TEXT_EVENTS and name != "PreCompact":
        return HookReply(lost=(*lost, "context"))
    if len(text) > LONGEST_TEXT and name in TEXT_EVENTS:
        lost.append(f"text beyond {LONGEST_TEXT:,} characters")
        text = text[:LONGEST_TEXT]
    return HookReply(0, text, "", tuple(lost))
