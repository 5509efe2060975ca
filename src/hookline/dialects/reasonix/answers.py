"""Write an outcome in Reasonix's terms: the exit code and output of Hookline as a hook there."""

from collections.abc import Iterator

from hookline.dialects.dialect import DialectEvent
from hookline.dialects.json_text import whole_text
from hookline.dialects.reasonix.events import LONGEST_TEXT, TEXT_EVENTS, gates
from hookline.model.outcome import Outcome
from hookline.model.wire import HookReply

#: Parts of an outcome that Reasonix has no form for, and what they are called.
_LOST = {
    "edits": "rewrite", "permission_updates": "permission_updates", "watch_paths": "watch_paths",
    "seeds": "initial_user_message", "env_items": "env", "answers": "answer", "retry": "retry",
}  # fmt: skip
#: Events where a block also stops what was begun.
_STOPS = frozenset({"TurnStart", "UserPromptSubmit"})


class Writer:
    """One outcome being written. Parts that the event has no form for are named in `lost`."""

    def __init__(self, own_event: DialectEvent, outcome: Outcome) -> None:
        self.name = own_event.name
        self.gate = gates(own_event.policy)
        self.outcome = outcome
        self.lost = [label for part, label in _LOST.items() if getattr(outcome, part)]

    def reply(self) -> HookReply:
        outcome = self.outcome
        refused = self._refusal() if self.gate else None
        self.lost.extend(self._lost_votes())
        if outcome.stop and (refused is None or self.name not in _STOPS):
            self.lost.append("stop")
        if self.name == "TurnEnd":
            return self._at_turn_end(refused)
        if outcome.messages:
            self.lost.append("messages")
        if refused is not None or (outcome.blocked and not self.gate):
            # Where nothing can be stopped, Reasonix at least shows the reason to the user.
            self._lose_context()
            return self._reply(2, "", refused if refused is not None else outcome.reason or "")
        return self._passed()

    def _reply(self, code: int, stdout: str, stderr: str = "") -> HookReply:
        return HookReply(code, whole_text(stdout), whole_text(stderr), tuple(self.lost))

    def _refusal(self) -> str | None:
        """Return why the action is stopped. Reasonix cannot ask, and an action without approval must not happen."""
        outcome, vote = self.outcome, self.outcome.deciding_vote
        if vote is not None and vote.kind in ("block", "ask", "defer"):
            return vote.reason or ("this needs the user's permission" if vote.kind != "block" else "")
        # At TurnEnd a block would be the opposite of a stop.
        stops = outcome.stop and self.name != "TurnEnd"
        return outcome.stop_reason or "a hook stopped the run" if stops else None

    def _lost_votes(self) -> Iterator[str]:
        if self.outcome.blocked and not self.gate:
            yield "block"
        strongest = self.outcome.deciding_vote
        if strongest is not None and strongest.kind != "block":
            yield from sorted({vote.kind for vote in self.outcome.votes} - {"block"})

    def _lose_context(self) -> None:
        if self.outcome.context_items:
            self.lost.append("context")

    def _at_turn_end(self, refused: str | None) -> HookReply:
        texts = [" ".join(message.text.split()) for message in self.outcome.messages]
        warnings = "".join(f"@@WARN: {text}\n" for text in texts)
        if refused is None:
            self._lose_context()
            return self._reply(0, warnings)
        lines = [line for item in self.outcome.context_items for line in item.text.strip().splitlines()]
        return self._reply(2, "".join(f"@@INJECT: {line}\n" for line in lines) + warnings, refused)

    def _passed(self) -> HookReply:
        text = "\n\n".join(item.text.strip() for item in self.outcome.context_items)
        if text and self.name not in TEXT_EVENTS and self.name != "PreCompact":
            self._lose_context()
            return self._reply(0, "")
        if len(text) > LONGEST_TEXT and self.name in TEXT_EVENTS:
            self.lost.append(f"text beyond {LONGEST_TEXT:,} characters")
            text = text[:LONGEST_TEXT]
        return self._reply(0, text)
